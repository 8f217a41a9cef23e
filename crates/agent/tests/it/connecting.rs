use aldgate_agent::{Connection, ConnectionFault, Endpoint};
use serde_json::json;

use crate::fake::{Fake, done, quick, tools};

#[tokio::test]
async fn the_server_names_itself_and_lists_marked_tools() {
    let fake = Fake::start(|_, _| done("")).await;
    let connection = Connection::open(&fake.endpoint()).await.unwrap();
    assert_eq!(connection.identity().name, "fake");
    assert_eq!(connection.identity().protocol, "2026-07-28");
    let tools = connection.tools().await.unwrap();
    assert_eq!(tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["look", "order"]);
    assert!(tools[0].host_says_read_only());
    // The server's own hint says read-only; the host does not.
    assert_eq!(tools[1].hints.read_only, Some(true));
    assert!(!tools[1].host_says_read_only());
    connection.close().await;
}

#[tokio::test]
async fn every_request_carries_token_revision_and_name() {
    let fake = Fake::start(|_, _| done("")).await;
    let connection = fake.connect().await;
    connection.call("look", json!({}), &crate::fake::Scripted::new(crate::fake::never)).await.unwrap();
    let calls = fake.calls();
    assert_eq!(calls[0].headers["authorization"], "Bearer t0ken");
    assert_eq!(calls[0].headers["mcp-protocol-version"], "2026-07-28");
    assert_eq!(calls[0].headers["mcp-method"], "tools/call");
    assert_eq!(calls[0].headers["mcp-name"], "look");
    let meta = &calls[0].params["_meta"];
    assert_eq!(meta["io.modelcontextprotocol/clientInfo"]["name"], "agent-tests");
    assert_eq!(meta["io.modelcontextprotocol/clientCapabilities"]["elicitation"], json!({"form": {}}));
}

#[tokio::test]
async fn pages_are_followed_to_their_end() {
    let pages = vec![json!({"tools": [tools()[0]], "nextCursor": "1"}), json!({"tools": [tools()[1]]})];
    let fake = Fake::with_pages(pages, |_, _| done("")).await;
    let connection = Connection::open(&fake.endpoint()).await.unwrap();
    assert_eq!(connection.tools().await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_list_that_repeats_a_page_is_refused() {
    let fake = Fake::with_pages(vec![json!({"tools": [], "nextCursor": "0"})], |_, _| done("")).await;
    let connection = Connection::open(&fake.endpoint()).await.unwrap();
    assert!(matches!(connection.tools().await, Err(ConnectionFault::TooLong { .. })));
}

#[tokio::test]
async fn an_address_where_nobody_listens_is_named() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    drop(listener);
    let endpoint = Endpoint { url: url.clone(), token: None, renewal: None, client_name: "t".to_owned() };
    let fault = Connection::open_with(&endpoint, Default::default(), quick()).await.err().unwrap();
    assert!(matches!(&fault, ConnectionFault::Unreachable { url: at, .. } if *at == url), "{fault:?}");
}

#[tokio::test]
async fn an_address_of_another_kind_is_refused() {
    for (url, found) in [("https://a/mcp", "the scheme `https`"), ("/mcp", "no scheme")] {
        let endpoint =
            Endpoint { url: url.to_owned(), token: None, renewal: None, client_name: "t".to_owned() };
        let fault = Connection::open(&endpoint).await.err().unwrap().to_string();
        assert!(fault.contains(found), "{fault}");
    }
}

#[test]
fn the_token_is_not_printed() {
    let endpoint = Endpoint {
        url: "http://a/mcp".to_owned(),
        token: Some("s3cret".to_owned()),
        renewal: None,
        client_name: "t".to_owned(),
    };
    assert!(!format!("{endpoint:?}").contains("s3cret"));
}

#[tokio::test]
async fn one_unreadable_tool_does_not_hide_the_others() {
    let page = json!({"tools": [{"name": "broken"}, tools()[0]]});
    let fake = Fake::with_pages(vec![page], |_, _| done("")).await;
    let connection = Connection::open(&fake.endpoint()).await.unwrap();
    let tools = connection.tools().await.unwrap();
    assert_eq!(tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["look"]);
}

/// What is said of an endpoint that answers every request so.
async fn refused(status: u16, content_type: &'static str, body: String) -> ConnectionFault {
    let answer = move || async move {
        let status = axum::http::StatusCode::from_u16(status).unwrap();
        (status, [("content-type", content_type)], body)
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let app = axum::Router::new().fallback(answer);
    let serving = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    let endpoint = Endpoint { url, token: None, renewal: None, client_name: "t".to_owned() };
    let fault = Connection::open_with(&endpoint, Default::default(), quick()).await.err().unwrap();
    serving.abort();
    fault
}

#[tokio::test]
async fn a_refusal_of_the_gateway_is_told_with_its_code() {
    for (status, code) in
        [(503, "AG-BUSY"), (400, "AG-HEAD-REPEATED"), (403, "AG-HEAD-HOST"), (413, "AG-HEAD-SIZE")]
    {
        let error = json!({"code": 7429, "message": "in words", "data": {"code": code}});
        let body = json!({"jsonrpc": "2.0", "id": null, "error": error}).to_string();
        let fault = refused(status, "application/json", body).await;
        assert_eq!(fault.code(), code, "{fault}");
        assert!(fault.to_string().contains("in words"), "{fault}");
    }
    let body = json!({"error": {"code": "AG-ADMIN-ROUTE", "message": "there is no such route"}}).to_string();
    assert_eq!(refused(404, "application/json", body).await.code(), "AG-ADMIN-ROUTE");
}

#[tokio::test]
async fn another_http_error_is_told_with_its_status() {
    for (status, said) in [
        (404, "no MCP endpoint at this path"),
        (405, "no MCP endpoint"),
        (429, "try again later"),
        (503, "try again later"),
    ] {
        let fault = refused(status, "text/html", "<p>no</p>".to_owned()).await;
        assert_eq!(fault.code(), "AG-AGENT-STATUS", "{fault}");
        assert!(
            fault.to_string().contains(&format!("HTTP {status}")) && fault.to_string().contains(said),
            "{fault}"
        );
    }
    assert_eq!(refused(401, "text/plain", String::new()).await.code(), "AG-AGENT-UNAUTHORIZED");
    // A server that answers in JSON-RPC and knows no `server/discover` is of another revision.
    let error = json!({"code": -32601, "message": "method not found"});
    let body = json!({"jsonrpc": "2.0", "id": null, "error": error}).to_string();
    assert_eq!(refused(400, "application/json", body).await.code(), "AG-AGENT-REVISION");
}
