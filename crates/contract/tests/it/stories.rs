//! Tools that evolve as tools do, with arguments written for an early version.

use aldgate_contract::rename::Confirmed;
use aldgate_contract::repair::Revision;
use serde_json::{Map, Value, json};

use crate::dice::Dice;
use crate::samples::Sampler;
use crate::schemas::{edit, pair};

/// Names with what becomes of them.
const NAMES: &[(&str, &str)] = &[
    ("userId", "user_id"),
    ("pageSize", "page_size"),
    ("dryRun", "dry_run"),
    ("dueDate", "due_date"),
    ("issueKey", "issue_key"),
    ("maxResults", "max_results"),
];

/// A tool's contracts, each with the renames that somebody confirmed.
pub(crate) struct Story {
    pub(crate) told: Vec<(Value, Vec<Confirmed>)>,
    pub(crate) args: Map<String, Value>,
}

impl Story {
    pub(crate) fn revisions(&self) -> Vec<Revision<'_>> {
        let numbered = (1..).zip(&self.told);
        numbered
            .map(|(version, (definition, confirmed))| Revision { version, definition, confirmed })
            .collect()
    }

    pub(crate) fn current(&self) -> &Value {
        &self.told.last().unwrap().0["inputSchema"]
    }
}

pub(crate) fn story(seed: u64) -> Story {
    let mut dice = Dice::new(seed);
    let mut schema = if dice.percent(25) { pair(&mut dice)[0].clone() } else { plain(&mut dice) };
    let first = schema.clone();
    let mut told = vec![(schema.clone(), Vec::new())];
    for _ in 0..dice.below(4) {
        let confirmed = evolved(&mut dice, &mut schema);
        told.push((schema.clone(), confirmed));
    }
    let mut sampler = Sampler::new([&first, &schema], seed);
    let args = (0..20).find_map(|_| match sampler.value() {
        Value::Object(members) => Some(members),
        _ => None,
    });
    let named = |schema: Value| json!({"name": "t", "description": "d", "inputSchema": schema});
    let told = told.into_iter().map(|(schema, confirmed)| (named(schema), confirmed)).collect();
    Story { told, args: args.unwrap_or_default() }
}

fn plain(dice: &mut Dice) -> Value {
    let mut made = json!({"type": "object", "properties": {}, "required": []});
    for (name, _) in NAMES {
        if dice.percent(50) {
            made["properties"][name] = property(dice, name);
            if dice.percent(50) {
                made["required"].as_array_mut().unwrap().push(json!(name));
            }
        }
    }
    if dice.percent(60) {
        made["additionalProperties"] = json!(false);
    }
    made
}

fn property(dice: &mut Dice, name: &str) -> Value {
    let mut made = match dice.below(7) {
        0 => json!({"type": "string"}),
        1 => json!({"type": "integer", "minimum": 0}),
        2 => json!({"type": "boolean"}),
        3 | 4 => json!({"type": "string", "enum": ["low", "in_progress", "Done Late"]}),
        5 => json!({"type": "array", "items": {"type": "integer"}}),
        _ => {
            json!({"type": "object", "properties": {"dryRun": {"type": "boolean"}, "n": {"type": "number"}}})
        }
    };
    made["description"] = json!(format!("What {name} is for"));
    made
}

/// The next version, and which of its renames are confirmed.
fn evolved(dice: &mut Dice, schema: &mut Value) -> Vec<Confirmed> {
    let mut confirmed = Vec::new();
    for _ in 0..1 + dice.below(3) {
        let Some(known) = schema.get_mut("properties").and_then(Value::as_object_mut) else {
            return confirmed;
        };
        let names: Vec<String> = known.keys().cloned().collect();
        if names.is_empty() {
            break;
        }
        let name = dice.pick(&names).clone();
        match dice.below(8) {
            0..3 => {
                let Some((_, to)) = NAMES.iter().find(|(from, _)| *from == name) else { continue };
                if known.contains_key(*to) {
                    continue;
                }
                let value = known.remove(&name).unwrap();
                known.insert((*to).to_owned(), value);
                for required in schema.get_mut("required").and_then(Value::as_array_mut).into_iter().flatten()
                {
                    if *required == json!(name) {
                        *required = json!(to);
                    }
                }
                if dice.percent(50) {
                    confirmed.push(Confirmed { from: name, to: (*to).to_owned() });
                }
            }
            3 => {
                let (from, to) =
                    *dice.pick(&[("integer", "string"), ("string", "integer"), ("boolean", "string")]);
                if known[&name]["type"] == json!(from) && known[&name].get("enum").is_none() {
                    known[&name] = json!({"type": to, "description": known[&name]["description"]});
                }
            }
            4 => {
                let respelled = json!(["LOW", "in-progress", "done_late"]);
                known
                    .values_mut()
                    .filter_map(|known| known.get_mut("enum"))
                    .for_each(|known| *known = respelled.clone());
            }
            5 => {
                let fresh = dice.word(&["tenant", "mode", "region"]);
                known.insert(fresh.clone(), json!({"type": "string", "default": "standard"}));
                let required = schema.get_mut("required").and_then(Value::as_array_mut);
                required
                    .filter(|required| !required.contains(&json!(fresh)))
                    .into_iter()
                    .for_each(|required| required.push(json!(fresh)));
            }
            6 => {
                known.remove(&name);
                if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
                    required.retain(|required| *required != json!(name));
                }
                schema["additionalProperties"] = json!(false);
            }
            _ => edit(dice, schema),
        }
    }
    confirmed
}
