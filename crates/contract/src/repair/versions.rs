//! The contracts of a tool, and for which of them arguments were written.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::rc::Rc;

use serde_json::Value;

use super::fit::History;
use super::place::around;
use super::{DOUBT, Revision};
use crate::Validator;
use crate::rename::{Confirmed, Outline, Rename, between, unescaped};
use crate::schema::{self, extent};

/// The most versions, the newest ones.
pub(super) const MAX_VERSIONS: usize = 16;
/// The most pairs of properties that are compared, those of the newest versions first.
const MAX_PAIRS: usize = 8192;
/// What the schemas that are compiled may weigh together.
pub(super) const MAX_WEIGHT: u64 = 1 << 16;

/// One version.
pub(super) struct Version<'a> {
    pub(super) number: u32,
    schema: &'a Value,
    outline: Outline<'a>,
    confirmed: &'a [Confirmed],
    /// Whether its schema is not compiled, for there is too much of the newer ones.
    is_beyond: bool,
    validator: OnceCell<Option<Rc<Validator>>>,
}

impl Version<'_> {
    fn holds(&self, args: &Value) -> bool {
        let compiled = || if self.is_beyond { None } else { Validator::of(self.schema).ok().map(Rc::new) };
        self.validator.get_or_init(compiled).as_ref().is_some_and(|validator| validator.holds(args))
    }
}

/// What compiling a schema takes, in about a microsecond each.
pub(super) fn weight(schema: &Value) -> u64 {
    extent(schema).0.saturating_add(schema::weight(schema))
}

/// Versions, oldest first, the current one last.
pub(super) struct Versions<'a> {
    all: Vec<Version<'a>>,
    validator: Rc<Validator>,
    /// Of each version, what was renamed since the one before.
    renames: OnceCell<Vec<Vec<Rename>>>,
    /// What properties became, by path: the name beside it, and how surely.
    became: OnceCell<HashMap<String, (String, f64)>>,
}

/// For which version arguments were written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Origin {
    pub(super) index: usize,
    /// Whether they are valid under it.
    pub(super) is_valid: bool,
}

impl<'a> Versions<'a> {
    /// None of a version without an input schema. The validator is that of the current one.
    pub(super) fn new(revisions: &[Revision<'a>], validator: Validator) -> Self {
        let validator = Rc::new(validator);
        let mut total = 0_u64;
        let newest = revisions.iter().rev().take(MAX_VERSIONS);
        let mut all: Vec<Version<'_>> = newest
            .filter_map(|revision| {
                let schema = revision.definition.get("inputSchema")?;
                total = total.saturating_add(weight(schema));
                Some(Version {
                    number: revision.version,
                    schema,
                    outline: Outline::new(schema),
                    confirmed: revision.confirmed,
                    is_beyond: total > MAX_WEIGHT,
                    validator: OnceCell::new(),
                })
            })
            .collect();
        if let Some(current) = all.first_mut() {
            current.validator = OnceCell::from(Some(Rc::clone(&validator)));
        }
        all.reverse();
        Self { all, validator, renames: OnceCell::new(), became: OnceCell::new() }
    }

    /// Of the current version.
    pub(super) fn validator(&self) -> &Validator {
        &self.validator
    }

    fn holds(&self, index: usize, args: &Value) -> bool {
        self.all.get(index).is_some_and(|version| version.holds(args))
    }

    pub(super) fn get(&self, index: usize) -> Option<&Version<'a>> {
        self.all.get(index)
    }

    pub(super) fn last(&self) -> usize {
        self.all.len().saturating_sub(1)
    }

    /// What was renamed from the version before this one.
    pub(super) fn renames(&self, index: usize) -> &[Rename] {
        let all = self.renames.get_or_init(|| {
            let mut left = MAX_PAIRS;
            let steps = self.all.windows(2).rev().filter_map(|pair| {
                let [before, after] = pair else { return None };
                Some(between(&before.outline, &after.outline, after.confirmed, &mut left))
            });
            let mut found: Vec<Vec<Rename>> = steps.chain([Vec::new()]).collect();
            found.reverse();
            found
        });
        all.get(index).map_or(&[], Vec::as_slice)
    }

    /// The version under which arguments are valid and whose properties they have most of; of several the newest.
    pub(super) fn origin(&self, args: &Value) -> Origin {
        let known = self.all.iter().map(|version| version.outline.declared(args));
        let mut order: Vec<(usize, usize)> = known.enumerate().map(|(index, known)| (known, index)).collect();
        order.sort_unstable_by(|a, b| b.cmp(a));
        let best = order.iter().map(|(_, index)| *index).find(|index| self.holds(*index, args));
        let first = order.first().map_or(self.last(), |(_, index)| *index);
        Origin { index: best.unwrap_or(first), is_valid: best.is_some() }
    }

    /// How many members of arguments the current version does not declare.
    pub(super) fn undeclared(&self, args: &Value) -> usize {
        let declared = self.all.last().map_or(0, |version| version.outline.declared(args));
        members(args).saturating_sub(declared)
    }

    /// Of each property, the newest rename.
    fn all_that_became(&self) -> HashMap<String, (String, f64)> {
        let all = (1..=self.last()).flat_map(|index| self.renames(index));
        let sure = all.filter(|rename| rename.confidence >= DOUBT);
        sure.map(|rename| (rename.from.clone(), (unescaped(around(&rename.to).1), rename.confidence)))
            .collect()
    }

    pub(super) fn history(&self, origin: Origin) -> Past<'_, 'a> {
        Past { versions: self, origin }
    }
}

/// What earlier versions said.
pub(super) struct Past<'v, 'a> {
    versions: &'v Versions<'a>,
    origin: Origin,
}

impl History for Past<'_, '_> {
    fn is_new(&self, path: &str) -> bool {
        // Valid arguments were asked for no more than they have.
        if self.origin.is_valid {
            return true;
        }
        let last = self.versions.last();
        // Written for the current one, and not valid: what the one before did not ask for may have been left out.
        let before = if self.origin.index < last { Some(self.origin.index) } else { last.checked_sub(1) };
        let before = before.and_then(|index| self.versions.get(index));
        before.is_some_and(|version| version.outline.at(path).is_none_or(|node| !node.required))
    }

    fn was_allowed(&self, path: &str) -> bool {
        let earlier = self.versions.all.iter().take(self.versions.last());
        self.origin.is_valid || earlier.into_iter().any(|version| version.outline.at(path).is_some())
    }
    fn became(&self, path: &str) -> Option<(String, f64)> {
        self.versions.became.get_or_init(|| self.versions.all_that_became()).get(path).cloned()
    }
}

fn members(args: &Value) -> usize {
    let (mut found, mut waiting) = (0, vec![args]);
    while let Some(value) = waiting.pop() {
        match value {
            Value::Object(members) => {
                found += members.len();
                waiting.extend(members.values());
            }
            Value::Array(items) => waiting.extend(items),
            _ => {}
        }
    }
    found
}
