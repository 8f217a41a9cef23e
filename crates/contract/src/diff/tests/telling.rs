//! How many reasons are told, and how often each.

use expect_test::expect;
use serde_json::{Map, Value, json};

use super::{check, compared, tool};
use crate::kind::Kind;

fn reasons(before: &Value, after: &Value) -> Vec<String> {
    let found = compared(Kind::Tool, &tool("inputSchema", before), &tool("inputSchema", after));
    let reasons = found.changes().iter().filter(|change| change.what.ends_with("may no longer be accepted"));
    reasons.map(|change| change.path.clone()).collect()
}

fn named(count: usize, schema: impl Fn(usize) -> Value) -> Map<String, Value> {
    (0..count).map(|at| (format!("p{at}"), schema(at))).collect()
}

#[test]
fn fifty_reasons_are_told_however_deep_they_are() {
    let nested =
        |limit: usize| (0..4).fold(json!({"maximum": limit}), |inner, _| json!({"properties": {"a": inner}}));
    let many = |count: usize, limit: usize| json!({"properties": named(count, |at| nested(at + limit))});
    assert_eq!(reasons(&many(49, 2), &many(49, 1)).len(), 49);
    assert_eq!(reasons(&many(60, 2), &many(60, 1)).len(), 50);
}

/// What is chained deeper than proofs may be is not told.
#[test]
fn reasons_are_looked_for_as_deep_as_proofs_are() {
    let chain = |count: usize, limit: usize| {
        let mut defs =
            named(count, |at| json!({"properties": {"n": {"$ref": format!("#/$defs/p{}", at + 1)}}}));
        defs.insert(format!("p{count}"), json!({"maximum": limit}));
        json!({"properties": {"first": {"maximum": limit}, "second": {"$ref": "#/$defs/p0"}}, "$defs": defs})
    };
    let told = |count: usize| reasons(&chain(count, 2), &chain(count, 1));
    assert_eq!(told(100), ["/inputSchema/properties/first/maximum", "/inputSchema/$defs/p100/maximum"]);
    assert_eq!(told(200), ["/inputSchema/properties/first/maximum"]);
}

#[test]
fn what_was_told_is_a_reason_for_all_that_holds_it() {
    let schema = |limit: u64| {
        let part = json!({"$ref": "#/$defs/S"});
        json!({
            "properties": {"a": part, "b": {"type": "object", "properties": {"c": part, "d": part}}},
            "$defs": {"S": {"maximum": limit}},
        })
    };
    check(
        Kind::Tool,
        &tool("inputSchema", &schema(2)),
        &tool("inputSchema", &schema(1)),
        &expect![[r#"
        breaking /inputSchema/$defs/S/maximum: a number above 1 may no longer be accepted
    "#]],
    );
}

#[test]
fn of_alternatives_it_is_told_whether_none_or_several_fit() {
    let one_of = |first: &str, second: &str| json!({"oneOf": [{"type": first}, {"type": second}]});
    let before = json!({"type": "integer"});
    for (after, expected) in [
        (
            one_of("boolean", "null"),
            expect![[r#"
            breaking /inputSchema/oneOf: a value that is an integer and fits none of the alternatives may no longer be accepted
            compatible /inputSchema/type: `type` is gone: `"integer"`
        "#]],
        ),
        (
            one_of("integer", "number"),
            expect![[r#"
            breaking /inputSchema/oneOf: a value that is an integer and fits several alternatives may no longer be accepted
            compatible /inputSchema/type: `type` is gone: `"integer"`
        "#]],
        ),
    ] {
        check(Kind::Tool, &tool("inputSchema", &before), &tool("inputSchema", &after), &expected);
    }
}
