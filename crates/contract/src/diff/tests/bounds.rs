//! What a comparison takes, and where it ends.

use serde_json::{Map, Value, json};

use super::{compared, told, tool};
use crate::kind::Kind;

const SLOW: &str =
    "breaking /inputSchema: the comparison takes too long, so nothing is shown to be compatible\n";
const DEEP: &str = "breaking /inputSchema: the schemas are chained too deep to be compared, so nothing is shown to be compatible\n";

fn arguments(before: &Value, after: &Value) -> String {
    told(&compared(Kind::Tool, &tool("inputSchema", before), &tool("inputSchema", after)))
}

fn is_compatible(before: &Value, after: &Value) -> bool {
    let found = arguments(before, after);
    !found.is_empty() && found.lines().all(|line| line.starts_with("compatible "))
}

fn named(count: usize, schema: impl Fn(usize) -> Value) -> Map<String, Value> {
    (0..count).map(|at| (format!("p{at}"), schema(at))).collect()
}

/// A chain of properties, so many deep.
fn chain(count: usize, last: &Value) -> Value {
    let mut defs = named(count, |at| json!({"properties": {"n": {"$ref": format!("#/$defs/p{}", at + 1)}}}));
    defs.insert(format!("p{count}"), last.clone());
    json!({"$ref": "#/$defs/p0", "$defs": defs})
}

#[test]
fn a_chain_is_followed_as_deep_as_proofs_may_be() {
    let (narrow, wide) = (json!({"type": "string"}), json!({"type": ["string", "null"]}));
    assert!(is_compatible(&chain(159, &narrow), &chain(159, &wide)));
    assert_eq!(arguments(&chain(160, &narrow), &chain(160, &wide)), DEEP);
    // What every value fits needs no proof.
    assert!(is_compatible(&chain(160, &narrow), &chain(160, &json!(true))));
}

#[test]
fn a_wide_schema_is_not_a_deep_one() {
    let wide = |limit: usize| json!({"properties": named(400, |at| json!({"maximum": at + limit}))});
    assert!(is_compatible(&wide(5), &wide(6)));
    let none = |at: usize| json!({"not": {"type": "integer", "minimum": at}});
    assert!(is_compatible(
        &json!({"type": "string"}),
        &json!({"type": "string", "allOf": (0..400).map(none).collect::<Vec<_>>()})
    ));
}

/// Each name has two alternatives, which both need the next one; there is nothing that the last could be.
#[test]
fn what_was_shown_to_be_nothing_is_not_looked_at_again() {
    let mut defs = named(20, |at| {
        let one = |name: &str| json!({"type": "object", "required": [name], "properties": {(name): {"$ref": format!("#/$defs/p{}", at + 1)}}});
        json!({"anyOf": [one("a"), one("b")]})
    });
    defs.insert("p20".to_owned(), json!({"type": "string", "minLength": 3, "maxLength": 2}));
    assert!(is_compatible(&json!({"$ref": "#/$defs/p0", "$defs": defs}), &json!({"const": 1})));
}

/// Each name leads to the next one twice, so that there are a million ways to the last.
#[test]
fn what_was_shown_once_is_not_shown_again() {
    let twice = |limit: usize| {
        let mut defs = named(20, |at| {
            let next = json!({"$ref": format!("#/$defs/p{}", at + 1)});
            json!({"properties": {"a": next, "b": next}})
        });
        defs.insert("p20".to_owned(), json!({"maximum": limit}));
        json!({"$ref": "#/$defs/p0", "$defs": defs})
    };
    assert!(is_compatible(&twice(5), &twice(6)));
}

#[test]
fn long_lists_are_compared_without_looking_at_each_pair() {
    let texts = |one: &str| (0..3000).map(|at| json!(format!("t{at}"))).chain([json!(one)]).rev().collect();
    let numbers = |one: i64| (0..3000).map(|at| json!(at)).chain([json!(one)]).rev().collect();
    let list = |values: Vec<Value>| json!({"enum": values});
    for (before, after, value) in
        [(texts("gone"), texts("new"), r#""gone""#), (numbers(-1), numbers(-2), "-1")]
    {
        assert_eq!(
            arguments(&list(before), &list(after)),
            format!("breaking /inputSchema/enum: the value `{value}` may no longer be accepted\n")
        );
    }
}

/// A schema that refers to others is compiled with all that is around it.
#[test]
fn looking_at_values_takes_as_long_as_the_schema_is_large() {
    let before =
        |size: usize| json!({"properties": named(12, |_| json!({"enum": ["x"]})), "x": vec![0; size]});
    let after = |size: usize| {
        json!({
            "properties": named(12, |_| json!({"allOf": [{"$ref": "#/$defs/T"}], "pattern": "^x"})),
            "$defs": {"T": {"maxLength": 2}},
            "x": vec![0; size],
        })
    };
    assert!(!arguments(&before(1000), &after(1000)).contains("breaking"));
    assert_eq!(arguments(&before(20_000), &after(20_000)), SLOW);
}

#[test]
fn either_schema_may_give_one_name_to_two_parts() {
    let named = |second: &str| json!({"$defs": {"a": {"$anchor": "n"}, "b": {"$anchor": second}}});
    for (before, after) in [("n", "m"), ("m", "n")] {
        assert_eq!(
            arguments(&named(before), &named(after)),
            "breaking /inputSchema: a schema gives one name to two parts, so it cannot be compared\n"
        );
    }
}
