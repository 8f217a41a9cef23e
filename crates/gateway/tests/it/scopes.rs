//! What a token was made for, and where a client is told to get one.

use aldgate_identity::resource::ProofRule;
use aldgate_testkit::{Call, Reply};
use expect_test::expect;
use serde_json::json;

use crate::world::{World, code};

/// `agent` may read and write, `other` may only read; `approver` decides, `chief` runs the gateway.
async fn scoped(issuers: &[&str]) -> World {
    World::start(|config| {
        config.issuers = issuers.iter().map(|&issuer| issuer.to_owned()).collect();
        config.scopes = vec![
            ("agent", "tools:write"),
            ("other", "tools:read"),
            ("approver", "approvals:decide"),
            ("robot", "evidence:read"),
            ("chief", "admin"),
            ("stranger", ""),
        ];
        config.policy.push_str(
            r#"permit (principal, action in [Action::"audit", Action::"operate"], resource == Gateway::"aldgate");"#,
        );
    })
    .await
}

fn status_and_challenge(reply: &Reply) -> String {
    format!("{} {}", reply.status, reply.header("www-authenticate"))
}

#[tokio::test]
async fn a_call_needs_the_scope_of_its_tool_and_the_refusal_is_written_down() {
    let world = scoped(&["https://as.example"]).await;
    let call = |who: &'static str, tool: &'static str| {
        let client = world.client(who);
        async move { client.send(&Call::tool(tool, r#"{"text":"x"}"#)).await.unwrap() }
    };
    assert_eq!(call("other", "look").await.status, 200);
    // Who may write may read.
    assert_eq!(call("agent", "look").await.status, 200);
    assert_eq!(call("agent", "note").await.status, 200);

    let refused = call("other", "note").await;
    expect![[r#"403 Bearer error="insufficient_scope", error_description="`up/note` needs the scope `tools:write`, and the token has `tools:read`; ask for a token that has it", scope="tools:read tools:write", resource_metadata="http://127.0.0.1:7300/.well-known/oauth-protected-resource/mcp""#]]
        .assert_eq(&status_and_challenge(&refused));
    let error = refused.error().unwrap();
    assert_eq!(error["data"]["code"], "AG-SCOPE");
    assert_eq!(error["data"]["scope"], "tools:write");
    // It comes before anything is said of the arguments.
    let odd = world.client("other").send(&Call::tool("note", r#"{"text":7}"#)).await.unwrap();
    assert_eq!((odd.status, code(&odd).as_str()), (403, "AG-SCOPE"));
    assert_eq!(
        world.up.calls("note").len(),
        1,
        "the upstream was not called for a token that lacks the scope"
    );

    let last = world.admin("robot").get("/v1/evidence?limit=500").await.unwrap().json().unwrap();
    let rows = last["rows"].as_array().unwrap();
    let row = rows.iter().find(|row| row["code"] == "AG-SCOPE").expect("a row of the refusal");
    assert_eq!((row["kind"].as_str(), row["tool"].as_str()), (Some("refusal"), Some("up/note")));
    assert_eq!(row["principal"]["subject"], "other");
}

#[tokio::test]
async fn an_entry_can_name_its_own_scope() {
    let world = World::start(|config| {
        config.entry("look").scope = Some("lab:look".to_owned());
        config.scopes = vec![("other", "tools:read tools:write"), ("agent", "lab:look")];
    })
    .await;
    let look = Call::tool("look", r#"{"text":"x"}"#);
    assert_eq!(world.client("agent").send(&look).await.unwrap().status, 200);
    let refused = world.client("other").send(&look).await.unwrap();
    assert_eq!(refused.status, 403);
    // Nobody gives out tokens here: no client is sent anywhere.
    assert_eq!(refused.header("www-authenticate"), "");
}

#[tokio::test]
async fn lists_and_subscriptions_need_a_scope_to_read_and_discovery_needs_none() {
    let world = scoped(&["https://as.example"]).await;
    let listen = Call::listen(json!({"toolsListChanged": true}));
    let lists = ["tools/list", "resources/list", "resources/templates/list", "prompts/list"];
    for call in lists.map(Call::method).into_iter().chain([listen]) {
        let method = call.text();
        let refused = world.client("stranger").send(&call).await.unwrap();
        assert_eq!(refused.status, 403, "{method}");
        assert_eq!(refused.error().unwrap()["data"]["code"], "AG-SCOPE", "{method}");
        assert!(refused.header("www-authenticate").contains(r#"scope="tools:read""#), "{method}");
    }
    let discovered = world.client("stranger").send(&Call::method("server/discover")).await.unwrap();
    assert_eq!(discovered.status, 200);
}

#[tokio::test]
async fn the_admin_api_asks_for_the_scope_of_each_route() {
    let world = scoped(&["https://as.example"]).await;
    let who = ["agent", "approver", "robot", "chief", "stranger"];
    let mut table = String::new();
    for path in ["/v1/status", "/v1/evidence", "/v1/approvals", "/v1/traces", "/metrics", "/v1/tools/look"] {
        table.push_str(path);
        for one in who {
            table.push_str(&format!(" {one} {}", world.admin(one).get(path).await.unwrap().status));
        }
        table.push('\n');
    }
    expect![[r#"
        /v1/status agent 403 approver 403 robot 403 chief 200 stranger 403
        /v1/evidence agent 403 approver 403 robot 200 chief 403 stranger 403
        /v1/approvals agent 200 approver 200 robot 403 chief 200 stranger 403
        /v1/traces agent 403 approver 403 robot 403 chief 200 stranger 403
        /metrics agent 403 approver 403 robot 403 chief 200 stranger 403
        /v1/tools/look agent 403 approver 403 robot 403 chief 200 stranger 403
    "#]]
    .assert_eq(&table);
    let refused = world.admin("robot").get("/v1/status").await.unwrap();
    expect![[r#"403 Bearer error="insufficient_scope", error_description="this needs the scope `admin`, and the token has `evidence:read`; ask for a token that has it", scope="admin evidence:read", resource_metadata="http://127.0.0.1:7301/.well-known/oauth-protected-resource/v1""#]]
        .assert_eq(&status_and_challenge(&refused));
}

#[tokio::test]
async fn a_decision_needs_its_own_scope_and_leaves_a_row_without_it() {
    let world = scoped(&[]).await;
    let asked = world.client("agent").send(&Call::tool("order", r#"{"item":"x"}"#)).await.unwrap();
    assert_eq!(code(&asked), "AG-APPROVAL-PENDING");
    let listed = world.admin("approver").get("/v1/approvals").await.unwrap().json().unwrap();
    let id = listed["approvals"][0]["id"].as_str().unwrap().to_owned();
    let refused = world.decide_as("chief", &id, "approve").await;
    assert_eq!(refused.status, 403);
    assert_eq!(refused.json().unwrap()["error"]["code"], "AG-SCOPE");
    assert_eq!(world.decide_as("approver", &id, "approve").await.status, 200);
    let rows = world.admin("robot").get("/v1/evidence?limit=500").await.unwrap().json().unwrap();
    let rows = rows["rows"].as_array().unwrap();
    assert!(rows.iter().any(|row| row["code"] == "AG-SCOPE" && row["principal"]["subject"] == "chief"));
}

#[tokio::test]
async fn a_client_without_a_token_is_told_where_to_get_one() {
    let world = scoped(&["https://as.example", "https://other.example"]).await;
    let nobody = world.nobody().send(&Call::tool("look", "{}")).await.unwrap();
    expect![[r#"401 Bearer scope="tools:read tools:write", resource_metadata="http://127.0.0.1:7300/.well-known/oauth-protected-resource/mcp""#]]
        .assert_eq(&status_and_challenge(&nobody));
    let at = |path: &'static str| {
        let client = world.nobody();
        async move { client.get(path).await.unwrap() }
    };
    let metadata = at("/.well-known/oauth-protected-resource/mcp").await;
    assert_eq!(metadata.header("access-control-allow-origin"), "*");
    expect![[r#"{"resource":"http://127.0.0.1:7300/mcp","authorization_servers":["https://as.example","https://other.example"],"scopes_supported":["tools:read","tools:write"],"bearer_methods_supported":["header"],"resource_name":"Aldgate"}"#]]
        .assert_eq(&metadata.text());
    assert_eq!(at("/.well-known/oauth-protected-resource").await.text(), metadata.text());
    let evidence = at("/.well-known/oauth-protected-resource/evidence/mcp").await.json().unwrap();
    assert_eq!(evidence["resource"], "http://127.0.0.1:7300/evidence/mcp");
    assert_eq!(evidence["scopes_supported"], json!(["evidence:read"]));
    assert_eq!(at("/.well-known/oauth-protected-resource/v1").await.status, 404, "another listener's door");
    let post = world.nobody().post("/.well-known/oauth-protected-resource/mcp", &json!({})).await.unwrap();
    assert_eq!(post.status, 405);
    let admin = aldgate_testkit::Client::new(world.admin_address(), None);
    let decisions = admin.get("/.well-known/oauth-protected-resource/v1/approvals").await.unwrap();
    assert_eq!(decisions.json().unwrap()["resource"], "http://127.0.0.1:7301/v1/approvals");
}

#[tokio::test]
async fn a_client_without_a_token_is_told_to_bring_a_proof_where_one_is_required() {
    let world = World::start(|config| {
        config.issuers = vec!["https://as.example".to_owned()];
        config.settings.reach.proofs = ProofRule::Require;
    })
    .await;
    let nobody = world.nobody().send(&Call::tool("look", "{}")).await.unwrap();
    expect![[r#"401 DPoP scope="tools:read tools:write", resource_metadata="http://127.0.0.1:7300/.well-known/oauth-protected-resource/mcp", algs="ES256 EdDSA""#]]
        .assert_eq(&status_and_challenge(&nobody));
}

#[tokio::test]
async fn nobody_is_sent_to_an_issuer_that_there_is_not() {
    let world = World::plain().await;
    let nobody = world.nobody().send(&Call::tool("look", "{}")).await.unwrap();
    assert_eq!(status_and_challenge(&nobody), "401 Bearer");
    assert_eq!(world.nobody().get("/.well-known/oauth-protected-resource/mcp").await.unwrap().status, 404);
}
