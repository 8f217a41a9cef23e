//! Reads the field-service results: the members that the plan needs, nothing else.

use serde_json::Value;

#[cfg(test)]
mod tests;

/// The ticket that is worked.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ticket {
    pub(super) id: String,
    pub(super) open: bool,
    pub(super) model_variant: String,
    pub(super) symptom: String,
    pub(super) customer_text: String,
}

/// A closed ticket of the history.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Past {
    pub(super) id: String,
    pub(super) fault_code: String,
    pub(super) fault: Option<String>,
    pub(super) part_no: Option<String>,
    pub(super) category: Option<String>,
    pub(super) minutes: Option<u64>,
    /// Every word of the record, for what has no member of its own.
    pub(super) words: String,
}

/// A part of the catalogue.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Part {
    pub(super) number: String,
    pub(super) description: Option<String>,
}

/// What the store has of a part.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Stock {
    pub(super) quantity: Option<i64>,
    pub(super) lead_time_days: Option<i64>,
}

/// A passage of a manual, with where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Passage {
    pub(super) source: String,
    pub(super) text: String,
}

pub(super) fn ticket(result: &Value) -> Option<Ticket> {
    let record = result.get("ticket").unwrap_or(result);
    Some(Ticket {
        id: text(record, "ticket_id")?,
        open: text(record, "status")? == "open",
        model_variant: text(record, "model_variant")?,
        symptom: text(record, "symptom")?,
        customer_text: text(record, "customer_text").unwrap_or_default(),
    })
}

pub(super) fn history(result: &Value) -> Vec<Past> {
    rows(result, "tickets").filter_map(past).collect()
}

fn past(record: &Value) -> Option<Past> {
    Some(Past {
        id: text(record, "ticket_id")?,
        fault_code: text(record, "fault_code")?,
        fault: text(record, "fault"),
        part_no: text(record, "part_no"),
        category: text(record, "part_category"),
        minutes: record.get("repair_minutes").and_then(Value::as_u64),
        words: words(record),
    })
}

pub(super) fn parts(result: &Value) -> Vec<Part> {
    let part = |record: &Value| {
        Some(Part { number: text(record, "part_no")?, description: text(record, "description") })
    };
    rows(result, "parts").filter_map(part).collect()
}

pub(super) fn stock(result: &Value) -> Stock {
    let number = |name: &str| result.get(name).and_then(Value::as_i64);
    Stock { quantity: number("stock"), lead_time_days: number("lead_time_days") }
}

/// Current passages first, and among them procedures; otherwise as the server ranked them.
pub(super) fn passages(result: &Value) -> Vec<Passage> {
    let passage = |record: &Value| {
        let place = |name: &str| match record.get(name)? {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        };
        let mut source = place("document")?;
        for (name, word) in [("revision", "rev."), ("page", "p.")] {
            if let Some(value) = place(name) {
                source.push_str(&format!(", {word} {value}"));
            }
        }
        Some(Passage { source, text: text(record, "passage")? })
    };
    let superseded = |record: &Value| record.get("superseded").and_then(Value::as_bool).unwrap_or(false);
    let mut records: Vec<&Value> = rows(result, "passages").collect();
    records.sort_by_key(|record| (superseded(record), text(record, "kind").as_deref() != Some("procedure")));
    records.into_iter().filter_map(passage).collect()
}

/// The categories that `find_part` takes, from its listed schema.
pub(super) fn categories(input_schema: &Value) -> Vec<String> {
    let listed = input_schema.pointer("/properties/category/enum").and_then(Value::as_array);
    listed.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn rows<'a>(result: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    result.get(name).and_then(Value::as_array).into_iter().flatten()
}

fn text(record: &Value, name: &str) -> Option<String> {
    record.get(name).and_then(Value::as_str).map(str::to_owned)
}

fn words(value: &Value) -> String {
    match value {
        Value::String(text) => format!(" {text}"),
        Value::Array(values) => values.iter().map(words).collect(),
        Value::Object(members) => members.values().map(words).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
    }
}
