use serde_json::{Map, Value, json};

#[cfg(test)]
mod tests;

/// A JSON Schema as both APIs accept it, and what it lost on the way, in words for the model.
#[derive(Debug, PartialEq)]
pub(super) struct Accepted {
    pub(super) schema: Value,
    pub(super) notes: Vec<String>,
}

/// Keywords that the APIs refuse at the root.
const REFUSED: [&str; 5] = ["allOf", "anyOf", "oneOf", "not", "enum"];

/// Keywords at the root that say nothing about arguments.
const SILENT: [&str; 3] = ["$schema", "$id", "$comment"];

/// The longest text of what was taken out.
const MAX_NOTE: usize = 2000;

/// A tool's schema of its arguments, made so that both APIs accept it: an object with `"type": "object"` and
/// `properties`, without `allOf`, `anyOf`, `oneOf`, `not` and `enum` at the root, whose properties have names of
/// `^[a-zA-Z0-9_.-]{1,64}$`. Everything below the properties
/// stays as it is.
///
/// - Of the alternatives at the root the properties are merged. Required is what all branches of `allOf`, and what each
///   branch of `anyOf` or `oneOf`, require. Where two differ about a property, either is accepted.
/// - A property with another name is left out, and others than the named ones are then accepted.
/// - What was taken out is a note, as JSON: the model still sees it, in the description.
///
/// - A property whose schema is `true` or `false` gets the object that says the same.
///
/// The outcome is a hint; the gateway validates by the pinned contract. It accepts more than the schema does. It accepts less
/// in one case: a property that one alternative describes and another one leaves open.
pub(super) fn accepted(schema: &Value) -> Accepted {
    let Some(given) = schema.as_object() else {
        return Accepted { schema: json!({"type": "object", "properties": {}}), notes: Vec::new() };
    };
    let mut root = given.clone();
    let mut notes = Vec::new();
    for keyword in SILENT {
        root.shift_remove(keyword);
    }
    let taken: Map<String, Value> = REFUSED
        .iter()
        .filter_map(|keyword| Some(((*keyword).to_owned(), root.shift_remove(*keyword)?)))
        .collect();
    root.insert("type".to_owned(), Value::from("object"));
    if !root.get("properties").is_some_and(Value::is_object) {
        root.insert("properties".to_owned(), json!({}));
    }
    for keyword in ["allOf", "anyOf", "oneOf"] {
        merge(&mut root, keyword, taken.get(keyword));
    }
    if !taken.is_empty() {
        // A property that only a branch names must not be forbidden by the root.
        root.shift_remove("additionalProperties");
        root.shift_remove("unevaluatedProperties");
        let taken = Value::Object(taken).to_string();
        notes.push(format!("The arguments must also be valid under this JSON Schema: {}", bounded(&taken)));
    }
    unnamed(&mut root, &mut notes);
    for property in
        root.get_mut("properties").and_then(Value::as_object_mut).into_iter().flat_map(Map::values_mut)
    {
        match property {
            Value::Bool(true) => *property = json!({}),
            Value::Bool(false) => *property = json!({"not": {}}),
            _ => {}
        }
    }
    Accepted { schema: Value::Object(root), notes }
}

/// Merges the properties of the branches of one keyword into the root.
fn merge(root: &mut Map<String, Value>, keyword: &str, branches: Option<&Value>) {
    let branches: Vec<&Map<String, Value>> =
        branches.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object).collect();
    let required_of = |branch: &Map<String, Value>| -> Vec<String> {
        let names = branch.get("required").and_then(Value::as_array).into_iter().flatten();
        names.filter_map(|name| name.as_str().map(str::to_owned)).collect()
    };
    for branch in &branches {
        for (name, schema) in branch.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let Some(Value::Object(properties)) = root.get_mut("properties") else { return };
            match properties.get(name) {
                Some(known) if known != schema => {
                    let either = json!({"anyOf": [known, schema]});
                    properties.insert(name.clone(), either);
                }
                _ => {
                    properties.insert(name.clone(), schema.clone());
                }
            }
        }
    }
    let mut required = required_of(root);
    let mut more: Vec<String> = branches.iter().flat_map(|branch| required_of(branch)).collect();
    if keyword != "allOf" {
        more.retain(|name| branches.iter().all(|branch| required_of(branch).contains(name)));
    }
    for name in more {
        if !required.contains(&name) {
            required.push(name);
        }
    }
    if !required.is_empty() {
        root.insert("required".to_owned(), required.into());
    }
}

/// Takes out the properties whose names the APIs do not accept.
fn unnamed(root: &mut Map<String, Value>, notes: &mut Vec<String>) {
    let Some(Value::Object(properties)) = root.get_mut("properties") else { return };
    let names: Vec<String> = properties.keys().filter(|name| !is_accepted(name)).cloned().collect();
    if names.is_empty() {
        return;
    }
    for name in &names {
        let schema = properties.shift_remove(name).unwrap_or_default();
        notes.push(format!(
            "There is one more argument, {}, with this JSON Schema: {}",
            Value::from(name.as_str()),
            bounded(&schema.to_string())
        ));
    }
    root.shift_remove("additionalProperties");
    root.shift_remove("unevaluatedProperties");
    if let Some(Value::Array(required)) = root.get_mut("required") {
        required.retain(|name| !names.iter().any(|taken| name == taken.as_str()));
    }
}

fn is_accepted(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c))
}

fn bounded(text: &str) -> String {
    match text.char_indices().nth(MAX_NOTE) {
        Some((at, _)) => format!("{} … (too long to show)", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}
