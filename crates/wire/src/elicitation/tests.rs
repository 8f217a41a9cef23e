use serde_json::value::RawValue;

use super::{Action, InputFault, InputKind, requests, responses};

fn raw(text: &str) -> &RawValue {
    serde_json::from_str(text).unwrap()
}

#[test]
fn reads_every_kind_of_question() {
    let form = r#"{"method":"elicitation/create","params":{"mode":"form","message":"m","requestedSchema":{"type":"object","x-y":1.10}}}"#;
    let text = format!(
        r#"{{"f":{form},"g":{{"method":"elicitation/create","params":{{"message":"m","requestedSchema":{{}}}}}},
            "u":{{"method":"elicitation/create","params":{{"mode":"url","message":"m","url":"https://a.example/"}}}},
            "s":{{"method":"sampling/createMessage","params":{{"maxTokens":1}}}},"r":{{"method":"roots/list"}}}}"#
    );
    let asked = requests(raw(&text)).unwrap();
    let keys: Vec<&str> = asked.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(keys, ["f", "g", "u", "s", "r"]);
    assert_eq!(asked[0].1.raw.get(), form);
    match &asked[0].1.kind {
        InputKind::ElicitForm { message, requested_schema } => {
            assert_eq!((message.as_str(), requested_schema.get()), ("m", r#"{"type":"object","x-y":1.10}"#));
        }
        other => panic!("{other:?}"),
    }
    assert!(matches!(asked[1].1.kind, InputKind::ElicitForm { .. }), "an absent mode is a form");
    assert!(matches!(&asked[2].1.kind, InputKind::ElicitUrl { url, .. } if url == "https://a.example/"));
    assert!(matches!(asked[3].1.kind, InputKind::Sampling));
    assert!(matches!(asked[4].1.kind, InputKind::Roots));
}

#[test]
fn refuses_questions_that_are_not_the_specifications() {
    for (entry, fault) in [
        ("7", "`the request` under `k` must be an object, found a number"),
        ("{}", "`method` under `k` must be a string, found nothing"),
        (
            r#"{"method":"tools/call","params":{}}"#,
            "`method` under `k` must be `elicitation/create`, `sampling/createMessage` or `roots/list`, found `tools/call`",
        ),
        (r#"{"method":"roots/list","id":1}"#, "the entry `k` may not hold `id`"),
        (r#"{"method":"roots/list","jsonrpc":"2.0"}"#, "the entry `k` may not hold `jsonrpc`"),
        (r#"{"method":"elicitation/create"}"#, "`params` under `k` must be an object, found nothing"),
        (r#"{"method":"roots/list","params":[]}"#, "`params` under `k` must be an object, found an array"),
        (
            r#"{"method":"elicitation/create","params":{"mode":"popup","message":"m"}}"#,
            "`mode` under `k` must be `form` or `url`, found `popup`",
        ),
        (
            r#"{"method":"elicitation/create","params":{"mode":null,"message":"m"}}"#,
            "`mode` under `k` must be a string, found null",
        ),
        (
            r#"{"method":"elicitation/create","params":{"message":"m"}}"#,
            "`requestedSchema` under `k` must be an object, found nothing",
        ),
        (
            r#"{"method":"elicitation/create","params":{"requestedSchema":{}}}"#,
            "`message` under `k` must be a string, found nothing",
        ),
        (
            r#"{"method":"elicitation/create","params":{"mode":"url","message":"m"}}"#,
            "`url` under `k` must be a string, found nothing",
        ),
        (
            r#"{"method":"elicitation/create","params":{"mode":"form","mode":"url","message":"m","url":"x"}}"#,
            "the key `mode` occurs twice",
        ),
        (
            r#"{"method":"roots/list","params":{"_meta":{"io.github.aldgate/x":1}}}"#,
            "the entry `k` may not hold `io.github.aldgate/x`",
        ),
        (
            r#"{"method":"roots/list","params":{"_meta":{"io.modelcontextprotocol/clientCapabilities":{}}}}"#,
            "the entry `k` may not hold `io.modelcontextprotocol/clientCapabilities`",
        ),
    ] {
        let found = requests(raw(&format!(r#"{{"k":{entry}}}"#))).unwrap_err();
        assert_eq!(found.to_string(), fault, "{entry}");
    }
    let twice = r#"{"k":{"method":"roots/list"},"\u006b":{"method":"roots/list"}}"#;
    assert_eq!(requests(raw(twice)).unwrap_err(), InputFault::Repeated { key: "k".to_owned() });
    assert!(requests(raw("[]")).is_err());
    assert!(requests(raw("{}")).unwrap().is_empty());
}

#[test]
fn reads_answers_of_every_kind() {
    let text = r#"{"a":{"action":"accept","content":{"n":1.10}},"b":{"action":"decline"},"c":{"action":"cancel"},"d":{"roots":[]}}"#;
    let given = responses(raw(text)).unwrap();
    let actions: Vec<Option<Action>> = given.iter().map(|(_, answer)| answer.action).collect();
    assert_eq!(actions, [Some(Action::Accept), Some(Action::Decline), Some(Action::Cancel), None]);
    assert_eq!(given[0].1.content.as_ref().unwrap().get(), r#"{"n":1.10}"#);
    assert!(given[1].1.content.is_none());
    assert_eq!(given[3].1.raw.get(), r#"{"roots":[]}"#);
}

#[test]
fn refuses_answers_that_cannot_be_understood() {
    for text in
        [r#"{"a":{"action":"yes"}}"#, r#"{"a":{"action":null}}"#, r#"{"a":[]}"#, r#"{"a":null}"#, "[]"]
    {
        assert!(responses(raw(text)).is_err(), "{text}");
    }
}
