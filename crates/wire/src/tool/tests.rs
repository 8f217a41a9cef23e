use serde_json::value::RawValue;

use super::{Hints, ToolFault, ToolView, view};

fn read(text: &str) -> Result<ToolView, ToolFault> {
    view(serde_json::from_str::<&RawValue>(text).unwrap())
}

fn with(members: &str) -> String {
    format!(r#"{{"name":"t","inputSchema":{{"type":"object"}}{members}}}"#)
}

#[test]
fn reads_what_the_gateway_looks_at() {
    let tool = read(
        r#"{"name":"t","title":"T","description":"d\u00e9","inputSchema":{"type":"object","x":1.10},
            "outputSchema":{"type":"array"},"annotations":{"readOnlyHint":true,"destructiveHint":false,"title":7}}"#,
    )
    .unwrap();
    assert_eq!((tool.name.as_str(), tool.title.as_deref()), ("t", Some("T")));
    assert_eq!(tool.description.as_deref(), Some("dé"));
    assert_eq!(tool.input_schema.get(), r#"{"type":"object","x":1.10}"#);
    assert_eq!(tool.output_schema.unwrap().get(), r#"{"type":"array"}"#);
    let expected =
        Hints { read_only: Some(true), destructive: Some(false), idempotent: None, open_world: None };
    assert_eq!(tool.hints, expected);
}

#[test]
fn absent_hints_stay_absent() {
    assert_eq!(read(&with("")).unwrap().hints, Hints::default());
    assert_eq!(read(&with(r#","annotations":{}"#)).unwrap().hints, Hints::default());
}

#[test]
fn a_hint_that_is_not_a_boolean_is_a_fault() {
    for (hint, value) in [
        ("readOnlyHint", "null"),
        ("destructiveHint", "0"),
        ("idempotentHint", "\"true\""),
        ("openWorldHint", "[]"),
    ] {
        let fault = read(&with(&format!(r#","annotations":{{"{hint}":{value}}}"#))).unwrap_err();
        assert!(
            matches!(fault, ToolFault::Wrong { member, expected: "a boolean", .. } if member == hint),
            "{fault}"
        );
    }
    assert!(read(&with(r#","annotations":null"#)).is_err());
    assert!(read(&with(r#","annotations":[]"#)).is_err());
    let twice = read(&with(r#","annotations":{"readOnlyHint":true,"readOnlyHint":false}"#)).unwrap_err();
    assert_eq!(twice, ToolFault::Repeated { member: "readOnlyHint".to_owned() });
}

#[test]
fn schemas_must_be_object_schemas() {
    for definition in [
        r#"{"name":"t"}"#,
        r#"{"name":"t","inputSchema":null}"#,
        r#"{"name":"t","inputSchema":true}"#,
        r#"{"name":"t","inputSchema":{}}"#,
        r#"{"name":"t","inputSchema":{"type":"array"}}"#,
        r#"{"name":"t","inputSchema":{"type":["object"]}}"#,
        r#"{"name":7,"inputSchema":{"type":"object"}}"#,
        r#"{"inputSchema":{"type":"object"}}"#,
        "[]",
    ] {
        assert!(read(definition).is_err(), "{definition}");
    }
    assert!(read(&with(r#","outputSchema":null"#)).is_err());
    assert!(read(&with(r#","description":7"#)).is_err());
    assert_eq!(
        read(&with(r#","title":null"#)).unwrap_err().to_string(),
        "`title` of a tool must be a string, found null"
    );
}
