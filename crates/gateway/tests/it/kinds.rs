//! What an upstream may ask a client for, beside forms.

use aldgate_gateway::settings::MayAsk;
use aldgate_testkit::{Behaviour, Call};
use serde_json::{Value, json};

use crate::rounds::{ends, question, relaying};
use crate::world::{Config, World, code, state, text};

#[tokio::test]
async fn no_more_is_relayed_than_the_host_allows() {
    for asks in [page("https://example.com/a"), sampling(), roots()] {
        ends("another kind", relaying, true, asks, "`may_ask` does not allow it").await;
    }
    let seventeen: serde_json::Map<_, _> =
        (0..17).map(|number| (format!("q{number}"), question()["size"].clone())).collect();
    ends("too many", relaying, true, seventeen.into(), "more than 16 inputs at once").await;
}

fn page(url: &str) -> Value {
    json!({"a": {"method": "elicitation/create", "params": {"mode": "url", "message": "Sign in", "url": url}}})
}

fn sampling() -> Value {
    json!({"a": {"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}}})
}

fn roots() -> Value {
    json!({"a": {"method": "roots/list", "params": {}}})
}

/// An upstream that may ask for everything, and a client that declares everything.
fn open_to_all(config: &mut Config) {
    config.up().may_ask = vec![MayAsk::Form, MayAsk::Url, MayAsk::Sampling, MayAsk::Roots];
    config.up().ask_origins = vec!["https://login.example.com".to_owned()];
}

fn declaring_all(call: Call) -> Call {
    call.declaring(json!({"elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}}, "roots": {}}))
}

#[tokio::test]
async fn every_kind_of_input_is_relayed_where_both_sides_want_it() {
    let world = World::start(open_to_all).await;
    let answers = [
        (page("https://login.example.com/x?y=1"), json!({"action": "accept"})),
        (sampling(), json!({"role": "assistant", "content": {"type": "text", "text": "hi"}, "model": "m"})),
        (roots(), json!({"roots": [{"uri": "file:///tmp"}]})),
    ];
    for (asks, said) in answers {
        world.up.does("look", Behaviour::asking(asks.clone(), "looked"));
        let look = declaring_all(Call::tool("look", r#"{"text":"t"}"#));
        let asked = world.send(&look).await;
        let relayed = &asked.result().unwrap()["inputRequests"]["a"];
        let mut expected = asks["a"].clone();
        if let Some(message) = expected.pointer_mut("/params/message") {
            *message = json!("[up] Sign in");
        }
        assert_eq!(relayed, &expected, "whole, but for who asks");
        let declared = world.up.calls("look").last().unwrap().params["_meta"]
            ["io.modelcontextprotocol/clientCapabilities"]
            .clone();
        assert_eq!(
            declared,
            json!({"elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}}, "roots": {}})
        );
        let answered = world.send(&look.id("2").state(&state(&asked)).answering(json!({"a": said}))).await;
        assert_eq!(text(&answered), "looked", "{}", answered.text());
        assert_eq!(world.up.calls("look").last().unwrap().params["inputResponses"], json!({"a": said}));
    }
}

#[tokio::test]
async fn the_clients_model_is_offered_tools_only_where_the_client_declared_that() {
    let world = World::start(open_to_all).await;
    for (member, value) in [("tools", json!([])), ("toolChoice", json!({"mode": "none"}))] {
        let mut asks = sampling();
        asks["a"]["params"][member] = value;
        world.up.does("look", Behaviour::asking(asks, "looked"));
        let look = Call::tool("look", r#"{"text":"t"}"#);
        let without = world.send(&look.clone().declaring(json!({"sampling": {}}))).await;
        assert_eq!(code(&without), "AG-UPSTREAM-ASKS", "{}", without.text());
        let with = world.send(&declaring_all(look)).await;
        assert_eq!(with.result().unwrap()["resultType"], "input_required", "{}", with.text());
    }
}

#[tokio::test]
async fn an_unreadable_key_hides_no_tools_from_a_client_that_did_not_declare_them() {
    let world = World::start(open_to_all).await;
    for request in [
        r#"{"method":"sampling/createMessage","params":{"messages":[],"tools":[],"\ud800":1}}"#,
        r#"{"method":"sampling/createMessage","\ud800":1,"params":{"messages":[],"tools":[]}}"#,
    ] {
        let result = format!(r#"{{"resultType":"input_required","inputRequests":{{"a":{request}}}}}"#);
        world.up.does("look", Behaviour::raw_result(&result));
        let look = Call::tool("look", r#"{"text":"t"}"#).declaring(json!({"sampling": {}}));
        assert_eq!(code(&world.send(&look).await), "AG-UPSTREAM-ASKS", "{request}");
    }
}

#[tokio::test]
async fn a_url_leads_to_a_listed_origin_or_nowhere() {
    let world = World::start(open_to_all).await;
    for url in [
        "https://login.example.com.evil.example/",
        "https://login.example.com@evil.example/",
        "http://login.example.com/",
        "https://login.example.com:8443/",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "//login.example.com/",
    ] {
        world.up.does("look", Behaviour::asking(page(url), "never"));
        let reply = world.send(&declaring_all(Call::tool("look", r#"{"text":"t"}"#))).await;
        assert_eq!(code(&reply), "AG-UPSTREAM-ASKS", "{url}: {}", reply.text());
    }
}
