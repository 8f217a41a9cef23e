use super::super::DeclaredCapabilities;
use super::with_meta;
use crate::code;

fn meta(members: &str) -> String {
    format!(
        r#"{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}},{members}}}"#
    )
}

#[test]
fn the_two_keys_that_every_request_needs() {
    for meta in [
        "{}",
        r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#,
        r#"{"io.modelcontextprotocol/clientCapabilities":{}}"#,
        r#"{"io.modelcontextprotocol/protocolVersion":1,"io.modelcontextprotocol/clientCapabilities":{}}"#,
        r#"{"io.modelcontextprotocol/protocolVersion":null,"io.modelcontextprotocol/clientCapabilities":{}}"#,
        r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":[]}"#,
        r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":null}"#,
        "[]",
        "null",
    ] {
        let rejection = with_meta(meta).send().unwrap_err();
        assert_eq!((rejection.http, rejection.code, rejection.ag), (400, -32602, code::META), "{meta}");
        assert_eq!(rejection.id.unwrap().as_raw().get(), "7");
    }
    for body in [
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{}}"#,
    ] {
        let mut call = with_meta("{}");
        call.body = body.to_owned();
        let rejection = call.send().unwrap_err();
        assert_eq!((rejection.http, rejection.code, rejection.ag), (400, -32602, code::META), "{body}");
    }
}

#[test]
fn client_info_is_not_required_and_only_shown() {
    let read = with_meta(&meta(r#""a.b/c":1"#)).request().meta;
    assert!(read.client_info.is_none() && read.client_name.is_none());
    let info = r#"{"name":"host","version":"1","x-odd":1.10}"#;
    let read = with_meta(&meta(&format!(r#""io.modelcontextprotocol/clientInfo":{info}"#))).request().meta;
    assert_eq!(read.client_info.unwrap().get(), info);
    assert_eq!(read.client_name.as_deref(), Some("host"));
    let read = with_meta(&meta(r#""io.modelcontextprotocol/clientInfo":{"name":7}"#)).request().meta;
    assert_eq!(read.client_name, None);
}

#[test]
fn known_keys_must_have_their_type() {
    for member in [
        r#""io.modelcontextprotocol/clientInfo":"x""#,
        r#""io.modelcontextprotocol/logLevel":1"#,
        r#""io.modelcontextprotocol/logLevel":"loud""#,
        r#""io.modelcontextprotocol/logLevel":"Info""#,
        r#""progressToken":1.5"#,
        r#""progressToken":null"#,
        r#""progressToken":{}"#,
    ] {
        let rejection = with_meta(&meta(member)).send().unwrap_err();
        assert_eq!((rejection.code, rejection.ag), (-32602, code::META), "{member}");
    }
    let read =
        with_meta(&meta(r#""io.modelcontextprotocol/logLevel":"info","progressToken":"p""#)).request().meta;
    assert_eq!(read.log_level.as_deref(), Some("info"));
    assert_eq!(read.progress_token.unwrap().get(), r#""p""#);
    let read = with_meta(&meta(r#""progressToken":18446744073709551615"#)).request().meta;
    assert_eq!(read.progress_token.unwrap().get(), "18446744073709551615");
}

#[test]
fn a_key_that_differs_by_case_is_refused() {
    for member in [
        r#""ProgressToken":1"#,
        r#""Traceparent":"x""#,
        r#""BAGGAGE":"x""#,
        r#""io.modelcontextprotocol/ClientInfo":{}"#,
        r#""IO.modelcontextprotocol/protocolVersion":"2026-07-28""#,
    ] {
        let rejection = with_meta(&meta(member)).send().unwrap_err();
        assert_eq!((rejection.http, rejection.code, rejection.ag), (400, -32602, code::KEY_CASE), "{member}");
    }
}

#[test]
fn unknown_keys_pass_but_reserved_ones_do_not() {
    let members = r#""com.example/a":{"n":1.10},"baggage":"k=v","io.github.aldgate/refusal":1,"IO.GITHUB.aldgate/x":1,"io.modelcontextprotocol/serverInfo":{},"plain":null"#;
    let read = with_meta(&meta(members)).request().meta;
    let other: Vec<(&str, &str)> = read.other.iter().map(|(key, raw)| (key.as_str(), raw.get())).collect();
    assert_eq!(other, [("com.example/a", r#"{"n":1.10}"#), ("plain", "null")]);
}

fn capabilities(text: &str) -> DeclaredCapabilities {
    let meta = format!(
        r#"{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{text}}}"#
    );
    let meta = with_meta(&meta).request().meta;
    assert_eq!(meta.client_capabilities.get(), text);
    meta.capabilities
}

#[test]
fn capabilities_are_what_this_request_declares() {
    let none = DeclaredCapabilities::default();
    assert_eq!(capabilities("{}"), none);
    let form = DeclaredCapabilities { elicitation_form: true, ..none };
    let url = DeclaredCapabilities { elicitation_url: true, ..none };
    assert_eq!(capabilities(r#"{"elicitation":{}}"#), form);
    assert_eq!(capabilities(r#"{"elicitation":{"form":{}}}"#), form);
    assert_eq!(capabilities(r#"{"elicitation":{"url":{}}}"#), url);
    assert_eq!(
        capabilities(r#"{"elicitation":{"form":{},"url":{}}}"#),
        DeclaredCapabilities { elicitation_form: true, elicitation_url: true, ..none }
    );
    assert_eq!(
        capabilities(
            r#"{"sampling":{"tools":{}},"roots":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}"#
        ),
        DeclaredCapabilities { sampling: true, sampling_tools: true, roots: true, tasks: true, ..none }
    );
    assert_eq!(capabilities(r#"{"sampling":{}}"#), DeclaredCapabilities { sampling: true, ..none });
}

#[test]
fn what_is_not_an_object_is_not_declared() {
    for text in [
        r#"{"elicitation":true,"sampling":null,"roots":[],"extensions":{"io.modelcontextprotocol/tasks":true}}"#,
        r#"{"elicitation":{"form":null}}"#,
        r#"{"tasks":{}}"#,
        r#"{"Elicitation":{}}"#,
    ] {
        assert_eq!(capabilities(text), DeclaredCapabilities::default(), "{text}");
    }
}

#[test]
fn trace_context_is_validated_and_bounded() {
    let valid = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let read = with_meta(&meta(&format!(r#""traceparent":"{valid}","tracestate":"a=1,b=2""#))).request().meta;
    assert_eq!(read.traceparent.as_deref(), Some(valid));
    assert_eq!(read.tracestate.as_deref(), Some("a=1,b=2"));
    for parent in [
        "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
        "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
        "",
    ] {
        let member = format!(r#""traceparent":"{parent}","tracestate":"a=1""#);
        let read = with_meta(&meta(&member)).request().meta;
        assert_eq!((read.traceparent, read.tracestate), (None, None), "{parent}");
    }
    for state in ["", "a", "a=é", "a=\\n", &format!("a={}", "x".repeat(511)), &"a=1,".repeat(33)] {
        let member = format!(r#""traceparent":"{valid}","tracestate":"{state}""#);
        let read = with_meta(&meta(&member)).request().meta;
        assert_eq!(read.tracestate, None, "{state}");
        assert!(read.traceparent.is_some());
    }
    assert_eq!(with_meta(&meta(r#""traceparent":7"#)).request().meta.traceparent, None);
}
