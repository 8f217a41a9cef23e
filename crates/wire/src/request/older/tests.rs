use expect_test::{Expect, expect};

use super::{Older, OlderMessage, accept_older, names_its_version};
use crate::guard::Limits;
use crate::request::Rejection;

fn check(body: &str, batches: bool, expected: Expect) {
    let limits = Limits { max_bytes: 400, max_depth: 8 };
    let shown = match accept_older(body.as_bytes(), &limits, batches) {
        Ok(Older::One(message)) => one(Ok(message)),
        Ok(Older::Batch(messages)) => messages.into_iter().map(one).collect::<Vec<_>>().join("\n"),
        Err(rejection) => one(Err(rejection)),
    };
    expected.assert_eq(&shown);
}

fn one(read: Result<OlderMessage, Rejection>) -> String {
    match read {
        Ok(OlderMessage::Request { id, method, params }) => {
            format!("{id:?} {method} {}", params.as_deref().map_or("none", |raw| raw.get()))
        }
        Ok(OlderMessage::Notification { method }) => method,
        Err(Rejection { http, code, message, id, ag, .. }) => format!("{http} {code} {ag} {id:?} {message}"),
    }
}

#[test]
fn one_message() {
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    check(request, false, expect!["RequestId(1) tools/list none"]);
    check(request, true, expect!["RequestId(1) tools/list none"]);
    let call = r#" {"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"x"}}"#;
    check(call, false, expect![[r#"RequestId("a") tools/call {"name":"x"}"#]]);
    let done = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    check(done, false, expect!["notifications/initialized"]);
}

#[test]
fn what_is_no_message_is_refused() {
    check(
        r#"{"jsonrpc":"2.0","method":"tools/list"}"#,
        false,
        expect![
            "400 -32600 AG-WIRE-SHAPE None expected `id`: `tools/list` is not a notification, and a request needs one"
        ],
    );
    check(
        r#"{"jsonrpc":"2.0","id":7,"id":8,"method":"ping"}"#,
        false,
        expect![
            "400 -32700 AG-WIRE-DUPLICATE-KEY None the key `id` at byte 24 repeats one of the same object; send each key once"
        ],
    );
    check(
        r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":{"a":[[[[[[[[[]]]]]]]]]}}"#,
        false,
        expect![
            "400 -32700 AG-WIRE-DEPTH Some(RequestId(7)) objects and arrays are nested more than 8 deep at byte 60; send a flatter value"
        ],
    );
    check(
        &format!(r#"{{"jsonrpc":"2.0","id":7,"method":"{}"}}"#, "m".repeat(400)),
        false,
        expect![
            "413 -32700 AG-WIRE-TOO-LARGE None the JSON has 436 bytes, more than the limit of 400; send less in one message"
        ],
    );
}

#[test]
fn a_batch_is_read_where_the_revision_has_batches() {
    let batch =
        r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"id":2},{"jsonrpc":"2.0","method":"notifications/x"}]"#;
    check(
        batch,
        true,
        expect![[r#"
            RequestId(1) ping none
            400 -32600 AG-WIRE-SHAPE Some(RequestId(2)) `jsonrpc` must be the string `2.0`
            notifications/x"#]],
    );
    check(
        batch,
        false,
        expect![
            "400 -32600 AG-WIRE-SHAPE None expected one JSON object; send one message for each POST, no batch"
        ],
    );
    check("[]", true, expect!["400 -32600 AG-WIRE-SHAPE None a batch has 1 to 32 messages, found 0"]);
    let many = format!("[{}0]", "0,".repeat(32));
    check(&many, true, expect!["400 -32600 AG-WIRE-SHAPE None a batch has 1 to 32 messages, found 33"]);
}

#[test]
fn only_the_later_form_names_its_version() {
    let later = br#"{"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":1}}}"#;
    assert!(names_its_version(later));
    let others: [&[u8]; 6] = [
        b"",
        b"[]",
        b"{}",
        br#"{"params":[]}"#,
        br#"{"params":{"_meta":{"progressToken":1}}}"#,
        b"{\"params\":{\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"\xff\"}}}",
    ];
    for other in others {
        assert!(!names_its_version(other), "{}", String::from_utf8_lossy(other));
    }
}
