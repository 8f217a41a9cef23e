use aldgate_testkit::{Behaviour, Call};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::fake;
use crate::world::{World, code, rpc, text};

#[tokio::test]
async fn discovery_is_answered_by_the_host_itself() {
    let world = World::plain().await;
    let result = world.send(&Call::method("server/discover")).await.result().unwrap();
    assert_eq!(result["resultType"], "complete");
    assert_eq!(result["supportedVersions"], json!(["2026-07-28"]));
    let capabilities = json!({
        "tools": {"listChanged": true},
        "resources": {"listChanged": true, "subscribe": true},
        "prompts": {"listChanged": true},
        "completions": {},
        "logging": {},
    });
    assert_eq!(result["capabilities"], capabilities);
    assert!(result["ttlMs"].is_u64() && result["cacheScope"] == "public", "{result}");
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "aldgate");
}

#[tokio::test]
async fn a_list_holds_what_is_registered_and_not_prohibited() {
    let world = World::plain().await;
    let result = world.send(&Call::method("tools/list")).await.result().unwrap();
    let names: Vec<_> = result["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["look", "measure", "note", "order", "region", "reorder", "ship"]);
    assert_eq!(result["cacheScope"], "private");
    let nothing = world.client("approver").send(&Call::method("tools/list")).await.unwrap().result().unwrap();
    assert_eq!(nothing["tools"], json!([]), "an approver may call nothing");
}

#[tokio::test]
async fn a_listed_tool_is_the_pinned_one_with_what_the_host_says_of_it() {
    let world = World::plain().await;
    let reply = world.send(&Call::method("tools/list")).await;
    let pin = fake::lock("up").tools["look"].clone();
    // Every member as it was pinned, byte by byte; `_meta` has one key more.
    for member in [
        r#""title":"Look""#,
        r#""description":"Looks — closely.""#,
        r#""inputSchema":{"type":"object","properties":{"text":{"type":"string"},"n":{"type":"integer"}},"required":["text"],"additionalProperties":false}"#,
        r#""annotations":{"readOnlyHint":true,"openWorldHint":false}"#,
        r#""x-odd" : 1.50"#,
        r#""_meta":{"vendor/key":[1],"io.github.aldgate/contract":{"#,
    ] {
        assert!(reply.text().contains(member), "{member} in {}", reply.text());
    }
    let result = reply.result().unwrap();
    let contract = &result["tools"][0]["_meta"]["io.github.aldgate/contract"];
    let said = json!({
        "digest": pin.digest.to_string(), "version": 1, "authority": "automatic", "readOnly": true, "boundaries": [],
    });
    assert_eq!(contract, &said);
}

#[tokio::test]
async fn a_cursor_that_was_not_given_out_is_refused() {
    let world = World::plain().await;
    let call = Call::method("tools/list");
    let body = call.text().replace(r#""params":{"#, r#""params":{"cursor":"","#);
    let reply = world.send(&call.body(body)).await;
    assert_eq!((rpc(&reply), code(&reply).as_str()), (-32602, "AG-PARAMS"));
}

#[tokio::test]
async fn a_result_is_byte_identical_outside_of_meta() {
    let world = World::plain().await;
    let before = r#"{"resultType":"complete", "content":[{"type":"text","text":"\u0041 ☃ \/"}],  "x" : 1.50, "big":123456789012345678901234567890, "_meta":"#;
    let after = r#" , "structuredContent":[null, 1e2]}"#;
    let meta =
        r#"{"io.modelcontextprotocol/serverInfo":{"name":"fake-server","version":"1"},"vendor/k": 1.0}"#;
    world.up.does("look", Behaviour::raw_result(&format!("{before}{meta}{after}")));
    let reply = world.send(&Call::tool("look", r#"{"text":"t"}"#).id("\"a-1\"")).await;
    let body = reply.text();
    let head = format!(r#"{{"jsonrpc":"2.0","id":"a-1","result":{before}"#);
    assert!(body.starts_with(&head), "{body}");
    assert!(body.ends_with(&format!("{after}}}")), "{body}");
    let result = reply.result().unwrap();
    let meta = &result["_meta"];
    assert_eq!(meta["io.modelcontextprotocol/serverInfo"]["name"], "aldgate");
    assert!(body.contains(r#""vendor/k":1.0"#), "other keys stay: {body}");
    assert!(meta["io.github.aldgate/call"].as_str().unwrap().starts_with("c_"), "{meta}");
    assert!(!body.contains("fake-server"), "{body}");
}

#[tokio::test]
async fn an_older_servers_result_gets_the_type_that_it_means() {
    let world = World::plain().await;
    world.up.does("look", Behaviour::raw_result(r#"{"content":[{"type":"text","text":"old"}]}"#));
    let reply = world.call("look", r#"{"text":"t"}"#).await;
    assert_eq!(reply.result().unwrap()["resultType"], "complete");
    assert_eq!(text(&reply), "old");
}

#[tokio::test]
async fn an_id_comes_back_as_it_was_sent() {
    let world = World::plain().await;
    for id in ["7", "0", "-3", "9007199254740993", "\"seven\"", "\"7\"", "\"\""] {
        let reply = world.send(&Call::tool("look", r#"{"text":"t"}"#).id(id)).await;
        let body: std::collections::HashMap<String, Box<RawValue>> =
            serde_json::from_slice(&reply.body).unwrap();
        assert_eq!(body["id"].get(), id);
        assert!(body.contains_key("result"), "{}", reply.text());
    }
}

#[tokio::test]
async fn a_notification_is_accepted_and_not_answered() {
    let world = World::plain().await;
    let call = Call::method("notifications/cancelled")
        .body(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
    let reply = world.send(&call).await;
    assert_eq!((reply.status, reply.body.len()), (202, 0));
}

#[tokio::test]
async fn a_tools_own_failure_and_a_servers_own_error_pass_through() {
    let world = World::plain().await;
    world.up.does("note", Behaviour::failure("out of paper"));
    let failed = world.call("note", r#"{"text":"t"}"#).await;
    assert_eq!(
        (failed.result().unwrap()["isError"].as_bool(), text(&failed)),
        (Some(true), "out of paper".to_owned())
    );
    world.up.does("look", Behaviour::error(4711, "no such book"));
    let error = world.call("look", r#"{"text":"t"}"#).await.error().unwrap();
    assert_eq!(error["code"], 4711);
    assert_eq!(error["message"], "no such book");
    assert_eq!(error["data"]["code"], "AG-UPSTREAM-ERROR");
    assert_eq!(
        world.story().await,
        [
            "intent automatic - -",
            "outcome automatic tool_error -",
            "intent automatic - -",
            "outcome automatic rpc_error AG-UPSTREAM-ERROR",
        ]
    );
}

#[tokio::test]
async fn notifications_before_the_answer_do_not_hide_it() {
    let world = World::plain().await;
    let progress = json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1, "progress": 1}});
    let result = json!({"resultType": "complete", "content": [{"type": "text", "text": "streamed"}]});
    world.up.does("look", Behaviour::streamed(&[progress.clone(), progress], &result));
    let reply = world.call("look", r#"{"text":"t"}"#).await;
    assert_eq!(text(&reply), "streamed");
}

#[tokio::test]
async fn structured_content_of_the_pinned_form_passes() {
    let world = World::plain().await;
    assert_eq!(
        world.call("measure", "{}").await.result().unwrap()["structuredContent"],
        json!({"celsius": 21.5})
    );
    // What failed need not have the form that was promised.
    world.up.does("measure", Behaviour::failure("broken"));
    assert_eq!(world.call("measure", "{}").await.result().unwrap()["isError"], Value::Bool(true));
}

#[tokio::test]
async fn an_upstream_inside_the_process_goes_the_same_way() {
    let world = World::start(|config| {
        let inside = fake::upstream();
        inside.does("look", Behaviour::text("from inside"));
        let transport = aldgate_gateway::settings::Transport::InProcess(inside.router(), "/mcp".to_owned());
        config.upstreams = vec![crate::world::settings_of("up", "", transport)];
    })
    .await;
    assert_eq!(text(&world.call("look", r#"{"text":"t"}"#).await), "from inside");
    assert_eq!(world.up.calls("look").len(), 0, "the one outside is another server");
    assert_eq!(world.story().await, ["intent automatic - -", "outcome automatic complete -"]);
}
