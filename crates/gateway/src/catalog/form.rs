//! The schemas of forms.

#[cfg(test)]
mod tests;

use aldgate_wire::guard::{self, Limits};
use serde_json::Value;
use serde_json::value::RawValue;

/// The schema that an answer to a form is held to; `None` where the form is not the flat object of plain values that a
/// form has to be (MCP 2026-07-28, client/elicitation). Only keywords of plain values are in it, so that checking an
/// answer costs no more than reading it.
pub(crate) fn form(raw: &RawValue) -> Option<Value> {
    const PLAIN: [&str; 12] = [
        "type",
        "enum",
        "minLength",
        "maxLength",
        "pattern",
        "format",
        "minimum",
        "maximum",
        "minItems",
        "maxItems",
        "const",
        "uniqueItems",
    ];
    // Of a member that stands twice, the client could show the one that the answer is not held to.
    guard::check(raw.get().as_bytes(), &Limits::default()).ok()?;
    let schema: Value = serde_json::from_str(raw.get()).ok()?;
    let nesting =
        ["$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "not", "if", "$defs", "patternProperties"];
    if schema.get("type").and_then(Value::as_str) != Some("object")
        || nesting.iter().any(|key| schema.get(key).is_some())
    {
        return None;
    }
    let plain = |field: &Value| -> serde_json::Map<String, Value> {
        PLAIN.iter().filter_map(|key| Some(((*key).to_owned(), field.get(key)?.clone()))).collect()
    };
    // The titled choices under `key`, where there are any; `None` where they are not all constants.
    let choices = |field: &Value, key: &str| -> Option<Option<Value>> {
        let Some(all) = field.get(key) else { return Some(None) };
        let all = all.as_array().filter(|all| !all.is_empty())?;
        all.iter().map(|choice| choice.get("const").cloned()).collect::<Option<Value>>().map(Some)
    };
    let mut fields = serde_json::Map::new();
    for (name, field) in schema.get("properties")?.as_object()? {
        let mut kept = plain(field);
        match field.get("type").and_then(Value::as_str)? {
            "string" | "number" | "integer" | "boolean" => {
                if let Some(titled) = choices(field, "oneOf")? {
                    kept.insert("enum".to_owned(), titled);
                }
            }
            "array" => {
                let items = field.get("items")?;
                let mut item = plain(items);
                if let Some(titled) = choices(items, "anyOf")? {
                    item.insert("enum".to_owned(), titled);
                }
                item.get("enum")?;
                kept.insert("items".to_owned(), item.into());
            }
            _ => return None,
        }
        fields.insert(name.clone(), kept.into());
    }
    let required = schema.get("required").cloned().unwrap_or_else(|| Value::Array(Vec::new()));
    // As in any schema, members that are not asked for are let through unless it says otherwise.
    let more = schema.get("additionalProperties").and_then(Value::as_bool).unwrap_or(true);
    let members = serde_json::json!({
        "type": "object", "properties": fields, "required": required, "additionalProperties": more,
    });
    Some(members)
}
