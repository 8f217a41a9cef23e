//! How arguments written for an earlier contract would have to change to be valid under the current one.
//!
//! **Invariant:** nothing is dispatched: this crate has no way to an upstream.

mod coerce;
mod course;
mod fit;
mod moves;
mod place;
mod plan;
mod schemas;
mod spelling;
#[cfg(test)]
mod tests;
mod versions;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Validator;
use crate::rename::Confirmed;
use crate::schema::extent;
use course::{Planned, Ways};
use plan::MAX_CHANGES;
use versions::Versions;

/// The most values in arguments.
const MAX_VALUES: u64 = 4096;
/// How deep arguments may be nested.
const MAX_DEPTH: usize = 64;
/// The most bytes of a pointer into arguments.
const MAX_POINTER: usize = 4096;
/// From which confidence on a candidate that is not taken keeps a property from being dropped.
const DOUBT: f64 = 0.5;

/// One contract of a tool, for [`simulate`].
#[derive(Debug, Clone, Copy)]
pub struct Revision<'a> {
    /// Its version.
    pub version: u32,
    /// The whole definition.
    pub definition: &'a Value,
    /// What was renamed from the version before, where somebody confirmed it.
    pub confirmed: &'a [Confirmed],
}

/// How far a repair goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Arguments stay as they are; the changes that would be made are listed.
    Observe,
    /// Renames from [`THRESHOLD`](crate::rename::THRESHOLD) on, lossless coercion, enum mapping, declared defaults, dropping.
    #[default]
    Repair,
    /// Confirmed renames and lossless coercion only.
    Strict,
}

/// By which rule arguments are changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// A property took the place of another.
    Rename,
    /// The same value in another type, such as `"12"` for 12.
    Coerce,
    /// A member of an enumeration in its new spelling.
    MapEnum,
    /// The declared default of a new required property.
    Default,
    /// A property that is no longer allowed.
    Drop,
}

/// One change of the arguments.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// By which rule.
    pub rule: Rule,
    /// JSON Pointer into the arguments as they were before this change.
    pub path: String,
    /// The value before; of a rename the place before is `path`. Absent where there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    /// The value after; absent where it was dropped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Value>,
    /// Of a rename, the JSON Pointer to the new place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// From 0 to 1.
    pub confidence: f64,
}

/// What a simulation found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Repair {
    /// Whether `args` were changed and are valid under the current contract.
    pub applied: bool,
    /// What was changed, or would be.
    pub changes: Vec<Change>,
    /// The changed arguments where `applied`, else those that were given.
    pub args: Map<String, Value>,
    /// Whether `args` are valid under the current contract; false too where that is not known: there is no contract, or
    /// a bound was reached.
    pub valid: bool,
    /// Why, in one sentence without a final period.
    pub reason: String,
}

/// Simulates: `revisions` are the tool's contracts, oldest first, the current one last; none where it has no contract.
///
/// `args` are taken to be written for the version under which they are valid and whose properties they have most of, the
/// newest of several. From there each step's renames are made, then what the current schema does not take is coerced,
/// mapped, added and dropped. What the result is does not depend on the order of members, and the same result comes
/// out unchanged when it is given again.
///
/// Valid arguments are changed only where that leaves fewer members that the current version does not declare, or as many
/// and fewer numbers such as `3.0`. [`Mode::Strict`] makes no change that [`Mode::Repair`] does not.
///
/// Bounds: the newest 16 versions, 4,096 values in `args`, 64 deep, 256 changes at a time, those of
/// [`crate::rename::of_properties`] for each step, and those of `docs/repair.md` for what is looked at, compiled and
/// checked. Beyond them nothing is applied, and the reason says so.
#[must_use]
pub fn simulate(revisions: &[Revision<'_>], args: &Map<String, Value>, mode: Mode) -> Repair {
    let untouched = |reason: String| Repair {
        applied: false,
        changes: Vec::new(),
        args: args.clone(),
        valid: false,
        reason,
    };
    let Some(current) = revisions.last() else {
        return untouched("no contract is pinned".to_owned());
    };
    let Some(schema) = current.definition.get("inputSchema") else {
        return untouched(format!("version {} has no input schema", current.version));
    };
    if versions::weight(schema) > versions::MAX_WEIGHT {
        return untouched(format!(
            "the input schema of version {} is too large, or its patterns are, to be looked at",
            current.version
        ));
    }
    let validator = match Validator::of(schema) {
        Ok(validator) => validator,
        Err(fault) => {
            return untouched(format!(
                "the input schema of version {} is not usable: {fault}",
                current.version
            ));
        }
    };
    let given = Value::Object(args.clone());
    let (values, depth) = extent(&given);
    if values > MAX_VALUES || depth > MAX_DEPTH {
        return untouched(format!(
            "the arguments hold {values} values, {depth} deep; at most {MAX_VALUES}, {MAX_DEPTH} deep, are looked at"
        ));
    }
    if place::longest(&given) > MAX_POINTER {
        return untouched(format!(
            "names in the arguments that lead to one value have more than {MAX_POINTER} bytes together"
        ));
    }
    if validator.is_dear(&given) {
        return untouched(format!(
            "checking the arguments against the input schema of version {} could take too long",
            current.version
        ));
    }
    let versions = Versions::new(revisions, validator);
    told(&versions, course::ways(&versions, schema, given), mode)
}

fn told(versions: &Versions<'_>, ways: Ways, mode: Mode) -> Repair {
    let number = |index: usize| versions.get(index).map_or(0, |version| version.number);
    let current = number(versions.last());
    let way = if mode == Mode::Strict { ways.strict } else { ways.repair };
    let args = |value: Value| if let Value::Object(args) = value { args } else { Map::new() };
    let valid = ways.fault.is_none();
    let as_given = |changes: Vec<Change>, reason: String, given: Value| Repair {
        applied: false,
        changes,
        args: args(given),
        valid,
        reason,
    };
    let count = |changes: &[Change]| match changes.len() {
        1 => "1 change".to_owned(),
        many => format!("{many} changes"),
    };
    let too_much = format!(
        "making them valid under version {current} takes more than {MAX_CHANGES} changes, or too much work"
    );
    let (origin, fault) = (ways.origin, ways.fault);
    let Some(done) = way.done else {
        let Planned { changes, doubts, is_full, fault: left, .. } = way.refused;
        return match fault {
            None => {
                let spoilt = left.map_or_else(String::new, |left| {
                    format!(", and would not be after {}: {left}", count(&changes))
                });
                let reason =
                    format!("nothing to change: the arguments are valid under version {current}{spoilt}");
                as_given(Vec::new(), reason, ways.given)
            }
            Some(_) if is_full || ways.is_spent => as_given(changes, too_much, ways.given),
            Some(fault) if changes.is_empty() => {
                let reason = format!("no rule makes them valid under version {current}: {fault}{doubts}");
                as_given(changes, reason, ways.given)
            }
            Some(_) => {
                let (made, left) = (count(&changes), left.unwrap_or_default());
                let reason = format!(
                    "they would still not be valid under version {current} after {made}: {left}{doubts}"
                );
                as_given(changes, reason, ways.given)
            }
        };
    };
    let changes = count(&done.changes);
    let written = match (origin.is_valid, origin.index == versions.last()) {
        (true, false) => format!("written for version {}, ", number(origin.index)),
        (false, false) => format!("written as if for version {}, ", number(origin.index)),
        _ => String::new(),
    };
    if mode == Mode::Observe {
        let reason =
            format!("only observed: {written}with {changes} they would be valid under version {current}");
        return as_given(done.changes, reason, ways.given);
    }
    let reason = format!("{written}with {changes} they are valid under version {current}");
    Repair { applied: true, changes: done.changes, args: args(done.args), valid: true, reason }
}
