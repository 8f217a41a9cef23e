//! What is not a tool: lists, resources and prompts.

use aldgate_agent::{Connection, ConnectionFault, ListOf};
use serde_json::{Map, Value, json};

use crate::fake::{Fake, Reply, done, form, refusal};

fn names(listed: &[Value]) -> Vec<&str> {
    listed.iter().map(|one| one["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn each_list_is_read_to_its_end() {
    for (of, member, key) in [
        (ListOf::Resources, "resources", "uri"),
        (ListOf::Templates, "resourceTemplates", "uriTemplate"),
        (ListOf::Prompts, "prompts", "name"),
    ] {
        let element = |name: &str| json!({"name": name, key: name, "title": "T"});
        let pages = vec![
            json!({member: [element("a"), element("b")], "nextCursor": "1"}),
            json!({member: [element("c")]}),
        ];
        let fake = Fake::with_pages(pages, |_, _| done("")).await;
        let connection = Connection::open(&fake.endpoint()).await.unwrap();
        assert_eq!(names(&connection.list(of).await.unwrap()), ["a", "b", "c"]);

        let pages = vec![json!({member: [], "nextCursor": "0"})];
        let fake = Fake::with_pages(pages, |_, _| done("")).await;
        let connection = Connection::open(&fake.endpoint()).await.unwrap();
        let fault = connection.list(of).await.err().unwrap();
        assert!(matches!(fault, ConnectionFault::TooLong { .. }), "{fault:?}");

        let pages = vec![json!({"somethingElse": []})];
        let fake = Fake::with_pages(pages, |_, _| done("")).await;
        let connection = Connection::open(&fake.endpoint()).await.unwrap();
        assert_eq!(connection.list(of).await.err().unwrap().code(), "AG-AGENT-LIST");
    }
}

#[tokio::test]
async fn a_resource_and_a_prompt_are_had_in_one_request() {
    let fake = Fake::start(|number, seen| {
        let result = match number {
            1 => json!({"resultType": "complete", "contents": [{"uri": seen.params["uri"], "text": "t"}], "ttlMs": 0, "cacheScope": "private"}),
            _ => json!({"resultType": "complete", "messages": [{"role": "user", "content": {"type": "text", "text": seen.params["arguments"]["a"]}}]}),
        };
        Reply::Result(result)
    })
    .await;
    let connection = fake.connect().await;
    assert_eq!(connection.read("x://1").await.unwrap()["contents"][0]["uri"], "x://1");
    let arguments = Map::from_iter([("a".to_owned(), "b".into())]);
    assert_eq!(connection.prompt("p", arguments).await.unwrap()["messages"][0]["content"]["text"], "b");
    assert_eq!(fake.calls().len(), 2);
}

#[tokio::test]
async fn why_there_is_no_resource_is_told_with_a_code() {
    let refused = json!({"code": "AG-APPROVAL-PENDING", "call": "c_1"});
    for (reply, code) in [
        (Reply::Error(7403, "in words", refused), "AG-APPROVAL-PENDING"),
        (Reply::Error(-32602, "in words", Value::Null), "AG-AGENT-RPC"),
        (Reply::Status(401), "AG-AGENT-UNAUTHORIZED"),
        (form(Some("s")), "AG-AGENT-MALFORMED"),
        (refusal("AG-X"), "AG-AGENT-MALFORMED"),
    ] {
        let reply = std::sync::Mutex::new(Some(reply));
        let fake = Fake::start(move |_, _| reply.lock().unwrap().take().unwrap()).await;
        let fault = fake.connect().await.read("x://1").await.unwrap_err();
        assert_eq!(fault.code(), code, "{fault}");
    }
}
