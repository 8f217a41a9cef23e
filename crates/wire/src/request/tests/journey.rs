//! Envelope, headers, and the order of the checks.

use expect_test::{Expect, expect};

use super::super::{Incoming, Method, Rejection, accept, accept_line};
use super::{Call, META, call, with_meta};
use crate::code;
use crate::guard::Limits;
use crate::response::error_bytes;

/// What a client gets.
fn body_of(rejection: &Rejection) -> Vec<u8> {
    error_bytes(rejection.id.as_ref(), rejection.code, &rejection.message, rejection.data.as_deref())
}

fn refuses(call: &Call, expected: Expect) {
    expected.assert_eq(&call.refusal());
}

#[test]
fn takes_a_whole_call_with_arguments_as_they_are_spelled() {
    let request = call(r#""arguments":{ "b" : 1.10, "a":"\u00e9" }"#).request();
    assert_eq!(request.method, Method::CallTool);
    assert_eq!(request.target(), Some("t"));
    assert_eq!(request.params.arguments.unwrap().get(), r#"{ "b" : 1.10, "a":"\u00e9" }"#);
    assert_eq!(request.id.as_raw().get(), "7");
}

#[test]
fn names_headers_in_any_case_and_trims_white_space_around_values() {
    let call = Call::new("tools/call", r#""name":"t""#)
        .without("Mcp-Method")
        .header("MCP-METHOD", " tools/call\t")
        .header("mcp-name", "  t ");
    assert_eq!(call.request().target(), Some("t"));
}

#[test]
fn keeps_ids_byte_by_byte() {
    for id in ["0", "-1", "18446744073709551615", r#""""#, r#""caf\u00e9""#, r#""7""#] {
        let body =
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list","params":{{"_meta":{META}}}}}"#);
        assert_eq!(Call::with_body("tools/list", body).request().id.as_raw().get(), id);
    }
    for id in ["null", "1.0", "1e3", "-1.5", "true", "[]", "{}", "[1]"] {
        let body =
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list","params":{{"_meta":{META}}}}}"#);
        let rejection = Call::with_body("tools/list", body).send().unwrap_err();
        assert_eq!((rejection.http, rejection.code, rejection.ag), (400, -32600, code::ID), "{id}");
        assert_eq!(rejection.id, None);
    }
}

#[test]
fn answers_what_the_guard_refuses_with_a_parse_error_and_the_id_where_it_is_clear() {
    refuses(
        &Call::with_body("tools/list", "{"),
        expect!["400 -32700 AG-WIRE-SYNTAX id none: not JSON: expected a key in double quotes at byte 1"],
    );
    refuses(
        &call(r#""arguments":{"a":1,"\u0061":2}"#),
        expect![
            "400 -32700 AG-WIRE-DUPLICATE-KEY id 7: the key `a` at byte 86 repeats one of the same object; send each key once"
        ],
    );
    refuses(
        &call(r#""arguments":{"a":1e400}"#),
        expect![
            "400 -32700 AG-WIRE-NUMBER id 7: the number `1e400` at byte 84 is not exact in 64 bits; send it as a string, or with fewer digits"
        ],
    );
    refuses(
        &call(r#""arguments":{"a":"\ud800"}"#),
        expect![
            "400 -32700 AG-WIRE-SURROGATE id 7: the escape at byte 85 is half of a surrogate pair; send both halves or the character itself"
        ],
    );
    let deep = format!(r#""arguments":{{"a":{}{}}}"#, "[".repeat(100), "]".repeat(100));
    refuses(
        &call(&deep),
        expect![
            "400 -32700 AG-WIRE-DEPTH id 7: objects and arrays are nested more than 64 deep at byte 145; send a flatter value"
        ],
    );
    refuses(
        &call(&format!(r#""arguments":{{"a":"{}"}}"#, "x".repeat(1 << 20))),
        expect![
            "413 -32700 AG-WIRE-TOO-LARGE id none: the JSON has 1048778 bytes, more than the limit of 1048576; send less in one message"
        ],
    );
    refuses(
        &Call::with_body("tools/list", "\u{feff}{}"),
        expect![
            "400 -32700 AG-WIRE-ENCODING id none: the JSON begins with a byte order mark, which JSON does not allow; leave it out"
        ],
    );
    let twice = r#"{"jsonrpc":"2.0","id":7,"id":8,"method":"tools/list","params":{}}"#;
    refuses(
        &Call::with_body("tools/list", twice),
        expect![
            "400 -32700 AG-WIRE-DUPLICATE-KEY id none: the key `id` at byte 24 repeats one of the same object; send each key once"
        ],
    );
    let broken_later = r#"{"jsonrpc":"2.0","id":7,"method":1e400,"#;
    refuses(
        &Call::with_body("tools/list", broken_later),
        expect![
            "400 -32700 AG-WIRE-NUMBER id none: the number `1e400` at byte 33 is not exact in 64 bits; send it as a string, or with fewer digits"
        ],
    );
}

#[test]
fn refuses_what_is_no_request() {
    let check = |body: &str, expected: Expect| refuses(&Call::with_body("tools/list", body), expected);
    check(
        r#"[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]"#,
        expect![
            "400 -32600 AG-WIRE-SHAPE id none: expected one JSON object; send one message for each POST, no batch"
        ],
    );
    check(
        "7",
        expect![
            "400 -32600 AG-WIRE-SHAPE id none: expected one JSON object; send one message for each POST, no batch"
        ],
    );
    check(
        r#"{"jsonrpc":"1.0","id":1,"method":"tools/list"}"#,
        expect!["400 -32600 AG-WIRE-SHAPE id 1: `jsonrpc` must be the string `2.0`"],
    );
    check(
        r#"{"id":1,"method":"tools/list"}"#,
        expect!["400 -32600 AG-WIRE-SHAPE id 1: `jsonrpc` must be the string `2.0`"],
    );
    check(
        r#"{"jsonrpc":2.0,"id":1,"method":"tools/list"}"#,
        expect!["400 -32600 AG-WIRE-SHAPE id 1: `jsonrpc` must be the string `2.0`"],
    );
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":7}"#,
        expect!["400 -32600 AG-WIRE-SHAPE id 1: `method` must be a string, found a number"],
    );
    check(
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        expect![
            "400 -32600 AG-WIRE-SHAPE id 1: expected `method`; a client sends requests and notifications, no responses"
        ],
    );
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}"#,
        expect!["400 -32600 AG-WIRE-SHAPE id 1: `params` must be an object, found an array"],
    );
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":null}"#,
        expect!["400 -32600 AG-WIRE-SHAPE id 1: `params` must be an object, found null"],
    );
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","Params":{}}"#,
        expect!["400 -32600 AG-WIRE-SHAPE id 1: the member `Params` differs from `params` only by case"],
    );
    check(
        r#"{"jsonrpc":"2.0","method":"tools/call","params":{}}"#,
        expect![
            "400 -32600 AG-WIRE-SHAPE id none: expected `id`: `tools/call` is not a notification, and a request needs one"
        ],
    );
}

#[test]
fn takes_notifications_without_headers_and_without_an_answer() {
    let call = Call {
        headers: Vec::new(),
        body: r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#.to_owned(),
    };
    assert!(
        matches!(call.send(), Ok(Incoming::Notification { method }) if method == "notifications/cancelled")
    );
}

#[test]
fn compares_the_version_in_header_and_body() {
    refuses(
        &call("").without("MCP-Protocol-Version"),
        expect![
            "400 -32020 AG-WIRE-HEADER id 7: the header `MCP-Protocol-Version` is missing; mirror the body in it"
        ],
    );
    refuses(
        &call("").header("MCP-Protocol-Version", "2026-07-28"),
        expect![
            "400 -32020 AG-WIRE-HEADER id 7: the header `MCP-Protocol-Version` is repeated; send it once"
        ],
    );
    refuses(
        &call("").without("MCP-Protocol-Version").header("MCP-Protocol-Version", "2025-11-25"),
        expect![
            "400 -32020 AG-WIRE-HEADER id 7: `MCP-Protocol-Version` is `2025-11-25`, but `_meta` says `2026-07-28`; send the same version in both"
        ],
    );
}

#[test]
fn names_the_versions_that_are_supported() {
    let meta = META.replace("2026-07-28", "2099-01-01");
    let call = with_meta(&meta).without("MCP-Protocol-Version").header("MCP-Protocol-Version", "2099-01-01");
    let rejection = call.send().unwrap_err();
    assert_eq!((rejection.http, rejection.code), (400, -32022));
    expect![[r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32022,"message":"the protocol version `2099-01-01` is not supported; use one of: 2026-07-28","data":{"code":"AG-WIRE-VERSION","supported":["2026-07-28"],"requested":"2099-01-01"}}}"#]]
        .assert_eq(&String::from_utf8(body_of(&rejection)).unwrap());
}

#[test]
fn compares_method_and_name_in_header_and_body() {
    refuses(
        &call("").without("Mcp-Method"),
        expect!["400 -32020 AG-WIRE-HEADER id 7: the header `Mcp-Method` is missing; mirror the body in it"],
    );
    refuses(
        &call("").without("Mcp-Method").header("Mcp-Method", "Tools/Call"),
        expect![
            "400 -32020 AG-WIRE-HEADER id 7: `Mcp-Method` is `Tools/Call`, but the body's method is `tools/call`; send the same in both"
        ],
    );
    refuses(
        &call("").header("Mcp-Method", "tools/call"),
        expect!["400 -32020 AG-WIRE-HEADER id 7: the header `Mcp-Method` is repeated; send it once"],
    );
    refuses(
        &call("").without("Mcp-Name"),
        expect!["400 -32020 AG-WIRE-HEADER id 7: the header `Mcp-Name` is missing; mirror the body in it"],
    );
    refuses(
        &call("").header("Mcp-Name", "t"),
        expect!["400 -32020 AG-WIRE-HEADER id 7: the header `Mcp-Name` is repeated; send it once"],
    );
    refuses(
        &call("").without("Mcp-Name").header("Mcp-Name", "T"),
        expect![
            "400 -32020 AG-WIRE-HEADER id 7: `Mcp-Name` is `T`, but the body's `name` is `t`; send the same in both"
        ],
    );
    refuses(
        &call("").without("Mcp-Name").header("Mcp-Name", "=?base64?!?="),
        expect![
            "400 -32020 AG-WIRE-HEADER id 7: `Mcp-Name` is malformed: expected canonical standard base64 between `=?base64?` and `?=`"
        ],
    );
    refuses(
        &call("").without("Mcp-Name").header("Mcp-Name", "é"),
        expect![
            "400 -32020 AG-WIRE-HEADER id 7: `Mcp-Name` is malformed: expected printable ASCII, or UTF-8 as `=?base64?…?=`"
        ],
    );
}

#[test]
fn decodes_names_before_it_compares_them() {
    let body = r#""name":"世""#;
    let request = Call::new("tools/call", body).header("Mcp-Name", "=?base64?5LiW?=").request();
    assert_eq!(request.target(), Some("世"));
    let request =
        Call::new("resources/read", r#""uri":"manual://a b""#).header("Mcp-Name", "manual://a b").request();
    assert_eq!(request.target(), Some("manual://a b"));
    let request = Call::new("tasks/get", r#""taskId":"T""#).header("Mcp-Name", "T").request();
    assert_eq!(request.target(), Some("T"));
}

#[test]
fn answers_404_to_methods_that_are_not_served() {
    for method in
        ["ping", "initialize", "logging/setLevel", "tasks/result", "tasks/list", "Tools/Call", "a\u{1b}b"]
    {
        if method.is_ascii() && !method.contains('\u{1b}') {
            let rejection = Call::new(method, "").send().unwrap_err();
            assert_eq!(
                (rejection.http, rejection.code, rejection.ag),
                (404, -32601, code::METHOD),
                "{method}"
            );
            assert_eq!(rejection.id.unwrap().as_raw().get(), "7");
        }
    }
    refuses(
        &Call::new("initialize", ""),
        expect![
            "404 -32601 AG-WIRE-METHOD id 7: method not found: `initialize`; no session is opened here, send the version with each request, one of: 2026-07-28"
        ],
    );

    let call = call("");
    let headers = call
        .headers
        .iter()
        .map(|(name, value)| (name.parse().unwrap(), value.parse::<http::HeaderValue>().unwrap()));
    let headers: http::HeaderMap = headers.collect();
    let served = [Method::ListTools];
    let rejection =
        accept(&headers, call.body.as_bytes(), &Limits::default(), &served, &["2026-07-28"]).unwrap_err();
    assert_eq!((rejection.http, rejection.code), (404, -32601));
}

#[test]
fn a_legacy_initialize_ends_at_the_headers_and_is_told_what_is_spoken() {
    let body = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}"#;
    let call = Call { headers: Vec::new(), body: body.to_owned() };
    refuses(
        &call,
        expect![
            "400 -32020 AG-WIRE-HEADER id 0: the header `MCP-Protocol-Version` is missing; mirror the body in it; `initialize` is of an older revision of MCP, spoken here is `2026-07-28`"
        ],
    );
}

/// Each request breaks one rule and every later one: the earlier rule must answer.
#[test]
fn checks_in_the_order_of_the_specifications_tests() {
    let wrong_headers = |version: &str, method: &str, body: &str| {
        let call = Call { headers: Vec::new(), body: body.to_owned() };
        call.header("MCP-Protocol-Version", version).header("Mcp-Method", method).send().unwrap_err().ag
    };
    let unsupported = META.replace("2026-07-28", "x");
    let bare = |params: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"method":"nope","params":{params}}}"#);
    assert_eq!(wrong_headers("y", "z", "{"), code::SYNTAX);
    assert_eq!(wrong_headers("y", "z", "{}"), code::SHAPE);
    let missing = Call { headers: Vec::new(), body: bare("{}") };
    assert_eq!(missing.send().unwrap_err().ag, code::HEADER);
    assert_eq!(wrong_headers("y", "z", &bare("{}")), code::META);
    assert_eq!(wrong_headers("y", "z", &bare(&format!(r#"{{"_meta":{unsupported}}}"#))), code::HEADER);
    assert_eq!(wrong_headers("x", "z", &bare(&format!(r#"{{"_meta":{unsupported}}}"#))), code::VERSION);
    assert_eq!(wrong_headers("2026-07-28", "z", &bare(&format!(r#"{{"_meta":{META}}}"#))), code::HEADER);
    assert_eq!(
        wrong_headers("2026-07-28", "nope", &bare(&format!(r#"{{"Name":1,"_meta":{META}}}"#))),
        code::METHOD
    );
    assert_eq!(Call::new("tools/list", r#""cursor":1"#).send().unwrap_err().ag, code::PARAMS);
}

#[test]
fn every_rejection_carries_its_code_in_its_data() {
    let calls = [
        Call::with_body("tools/list", "{"),
        Call::with_body("tools/list", "{}"),
        Call::new("ping", ""),
        call("").without("Mcp-Name"),
        call(r#""arguments":1"#),
        with_meta("{}"),
    ];
    for call in calls {
        let rejection = call.send().unwrap_err();
        assert_eq!(rejection.data.as_ref().unwrap()["code"], rejection.ag);
        assert!(rejection.ag.starts_with("AG-WIRE-"));
        let body: serde_json::Value = serde_json::from_slice(&body_of(&rejection)).unwrap();
        assert_eq!(body["error"]["message"], rejection.to_string());
        assert_eq!(body["error"]["code"], rejection.code);
    }
}

#[test]
fn a_line_is_checked_as_a_request_is_but_for_headers() {
    let limits = Limits::default();
    let line = |method: &str, members: &str, version: &str| {
        let meta = META.replace("2026-07-28", version);
        let body =
            format!(r#"{{"jsonrpc":"2.0","id":7,"method":"{method}","params":{{{members}"_meta":{meta}}}}}"#);
        accept_line(body.as_bytes(), &limits, &[Method::CallTool], &["2026-07-28"])
    };
    let Ok(Incoming::Request(request)) = line("tools/call", r#""name":"t","#, "2026-07-28") else { panic!() };
    assert_eq!(request.target(), Some("t"));
    for (method, members, version, code) in [
        ("tools/call", "", "2026-07-28", code::PARAMS),
        ("tools/list", "", "2026-07-28", code::METHOD),
        ("tools/call", r#""name":"t","#, "2099-01-01", code::VERSION),
    ] {
        assert_eq!(line(method, members, version).unwrap_err().ag, code);
    }
}
