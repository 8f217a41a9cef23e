//! Laws of the comparison, for schemas and values made at random.

use proptest::prelude::*;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::{compared, tool};
use crate::Validator;
use crate::diff::Severity;
use crate::kind::Kind;

fn number() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => (-3..6i64).prop_map(Value::from),
        1 => Just(json!(1.5)),
        1 => Just(json!(2.0)),
        1 => Just(json!(9_007_199_254_740_993_i64)),
        1 => Just(json!(9_007_199_254_740_992_i64)),
        1 => Just(json!(1e18)),
    ]
}

fn leaf_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::from),
        3 => number(),
        2 => "[ab]{0,3}".prop_map(Value::from),
    ]
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![Just("a"), Just("b"), Just("ab"), Just("c")].prop_map(str::to_owned)
}

fn value() -> impl Strategy<Value = Value> {
    leaf_value().prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((name(), inner), 0..4)
                .prop_map(|members| Value::from(Map::from_iter(members))),
        ]
    })
}

fn pattern() -> impl Strategy<Value = Value> {
    prop_oneof![Just("^a"), Just("b$"), Just("^[ab]$"), Just("a")].prop_map(Value::from)
}

fn types() -> impl Strategy<Value = Value> {
    let one = || {
        prop_oneof![
            1 => Just("null"),
            1 => Just("boolean"),
            1 => Just("integer"),
            1 => Just("number"),
            2 => Just("string"),
            2 => Just("array"),
            4 => Just("object"),
        ]
        .prop_map(Value::from)
    };
    prop_oneof![3 => one(), 1 => (one(), one()).prop_filter_map("two", |(a, b)| (a != b).then(|| json!([a, b])))]
}

/// One keyword with its value.
fn keyword(schema: impl Strategy<Value = Value> + Clone + 'static) -> BoxedStrategy<(String, Value)> {
    let named = |key: &'static str, value: BoxedStrategy<Value>| value.prop_map(move |v| (key.to_owned(), v));
    let small = || (0..4u64).prop_map(Value::from).boxed();
    let names = || {
        prop::collection::btree_set(name(), 0..3)
            .prop_map(|names| Value::from_iter(names.into_iter().collect::<Vec<_>>()))
            .boxed()
    };
    let listed = |from: usize| prop::collection::vec(schema.clone(), from..3).prop_map(Value::from).boxed();
    let by = |keys: BoxedStrategy<String>| {
        prop::collection::vec((keys, schema.clone()), 0..3)
            .prop_map(|members| Value::from(Map::from_iter(members)))
            .boxed()
    };
    let scalars = prop_oneof![
        6 => named("type", types().boxed()),
        1 => named("enum", prop::collection::vec(value(), 1..4).prop_map(Value::from).boxed()),
        1 => named("const", value().boxed()),
        1 => named("minimum", number().boxed()),
        1 => named("maximum", number().boxed()),
        1 => named("exclusiveMinimum", number().boxed()),
        1 => named("exclusiveMaximum", number().boxed()),
        1 => named("multipleOf", prop_oneof![Just(json!(1)), Just(json!(2)), Just(json!(0.5)), Just(json!(6))].boxed()),
        1 => named("minLength", small()),
        1 => named("maxLength", small()),
        1 => named("pattern", pattern().boxed()),
        1 => named("minItems", small()),
        1 => named("maxItems", small()),
        1 => named("uniqueItems", any::<bool>().prop_map(Value::from).boxed()),
        1 => named("minProperties", small()),
        1 => named("maxProperties", small()),
    ];
    let objects = prop_oneof![
        3 => named("required", names()),
        6 => named("properties", by(name().boxed())),
        3 => named("additionalProperties", prop_oneof![Just(json!(false)), schema.clone()].boxed()),
        2 => named("patternProperties", by(pattern().prop_map(|p| p.as_str().unwrap().to_owned()).boxed())),
        1 => named("propertyNames", schema.clone().boxed()),
        1 => named("dependentRequired", (name(), names()).prop_map(|(k, v)| json!({k: v})).boxed()),
        1 => named("dependentSchemas", by(name().boxed())),
        2 => named("unevaluatedProperties", prop_oneof![Just(json!(false)), schema.clone()].boxed()),
    ];
    let arrays = prop_oneof![
        3 => named("items", prop_oneof![Just(json!(false)), schema.clone()].boxed()),
        2 => named("prefixItems", listed(1)),
        1 => named("contains", schema.clone().boxed()),
        1 => named("minContains", small()),
        1 => named("maxContains", small()),
        1 => named("unevaluatedItems", prop_oneof![Just(json!(false)), schema.clone()].boxed()),
    ];
    let combinations = prop_oneof![
        named("allOf", listed(1)),
        named("anyOf", listed(1)),
        named("oneOf", listed(1)),
        named("not", schema.clone().boxed()),
        named("if", schema.clone().boxed()),
        named("then", schema.clone().boxed()),
        named("else", schema.clone().boxed()),
        named(
            "$ref",
            prop_oneof![Just("#/$defs/x"), Just("#/$defs/y"), Just("#")].prop_map(Value::from).boxed()
        ),
    ];
    prop_oneof![6 => scalars, 4 => objects, 2 => arrays, 3 => combinations].boxed()
}

fn schema() -> BoxedStrategy<Value> {
    prop_oneof![Just(json!(true)), Just(json!({})), types().prop_map(|t| json!({"type": t}))]
        .prop_recursive(3, 20, 3, |inner| {
            prop::collection::vec(keyword(inner.boxed()), 0..4)
                .prop_map(|members| Value::from(Map::from_iter(members)))
        })
        .boxed()
}

/// A whole schema with definitions.
fn whole() -> impl Strategy<Value = Value> {
    (schema(), schema(), schema()).prop_map(|(schema, x, y)| match schema {
        Value::Object(mut members) => {
            members.insert("$defs".to_owned(), json!({"x": x, "y": y}));
            Value::Object(members)
        }
        other => other,
    })
}

/// A step from one schema to another.
#[derive(Debug, Clone)]
enum Edit {
    Put(String, Value),
    Drop(usize),
    Loosen,
    Replace(Value),
}

fn edit() -> impl Strategy<Value = (usize, Edit)> {
    let edit = prop_oneof![
        3 => keyword(schema()).prop_map(|(key, value)| Edit::Put(key, value)),
        3 => (0..8usize).prop_map(Edit::Drop),
        2 => Just(Edit::Loosen),
        1 => schema().prop_map(Edit::Replace),
    ];
    (0..12usize, edit)
}

/// Applies the edit to the object at that place of a walk through the schema.
fn edited(value: &mut Value, place: &mut usize, edit: &Edit) {
    if let Value::Object(members) = value {
        if *place == 0 {
            match edit {
                Edit::Put(key, new) => drop(members.insert(key.clone(), new.clone())),
                Edit::Drop(index) => {
                    if let Some(key) = members.keys().nth(*index % members.len().max(1)).cloned() {
                        members.shift_remove(&key);
                    }
                }
                Edit::Loosen => {
                    for (key, value) in members.iter_mut() {
                        if let (Some(count), true) =
                            (value.as_i64(), key.starts_with("max") || key.starts_with("exclusiveMax"))
                        {
                            *value = Value::from(count + 1);
                        } else if let (Some(count @ 1..), true) = (value.as_i64(), key.starts_with("min")) {
                            *value = Value::from(count - 1);
                        }
                    }
                }
                Edit::Replace(new) => *value = new.clone(),
            }
            *place = usize::MAX;
            return;
        }
        *place = place.saturating_sub(1);
    }
    match value {
        Value::Object(members) => members.values_mut().for_each(|value| edited(value, place, edit)),
        Value::Array(items) => items.iter_mut().for_each(|value| edited(value, place, edit)),
        _ => {}
    }
}

fn pair() -> impl Strategy<Value = (Value, Value)> {
    (whole(), prop::collection::vec(edit(), 1..3)).prop_map(|(before, edits)| {
        let mut after = before.clone();
        for (place, edit) in edits {
            edited(&mut after, &mut place.clone(), &edit);
        }
        (before, after)
    })
}

fn validator(schema: &Value) -> Option<Validator> {
    Validator::compile(&RawValue::from_string(schema.to_string()).ok()?).ok()
}

/// Values on both sides of what a schema asks for.
fn near(schema: &Value, root: &Value, depth: usize) -> Vec<Value> {
    const MOST: usize = 12;
    let Value::Object(members) = schema else { return vec![json!(0)] };
    if depth > 4 {
        return vec![json!("a")];
    }
    let mut found: Vec<Value> = Vec::new();
    let mut fields: Vec<(String, Vec<Value>)> = Vec::new();
    let (mut first, mut items) = (Vec::new(), Vec::new());
    for (key, value) in members {
        match (key.as_str(), value) {
            ("const" | "default", value) => found.push(value.clone()),
            ("enum", Value::Array(values)) => found.extend(values.iter().cloned()),
            ("minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf", number) => {
                found.push(number.clone());
                if let Some(number) = number.as_i64() {
                    found.extend([json!(number - 1), json!(number + 1), json!(number as f64 + 0.5)]);
                }
            }
            ("minLength" | "maxLength", length) => {
                let length = length.as_u64().unwrap_or_default() as usize;
                found.extend(
                    [length.saturating_sub(1), length, length + 1]
                        .map(|n| Value::from("ab".chars().cycle().take(n).collect::<String>())),
                );
            }
            ("properties" | "patternProperties", Value::Object(named)) => {
                for (name, schema) in named {
                    let name = name.trim_matches(['^', '$', '[', ']']).to_owned();
                    fields.push((name, near(schema, root, depth + 1)));
                }
            }
            ("required", Value::Array(names)) => {
                let names = names.iter().filter_map(Value::as_str);
                fields.extend(names.map(|name| (name.to_owned(), vec![json!(1), json!("a")])));
            }
            ("additionalProperties" | "unevaluatedProperties", schema) => {
                fields.push(("c".to_owned(), near(schema, root, depth + 1)));
            }
            ("items" | "contains" | "unevaluatedItems", schema) => {
                items.extend(near(schema, root, depth + 1))
            }
            ("prefixItems", Value::Array(schemas)) => {
                first = schemas.iter().map(|schema| near(schema, root, depth + 1)).collect();
            }
            ("allOf" | "anyOf" | "oneOf", Value::Array(schemas)) => {
                found.extend(schemas.iter().flat_map(|schema| near(schema, root, depth + 1)));
            }
            ("not" | "if" | "then" | "else", schema) => found.extend(near(schema, root, depth + 1)),
            ("dependentSchemas", Value::Object(named)) => {
                found.extend(named.values().flat_map(|schema| near(schema, root, depth + 1)));
            }
            ("$ref", Value::String(place)) => {
                let target = root.pointer(place.trim_start_matches('#'));
                found.extend(target.into_iter().flat_map(|schema| near(schema, root, depth + 2)));
            }
            _ => {}
        }
    }
    let object = |pick: usize, leave: usize| {
        let chosen = fields.iter().enumerate().filter(|(at, _)| *at != leave);
        let member = |(at, (name, values)): (usize, &(String, Vec<Value>))| {
            Some((name.clone(), values.get((pick + at) % values.len().max(1))?.clone()))
        };
        Value::from(chosen.filter_map(member).collect::<Map<_, _>>())
    };
    found.extend((0..MOST).map(|at| object(at, if at % 3 == 0 { usize::MAX } else { at % 4 })));
    for length in 0..4 {
        let item = |at: usize| {
            let of = first.get(at).unwrap_or(&items);
            of.get((at + length) % of.len().max(1)).cloned().unwrap_or(json!(at))
        };
        found.push((0..length).map(item).collect());
    }
    found.extend([json!(null), json!(true), json!(1), json!(0.5), json!("a")]);
    if depth > 0 {
        let middle = found.len().saturating_sub(MOST) / 2;
        found.rotate_left(middle);
        found.truncate(MOST);
    }
    found
}

fn cases() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn a_schema_does_not_differ_from_itself(schema in whole()) {
        for member in ["inputSchema", "outputSchema"] {
            let tool = tool(member, &schema);
            prop_assert_eq!(compared(Kind::Tool, &tool, &tool).severity(), None);
        }
    }

    /// Values that are valid stay valid, and what one side calls compatible the other does in reverse.
    #[test]
    fn what_is_compatible_loses_no_value((before, after) in pair(), values in prop::collection::vec(value(), 20)) {
        let (Some(old), Some(new)) = (validator(&before), validator(&after)) else { return Ok(()) };
        let input = compared(Kind::Tool, &tool("inputSchema", &before), &tool("inputSchema", &after));
        if input.severity() < Some(Severity::Breaking) {
            let near = [near(&before, &before, 0), near(&after, &after, 0)].concat();
            for value in values.iter().chain(&near) {
                prop_assert!(old.check(value).is_err() || new.check(value).is_ok(), "lost {}", value);
            }
        }
        let output = compared(Kind::Tool, &tool("outputSchema", &after), &tool("outputSchema", &before));
        if output.severity() < Some(Severity::Breaking) {
            prop_assert!(input.severity() < Some(Severity::Breaking), "results are the other way round");
        }
    }

    /// More can be accepted by leaving a keyword out that only narrows.
    #[test]
    fn accepting_more_is_compatible(schema in whole(), limit in 0..4u64) {
        let Value::Object(members) = &schema else { return Ok(()) };
        // What is unevaluated beside a reference to the whole depends on the whole, which is another one here.
        let text = schema.to_string();
        if text.contains("unevaluated") && text.contains(r##""$ref":"#""##) {
            return Ok(());
        }
        let mut narrow = members.clone();
        narrow.insert("maxProperties".to_owned(), Value::from(limit));
        let mut wide = members.clone();
        wide.insert("maxProperties".to_owned(), Value::from(limit + 1));
        let (narrow, wide) = (Value::from(narrow), Value::from(wide));
        if validator(&narrow).is_some() {
            let found = compared(Kind::Tool, &tool("inputSchema", &narrow), &tool("inputSchema", &wide));
            prop_assert!(found.severity() <= Some(Severity::Compatible), "{:?}", found.summary());
        }
    }
}
