mod document;
mod edges;
mod effort;
mod histories;
mod hostile;
mod laws;
mod renames;
mod rules;
mod ways;

use std::fmt::Write as _;

use expect_test::{Expect, expect};
use serde_json::{Map, Value, json};

use super::{Mode, Repair, Revision, simulate};
use crate::rename::Confirmed;

/// Contracts of one tool: version 1, 2 and so on.
#[derive(Debug)]
struct Tool {
    definitions: Vec<Value>,
    confirmed: Vec<Vec<Confirmed>>,
}

impl Tool {
    fn of(schemas: &[Value]) -> Self {
        let definitions = schemas.iter().map(|schema| json!({"name": "t", "inputSchema": schema})).collect();
        Self { definitions, confirmed: vec![Vec::new(); schemas.len()] }
    }

    /// With a rename that somebody confirmed when this version was accepted.
    fn confirm(mut self, version: usize, from: &str, to: &str) -> Self {
        self.confirmed[version - 1].push(Confirmed { from: from.to_owned(), to: to.to_owned() });
        self
    }

    fn simulate(&self, args: &Value, mode: Mode) -> Repair {
        let revisions: Vec<Revision<'_>> = (1..)
            .zip(self.definitions.iter().zip(&self.confirmed))
            .map(|(version, (definition, confirmed))| Revision { version, definition, confirmed })
            .collect();
        simulate(&revisions, args.as_object().expect("an object"), mode)
    }
}

/// An object schema that allows nothing else; `!` where a property is required.
fn closed(properties: Value) -> Value {
    let mut schema = open(properties);
    schema["additionalProperties"] = json!(false);
    schema
}

fn open(properties: Value) -> Value {
    let Value::Object(properties) = properties else { panic!("an object") };
    let required: Vec<&str> = properties.keys().filter_map(|name| name.strip_suffix('!')).collect();
    let declared: Map<String, Value> = properties
        .iter()
        .map(|(name, schema)| (name.trim_end_matches('!').to_owned(), schema.clone()))
        .collect();
    json!({"type": "object", "properties": declared, "required": required})
}

fn told(repair: &Repair) -> String {
    let mut text = String::new();
    for change in &repair.changes {
        let shown = |value: &Option<Value>| value.as_ref().map_or_else(|| "-".to_owned(), Value::to_string);
        let rule = serde_json::to_value(change.rule).expect("JSON");
        let to = change.to.as_ref().map_or_else(String::new, |to| format!(" to {to}"));
        let (before, after) = (shown(&change.before), shown(&change.after));
        writeln!(
            text,
            "{} {}{to}: {before} > {after} ({})",
            rule.as_str().expect("text"),
            change.path,
            change.confidence
        )
        .expect("written");
    }
    let args = Value::Object(repair.args.clone());
    writeln!(text, "{}: {}", if repair.applied { "applied" } else { "as given" }, repair.reason)
        .expect("written");
    writeln!(text, "{args}").expect("written");
    text
}

fn check(tool: &Tool, args: &Value, mode: Mode, expected: &Expect) {
    expected.assert_eq(&told(&tool.simulate(args, mode)));
}

fn ticket() -> Tool {
    Tool::of(&[
        closed(json!({
            "ticketId!": {"type": "string", "description": "Ticket to read"},
            "limit": {"type": "integer"},
            "status": {"enum": ["open", "in progress"]},
            "debug": {"type": "boolean"},
        })),
        closed(json!({
            "ticket_id!": {"type": "string", "description": "Ticket to read"},
            "limit": {"type": "integer"},
            "status": {"enum": ["OPEN", "IN_PROGRESS"]},
            "locale!": {"type": "string", "default": "en"},
        })),
    ])
}

#[test]
fn every_rule_takes_its_part() {
    check(
        &ticket(),
        &json!({"ticketId": "SR-1", "limit": "12", "status": "in progress", "debug": true}),
        Mode::Repair,
        &expect![[r#"
            rename /ticketId to /ticket_id: "SR-1" > "SR-1" (0.98)
            coerce /limit: "12" > 12 (1)
            map_enum /status: "in progress" > "IN_PROGRESS" (0.95)
            drop /debug: true > - (0.6)
            default /locale: - > "en" (0.9)
            applied: written as if for version 1, with 5 changes they are valid under version 2
            {"ticket_id":"SR-1","limit":12,"status":"IN_PROGRESS","locale":"en"}
        "#]],
    );
}

#[test]
fn observing_lists_the_same_and_leaves_the_arguments() {
    check(
        &ticket(),
        &json!({"ticketId": "SR-1", "limit": 3}),
        Mode::Observe,
        &expect![[r#"
        rename /ticketId to /ticket_id: "SR-1" > "SR-1" (0.98)
        default /locale: - > "en" (0.9)
        as given: only observed: written for version 1, with 2 changes they would be valid under version 2
        {"ticketId":"SR-1","limit":3}
    "#]],
    );
}

#[test]
fn strict_takes_confirmed_renames_and_coercion_alone() {
    let args = json!({"ticketId": "SR-1", "limit": "12"});
    check(
        &ticket(),
        &args,
        Mode::Strict,
        &expect![[r#"
        coerce /limit: "12" > 12 (1)
        as given: they would still not be valid under version 2 after 1 change: the whole: "ticket_id" is a required property; `/ticketId` may have become `/ticket_id` (confidence 0.98), which nobody confirmed
        {"ticketId":"SR-1","limit":"12"}
    "#]],
    );
    check(
        &ticket().confirm(2, "ticketId", "ticket_id"),
        &args,
        Mode::Strict,
        &expect![[r#"
        rename /ticketId to /ticket_id: "SR-1" > "SR-1" (1)
        coerce /limit: "12" > 12 (1)
        as given: they would still not be valid under version 2 after 2 changes: the whole: "locale" is a required property
        {"ticketId":"SR-1","limit":"12"}
    "#]],
    );
    let tool = Tool::of(&[
        closed(json!({"ref!": {"type": "string"}, "limit": {"type": "integer"}})),
        closed(json!({"case!": {"type": "string"}, "limit": {"type": "integer"}})),
    ]);
    let tool = tool.confirm(2, "ref", "case");
    check(
        &tool,
        &json!({"ref": "SR-1", "limit": "12"}),
        Mode::Strict,
        &expect![[r#"
        rename /ref to /case: "SR-1" > "SR-1" (1)
        coerce /limit: "12" > 12 (1)
        applied: written as if for version 1, with 2 changes they are valid under version 2
        {"case":"SR-1","limit":12}
    "#]],
    );
}

#[test]
fn what_no_version_knew_is_not_dropped() {
    let schema = closed(json!({"id!": {"type": "integer"}}));
    check(
        &Tool::of(&[schema.clone(), schema]),
        &json!({"id": "1", "typo": 1}),
        Mode::Repair,
        &expect![[r#"
        coerce /id: "1" > 1 (1)
        as given: they would still not be valid under version 2 after 1 change: the whole: Additional properties are not allowed ('typo' was unexpected)
        {"id":"1","typo":1}
    "#]],
    );
}

#[test]
fn why_nothing_is_applied_is_said() {
    let args = json!({"id": "x"});
    let none = Tool::of(&[]);
    check(
        &none,
        &args,
        Mode::Repair,
        &expect![[r#"
        as given: no contract is pinned
        {"id":"x"}
    "#]],
    );
    check(
        &Tool::of(&[json!({"$ref": "https://e.example/"})]),
        &args,
        Mode::Repair,
        &expect![[r#"
        as given: the input schema of version 1 is not usable: it refers to `https://e.example/`, which is nothing in it; references out of a schema are never fetched
        {"id":"x"}
    "#]],
    );
    check(
        &Tool::of(&[closed(json!({"id": {"type": "string"}}))]),
        &args,
        Mode::Repair,
        &expect![[r#"
        as given: nothing to change: the arguments are valid under version 1
        {"id":"x"}
    "#]],
    );
    check(
        &Tool::of(&[closed(json!({"id": {"type": "integer"}}))]),
        &args,
        Mode::Repair,
        &expect![[r#"
        as given: no rule makes them valid under version 1: `/id`: the value is not of type "integer"
        {"id":"x"}
    "#]],
    );
    check(
        &Tool::of(&[closed(json!({"id": {"type": "integer", "maximum": 3}}))]),
        &json!({"id": "4"}),
        Mode::Repair,
        &expect![[r#"
            coerce /id: "4" > 4 (1)
            as given: they would still not be valid under version 1 after 1 change: `/id`: the value is greater than the maximum of 3
            {"id":"4"}
        "#]],
    );
    let mut lost = Tool::of(&[json!({})]);
    lost.definitions = vec![json!({"name": "t"})];
    check(
        &lost,
        &args,
        Mode::Repair,
        &expect![[r#"
        as given: version 1 has no input schema
        {"id":"x"}
    "#]],
    );
    let many = Tool::of(&[json!({"additionalProperties": {"type": "integer"}})]);
    let args: Map<String, Value> = (0..300).map(|at| (format!("k{at}"), json!("1"))).collect();
    assert_eq!(
        many.simulate(&Value::Object(args), Mode::Repair).reason,
        "making them valid under version 1 takes more than 256 changes, or too much work"
    );
    let args: Map<String, Value> = (0..5000).map(|at| (format!("k{at}"), json!("1"))).collect();
    assert_eq!(
        many.simulate(&Value::Object(args), Mode::Repair).reason,
        "the arguments hold 5001 values, 1 deep; at most 4096, 64 deep, are looked at"
    );
}
