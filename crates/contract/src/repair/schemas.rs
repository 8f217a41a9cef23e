//! What the schemas of the current version say, found once for all plans.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use serde_json::{Map, Value, json};

use super::plan::Plan;
use super::spelling::Members;
use crate::Validator;
use crate::rename::{Alternatives, INTEGER, NUMBER, Types, Whole, types};
use crate::schema::weight;

/// What it takes to find the schemas in place of one, and to compile a pattern.
const FOUND: usize = 128;
const COMPILED: usize = 512;

pub(super) struct Schemas<'a> {
    pub(super) root: &'a Value,
    whole: Whole<'a>,
    in_place: HashMap<(*const Value, Alternatives), Rc<[&'a Value]>>,
    members: HashMap<*const Value, Option<Rc<Members<'a>>>>,
    patterns: HashMap<*const Value, Option<Rc<Validator>>>,
}

impl<'a> Schemas<'a> {
    pub(super) fn new(root: &'a Value) -> Self {
        Self {
            root,
            whole: Whole::new(root),
            in_place: HashMap::new(),
            members: HashMap::new(),
            patterns: HashMap::new(),
        }
    }

    /// All schemas that a value has to be valid under, as far as they are followed.
    pub(super) fn views(&mut self, plan: &mut Plan, schemas: &[&'a Value]) -> Vec<&'a Value> {
        let (mut seen, mut views) = (HashSet::new(), Vec::new());
        for schema in schemas {
            let found = self.in_place(plan, schema, Alternatives::Sole);
            if !plan.spend(found.len()) {
                break;
            }
            views.extend(found.iter().filter(|view| seen.insert(std::ptr::from_ref(**view))));
        }
        views
    }

    /// The schemas in place of one.
    pub(super) fn in_place(
        &mut self,
        plan: &mut Plan,
        schema: &'a Value,
        alternatives: Alternatives,
    ) -> Rc<[&'a Value]> {
        let whole = &self.whole;
        let found = self.in_place.entry((std::ptr::from_ref(schema), alternatives)).or_insert_with(|| {
            let found: Rc<[&Value]> = whole.views(schema, alternatives).into();
            if found.len() > 1 {
                plan.spend(FOUND);
            }
            found
        });
        Rc::clone(found)
    }

    /// The types that all of some schemas allow; `None` where none names any, or not one in common.
    pub(super) fn types(&mut self, plan: &mut Plan, views: &[&'a Value]) -> Option<Types> {
        let mut found: Option<Types> = None;
        for view in views {
            let mut named = types(view.get("type"));
            if named & NUMBER != 0 {
                named |= INTEGER;
            }
            if named != 0 {
                found = Some(found.map_or(named, |found| found & named));
            }
        }
        let of_members = || {
            let lists = views.iter().filter_map(|view| self.members(plan, view));
            lists.fold(0, |types, members| types | members.types)
        };
        Some(found.unwrap_or_else(of_members)).filter(|types| *types != 0)
    }

    /// What a schema enumerates, if it does.
    pub(super) fn members(&mut self, plan: &mut Plan, view: &'a Value) -> Option<Rc<Members<'a>>> {
        let found = self.members.entry(std::ptr::from_ref(view)).or_insert_with(|| {
            let members = enumerated(view);
            plan.spend(members.len());
            (!members.is_empty()).then(|| Rc::new(Members::new(&members)))
        });
        found.clone()
    }

    /// Those of some names that no pattern of a schema's `patternProperties` matches; none where they are no patterns.
    pub(super) fn unmatched(
        &mut self,
        plan: &mut Plan,
        names: &[&String],
        patterns: &'a Value,
    ) -> Vec<String> {
        let count = patterns.as_object().map_or(0, Map::len);
        let validator = self.patterns.entry(std::ptr::from_ref(patterns)).or_insert_with(|| {
            plan.spend(count * COMPILED);
            let weight = weight(&json!({"patternProperties": patterns}));
            plan.spend(usize::try_from(weight).unwrap_or(usize::MAX).saturating_mul(8));
            let names = patterns.as_object().into_iter().flat_map(Map::keys);
            let any: Map<String, Value> = names.map(|name| (name.clone(), Value::Bool(true))).collect();
            let schema = json!({"patternProperties": any, "additionalProperties": false});
            Validator::of(&schema).ok().map(Rc::new)
        });
        let Some(validator) = validator.as_ref().filter(|_| plan.spend(names.len() * count)) else {
            return Vec::new();
        };
        let unmatched = names.iter().filter(|name| !validator.holds(&json!({ name.as_str(): null })));
        unmatched.map(|name| (*name).clone()).collect()
    }
}

/// What one schema enumerates: by `enum`, by `const`, or by alternatives that are all such.
fn enumerated(view: &Value) -> Vec<&Value> {
    if let Some(members) = own(view) {
        return members;
    }
    let lists = ["anyOf", "oneOf"].iter().filter_map(|key| view.get(*key)?.as_array());
    let mut lists = lists.filter_map(|branches| {
        let all: Option<Vec<Vec<&Value>>> = branches.iter().map(own).collect();
        all.map(|members| members.concat())
    });
    lists.next().unwrap_or_default()
}

fn own(schema: &Value) -> Option<Vec<&Value>> {
    match (schema.get("enum"), schema.get("const")) {
        (Some(Value::Array(members)), _) => Some(members.iter().collect()),
        (None, Some(member)) => Some(vec![member]),
        _ => None,
    }
}
