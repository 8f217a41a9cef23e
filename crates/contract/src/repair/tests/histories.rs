//! Histories of a contract, and arguments for one of its versions, made at random.

use std::collections::HashSet;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::Tool;

const NAMES: &[&str] = &[
    "ticketId",
    "q",
    "limit",
    "status",
    "start",
    "end",
    "timeout",
    "to",
    "tags",
    "include",
    "a/b",
    "a~b",
    "*",
    "address_city",
    "city",
    "name",
    "",
];

/// What a name may become.
fn renamed(name: &str) -> String {
    match name {
        "q" => "query".to_owned(),
        "query" => "searchQuery".to_owned(),
        "limit" => "max_results".to_owned(),
        "status" => "state".to_owned(),
        "timeout" => "timeout_ms".to_owned(),
        "to" => "recipients".to_owned(),
        "include" => "exclude".to_owned(),
        "city" => "country".to_owned(),
        _ if name.contains('_') => name.replace('_', "-"),
        _ => format!("{name}_value"),
    }
}

/// The schema of one property.
fn property() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({"type": "string"})),
        Just(json!({"type": "integer"})),
        Just(json!({"type": "number", "maximum": 100})),
        Just(json!({"type": "boolean"})),
        Just(json!({"type": ["integer", "null"]})),
        Just(json!({"enum": ["low", "HIGH", "in_progress"]})),
        Just(json!({"enum": ["LOW", "high", "inProgress"]})),
        Just(json!({"enum": [1, 2]})),
        Just(json!({"type": "array", "items": {"type": "string"}})),
        Just(json!({"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]})),
        Just(json!({"$ref": "#"})),
        Just(json!({})),
    ];
    let described = (leaf, prop::option::of(any::<bool>())).prop_map(|(mut schema, extra)| {
        match extra {
            Some(true) => schema["default"] = json!("low"),
            Some(false) => schema["default"] = json!(7),
            None => {}
        }
        schema
    });
    described.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            object(inner.clone().boxed()),
            object(inner.boxed()).prop_map(|items| json!({"type": "array", "items": items})),
        ]
    })
}

fn object(property: BoxedStrategy<Value>) -> impl Strategy<Value = Value> {
    let member = (prop::sample::select(NAMES), property, any::<bool>());
    (prop::collection::vec(member, 0..6), 0..4_u8).prop_map(|(members, closed)| {
        let required: Vec<&str> =
            members.iter().filter(|(_, _, required)| *required).map(|(name, _, _)| *name).collect();
        let required: HashSet<&str> = required.into_iter().collect();
        let mut required: Vec<&str> = required.into_iter().collect();
        required.sort_unstable();
        let properties: Map<String, Value> =
            members.iter().map(|(name, schema, _)| ((*name).to_owned(), schema.clone())).collect();
        let mut schema = json!({"type": "object", "properties": properties, "required": required});
        match closed {
            0 => {}
            1 => schema["unevaluatedProperties"] = json!(false),
            _ => schema["additionalProperties"] = json!(false),
        }
        schema
    })
}

/// The same schema after one thing at the top changed.
fn evolved(schema: &Value, (what, which, name, other): &(u8, prop::sample::Index, &str, Value)) -> Value {
    let mut schema = schema.clone();
    let Some(properties) = schema["properties"].as_object_mut() else { return schema };
    let names: Vec<String> = properties.keys().cloned().collect();
    if names.is_empty() {
        properties.insert((*name).to_owned(), other.clone());
        return schema;
    }
    let old = names[which.index(names.len())].clone();
    let mut required: Vec<Value> = schema["required"].as_array().expect("a list").clone();
    let properties = schema["properties"].as_object_mut().expect("an object");
    match what {
        0..=2 if !properties.contains_key(&renamed(&old)) => {
            let value = properties.shift_remove(&old).expect("there");
            properties.insert(renamed(&old), value);
            for one in &mut required {
                if *one == json!(old) {
                    *one = json!(renamed(&old));
                }
            }
        }
        3 => {
            properties.insert(old, other.clone());
        }
        4 => {
            properties.shift_remove(&old);
            required.retain(|one| *one != json!(old));
        }
        5 if !properties.contains_key(*name) => {
            properties.insert((*name).to_owned(), other.clone());
            required.push(json!(name));
        }
        _ => schema["additionalProperties"] = json!(false),
    }
    schema["required"] = Value::Array(required);
    schema
}

/// A value that a schema may take, or nearly: `seed` chooses.
fn sample(schema: &Value, seed: &mut impl Iterator<Item = u8>, depth: usize) -> Value {
    let next = seed.next().unwrap_or(0);
    if let Some(members) = schema["enum"].as_array() {
        return match members[usize::from(next) % members.len()].clone() {
            Value::String(text) if next > 200 => json!(text.to_uppercase()),
            member => member,
        };
    }
    let schema = if schema.get("anyOf").is_some() { &schema["anyOf"][0] } else { schema };
    let kind = schema["type"].as_str().or(schema["type"][0].as_str()).unwrap_or("any");
    let off = next > 225;
    match kind {
        "string" if off => json!(next),
        "string" => json!(["12", "true", "low", "HIGH", "x"][usize::from(next) % 5]),
        "integer" | "number" if off => json!(next.to_string()),
        "integer" | "number" if next > 200 => json!(f64::from(next % 90)),
        "integer" | "number" => json!(next % 90),
        "boolean" if off => json!("false"),
        "boolean" => json!(next.is_multiple_of(2)),
        "array" if off => sample(&schema["items"], seed, depth + 1),
        "array" if depth < 4 => {
            (0..next % 3).map(|_| sample(&schema["items"], seed, depth + 1)).collect::<Vec<_>>().into()
        }
        "array" => json!([]),
        "object" if depth < 4 => {
            let required = schema["required"].as_array().cloned().unwrap_or_default();
            let properties = schema["properties"].as_object().cloned().unwrap_or_default();
            let mut members = Map::new();
            for (name, property) in &properties {
                if required.contains(&json!(name)) || seed.next().unwrap_or(0).is_multiple_of(2) {
                    members.insert(name.clone(), sample(property, seed, depth + 1));
                }
            }
            if next > 240 {
                members.insert(NAMES[usize::from(next) % NAMES.len()].to_owned(), json!(next));
            }
            members.into()
        }
        _ => json!({}),
    }
}

/// Contracts of one tool, and arguments for one of them.
pub(super) fn history() -> impl Strategy<Value = (Tool, Value)> {
    let step = (0..7_u8, any::<prop::sample::Index>(), prop::sample::select(NAMES), property());
    let steps = prop::collection::vec(step, 0..4);
    let confirmed =
        prop::collection::vec((0..4_usize, prop::sample::select(NAMES), prop::sample::select(NAMES)), 0..3);
    let seed = prop::collection::vec(any::<u8>(), 60);
    (object(property().boxed()), steps, confirmed, any::<prop::sample::Index>(), seed).prop_map(
        |(first, steps, confirmed, which, seed)| {
            let mut schemas = vec![first];
            for step in &steps {
                schemas.push(evolved(schemas.last().expect("one"), step));
            }
            let args = sample(&schemas[which.index(schemas.len())], &mut seed.into_iter(), 0);
            let mut tool = Tool::of(&schemas);
            for (version, from, to) in confirmed {
                // Two confirmed ones that change places are made at once, which a replay of single changes cannot show.
                if version < schemas.len() && !tool.confirmed.concat().iter().any(|one| one.from == to) {
                    tool = tool.confirm(
                        version + 1,
                        &from.replace('~', "~0").replace('/', "~1"),
                        &to.replace('~', "~0").replace('/', "~1"),
                    );
                }
            }
            (tool, args)
        },
    )
}
