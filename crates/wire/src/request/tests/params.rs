use expect_test::{Expect, expect};

use super::super::Method;
use super::{Call, call};
use crate::code;

fn refuses(call: &Call, expected: Expect) {
    let rejection = call.send().unwrap_err();
    assert_eq!((rejection.code, rejection.ag), (-32602, code::PARAMS));
    expected.assert_eq(&rejection.to_string());
}

/// The policy bypass that typed decoding invites: a malformed call of a known method must never pass as another one.
#[test]
fn a_malformed_call_is_invalid_params_and_nothing_else() {
    refuses(&Call::new("tools/call", ""), expect!["`params` of `tools/call` lacks `name`; send it"]);
    refuses(
        &Call::new("tools/call", "").header("Mcp-Name", "t"),
        expect!["`params` of `tools/call` lacks `name`; send it"],
    );
    refuses(
        &Call::new("tools/call", r#""name":7"#).header("Mcp-Name", "7"),
        expect!["`name` in `params` of `tools/call` must be a string, found a number"],
    );
    refuses(
        &call(r#""arguments":[1]"#),
        expect!["`arguments` in `params` of `tools/call` must be an object, found an array"],
    );
    refuses(
        &call(r#""arguments":null"#),
        expect!["`arguments` in `params` of `tools/call` must be an object, found null"],
    );
    refuses(
        &call(r#""inputResponses":[]"#),
        expect!["`inputResponses` in `params` of `tools/call` must be an object, found an array"],
    );
    refuses(
        &call(r#""requestState":{}"#),
        expect!["`requestState` in `params` of `tools/call` must be a string, found an object"],
    );
    refuses(
        &Call::new("tools/list", r#""cursor":null"#),
        expect!["`cursor` in `params` of `tools/list` must be a string, found null"],
    );
    refuses(
        &Call::new("resources/read", r#""uri":[]"#),
        expect!["`uri` in `params` of `resources/read` must be a string, found an array"],
    );
    refuses(
        &Call::new("completion/complete", r#""ref":{}"#),
        expect!["`params` of `completion/complete` lacks `argument`; send it"],
    );
    refuses(
        &Call::new("subscriptions/listen", ""),
        expect!["`params` of `subscriptions/listen` lacks `notifications`; send it"],
    );
    refuses(
        &Call::new("tasks/update", r#""taskId":"T""#).header("Mcp-Name", "T"),
        expect!["`params` of `tasks/update` lacks `inputResponses`; send it"],
    );
    let prompt =
        Call::new("prompts/get", r#""name":"p","arguments":{"a":"b","n":1}"#).header("Mcp-Name", "p");
    refuses(
        &prompt,
        expect!["the value of `n` in `arguments` of `prompts/get` must be a string, found a number"],
    );
}

#[test]
fn reads_the_members_of_each_method() {
    let params =
        call(r#""inputResponses":{"k":{"action":"decline"}},"requestState":"s\u0000""#).request().params;
    assert_eq!(params.name.as_deref(), Some("t"));
    assert_eq!(params.input_responses.unwrap().get(), r#"{"k":{"action":"decline"}}"#);
    assert_eq!(params.request_state.as_deref(), Some("s\0"));
    assert!(params.arguments.is_none());

    let params = Call::new("tools/list", r#""cursor":"""#).request().params;
    assert_eq!(params.cursor.as_deref(), Some(""));
    let params = Call::new("completion/complete", r#""ref":{"r":1},"argument":{"a":1},"context":{"c":1}"#);
    let params = params.request().params;
    assert_eq!(params.reference.unwrap().get(), r#"{"r":1}"#);
    assert_eq!(params.argument.unwrap().get(), r#"{"a":1}"#);
    assert_eq!(params.context.unwrap().get(), r#"{"c":1}"#);
    let params =
        Call::new("subscriptions/listen", r#""notifications":{"toolsListChanged":true}"#).request().params;
    assert_eq!(params.notifications.unwrap().get(), r#"{"toolsListChanged":true}"#);
}

#[test]
fn drops_members_that_the_method_does_not_have() {
    let request = call(r#""task":{"ttl":1},"cursor":7,"uri":"x","unknown":[]"#).request();
    assert_eq!(request.params.cursor, None);
    assert_eq!(request.params.uri, None);
    let request = Call::new("server/discover", r#""name":{},"requestState":1"#).request();
    assert_eq!((request.method, request.params.name), (Method::Discover, None));
}

#[test]
fn a_member_that_differs_by_case_is_refused() {
    for members in [r#""Arguments":{}"#, r#""inputresponses":{}"#, r#""NAME":"u""#, r#""taskid":"x""#] {
        let rejection = call(members).send().unwrap_err();
        assert_eq!((rejection.code, rejection.ag), (-32602, code::KEY_CASE), "{members}");
    }
    assert!(call(r#""arguments":{"Name":"x","name":"y"}"#).send().is_ok(), "arguments are the tool's own");
}

#[test]
fn methods_are_named_as_the_wire_names_them() {
    for method in Method::ALL {
        assert_eq!(Method::parse(method.as_str()), Some(method));
    }
    assert_eq!(Method::parse("tools/Call"), None);
    assert_eq!(Method::parse(""), None);
}
