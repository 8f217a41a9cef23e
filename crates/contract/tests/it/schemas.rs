//! Pairs of schemas that differ by a few small edits.

use serde_json::{Map, Value, json};

use crate::dice::{Dice, number};

const NAMES: &[&str] = &["a", "b", "c", "x-d"];
/// Some take more than a linear engine: what is possessive gives nothing back.
const PATTERNS: &[&str] =
    &["^[ab]+$", "^a", "^x-", "b$", "^[a-z]{2,3}$", "[0-9]", "^a?+a$", "^[ab]++b$", "^(?=a)[ab]{1,2}$"];
const DIALECTS: &[&str] = &[
    "https://json-schema.org/draft/2020-12/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "http://json-schema.org/draft-07/schema#",
    "http://json-schema.org/draft-06/schema#",
];
const TYPES: &[&str] = &["string", "integer", "number", "boolean", "null", "array", "object"];

/// A schema and what became of it; either may be the older one.
pub(crate) fn pair(dice: &mut Dice) -> [Value; 2] {
    let one = whole(dice);
    let mut other = one.clone();
    for _ in 0..1 + dice.below(3) {
        edit(dice, &mut other);
    }
    if dice.percent(6) {
        dialect(dice, &mut other);
    }
    if dice.percent(50) { [one, other] } else { [other, one] }
}

/// The schema of a tool: an object, mostly, with definitions of its own.
fn whole(dice: &mut Dice) -> Value {
    let mut made = match dice.percent(85) {
        true => object(dice, 0),
        false => schema(dice, 0),
    };
    if let Value::Object(members) = &mut made
        && (dice.percent(10) || Value::from(members.clone()).to_string().contains("$defs/"))
    {
        let defs: Map<String, Value> =
            ["p", "q"].into_iter().map(|name| (name.to_owned(), plain(dice, 2))).collect();
        members.insert("$defs".to_owned(), Value::from(defs));
    }
    made
}

fn schema(dice: &mut Dice, depth: usize) -> Value {
    let below = depth + 1;
    match dice.below(if depth > 2 { 9 } else { 14 }) {
        0..8 => plain(dice, depth),
        8 => json!(dice.percent(80)),
        9 => json!({"$ref": dice.word(&["#/$defs/p", "#/$defs/q"])}),
        10 => {
            let key = dice.word(&["anyOf", "oneOf", "allOf"]);
            let parts: Vec<Value> = (0..1 + dice.below(3)).map(|_| schema(dice, below)).collect();
            let mut made = if dice.percent(30) { plain(dice, below) } else { json!({}) };
            made[key] = json!(parts);
            made
        }
        11 if dice.percent(50) => json!({"not": plain(dice, below)}),
        11 => json!({"if": plain(dice, below), "then": schema(dice, below), "else": schema(dice, below)}),
        _ => object(dice, depth),
    }
}

/// A schema without parts on the same value.
fn plain(dice: &mut Dice, depth: usize) -> Value {
    let mut made = json!({});
    match dice.below(9) {
        0 | 1 => {
            made["type"] = json!("string");
            some(dice, &mut made, 30, "minLength", |dice| json!(dice.below(3)));
            some(dice, &mut made, 30, "maxLength", |dice| json!(2 + dice.below(3)));
            some(dice, &mut made, 20, "pattern", |dice| json!(dice.word(PATTERNS)));
            some(dice, &mut made, 10, "format", |dice| json!(dice.word(&["email", "date"])));
        }
        2..5 => {
            made["type"] = json!(dice.word(&["integer", "number"]));
            bounds(dice, &mut made);
        }
        5 => made["enum"] = json!(members(dice)),
        6 => match dice.below(3) {
            0 => made["type"] = json!("boolean"),
            1 => made["const"] = constant(dice),
            _ => made["type"] = json!([dice.word(&TYPES[..3]), dice.word(&TYPES[3..])]),
        },
        7 if depth < 4 => return array(dice, depth),
        _ if depth < 3 => return object(dice, depth),
        _ => made["type"] = json!(dice.word(TYPES)),
    }
    some(dice, &mut made, 10, "description", |dice| json!(dice.word(&["one", "two words"])));
    made
}

fn bounds(dice: &mut Dice, made: &mut Value) {
    for (key, low, high) in
        [("minimum", -2, 4), ("maximum", 2, 8), ("exclusiveMinimum", -2, 4), ("exclusiveMaximum", 2, 8)]
    {
        some(dice, made, 25, key, |dice| half(dice, low, high));
    }
    some(dice, made, 15, "multipleOf", |dice| number(*dice.pick(&[0.5, 1.0, 2.0, 3.0, 4.0])));
}

fn array(dice: &mut Dice, depth: usize) -> Value {
    let below = depth + 1;
    let mut made = json!({"type": "array"});
    some(dice, &mut made, 60, "items", |dice| schema(dice, below));
    some(dice, &mut made, 25, "prefixItems", |dice| json!([plain(dice, below), plain(dice, below)]));
    some(dice, &mut made, 25, "minItems", |dice| json!(dice.below(3)));
    some(dice, &mut made, 25, "maxItems", |dice| json!(1 + dice.below(3)));
    some(dice, &mut made, 15, "uniqueItems", |dice| json!(dice.percent(80)));
    some(dice, &mut made, 15, "contains", |dice| plain(dice, below));
    some(dice, &mut made, 15, "minContains", |dice| json!(dice.below(3)));
    some(dice, &mut made, 10, "maxContains", |dice| json!(dice.below(3)));
    some(dice, &mut made, 8, "unevaluatedItems", |dice| json!(dice.percent(50)));
    made
}

fn object(dice: &mut Dice, depth: usize) -> Value {
    let below = depth + 1;
    let mut made = json!({"type": "object", "properties": {}});
    for name in NAMES {
        if dice.percent(if depth == 0 { 55 } else { 35 }) {
            made["properties"][name] = schema(dice, below);
        }
    }
    some(dice, &mut made, 50, "required", |dice| json!(names(dice)));
    some(dice, &mut made, 45, "additionalProperties", |dice| match dice.below(4) {
        0 => plain(dice, below),
        other => json!(other == 1),
    });
    some(dice, &mut made, 12, "patternProperties", |dice| {
        let pattern = dice.word(PATTERNS);
        json!({pattern: plain(dice, below)})
    });
    some(dice, &mut made, 8, "propertyNames", |dice| json!({"maxLength": 1 + dice.below(3)}));
    some(dice, &mut made, 10, "dependentRequired", |dice| json!({"a": names(dice)}));
    some(dice, &mut made, 6, "dependentSchemas", |dice| json!({"b": plain(dice, below)}));
    some(dice, &mut made, 10, "minProperties", |dice| json!(dice.below(3)));
    some(dice, &mut made, 10, "maxProperties", |dice| json!(1 + dice.below(4)));
    some(dice, &mut made, 10, "unevaluatedProperties", |dice| json!(dice.percent(30)));
    made
}

fn some(dice: &mut Dice, made: &mut Value, chance: usize, key: &str, value: impl FnOnce(&mut Dice) -> Value) {
    if dice.percent(chance) {
        made[key] = value(dice);
    }
}

fn half(dice: &mut Dice, low: i32, high: i32) -> Value {
    let halves = dice.between(i64::from(low) * 2, i64::from(high) * 2);
    #[expect(clippy::cast_precision_loss, reason = "small")]
    number(halves as f64 / 2.0)
}

fn names(dice: &mut Dice) -> Vec<&'static str> {
    NAMES.iter().copied().filter(|_| dice.percent(40)).collect()
}

fn constant(dice: &mut Dice) -> Value {
    dice.pick(&[
        json!("a"),
        json!("b"),
        json!("ab"),
        json!(1),
        json!(2),
        json!(null),
        json!({"a": 1}),
        json!([1]),
    ])
    .clone()
}

fn members(dice: &mut Dice) -> Vec<Value> {
    let mut found: Vec<Value> = Vec::new();
    for _ in 0..1 + dice.below(4) {
        let next = constant(dice);
        if !found.contains(&next) {
            found.push(next);
        }
    }
    found
}

/// Pointers to every schema within the schema, itself included.
fn places(schema: &Value, at: &str, found: &mut Vec<String>) {
    let Value::Object(keywords) = schema else {
        found.extend(schema.is_boolean().then(|| at.to_owned()));
        return;
    };
    found.push(at.to_owned());
    for (key, value) in keywords {
        match (key.as_str(), value) {
            ("properties" | "patternProperties" | "dependentSchemas" | "$defs", Value::Object(inner)) => {
                inner.iter().for_each(|(name, inner)| places(inner, &format!("{at}/{key}/{name}"), found));
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(inner)) => {
                let inner = inner.iter().enumerate();
                inner.for_each(|(place, inner)| places(inner, &format!("{at}/{key}/{place}"), found));
            }
            ("items" | "contains" | "not" | "if" | "then" | "else" | "additionalProperties", inner) => {
                places(inner, &format!("{at}/{key}"), found);
            }
            ("propertyNames" | "unevaluatedProperties", inner) => {
                places(inner, &format!("{at}/{key}"), found)
            }
            _ => {}
        }
    }
}

/// A part names a dialect.
fn dialect(dice: &mut Dice, whole: &mut Value) {
    let mut found = Vec::new();
    places(whole, "", &mut found);
    let at = dice.pick(&found).as_str();
    if let Some(Value::Object(keywords)) = whole.pointer_mut(at) {
        keywords.insert("$schema".to_owned(), json!(dice.word(DIALECTS)));
    }
}

/// One small change somewhere.
pub(crate) fn edit(dice: &mut Dice, whole: &mut Value) {
    let mut found = Vec::new();
    places(whole, "", &mut found);
    let at = dice.pick(&found).clone();
    let depth = at.matches('/').count() / 2;
    let Some(place) = whole.pointer_mut(&at) else { return };
    if !at.is_empty() && (dice.percent(12) || !place.is_object()) {
        *place = match dice.below(6) {
            0 => json!(true),
            1 => json!({"anyOf": [place.take(), plain(dice, 3)]}),
            2 => json!({"allOf": [place.take()]}),
            3 => json!({"not": {"not": place.take()}}),
            4 => json!({"oneOf": [place.take(), {"type": "null"}]}),
            _ => schema(dice, depth),
        };
        return;
    }
    let Value::Object(keywords) = place else { return };
    let keys: Vec<String> =
        keywords.keys().filter(|key| !["$defs", "properties"].contains(&key.as_str())).cloned().collect();
    if keys.is_empty() || dice.percent(35) {
        keyword(dice, keywords, depth);
        return;
    }
    let key = dice.pick(&keys).clone();
    if dice.percent(20) {
        keywords.remove(&key);
    } else if let Some(value) = keywords.get_mut(&key) {
        vary(dice, &key, value, depth);
    }
}

/// Another keyword, or another property.
fn keyword(dice: &mut Dice, keywords: &mut Map<String, Value>, depth: usize) {
    let fresh = match dice.below(6) {
        0 if keywords.contains_key("properties") => {
            let name = dice.word(NAMES);
            let known = keywords["properties"].as_object_mut().unwrap();
            if known.remove(&name).is_none() {
                known.insert(name, schema(dice, depth + 1));
            }
            return;
        }
        1 => json!({"description": dice.word(&["three", "four"]), "title": "T"}),
        2 => json!({"default": 1}),
        3 => json!({"anyOf": [plain(dice, 3), plain(dice, 3)]}),
        _ => match keywords.get("type").and_then(Value::as_str) {
            Some("array") => array(dice, 3),
            Some("object") => object(dice, 3),
            _ => plain(dice, 3),
        },
    };
    let Value::Object(fresh) = fresh else { return };
    let fresh: Vec<_> = fresh.into_iter().filter(|(key, _)| key != "properties").collect();
    if !fresh.is_empty() {
        let (key, value) = dice.pick(&fresh).clone();
        keywords.insert(key, value);
    }
}

/// The same keyword with a value nearby.
fn vary(dice: &mut Dice, key: &str, value: &mut Value, depth: usize) {
    match value {
        Value::Number(bound) if key != "const" && key != "default" => {
            let step: f64 = *dice.pick(&[1.0, -1.0, 0.5, 2.0]);
            let whole = !["imum", "Of"].iter().any(|end| key.ends_with(end));
            let near = bound.as_f64().unwrap() + if whole { step.signum() } else { step };
            let lowest = if key == "multipleOf" {
                0.5
            } else if whole {
                0.0
            } else {
                f64::MIN
            };
            *value = number(near.max(lowest));
        }
        Value::Array(values) if key == "type" || key == "enum" || key == "required" => {
            let other = match key {
                "type" => json!(dice.word(TYPES)),
                "enum" => constant(dice),
                _ => json!(dice.word(NAMES)),
            };
            match values.iter().position(|value| *value == other) {
                Some(at) if values.len() > 1 || key == "required" => drop(values.remove(at)),
                Some(_) => {}
                None => values.push(other),
            }
        }
        Value::Array(parts) => match dice.below(3) {
            0 if parts.len() > 1 => drop(parts.remove(dice.below(parts.len()))),
            1 => parts.reverse(),
            _ => parts.push(plain(dice, 3)),
        },
        Value::String(kind) if key == "type" => {
            *value = match (kind.as_str(), dice.below(3)) {
                ("integer", 0 | 1) => json!("number"),
                ("number", 0) => json!("integer"),
                (_, 2) => json!([kind.clone(), "null"]),
                _ if kind != "null" => json!(["null", kind.clone()]),
                _ => json!("null"),
            };
        }
        Value::String(to) if key == "$ref" => {
            *to = if to.ends_with('p') { "#/$defs/q" } else { "#/$defs/p" }.to_owned();
        }
        Value::String(text) if key == "pattern" => *text = dice.word(PATTERNS),
        Value::Bool(flag) => *flag = !*flag,
        _ if key == "const" => *value = constant(dice),
        Value::Object(_) if key == "additionalProperties" => *value = schema(dice, depth + 1),
        _ => {}
    }
}
