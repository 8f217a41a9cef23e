use serde_json::{Map, Value, json};

use super::Comparison;
use crate::diff::document::Document;

/// Whether both are alike, and how many pairs were looked at.
fn compared(a: &Value, b: &Value) -> (bool, usize) {
    let (a, b) = (Document::new(a, "/a"), Document::new(b, "/b"));
    let mut comparison = Comparison::new(&a, &b);
    (comparison.alike(a.root, b.root), comparison.looks())
}

fn named(count: usize, schema: impl Fn(usize) -> Value) -> Map<String, Value> {
    (0..count).map(|at| (format!("p{at}"), schema(at))).collect()
}

#[test]
fn what_says_the_same_is_alike() {
    let referring = |name: &str| json!({"type": "object", "$ref": format!("#/$defs/{name}"), "$defs": {(name): {"maximum": 5}}});
    for (a, b, expected) in [
        (json!({"title": "a"}), json!({"title": "b"}), true),
        (json!(true), json!({"title": "b"}), true),
        (json!({"title": "b"}), json!(true), true),
        (json!(true), json!({"type": "string"}), false),
        (json!(false), json!({}), false),
        (json!({"items": {"title": "a"}}), json!({"items": {"title": "b"}}), true),
        (json!({"items": {"title": "a"}}), json!({"title": "a"}), false),
        (json!({"required": ["a", "b"]}), json!({"required": ["b", "a"]}), true),
        (json!({"required": ["a", "b"]}), json!({"required": ["b"]}), false),
        (json!({"enum": [1, 2]}), json!({"enum": [2, 1]}), false),
        (referring("a"), referring("b"), true),
        (json!({"allOf": [{"title": "a"}]}), json!({"allOf": [{}]}), true),
        (json!({"allOf": [{}]}), json!({"allOf": [{}, {}]}), false),
        (json!({"dependencies": {"a": ["b"]}}), json!({"dependencies": {"a": ["b"]}}), true),
        (json!({"dependencies": {"a": ["b"]}}), json!({"dependencies": {"a": ["c"]}}), false),
        (json!({"dependencies": {"a": ["b"]}}), json!({"dependencies": {"a": {}}}), false),
    ] {
        assert_eq!(compared(&a, &b).0, expected, "{a} {b}");
    }
}

#[test]
fn each_pair_is_looked_at_once() {
    let circle = json!({"properties": {"next": {"$ref": "#"}}, "items": {"$ref": "#"}});
    let two = |a: Value| json!({"properties": {"a": a, "b": {}}});
    for (a, b, expected) in [
        (json!({}), json!({"title": "t"}), (true, 1)),
        (two(json!({})), two(json!(true)), (true, 3)),
        (two(json!({})), two(json!({"type": "null"})), (false, 2)),
        (circle.clone(), circle, (true, 1)),
    ] {
        assert_eq!(compared(&a, &b), expected, "{a} {b}");
    }
}

#[test]
fn what_is_beyond_a_bound_is_not_alike() {
    let wide = |count: usize| json!({"properties": named(count, |_| json!({}))});
    assert_eq!(compared(&wide(19_999), &wide(19_999)), (true, 20_000));
    assert_eq!(compared(&wide(20_000), &wide(20_000)), (false, 20_000));
    let deep = |count: usize| {
        let next = |at| json!({"items": {"$ref": format!("#/$defs/p{}", at + 1)}});
        let mut defs = named(count, next);
        defs.insert(format!("p{count}"), json!({}));
        json!({"$ref": "#/$defs/p0", "$defs": defs})
    };
    assert_eq!(compared(&deep(199), &deep(199)), (true, 200));
    assert_eq!(compared(&deep(200), &deep(200)), (false, 200));
}
