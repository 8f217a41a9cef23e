use http::{HeaderName, HeaderValue};
use serde_json::value::RawValue;

use super::OutboundCall;
use crate::guard::Limits;
use crate::request::{Incoming, Method, accept};

fn raw(text: &str) -> &RawValue {
    serde_json::from_str(text).unwrap()
}

fn call<'a>(
    method: Method,
    name: Option<&'a str>,
    extra_meta: &'a [(String, Box<RawValue>)],
) -> OutboundCall<'a> {
    OutboundCall {
        id: 51,
        method,
        name,
        arguments: None,
        input_responses: None,
        request_state: None,
        cursor: None,
        capabilities: raw(r#"{"elicitation":{"form":{}}}"#),
        client_info: raw(r#"{"name":"aldgate","version":"0.1.0"}"#),
        log_level: None,
        progress_token: None,
        traceparent: None,
        tracestate: None,
        extra_meta,
        version: "2026-07-28",
    }
}

fn text(body: Vec<u8>) -> String {
    String::from_utf8(body).unwrap()
}

#[test]
fn writes_a_whole_call_and_splices_what_passes_through() {
    let extra = [("com.example/a".to_owned(), raw("1.10").to_owned())];
    let call = OutboundCall {
        arguments: Some(raw(r#"{ "b":1.10,"a":"\u00e9" }"#)),
        input_responses: Some(raw(r#"{"k":{"action":"accept"}}"#)),
        request_state: Some("S\n\""),
        log_level: Some("info"),
        progress_token: Some(raw(r#""p""#)),
        traceparent: Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
        tracestate: Some("a=1"),
        ..call(Method::CallTool, Some("update"), &extra)
    };
    assert_eq!(
        text(call.body()),
        concat!(
            r#"{"jsonrpc":"2.0","id":51,"method":"tools/call","params":{"name":"update","arguments":{ "b":1.10,"a":"\u00e9" },"#,
            r#""inputResponses":{"k":{"action":"accept"}},"requestState":"S\n\"","#,
            r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
            r#""io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}},"#,
            r#""io.modelcontextprotocol/clientInfo":{"name":"aldgate","version":"0.1.0"},"#,
            r#""io.modelcontextprotocol/logLevel":"info","#,
            r#""progressToken":"p","traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01","tracestate":"a=1","#,
            r#""com.example/a":1.10}}}"#
        )
    );
}

#[test]
fn names_go_where_the_method_has_them() {
    let body = |method, name| text(call(method, name, &[]).body());
    assert!(
        body(Method::ReadResource, Some("ticket://1")).contains(r#""params":{"uri":"ticket://1","_meta""#)
    );
    assert!(body(Method::GetTask, Some("T")).contains(r#""params":{"taskId":"T","_meta""#));
    assert!(body(Method::ListTools, Some("x")).contains(r#""params":{"_meta""#));
    let call = OutboundCall { cursor: Some(""), ..call(Method::ListTools, None, &[]) };
    assert!(text(call.body()).contains(r#""params":{"cursor":"","_meta""#));
}

#[test]
fn further_members_are_spliced() {
    let members = [("notifications", raw(r#"{"toolsListChanged":true}"#))];
    let body = text(call(Method::Listen, None, &[]).body_with(&members));
    assert!(body.contains(r#""params":{"notifications":{"toolsListChanged":true},"_meta""#));
}

#[test]
fn keys_made_here_cannot_be_overridden() {
    let keys = [
        "progressToken",
        "TRACEPARENT",
        "tracestate",
        "io.modelcontextprotocol/x",
        "IO.modelcontextprotocol/y",
    ];
    let extra: Vec<_> = keys.iter().map(|key| ((*key).to_owned(), raw("666").to_owned())).collect();
    assert!(!text(call(Method::ListTools, None, &extra).body()).contains("666"));
}

#[test]
fn headers_mirror_the_body() {
    let params = [(HeaderName::from_static("mcp-param-region"), HeaderValue::from_static("eu"))];
    let headers = call(Method::CallTool, Some("世"), &[]).headers(&params);
    let get = |name: &str| headers.get(name).unwrap().to_str().unwrap();
    assert_eq!(get("content-type"), "application/json");
    assert_eq!(get("accept"), "application/json, text/event-stream");
    assert_eq!(get("mcp-protocol-version"), "2026-07-28");
    assert_eq!(get("mcp-method"), "tools/call");
    assert_eq!(get("mcp-name"), "=?base64?5LiW?=");
    assert_eq!(get("mcp-param-region"), "eu");
    assert_eq!(headers.len(), 6);
    assert!(call(Method::ListTools, Some("x"), &[]).headers(&[]).get("mcp-name").is_none());
}

#[test]
fn what_is_written_here_is_accepted_here() {
    for method in
        [Method::CallTool, Method::ListTools, Method::ReadResource, Method::GetTask, Method::Discover]
    {
        let call = call(method, Some(" odd\u{1}näme "), &[]);
        let incoming =
            accept(&call.headers(&[]), &call.body(), &Limits::default(), &Method::ALL, &["2026-07-28"])
                .unwrap();
        match incoming {
            Incoming::Request(request) => {
                assert_eq!(request.method, method);
                assert_eq!(request.target(), method.name_member().map(|_| " odd\u{1}näme "));
                assert!(request.meta.capabilities.elicitation_form);
            }
            Incoming::Notification { method } => panic!("notification {method}"),
        }
    }
}
