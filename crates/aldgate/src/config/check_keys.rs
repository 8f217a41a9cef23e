//! Keys that nothing reads: an error that names the nearest key that there is.

#[cfg(test)]
mod tests;

use std::ops::Range;

use serde_json::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A key of the file that the configuration does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UnknownKey {
    /// Where it stands, in bytes.
    pub(super) span: Range<usize>,
    /// The key with the tables around it.
    pub(super) path: String,
    /// What to do.
    pub(super) help: String,
}

/// Settings of `aldgate dev`, which a file must not have.
const DEV_ONLY: [&str; 3] = ["default_authority", "pin_on_first_use", "pin"];

/// The first key of `file` that `schema` does not have.
pub(super) fn first_unknown(file: &DeTable<'_>, schema: &Value) -> Option<UnknownKey> {
    table(file, schema, schema, "")
}

fn table(table: &DeTable<'_>, schema: &Value, root: &Value, path: &str) -> Option<UnknownKey> {
    let schema = resolved(schema, root);
    let properties = schema.get("properties").and_then(Value::as_object);
    let others = schema.get("additionalProperties").filter(|others| **others != Value::Bool(false));
    for (key, value) in table {
        let name: &str = key.get_ref();
        let path = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        let member = properties.and_then(|properties| properties.get(name)).or(others);
        let Some(member) = member else {
            let known: Vec<&str> =
                properties.into_iter().flat_map(|known| known.keys().map(String::as_str)).collect();
            return Some(UnknownKey { span: key.span(), help: help(name, &known), path });
        };
        if let Some(found) = value_of(value, member, root, &path) {
            return Some(found);
        }
    }
    None
}

fn value_of(value: &Spanned<DeValue<'_>>, schema: &Value, root: &Value, path: &str) -> Option<UnknownKey> {
    match value.get_ref() {
        DeValue::Table(inner) => {
            let closed = resolved(schema, root);
            let described =
                closed.get("properties").is_some() || closed.get("additionalProperties").is_some();
            if described { table(inner, closed, root, path) } else { None }
        }
        DeValue::Array(items) => {
            let element = resolved(schema, root).get("items")?;
            items.iter().find_map(|item| value_of(item, element, root, path))
        }
        _ => None,
    }
}

/// The schema behind references, and behind the choice with `null` that an optional member is.
fn resolved<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    let mut schema = schema;
    for _ in 0..8 {
        if let Some(pointer) =
            schema.get("$ref").and_then(Value::as_str).and_then(|text| text.strip_prefix('#'))
        {
            schema = root.pointer(pointer).unwrap_or(&Value::Null);
        } else if let Some(choices) = schema.get("anyOf").and_then(Value::as_array) {
            let real =
                choices.iter().find(|choice| choice.get("type").and_then(Value::as_str) != Some("null"));
            schema = real.unwrap_or(&Value::Null);
        } else {
            break;
        }
    }
    schema
}

fn help(key: &str, known: &[&str]) -> String {
    if DEV_ONLY.contains(&key) {
        return "a configured gateway neither pins on first use nor has a default authority; only `aldgate dev` does"
            .to_owned();
    }
    let nearest = known.iter().min_by_key(|known| strsim::osa_distance(key, known));
    match nearest {
        Some(near) if strsim::osa_distance(key, near) <= 1 + near.len() / 3 => {
            format!("did you mean `{near}`?")
        }
        _ => format!("expected one of `{}`", known.join("`, `")),
    }
}
