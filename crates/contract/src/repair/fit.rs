//! Arguments, changed where the current schema does not take them: coercion, enumerations, defaults, dropping.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::coerce::{fits_alone, is_of, lossless};
use super::place::{member, step};
use super::plan::{Plan, size};
use super::schemas::Schemas;
use super::{Change, Rule};
use crate::rename::{ARRAY, Alternatives, ITEMS, escaped};

const COERCED: f64 = 1.0;
const MAPPED: f64 = 0.95;
const DEFAULTED: f64 = 0.9;
const DROPPED: f64 = 0.6;

/// What the history of the contract lets be added and taken away, by path.
pub(super) trait History {
    /// Whether a required property is new.
    fn is_new(&self, path: &str) -> bool;
    /// Whether a property was allowed before.
    fn was_allowed(&self, path: &str) -> bool;
    /// What a property seems to have become in any version, as name beside it, and how surely.
    fn became(&self, path: &str) -> Option<(String, f64)>;
}

pub(super) struct Fit<'p, 'a, H> {
    plan: &'p mut Plan,
    schemas: &'p mut Schemas<'a>,
    history: H,
}

/// Where a value is: its pointer in the arguments, and its path.
#[derive(Clone)]
struct Place {
    pointer: String,
    path: String,
}

impl Place {
    fn member(&self, name: &str) -> Self {
        Self { pointer: member(&self.pointer, name), path: step(&self.path, &escaped(name)) }
    }

    fn item(&self, at: usize) -> Self {
        Self { pointer: format!("{}/{at}", self.pointer), path: step(&self.path, ITEMS) }
    }
}

impl<'p, 'a, H: History> Fit<'p, 'a, H> {
    /// Changes the plan's arguments as far as the rules and the plan's effort go.
    pub(super) fn run(plan: &'p mut Plan, schemas: &'p mut Schemas<'a>, history: H) {
        let mut args = std::mem::take(&mut plan.args);
        let root = schemas.root;
        let mut fit = Self { plan, schemas, history };
        fit.value(&mut args, &[root], &Place { pointer: String::new(), path: String::new() });
        fit.plan.args = args;
    }

    fn value(&mut self, value: &mut Value, schemas: &[&'a Value], place: &Place) {
        if value.is_null() {
            return;
        }
        let views = self.schemas.views(self.plan, schemas);
        if !self.plan.spend(1) {
            return;
        }
        self.coerce(value, &views, place);
        self.map(value, &views, place);
        match value {
            Value::Array(items) => {
                if !self.plan.spend(items.len() * views.len()) {
                    return;
                }
                for (at, item) in items.iter_mut().enumerate() {
                    let schemas: Vec<&Value> =
                        views.iter().filter_map(|view| item_schema(view, at)).collect();
                    if !schemas.is_empty() {
                        self.value(item, &schemas, &place.item(at));
                    }
                }
            }
            Value::Object(members) => self.object(members, &views, place),
            _ => {}
        }
    }

    fn coerce(&mut self, value: &mut Value, views: &[&'a Value], place: &Place) {
        let Some(types) = self.schemas.types(self.plan, views) else { return };
        // Arguments are an object, whatever their schema says.
        if place.pointer.is_empty() || is_of(value, types) {
            return;
        }
        let other = lossless(value, types).or_else(|| {
            let items: Vec<&Value> = views.iter().filter_map(|view| item_schema(view, 0)).collect();
            let items = self.schemas.views(self.plan, &items);
            let items = self.schemas.types(self.plan, &items);
            let ordered = views.iter().any(|view| view.get("prefixItems").is_some());
            // Within an array it could be either: each item alone, or all of them together.
            let is_item = place.path.rsplit('/').next() == Some(ITEMS);
            (types == ARRAY && !ordered && !is_item && fits_alone(value, items)).then(|| json!([value]))
        });
        if let Some(other) = other {
            self.replace(Rule::Coerce, value, other, place, COERCED);
        }
    }

    fn map(&mut self, value: &mut Value, views: &[&'a Value], place: &Place) {
        for view in views {
            let Some(members) = self.schemas.members(self.plan, view) else { continue };
            if !self.plan.spend(members.compared()) || members.holds(value) {
                continue;
            }
            let Some(text) = value.as_str() else { continue };
            if self.plan.limit.allows(Rule::MapEnum)
                && let Some(member) = members.respelled(text)
            {
                self.replace(Rule::MapEnum, value, Value::String(member.to_owned()), place, MAPPED);
            }
        }
    }

    fn replace(&mut self, rule: Rule, value: &mut Value, other: Value, place: &Place, confidence: f64) {
        self.plan.spend(size(value));
        let before = std::mem::replace(value, other);
        self.plan.push(Change {
            rule,
            path: place.pointer.clone(),
            before: Some(before),
            after: Some(value.clone()),
            to: None,
            confidence,
        });
    }

    fn object(&mut self, object: &mut Map<String, Value>, views: &[&'a Value], place: &Place) {
        if !self.plan.spend(object.len() * views.len().max(1)) {
            return;
        }
        for (name, value) in object.iter_mut() {
            let schemas: Vec<&Value> = views.iter().filter_map(|view| member_schema(view, name)).collect();
            if !schemas.is_empty() {
                self.value(value, &schemas, &place.member(name));
            }
        }
        self.drop_forbidden(object, views, place);
        self.add_defaults(object, views, place);
    }

    fn drop_forbidden(&mut self, object: &mut Map<String, Value>, views: &[&'a Value], place: &Place) {
        let mut forbidden = HashSet::new();
        for view in views {
            forbidden.extend(self.forbidden(object, view));
        }
        let names: Vec<String> = object.keys().filter(|name| forbidden.contains(*name)).cloned().collect();
        for name in names {
            let Place { pointer, path } = place.member(&name);
            let allowed = self.plan.limit.allows(Rule::Drop);
            if allowed
                && let Some((to, confidence)) = self.history.became(&path)
                && !self.plan.is_doubtful(&pointer)
            {
                let there = object.get(&to);
                let to = place.member(&to).pointer;
                match there {
                    Some(value) => self.plan.occupied(pointer.clone(), to, object.get(&name) == Some(value)),
                    None => self.plan.doubtful(pointer.clone(), to, confidence),
                }
            }
            if !allowed || self.plan.is_doubtful(&pointer) || !self.history.was_allowed(&path) {
                continue;
            }
            let before = object.shift_remove(&name);
            self.plan.push(Change {
                rule: Rule::Drop,
                path: pointer,
                before,
                after: None,
                to: None,
                confidence: DROPPED,
            });
        }
    }

    /// The members that one schema cannot take, whatever their value.
    fn forbidden(&mut self, object: &Map<String, Value>, view: &'a Value) -> Vec<String> {
        let is_false = |key: &str| view.get(key) == Some(&Value::Bool(false));
        let properties = view.get("properties").and_then(Value::as_object);
        let declared = |name: &String| properties.is_some_and(|properties| properties.contains_key(name));
        let mut found: Vec<String> = Vec::new();
        if let Some(properties) = properties {
            let never = object.keys().filter(|name| properties.get(*name) == Some(&Value::Bool(false)));
            found.extend(never.cloned());
        }
        if is_false("additionalProperties") {
            let others: Vec<&String> = object.keys().filter(|name| !declared(name)).collect();
            match view
                .get("patternProperties")
                .filter(|all| all.as_object().is_some_and(|all| !all.is_empty()))
            {
                Some(patterns) => found.extend(self.schemas.unmatched(self.plan, &others, patterns)),
                _ => found.extend(others.into_iter().cloned()),
            }
        } else if is_false("unevaluatedProperties") {
            let around = self.schemas.in_place(self.plan, view, Alternatives::All);
            if !self.plan.spend(around.len() * (object.len() + 8)) {
                return found;
            }
            let opaque = [
                "additionalProperties",
                "patternProperties",
                "if",
                "then",
                "else",
                "dependentSchemas",
                "not",
            ];
            let nested =
                |other: &&Value| !std::ptr::eq(*other, view) && other.get("unevaluatedProperties").is_some();
            if !around.iter().any(|other| opaque.iter().any(|key| other.get(*key).is_some()) || nested(other))
            {
                let known = |name: &String| {
                    around.iter().any(|other| other.get("properties").and_then(|all| all.get(name)).is_some())
                };
                found.extend(object.keys().filter(|name| !known(name)).cloned());
            }
        }
        found
    }

    fn add_defaults(&mut self, object: &mut Map<String, Value>, views: &[&'a Value], place: &Place) {
        if !self.plan.limit.allows(Rule::Default) {
            return;
        }
        for names in views.iter().filter_map(|view| view.get("required")?.as_array()) {
            if !self.plan.spend(names.len()) {
                return;
            }
            for name in names.iter().filter_map(Value::as_str) {
                if object.contains_key(name) || !self.plan.spend(views.len()) {
                    continue;
                }
                let Place { pointer, path } = place.member(name);
                if self.plan.is_reserved(&pointer) {
                    continue;
                }
                let schemas: Vec<&Value> =
                    views.iter().filter_map(|view| view.get("properties")?.get(name)).collect();
                let views = self.schemas.views(self.plan, &schemas);
                let declared = views.into_iter().find_map(|view| view.get("default"));
                let Some(value) = declared.filter(|_| self.history.is_new(&path)) else { continue };
                if !self.plan.spend(size(value)) {
                    return;
                }
                object.insert(name.to_owned(), value.clone());
                let after = Some(value.clone());
                self.plan.push(Change {
                    rule: Rule::Default,
                    path: pointer,
                    before: None,
                    after,
                    to: None,
                    confidence: DEFAULTED,
                });
            }
        }
    }
}

fn member_schema<'a>(view: &'a Value, name: &str) -> Option<&'a Value> {
    let declared = view.get("properties").and_then(|properties| properties.get(name));
    let patterns = view.get("patternProperties").is_some();
    declared.or_else(|| view.get("additionalProperties").filter(|schema| schema.is_object() && !patterns))
}

fn item_schema(view: &Value, at: usize) -> Option<&Value> {
    let first = view.get("prefixItems").and_then(Value::as_array);
    match first.and_then(|first| first.get(at)) {
        Some(schema) => Some(schema),
        None => view.get("items").filter(|items| items.is_object()),
    }
}
