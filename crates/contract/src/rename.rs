//! Which property, or which tool, took the place of which.
//!
//! A wrong rename sends a value into the wrong property, so what speaks against one counts more than what speaks for it:
//! opposites (`start`, `end`), other units, other kinds of value and two candidates that are nearly alike all keep a
//! candidate below [`THRESHOLD`].

mod contrast;
mod facets;
mod names;
mod opposites;
mod outline;
mod pairing;
mod places;
mod prose;
mod score;
#[cfg(test)]
mod tests;
mod views;
mod vocabulary;
mod words;

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(crate) use facets::{ARRAY, BOOLEAN, INTEGER, NUMBER, STRING, Types, type_of, types};
pub(crate) use outline::{ITEMS, Outline};
use pairing::{Pair, one_to_one};
use prose::Corpus;
use score::Tool;
pub(crate) use views::{Alternatives, Whole};

pub(crate) use crate::pointer::{escaped, unescaped};

/// From which confidence on a candidate is taken for a rename.
pub const THRESHOLD: f64 = 0.8;

/// The most tools on either side that are compared by [`of_tools`].
pub const MAX_TOOLS: usize = 40;

/// A rename that a person confirmed with `accept --rename`, or a signed manifest stated.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Confirmed {
    /// The old name, as [`Rename::from`].
    pub from: String,
    /// The new name.
    pub to: String,
}

/// One candidate. Candidates are one to one.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Rename {
    /// The old name: of a tool its name; of a property its place in the arguments, the names joined with `/`, `*` for
    /// the items of an array, `~` and `/` in a name escaped as in RFC 6901. A property at the top is its plain name.
    pub from: String,
    /// The new name.
    pub to: String,
    /// From 0 to 1; 1 only where it is confirmed.
    pub confidence: f64,
    /// A person or a signed manifest said so.
    pub identity_confirmed: bool,
}

impl Rename {
    fn confirmed(by: &Confirmed) -> Self {
        Self { from: by.from.clone(), to: by.to.clone(), confidence: 1.0, identity_confirmed: true }
    }
}

/// Candidates between the properties of two schemas (whole JSON Schemas of arguments), the surest first; each pairs a
/// property that is gone with one that is new. The caller compares with [`THRESHOLD`]; what is less sure than 0.25 is
/// not listed.
///
/// Properties of an object are compared with those of the object in its place: the one of the same name, or the one
/// that it was renamed to, below which only names that changed are listed. What moved to another object is a candidate
/// only where the names on the way say so (`address_city`, `address/city`) or the description is the same. A confirmed
/// pair counts where the old name is there before and gone after, and the new one is there after and not before; a name
/// that stays is the end of another confirmed pair. It excludes all other pairs of either.
///
/// Bounds: of each schema the first 512 places, 12 deep, a recursive schema unrolled twice; at one object the first 40
/// that are gone and the first 40 that are new; 2,048 pairs in all. What is beyond is no candidate.
#[must_use]
pub fn of_properties(before: &Value, after: &Value, confirmed: &[Confirmed]) -> Vec<Rename> {
    between(&Outline::new(before), &Outline::new(after), confirmed, &mut { usize::MAX })
}

/// As [`of_properties`]; of all pairs at most `left` are compared, and taken off it.
pub(crate) fn between(
    before: &Outline<'_>,
    after: &Outline<'_>,
    confirmed: &[Confirmed],
    left: &mut usize,
) -> Vec<Rename> {
    places::renames(before, after, confirmed, left)
}

/// Candidates between whole definitions: `gone` are those that an upstream no longer lists, `new` those that it did not
/// list before, as pairs of name and definition. The surest first, none less sure than 0.25.
///
/// Bounds: the first [`MAX_TOOLS`] of each are compared.
#[must_use]
pub fn of_tools(gone: &[(&str, &Value)], new: &[(&str, &Value)], confirmed: &[Confirmed]) -> Vec<Rename> {
    let named = |tools: &[(&str, &Value)], name: &str| tools.iter().any(|(tool, _)| *tool == name);
    let sure = one_each(confirmed.iter().filter(|pair| named(gone, &pair.from) && named(new, &pair.to)));
    let open = |tools: &[(&str, &Value)], taken: fn(&Confirmed) -> &str| -> Vec<(String, Tool)> {
        let left = tools.iter().filter(|(name, _)| !sure.iter().any(|pair| taken(pair) == *name));
        left.take(MAX_TOOLS)
            .map(|(name, definition)| ((*name).to_owned(), Tool::new(name, definition)))
            .collect()
    };
    let (gone, new) = (open(gone, |pair| &pair.from), open(new, |pair| &pair.to));
    let corpus = Corpus::new(gone.iter().chain(&new).map(|(_, tool)| tool.prose()));
    let mut possible = Vec::new();
    for (left, (_, one)) in gone.iter().enumerate() {
        for (right, (_, other)) in new.iter().enumerate() {
            possible.push(Pair { left, right, confidence: score::of_tools(one, other, &corpus) });
        }
    }
    let mut found: Vec<Rename> = sure.into_iter().map(Rename::confirmed).collect();
    found.extend(one_to_one(possible).into_iter().filter_map(|pair| {
        let (from, to) = (gone.get(pair.left)?.0.clone(), new.get(pair.right)?.0.clone());
        Some(Rename { from, to, confidence: pair.confidence, identity_confirmed: false })
    }));
    found
}

/// Those of which neither end is an end of one before.
fn one_each<'a>(pairs: impl Iterator<Item = &'a Confirmed>) -> Vec<&'a Confirmed> {
    let (mut from, mut to) = (HashSet::new(), HashSet::new());
    let mut found = Vec::new();
    for pair in pairs {
        if pair.from != pair.to && !from.contains(&pair.from) && !to.contains(&pair.to) {
            from.insert(&pair.from);
            to.insert(&pair.to);
            found.push(pair);
        }
    }
    found
}
