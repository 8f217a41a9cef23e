use expect_test::{Expect, expect};
use serde_json::json;
use serde_json::value::RawValue;

use super::{
    Answer, AnswerFault, Message, ResultKind, ResultView, SpliceFault, error_bytes, read, read_message,
    response_bytes,
};
use crate::guard::Limits;
use crate::presence::Presence;
use crate::request::RequestId;

fn raw(text: &str) -> &RawValue {
    serde_json::from_str(text).unwrap()
}

fn answer(body: &str) -> Result<Answer, AnswerFault> {
    read(body.as_bytes(), 7, &Limits::default())
}

fn result(result: &str) -> Result<ResultView, AnswerFault> {
    match answer(&format!(r#"{{"jsonrpc":"2.0","id":7,"result":{result}}}"#))? {
        Answer::Result(view) => Ok(view),
        Answer::Error { message, .. } => panic!("error {message}"),
    }
}

fn refuses(body: &str, expected: Expect) {
    expected.assert_eq(&answer(body).unwrap_err().to_string());
}

#[test]
fn keeps_the_result_byte_by_byte() {
    let text = r#"{ "content":[{"type":"odd","n":12345678901234567890123,"x":1e400}], "isError" : null,"s":"\ud800","d":1,"d":2}"#;
    let view = result(text).unwrap();
    assert_eq!(view.raw().get(), text);
    assert_eq!(view.kind, ResultKind::Complete);
    assert_eq!(view.is_error, Presence::Null);
    assert!(matches!(view.structured_content, Presence::Absent));
    assert!(!view.failed());
}

#[test]
fn tells_absent_null_and_values_apart() {
    assert!(matches!(result("{}").unwrap().structured_content, Presence::Absent));
    assert!(matches!(result(r#"{"structuredContent":null}"#).unwrap().structured_content, Presence::Null));
    let view = result(r#"{"structuredContent":[1.10],"isError":true}"#).unwrap();
    assert_eq!(view.structured_content.value().unwrap().get(), "[1.10]");
    assert!(view.failed());
    assert_eq!(result(r#"{"isError":false}"#).unwrap().is_error, Presence::Value(false));
}

#[test]
fn reads_each_kind_of_result() {
    let view = result(r#"{"resultType":"complete"}"#).unwrap();
    assert_eq!((view.kind, view.kind_stated), (ResultKind::Complete, true));
    let view = result("{}").unwrap();
    assert_eq!((view.kind, view.kind_stated), (ResultKind::Complete, false));
    let view =
        result(r#"{"resultType":"input_required","inputRequests":{"k":{}},"requestState":"s"}"#).unwrap();
    assert_eq!(view.kind, ResultKind::InputRequired);
    assert_eq!(view.input_requests.unwrap().get(), r#"{"k":{}}"#);
    assert_eq!(view.request_state.as_deref(), Some("s"));
    let view = result(r#"{"resultType":"task","taskId":"T","status":"working"}"#).unwrap();
    assert_eq!((view.kind, view.task_id.as_deref()), (ResultKind::Task, Some("T")));
    let view = result(r#"{"requestState":1,"inputRequests":2,"taskId":3}"#).unwrap();
    assert_eq!(view.request_state, None, "a complete result may have members of these names");
}

#[test]
fn refuses_results_that_cannot_be_understood() {
    for (text, fault) in [
        (r#"{"resultType":"partial"}"#, "the answer has the unknown `resultType` `partial`"),
        (r#"{"resultType":null}"#, "`resultType` in the answer must be a string, found null"),
        (r#"{"isError":"no"}"#, "`isError` in the answer must be a boolean, found a string"),
        (
            r#"{"resultType":"input_required"}"#,
            "an `input_required` answer must have `inputRequests` or `requestState`",
        ),
        (
            r#"{"resultType":"input_required","inputRequests":[]}"#,
            "`inputRequests` in the answer must be an object, found an array",
        ),
        (
            r#"{"resultType":"input_required","requestState":7}"#,
            "`requestState` in the answer must be a string, found a number",
        ),
        (r#"{"resultType":"task"}"#, "`taskId` in the answer must be a string, found nothing"),
        (r#"{"_meta":[]}"#, "`_meta` in the answer must be an object, found an array"),
        (r#"{"isError":false,"isError":true}"#, "the answer repeats the member `isError`"),
        (
            r#"{"structuredContent":1,"structured\u0043ontent":2}"#,
            "the answer repeats the member `structuredContent`",
        ),
        (r#"{"_meta":{},"_meta":{}}"#, "the answer repeats the member `_meta`"),
        (
            r#"{"_meta":{"io.github.aldgate/refusal":{}}}"#,
            "the answer's `_meta` holds the key `io.github.aldgate/refusal`, which only the gateway may set",
        ),
        (
            r#"{"_meta":{"io.GitHub.aldgate\/x":1}}"#,
            "the answer's `_meta` holds the key `io.GitHub.aldgate/x`, which only the gateway may set",
        ),
        ("[]", "`result` in the answer must be an object, found an array"),
    ] {
        assert_eq!(result(text).unwrap_err().to_string(), fault, "{text}");
    }
}

#[test]
fn refuses_what_is_not_the_answer() {
    refuses(r#"{"jsonrpc":"2.0","id":8,"result":{}}"#, expect!["the answer has the id `8`, expected `7`"]);
    refuses(
        r#"{"jsonrpc":"2.0","id":"7","result":{}}"#,
        expect![[r#"the answer has the id `"7"`, expected `7`"#]],
    );
    refuses(
        r#"{"jsonrpc":"2.0","id":7.0,"result":{}}"#,
        expect!["the answer has the id `7.0`, expected `7`"],
    );
    refuses(r#"{"jsonrpc":"2.0","result":{}}"#, expect!["the answer has the id ``, expected `7`"]);
    refuses(r#"{"jsonrpc":"2.0","id":7,"id":8,"result":{}}"#, expect!["the answer repeats the member `id`"]);
    refuses(
        r#"{"jsonrpc":"2.0","id":7}"#,
        expect!["the answer must have exactly one of `result` and `error`"],
    );
    refuses(
        r#"{"jsonrpc":"2.0","id":7,"result":{},"error":{"code":1,"message":""}}"#,
        expect!["the answer must have exactly one of `result` and `error`"],
    );
    refuses(
        r#"{"jsonrpc":"2.0","id":7,"result":{},"result":{}}"#,
        expect!["the answer repeats the member `result`"],
    );
    refuses(r#"{"id":7,"result":{}}"#, expect!["the answer must be one JSON-RPC 2.0 object"]);
    refuses(
        r#"[{"jsonrpc":"2.0","id":7,"result":{}}]"#,
        expect!["the answer must be one JSON-RPC 2.0 object"],
    );
    refuses(
        r#"{"jsonrpc":"2.0","id":7,"method":"roots/list"}"#,
        expect!["the upstream sent the request `roots/list`; a server may not"],
    );
    refuses(
        r#"{"jsonrpc":"2.0","method":"notifications/progress"}"#,
        expect!["expected the answer, found the notification `notifications/progress`"],
    );
    refuses("{", expect!["the answer cannot be read"]);
    let deep = format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{"a":{}{}}}}}"#, "[".repeat(63), "]".repeat(63));
    assert!(matches!(answer(&deep), Err(AnswerFault::Unreadable(_))));
}

#[test]
fn reads_errors_and_keeps_what_they_add() {
    let error = r#"{"code":-32602,"message":"Unknown tool: nope","data":{"n":1.10},"vendor":[]}"#;
    match answer(&format!(r#"{{"jsonrpc":"2.0","id":7,"error":{error}}}"#)).unwrap() {
        Answer::Error { code, message, data, raw } => {
            assert_eq!((code, message.as_str()), (-32602, "Unknown tool: nope"));
            assert_eq!(data.unwrap().get(), r#"{"n":1.10}"#);
            assert_eq!(raw.get(), error);
        }
        Answer::Result(_) => panic!("a result"),
    }
    for id in ["", r#""id":null,"#] {
        let body = format!(r#"{{"jsonrpc":"2.0",{id}"error":{{"code":9223372036854775807,"message":""}}}}"#);
        assert!(matches!(answer(&body), Ok(Answer::Error { code: i64::MAX, .. })), "{body}");
    }
    refuses(
        r#"{"jsonrpc":"2.0","id":8,"error":{"code":1,"message":""}}"#,
        expect!["the answer has the id `8`, expected `7`"],
    );
    refuses(
        r#"{"jsonrpc":"2.0","id":7,"error":{"code":1.5,"message":""}}"#,
        expect!["`error.code` in the answer must be an integer, found a number"],
    );
    refuses(
        r#"{"jsonrpc":"2.0","id":7,"error":{"code":1}}"#,
        expect!["`error.message` in the answer must be a string, found nothing"],
    );
    refuses(
        r#"{"jsonrpc":"2.0","id":7,"error":null}"#,
        expect!["`error` in the answer must be an object, found null"],
    );
}

#[test]
fn reads_notifications_of_a_stream() {
    let body = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":0.10}}"#;
    match read_message(body.as_bytes(), 7, &Limits::default()).unwrap() {
        Message::Notification { method, params } => {
            assert_eq!(method, "notifications/progress");
            assert_eq!(params.unwrap().get(), r#"{"progress":0.10}"#);
        }
        Message::Answer(_) => panic!("an answer"),
    }
}

fn spliced(text: &str, set: &[(&str, &str)], drop_prefix: &[&str]) -> Result<String, SpliceFault> {
    let set: Vec<(&str, &RawValue)> = set.iter().map(|(key, value)| (*key, raw(value))).collect();
    let bytes = result(text).unwrap().with_meta(&set, drop_prefix)?;
    Ok(String::from_utf8(bytes).unwrap())
}

#[test]
fn splices_meta_and_leaves_every_other_byte() {
    let server =
        [("io.modelcontextprotocol/serverInfo", r#"{"name":"gw"}"#), ("io.github.aldgate/x", "1.10")];
    for (before, after) in [
        (
            "{}",
            r#"{"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"gw"},"io.github.aldgate/x":1.10}}"#,
        ),
        (
            "{ \n}",
            "{ \n\"_meta\":{\"io.modelcontextprotocol/serverInfo\":{\"name\":\"gw\"},\"io.github.aldgate/x\":1.10}}",
        ),
        (
            r#"{"a":[ 1.0 ] }"#,
            r#"{"a":[ 1.0 ] ,"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"gw"},"io.github.aldgate/x":1.10}}"#,
        ),
        (
            r#"{"_meta" : {"z":1E5,"io.modelcontextprotocol\/serverInfo":{"name":"up"},"k":"\u00e9"} , "a":"_meta"}"#,
            r#"{"_meta" : {"z":1E5,"io.modelcontextprotocol/serverInfo":{"name":"gw"},"k":"\u00e9","io.github.aldgate/x":1.10} , "a":"_meta"}"#,
        ),
        (
            r#"{"a":{"_meta":{"deep":1}},"_meta":{}}"#,
            r#"{"a":{"_meta":{"deep":1}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"gw"},"io.github.aldgate/x":1.10}}"#,
        ),
    ] {
        assert_eq!(spliced(before, &server, &[]).as_deref(), Ok(after));
    }
}

#[test]
fn drops_keys_by_prefix_but_not_those_it_sets() {
    let text = r#"{"_meta":{"io.modelcontextprotocol/serverInfo":1,"io.modelcontextprotocol/x":2,"keep":3}}"#;
    assert_eq!(
        spliced(text, &[("io.modelcontextprotocol/serverInfo", "0")], &["io.modelcontextprotocol/"])
            .as_deref(),
        Ok(r#"{"_meta":{"io.modelcontextprotocol/serverInfo":0,"keep":3}}"#)
    );
    assert_eq!(spliced(r#"{"a":1}"#, &[], &[]).as_deref(), Ok(r#"{"a":1,"_meta":{}}"#));
}

#[test]
fn refuses_a_meta_that_would_be_ambiguous() {
    assert_eq!(
        spliced("{}", &[("a", "1"), ("a", "2")], &[]),
        Err(SpliceFault::SetTwice { key: "a".to_owned() })
    );
    let text = r#"{"_meta":{"a":1,"a":2}}"#;
    assert_eq!(spliced(text, &[("a", "3")], &[]), Err(SpliceFault::Repeated { key: "a".to_owned() }));
    assert_eq!(spliced(text, &[("b", "3")], &[]).as_deref(), Ok(r#"{"_meta":{"a":1,"a":2,"b":3}}"#));
}

#[test]
fn writes_responses_with_the_id_as_it_was_spelled() {
    let id = RequestId::from_raw(raw(r#""caf\u00e9""#)).unwrap();
    assert_eq!(response_bytes(&id, b"{ }"), br#"{"jsonrpc":"2.0","id":"caf\u00e9","result":{ }}"#);
    assert_eq!(
        error_bytes(None, -32700, "a \"b\"", Some(&json!({"code": "AG"}))),
        br#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"a \"b\"","data":{"code":"AG"}}}"#
    );
}

#[test]
fn no_undefined_code_of_the_reserved_range_leaves() {
    let sent = |code| {
        let bytes = error_bytes(None, code, "m", None);
        let body: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        body["error"]["code"].as_i64().unwrap()
    };
    for code in [-32002, -32042, -32000, -32019, -32023, -32099, -32768, -32604] {
        assert_eq!(sent(code), -32603, "{code}");
    }
    for code in [-32700, -32600, -32601, -32602, -32603, -32020, -32021, -32022, 1, 403, -31999, -32769] {
        assert_eq!(sent(code), code);
    }
}
