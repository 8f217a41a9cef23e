//! Renames, applied to arguments from one version to the next.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::{Map, Value};

use super::place::{around, member, object_mut, step};
use super::plan::{Plan, size};
use super::{Change, Rule};
use crate::rename::{ITEMS, Rename, unescaped};

/// Applies the renames of one step. A property that is there is never overwritten; two that change places do so at
/// once.
pub(super) fn apply(plan: &mut Plan, renames: &[&Rename]) {
    // By the object in which names change; what is around one comes before it, so that it is found under its new name.
    let mut within: BTreeMap<&str, Vec<&Rename>> = BTreeMap::new();
    let ways: HashMap<&str, &str> =
        renames.iter().map(|rename| (rename.from.as_str(), rename.to.as_str())).collect();
    let mut across = Vec::new();
    for rename in renames {
        let (from_around, _) = around(&rename.from);
        let (to_around, _) = around(&rename.to);
        let is_items = [&rename.from, &rename.to].iter().any(|path| around(path).1 == ITEMS);
        if moved(from_around, &ways) == to_around {
            if !is_items {
                within.entry(to_around).or_default().push(rename);
            }
        } else if ![&rename.from, &rename.to].iter().any(|path| path.split('/').any(|name| name == ITEMS)) {
            across.push(*rename);
        }
    }
    for (path, renames) in within {
        for pointer in plan.objects(path) {
            in_object(plan, &pointer, &renames);
        }
    }
    for rename in across {
        let (from_around, name) = around(&rename.from);
        let from = step(&moved(from_around, &ways), name);
        between_objects(plan, &from, rename);
    }
}

/// Where a path leads once the renames of the places on the way are made.
fn moved(path: &str, ways: &HashMap<&str, &str>) -> String {
    let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
    let splits = ends.rev().filter_map(|end| path.split_at_checked(end));
    let mut known = splits.filter_map(|(head, rest)| Some(format!("{}{rest}", ways.get(head)?)));
    known.next().unwrap_or_else(|| path.to_owned())
}

fn in_object(plan: &mut Plan, pointer: &str, renames: &[&Rename]) {
    let Some(object) = plan.args.pointer(pointer).and_then(Value::as_object) else { return };
    let names = |rename: &Rename| (unescaped(around(&rename.from).1), unescaped(around(&rename.to).1));
    let mut wanted: Vec<(String, String, f64)> = renames
        .iter()
        .map(|rename| {
            let (from, to) = names(rename);
            (from, to, rename.confidence)
        })
        .filter(|(from, _, _)| object.contains_key(from))
        .collect();
    let mut leaving: HashSet<String> = wanted.iter().map(|(from, _, _)| from.clone()).collect();
    let mut occupied = Vec::new();
    // What is in the way may itself go away, until nothing changes any more.
    while let Some(at) = wanted.iter().position(|(_, to, _)| object.contains_key(to) && !leaving.contains(to))
    {
        let (from, to, _) = wanted.remove(at);
        leaving.remove(&from);
        occupied.push((from, to));
    }
    let copied = wanted.iter().map(|(from, _, _)| from).chain(occupied.iter().map(|(from, _)| from));
    let copied: usize = copied.filter_map(|name| object.get(name)).map(size).sum();
    let looked = object.len() + renames.len() + copied;
    let same: Vec<bool> = occupied.iter().map(|(from, to)| object.get(from) == object.get(to)).collect();
    if !plan.spend(looked) {
        return;
    }
    for ((from, to), is_same) in occupied.into_iter().zip(same) {
        plan.occupied(member(pointer, &from), member(pointer, &to), is_same);
    }
    let Some(object) = object_mut(&mut plan.args, pointer).filter(|_| !wanted.is_empty()) else { return };
    let mut renamed = Map::new();
    let mut changes = Vec::new();
    for (name, value) in std::mem::take(object) {
        match wanted.iter().find(|(from, _, _)| *from == name) {
            Some((from, to, confidence)) => {
                changes.push(Change {
                    rule: Rule::Rename,
                    path: member(pointer, from),
                    before: Some(value.clone()),
                    after: Some(value.clone()),
                    to: Some(member(pointer, to)),
                    confidence: *confidence,
                });
                renamed.insert(to.clone(), value);
            }
            None => {
                renamed.insert(name, value);
            }
        }
    }
    *object = renamed;
    for change in changes {
        plan.push(change);
    }
}

fn between_objects(plan: &mut Plan, from: &str, rename: &Rename) {
    let pointer = format!("/{from}");
    let to = format!("/{}", rename.to);
    let (around_from, name) = around(&pointer);
    if plan.args.pointer(&pointer).is_none() || !is_free(&plan.args, &rename.to) {
        return;
    }
    let copied = plan.args.pointer(&pointer).map_or(0, size);
    if !plan.spend(copied) {
        return;
    }
    let Some(value) =
        object_mut(&mut plan.args, around_from).and_then(|object| object.shift_remove(&unescaped(name)))
    else {
        return;
    };
    put(&mut plan.args, &rename.to, value.clone());
    plan.push(Change {
        rule: Rule::Rename,
        path: pointer,
        before: Some(value.clone()),
        after: Some(value),
        to: Some(to),
        confidence: rename.confidence,
    });
}

/// Whether nothing is at a path yet, and objects are on the way as far as anything is.
fn is_free(args: &Value, path: &str) -> bool {
    let mut at = args;
    for name in path.split('/') {
        let Some(object) = at.as_object() else { return false };
        match object.get(&unescaped(name)) {
            Some(next) => at = next,
            None => return true,
        }
    }
    false
}

/// Puts a value where [`is_free`] says that it can be.
fn put(args: &mut Value, path: &str, value: Value) {
    let (around, last) = around(path);
    let mut at = args;
    for name in around.split('/').filter(|_| !around.is_empty()) {
        let Some(object) = at.as_object_mut() else { return };
        at = object.entry(unescaped(name)).or_insert_with(|| Value::Object(Map::new()));
    }
    if let Some(object) = at.as_object_mut() {
        object.insert(unescaped(last), value);
    }
}

/// Notes the places that a rename could move, and where to: of one that is too doubtful to be made.
pub(super) fn doubt(plan: &mut Plan, rename: &Rename) {
    let (path, name) = around(&rename.from);
    let to = around(&rename.to).1;
    for pointer in plan.objects(path) {
        let from = format!("{pointer}/{name}");
        if plan.args.pointer(&from).is_some() {
            plan.doubtful(from, format!("{pointer}/{to}"), rename.confidence);
        }
    }
}
