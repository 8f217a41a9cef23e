mod bounds;
mod cases;
mod circles;
mod compositions;
mod definitions;
mod inputs;
mod laws;
mod outputs;
mod places;
mod reasons;
mod telling;
mod texts;

use expect_test::Expect;
use serde_json::{Value, json};

use super::{Diff, diff};
use crate::kind::Kind;

fn compared(kind: Kind, before: &Value, after: &Value) -> Diff {
    diff(kind, &before.to_string(), &after.to_string()).expect("definitions")
}

fn told(found: &Diff) -> String {
    let line =
        |change: &super::Change| format!("{} {}: {}\n", change.severity.word(), change.path, change.what);
    if found.changes().is_empty() {
        "no change\n".to_owned()
    } else {
        found.changes().iter().map(line).collect()
    }
}

/// What is told of two definitions.
fn check(kind: Kind, before: &Value, after: &Value, expected: &Expect) {
    expected.assert_eq(&told(&compared(kind, before, after)));
}

fn tool(member: &str, schema: &Value) -> Value {
    json!({"name": "t", member: schema})
}

/// One row for each pair of schemas under a member: the gravest severity, then both schemas.
fn rows(member: &str, pairs: &[(Value, Value)], expected: &Expect) {
    let row = |(before, after): &(Value, Value)| {
        let found = compared(Kind::Tool, &tool(member, before), &tool(member, after));
        let severity = found.severity().map_or("none", super::Severity::word);
        format!("{severity:<12} {before}  =>  {after}\n")
    };
    expected.assert_eq(&pairs.iter().map(row).collect::<String>());
}
