//! The demonstration's tools, and how each of them may change.

use aldgate_contract::Lock;
use serde_json::{Map, Value, json};

const LOCKS: [&str; 3] = [
    include_str!("../../../demo/contracts/manuals.json"),
    include_str!("../../../demo/contracts/parts.json"),
    include_str!("../../../demo/contracts/tickets.json"),
];

/// One tool.
pub(crate) struct Definition {
    pub(crate) upstream: String,
    pub(crate) name: String,
    pub(crate) value: Value,
    pub(crate) text: String,
    /// With another word in its description.
    pub(crate) reworded: String,
    /// With a new required property, and shorter texts.
    pub(crate) narrowed: String,
    /// With its first property of two words in another spelling.
    pub(crate) renamed: Option<Value>,
    /// Arguments that are valid.
    pub(crate) arguments: Map<String, Value>,
}

pub(crate) fn all() -> Vec<Definition> {
    LOCKS.iter().flat_map(|text| of(&Lock::parse(text).expect("the lock can be read"))).collect()
}

fn of(lock: &Lock) -> Vec<Definition> {
    let definition = |(name, pin): (&String, &aldgate_contract::Pin)| {
        let text = pin.definition.get().to_owned();
        let value: Value = serde_json::from_str(&text).expect("a definition is JSON");
        let (reworded, narrowed, renamed) = (reworded(&value), narrowed(&value), renamed(&value));
        let arguments = arguments(name);
        let (upstream, name) = (lock.upstream.name.clone(), name.clone());
        Definition { upstream, name, value, text, reworded, narrowed, renamed, arguments }
    };
    lock.tools.iter().map(definition).collect()
}

fn reworded(definition: &Value) -> String {
    let mut definition = definition.clone();
    let words = definition["description"].as_str().expect("a tool is described").to_owned();
    let (first, rest) = words.split_once(' ').expect("it has two words");
    let rest = rest.split_once(' ').map_or("", |(_, rest)| rest);
    definition["description"] = Value::from(format!("{first} anything {rest}"));
    definition.to_string()
}

fn properties(definition: &mut Value) -> &mut Map<String, Value> {
    definition
        .pointer_mut("/inputSchema/properties")
        .and_then(Value::as_object_mut)
        .expect("a tool has arguments")
}

fn narrowed(definition: &Value) -> String {
    let mut definition = definition.clone();
    for property in properties(&mut definition).values_mut().filter(|property| property["type"] == "string") {
        let most = property["maxLength"].as_u64().unwrap_or(1000);
        property["maxLength"] = Value::from(most / 2);
    }
    properties(&mut definition).insert("priority".to_owned(), json!({"type": "integer", "minimum": 1}));
    let required = definition.pointer_mut("/inputSchema/required").and_then(Value::as_array_mut);
    required.expect("something is required").push(Value::from("priority"));
    definition.to_string()
}

/// `part_no` becomes `partNo`.
fn renamed(definition: &Value) -> Option<Value> {
    let mut definition = definition.clone();
    let properties = properties(&mut definition);
    let old = properties.keys().find(|name| name.contains('_'))?.clone();
    let (first, second) = old.split_once('_')?;
    let mut letters = second.chars();
    let capital = letters.next()?.to_ascii_uppercase();
    let new = format!("{first}{capital}{}", letters.as_str());
    let all = std::mem::take(properties);
    *properties =
        all.into_iter().map(|(name, value)| (if name == old { new.clone() } else { name }, value)).collect();
    let required = definition.pointer_mut("/inputSchema/required").and_then(Value::as_array_mut);
    required
        .into_iter()
        .flatten()
        .filter(|name| **name == old)
        .for_each(|name| *name = Value::from(new.clone()));
    Some(definition)
}

fn arguments(tool: &str) -> Map<String, Value> {
    let arguments = match tool {
        "search_manual" => {
            json!({"query": "change the oil filter", "product_family": "AC-250", "variant": "S", "k": 3})
        }
        "check_availability" => json!({"part_no": "IF-250-01"}),
        "find_part" => json!({"model_variant": "AC-250-S", "category": "belt", "in_stock_only": true}),
        "raise_parts_order" => {
            json!({"part_no": "IF-250-01", "quantity": 2, "ticket_id": "SR-10234", "justification": "worn"})
        }
        "export_service_records" => {
            json!({"recipient": "a@b.example", "model_variant": "AC-250-S", "reason": "asked"})
        }
        "get_ticket" => json!({"ticket_id": "SR-10234"}),
        "post_ticket_update" => json!({"ticket_id": "SR-10234", "note": "The belt was changed."}),
        "search_tickets" => json!({"model_variant": "AC-250-S", "symptom": "it rattles", "limit": 5}),
        other => Value::from(format!("no arguments are known for `{other}`")),
    };
    arguments.as_object().expect("the demonstration's tools are known").clone()
}
