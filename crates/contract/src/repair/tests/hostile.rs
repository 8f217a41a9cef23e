//! Schemas and arguments that nobody means well with.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::Mode;
use super::Tool;
use crate::rename::{of_properties, of_tools};

const WORDS: &[&str] = &[
    "type",
    "properties",
    "required",
    "items",
    "prefixItems",
    "enum",
    "const",
    "anyOf",
    "oneOf",
    "allOf",
    "$ref",
    "$defs",
    "$anchor",
    "additionalProperties",
    "unevaluatedProperties",
    "patternProperties",
    "default",
    "description",
    "a",
    "b",
    "minimum",
    "maximum",
    "format",
    "inputSchema",
    "$dynamicRef",
];
const TEXTS: &[&str] = &[
    "string",
    "integer",
    "object",
    "array",
    "#",
    "#/$defs/a",
    "#/properties/a",
    "a",
    "(",
    "\u{0}é𝄞",
    "1e999",
    "#/%zz",
];

/// Any JSON, with many words of schemas in it.
fn hostile() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        prop::sample::select(TEXTS).prop_map(Value::from).boxed(),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 60, 6, move |inner| {
        let key = prop_oneof![4 => prop::sample::select(WORDS).prop_map(str::to_owned), 1 => any::<String>()];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..7)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn nothing_makes_it_fail(schemas in prop::collection::vec(hostile(), 0..4), args in hostile()) {
        let args = if args.is_object() { args } else { json!({"a": args}) };
        let tool = Tool::of(&schemas);
        for mode in [Mode::Observe, Mode::Repair, Mode::Strict] {
            let repair = tool.simulate(&args, mode);
            prop_assert!(repair.applied || Value::Object(repair.args) == args);
        }
        if let [first, second, ..] = schemas.as_slice() {
            let found = [of_properties(first, second, &[]), of_tools(&[("a", first)], &[("b", second)], &[])];
            prop_assert!(found.concat().iter().all(|one| (0.0..1.0).contains(&one.confidence)));
        }
    }
}

#[test]
fn what_would_take_too_long_is_given_up() {
    let members: Vec<u32> = (0..6000).collect();
    let tool = Tool::of(&[json!({}), json!({"properties": {"v": {"items": {"enum": members}}}})]);
    let repair = tool.simulate(&json!({"v": vec![0.5; 250]}), Mode::Repair);
    assert!(!repair.applied);
    assert!(repair.reason.ends_with("more than 256 changes, or too much work"), "{}", repair.reason);
}

#[test]
fn schemas_that_are_deep_or_turn_in_circles_end() {
    let deep = |depth: usize| {
        (0..depth).fold(json!({"type": "string"}), |inner, _| json!({"properties": {"a": inner}}))
    };
    let args = |depth: usize| (0..depth).fold(json!("1"), |inner, _| json!({"a": inner}));
    let circle = json!({"properties": {"a": {"$ref": "#"}}, "type": ["object", "integer"], "additionalProperties": false});
    for (schema, depth) in [
        (deep(60), 20),
        (deep(200), 20),
        (circle.clone(), 20),
        (circle.clone(), 200),
        (json!({"$ref": "#"}), 3),
    ] {
        for mode in [Mode::Repair, Mode::Strict] {
            let repair = Tool::of(&[json!({}), schema.clone()]).simulate(&args(depth), mode);
            assert!(!repair.applied || depth == 20, "{}", repair.reason);
        }
    }
    let repair = Tool::of(&[json!({}), circle]).simulate(&args(20), Mode::Strict);
    assert!(repair.applied && repair.changes.len() == 1, "{}", repair.reason);
}
