//! What is written differently in two schemas, place by place; which of it breaks was found before.

mod members;

use std::collections::{HashSet, VecDeque};

use serde_json::{Map, Value};

use super::document::Document;
use super::show::quoted;
use super::subsume::{KEYWORDS, Proof, Shape, Side};
use super::{Change, Severity, change, text_change};
use crate::canonical::same_value;
use members::{Members, NAMING, holds_words, pairs};

/// Pairs of schemas that are looked at.
const MAX_PAIRS: usize = 50_000;

pub(super) struct Walk<'a, 'c> {
    side: Side,
    old: &'a Document<'a>,
    new: &'a Document<'a>,
    /// Where something breaks, what was shown of the whole.
    proof: Option<Proof<'a>>,
    /// The pair that is looked at.
    now: (&'a Value, &'a Value),
    changes: &'c mut Vec<Change>,
    /// The places of what breaks.
    broken: Vec<String>,
    /// What was told, by place.
    told: HashSet<(Severity, String, String)>,
    met: HashSet<(*const Value, *const Value)>,
    seen: HashSet<*const Value>,
    /// Definitions, and whether they are of the new schema.
    definitions: Vec<(&'a Map<String, Value>, bool)>,
    waiting: VecDeque<(&'a Value, &'a Value)>,
    full: bool,
}

impl<'a, 'c> Walk<'a, 'c> {
    /// The changes from `from` on are what breaks in these schemas.
    pub(super) fn new(
        side: Side,
        old: &'a Document<'a>,
        new: &'a Document<'a>,
        proof: Option<Proof<'a>>,
        from: usize,
        changes: &'c mut Vec<Change>,
    ) -> Self {
        let broken = changes.iter().skip(from).map(|change| change.path.clone()).collect();
        Self {
            side,
            old,
            new,
            proof,
            now: (old.root, new.root),
            changes,
            broken,
            told: HashSet::new(),
            met: HashSet::new(),
            seen: HashSet::new(),
            definitions: Vec::new(),
            waiting: VecDeque::new(),
            full: false,
        }
    }

    pub(super) fn run(mut self) {
        self.schema(self.old.root, self.new.root);
        let mut next = 0;
        loop {
            while let Some((old, new)) = self.waiting.pop_front() {
                self.pair(old, new);
            }
            let Some((named, is_new)) = self.definitions.get(next).copied() else { break };
            self.unreferenced(named, is_new);
            next += 1;
        }
        if self.full {
            let path = self.new.place(self.new.root);
            let what = "the schemas are too large to compare all their words";
            self.changes.push(change(Severity::Breaking, &path, what, None, None));
        }
    }

    /// Puts a pair in the queue, once.
    fn schema(&mut self, old: &'a Value, new: &'a Value) {
        if self.met.len() >= MAX_PAIRS {
            self.full = true;
        } else if self.met.insert((std::ptr::from_ref(old), std::ptr::from_ref(new))) {
            self.waiting.push_back((old, new));
        }
    }

    fn pair(&mut self, old: &'a Value, new: &'a Value) {
        self.now = (old, new);
        let refuses = |schema: &Value| *schema == Value::Bool(false);
        if refuses(old) != refuses(new) {
            let what = if refuses(old) { "values are allowed now" } else { "values are no longer allowed" };
            self.assertion(Some(old), Some(new), what);
        }
        let (before, after) = (self.members(old, false), self.members(new, true));
        for key in before.names_with(&after) {
            let (in_old, in_new) = (before.get(key), after.get(key));
            match KEYWORDS.iter().find(|(known, _)| *known == key) {
                Some((_, Shape::Named | Shape::Mixed)) => self.named(key, in_old, in_new),
                Some((_, shape)) => {
                    for (old, new) in pairs(in_old, in_new, false) {
                        self.keyword(key, *shape, old, new);
                    }
                }
                None => {
                    for (old, new) in pairs(in_old, in_new, false) {
                        self.annotation(key, old, new);
                    }
                }
            }
        }
    }

    /// The members of a schema, and of what it refers to.
    fn members(&mut self, schema: &'a Value, is_new: bool) -> Members<'a> {
        let document = if is_new { self.new } else { self.old };
        let mut members = Members::default();
        let mut now = Some(schema);
        // What is chained in place ends: the schema is usable.
        while let Some(schema) = now {
            self.seen.insert(std::ptr::from_ref(schema));
            let Value::Object(own) = schema else { break };
            let single = match own.get("allOf") {
                Some(Value::Array(parts)) if parts.len() == 1 && !own.contains_key("$ref") => parts.first(),
                _ => None,
            };
            for (key, value) in own {
                if !NAMING.contains(&key.as_str()) && (key != "allOf" || single.is_none()) {
                    members.push(key, value);
                }
            }
            self.hold(own, is_new);
            let target = |key| document.target(schema, key);
            now = target("$ref").or_else(|| target("$dynamicRef")).or(single);
        }
        members
    }

    /// Keeps the definitions of a schema for later.
    fn hold(&mut self, own: &'a Map<String, Value>, is_new: bool) {
        for named in ["$defs", "definitions"].iter().filter_map(|key| own.get(*key)?.as_object()) {
            if !self.definitions.iter().any(|(had, _)| std::ptr::eq(*had, named)) {
                self.definitions.push((named, is_new));
            }
        }
    }

    fn keyword(&mut self, key: &str, shape: Shape, old: Option<&'a Value>, new: Option<&'a Value>) {
        match (shape, old, new) {
            (Shape::Schema, Some(old), Some(new)) => self.schema(old, new),
            (Shape::List, Some(Value::Array(old)), Some(Value::Array(new))) => self.list(key, old, new),
            (_, Some(was), Some(is)) => {
                if !same_value(was, is) {
                    let (was, is) = (quoted(was.to_string()), quoted(is.to_string()));
                    self.assertion(old, new, &format!("{} was {was} and is {is}", quoted(key)));
                }
            }
            (_, old, new) => self.only(key, shape, old, new),
        }
    }

    /// Schemas by name.
    fn named(&mut self, key: &str, old: &[&'a Value], new: &[&'a Value]) {
        let in_place = key == "dependentSchemas" || key == "dependencies";
        let (before, after) = (Members::of(old.iter().copied()), Members::of(new.iter().copied()));
        for name in before.names_with(&after) {
            for pair in pairs(before.get(name), after.get(name), false) {
                match pair {
                    (Some(old), Some(new)) if old.is_array() || new.is_array() => {
                        if !same_value(old, new) {
                            self.assertion(Some(old), Some(new), &format!("{} changed", quoted(key)));
                        }
                    }
                    (Some(old), Some(new)) => self.schema(old, new),
                    (old, new) if in_place => self.only(key, Shape::Schema, old, new),
                    (Some(old), None) => self.gone(key, name, old, after.get(name).is_empty()),
                    (None, new) => {
                        new.into_iter().for_each(|part| self.reach(part, true));
                        self.assertion(None, new, &format!("{} is new", quoted(name)));
                    }
                }
            }
        }
    }

    fn gone(&mut self, key: &str, name: &str, before: &'a Value, altogether: bool) {
        self.reach(before, false);
        let what = match (self.side, key) {
            (Side::Output, "properties") if altogether => {
                let what = format!("{} is no longer among the properties of results", quoted(name));
                let path = self.old.place(before);
                if !self.is_broken(&path) {
                    self.tell(change(Severity::Breaking, &path, &what, Some(before), None));
                }
                return;
            }
            (Side::Input, "properties") => {
                format!("{} is no longer described", quoted(name))
            }
            _ => format!("{} is gone", quoted(name)),
        };
        self.assertion(Some(before), None, &what);
    }

    /// Schemas in order.
    fn list(&mut self, key: &str, old: &'a [Value], new: &'a [Value]) {
        let (old, new): (Vec<&Value>, Vec<&Value>) = (old.iter().collect(), new.iter().collect());
        for pair in pairs(&old, &new, key == "prefixItems") {
            match pair {
                (Some(old), Some(new)) => self.schema(old, new),
                (old, new) if key == "allOf" => self.only(key, Shape::Schema, old, new),
                (old, new) => {
                    old.into_iter().for_each(|part| self.reach(part, false));
                    new.into_iter().for_each(|part| self.reach(part, true));
                    let is = if new.is_some() { "new" } else { "gone" };
                    self.assertion(old, new, &format!("one of {} is {is}", quoted(key)));
                }
            }
        }
    }

    /// A keyword, or a part of one, that one schema has. Its words say something about the value itself, so they count
    /// on their own; the words of a new property, or of another alternative, are a part of it.
    fn only(&mut self, key: &str, shape: Shape, old: Option<&'a Value>, new: Option<&'a Value>) {
        let is = if new.is_some() { "is new" } else { "is gone" };
        let text = match (shape, old.or(new)) {
            (Shape::Data | Shape::Names, Some(value)) => format!(": {}", quoted(value.to_string())),
            _ => String::new(),
        };
        self.assertion(old, new, &format!("{} {is}{text}", quoted(key)));
        old.into_iter().for_each(|part| self.reach(part, false));
        new.into_iter().for_each(|part| self.reach(part, true));
        if old.or(new).is_some_and(|value| holds_words(shape, value)) {
            let what = format!("words came or went with {}", quoted(key));
            let path = self.place(old, new);
            self.tell(change(Severity::Behavioural, &path, &what, old, new));
        }
    }

    /// Words, or anything else that says nothing about which values fit.
    fn annotation(&mut self, key: &str, old: Option<&'a Value>, new: Option<&'a Value>) {
        if old.zip(new).is_some_and(|(old, new)| same_value(old, new)) {
            return;
        }
        let path = self.place(old, new);
        if key == "x-mcp-header" {
            let what = "the header that carries this argument is another";
            self.tell(change(Severity::Breaking, &path, what, old, new));
        } else {
            self.tell(text_change(Severity::Behavioural, &path, key, old, new));
        }
    }

    /// Something about which values fit: compatible, unless it is among what breaks.
    fn assertion(&mut self, old: Option<&'a Value>, new: Option<&'a Value>, what: &str) {
        let path = self.place(old, new);
        if self.is_broken(&path) {
            return;
        }
        if self.is_unexplained() {
            let what = format!("{what}; it is not shown to be compatible");
            self.tell(change(Severity::Breaking, &path, &what, old, new));
        } else {
            self.tell(change(Severity::Compatible, &path, what, old, new));
        }
    }

    /// Whether the pair that is looked at may be what breaks elsewhere: nothing in it was told to break, and it is not
    /// shown to be compatible by itself.
    fn is_unexplained(&mut self) -> bool {
        let (old, new) = self.now;
        let (old_place, new_place) = (self.old.place(old), self.new.place(new));
        let told = self.broken.iter().any(|path| is_within(path, &old_place) || is_within(path, &new_place));
        let (inner, outer) = if self.side == Side::Input { (old, new) } else { (new, old) };
        !told && self.proof.as_mut().is_some_and(|proof| !proof.shown(inner, outer))
    }

    fn tell(&mut self, change: Change) {
        if self.told.insert((change.severity, change.path.clone(), change.what.clone())) {
            self.changes.push(change);
        }
    }

    fn is_broken(&self, path: &str) -> bool {
        self.broken.iter().any(|broken| is_within(broken, path) || is_within(path, broken))
    }

    fn place(&self, old: Option<&Value>, new: Option<&Value>) -> String {
        match (old, new) {
            (_, Some(new)) => self.new.place(new),
            (Some(old), None) => self.old.place(old),
            (None, None) => String::new(),
        }
    }

    /// Marks what a part that came or went refers to: it came or went with it.
    fn reach(&mut self, part: &'a Value, is_new: bool) {
        let document = if is_new { self.new } else { self.old };
        let mut waiting = vec![part];
        while let Some(value) = waiting.pop() {
            if !self.seen.insert(std::ptr::from_ref(value)) {
                continue;
            }
            waiting.extend(document.target(value, "$ref"));
            waiting.extend(document.target(value, "$dynamicRef"));
            match value {
                Value::Object(members) => waiting.extend(members.values()),
                Value::Array(items) => waiting.extend(items),
                _ => {}
            }
        }
    }

    /// Definitions that nothing refers to are words all the same.
    fn unreferenced(&mut self, named: &'a Map<String, Value>, is_new: bool) {
        for (name, schema) in named {
            if self.seen.contains(&std::ptr::from_ref(schema)) {
                continue;
            }
            let (here, other) = if is_new { (self.new, self.old) } else { (self.old, self.new) };
            match other.at_place_of(here, schema) {
                Some(twin) if same_value(twin, schema) => {}
                Some(twin) if !self.seen.contains(&std::ptr::from_ref(twin)) => {
                    let (old, new) = if is_new { (twin, schema) } else { (schema, twin) };
                    self.schema(old, new);
                }
                _ => {
                    let is = if is_new { "new" } else { "gone" };
                    let what = format!("the definition {}, which nothing refers to, is {is}", quoted(name));
                    let (old, new) = if is_new { (None, Some(schema)) } else { (Some(schema), None) };
                    self.tell(change(Severity::Behavioural, &here.place(schema), &what, old, new));
                }
            }
        }
    }
}

/// Whether a place is another, or within it.
fn is_within(path: &str, other: &str) -> bool {
    path.strip_prefix(other).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
