//! How one contract stands whose live definition is not, or was not, the pinned one.
//!
//! **Invariant:** what is quarantined for its definition stays so until it has another pin or an operator releases it: a
//! server that shows the reviewed contract again may only be waiting for nobody to look.

#[cfg(test)]
mod tests;

use aldgate_approval::Timestamp;
use aldgate_contract::diff::{Diff, Severity};
use aldgate_contract::rename::Rename;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::settings::OnDrift;

/// Live definitions of one contract that are remembered. A server that shows more under one pin is taken for one that
/// alternates.
const REMEMBERED: usize = 16;

/// Whether a contract is in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum State {
    /// Not listed, and calls are refused.
    Quarantined,
    /// The pin is served; what differs is recorded.
    Noted,
    /// The live definition is the pinned one again.
    Ended,
}

/// Why a contract is in its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Why {
    /// The live definition is another one.
    Changed,
    /// The upstream does not list it.
    Missing,
    /// The live definition cannot be read, or there are two.
    Unreadable,
    /// The upstream shows now the one definition, now the other.
    Alternates,
    /// Results did not fit the output schema.
    Violations,
    /// The lock has an older version than was in use, or another one under a version that was.
    Downgraded,
    /// The server is another one.
    Stranger,
}

/// In what a live definition differs from the pin, as one comparison found it.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) why: Why,
    pub(crate) severity: Severity,
    /// What tells this live definition from others: the digest of its bytes, or a word where there is none.
    pub(crate) form: String,
    /// The digest of the live canonical form.
    pub(crate) after: Option<String>,
    /// What callers are told: words of the host alone.
    pub(crate) told: String,
    /// What operators are told, with words of the upstream.
    pub(crate) detail: String,
    /// The whole difference.
    pub(crate) diff: Diff,
    /// Under which names it may be served now.
    pub(crate) renames: Vec<Rename>,
}

/// What is kept of one contract.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Drift {
    pub(crate) state: State,
    pub(crate) why: Why,
    pub(crate) severity: Severity,
    pub(crate) told: String,
    pub(crate) detail: String,
    /// Since when it is in this state.
    pub(crate) since: Timestamp,
    /// Digest of the live canonical form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) after: Option<String>,
    /// The changes, as evidence has them.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub(crate) diff: Value,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) renames: Vec<Value>,
    /// The version of the pin that it was compared with.
    #[serde(default)]
    pub(crate) version: u32,
    /// The highest version that was in use, where the lock has an older one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) known: Option<u32>,
    /// What the last comparison found: see [`Found::form`]. Absent where that was the pinned definition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) form: Option<String>,
    /// The live definitions that were found so far.
    #[serde(default)]
    pub(crate) seen: Vec<String>,
    /// Whether nothing was told when this state began, so that its end is not told of either.
    #[serde(default)]
    pub(crate) quiet: bool,
    /// Whether the store did not take it yet.
    #[serde(skip)]
    pub(crate) unkept: bool,
}

/// What became of a contract, as evidence says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Event {
    /// It is not served any more.
    Quarantined,
    /// It drifted, and its pin is served.
    Noted,
    /// Another live definition was found of what is quarantined already.
    Changed,
    /// The live definition is the pinned one again.
    Ended,
    /// An operator let it be served again.
    Released,
    /// It has another pin, which a person accepted.
    Accepted,
    /// The lock has an older version of it, or another one under a version that was in use.
    Downgraded,
    /// The server calls itself otherwise than the one that was reviewed.
    Stranger,
}

/// What is bounded of a diff in the evidence.
const DIFF_BYTES: usize = 16 << 10;

impl Found {
    fn kept(&self, state: State, why: Why, since: Timestamp, seen: &[String]) -> Drift {
        let mut seen = seen.to_vec();
        if !seen.contains(&self.form) && seen.len() < REMEMBERED {
            seen.push(self.form.clone());
        }
        let diff = serde_json::to_value(&self.diff).unwrap_or_default();
        let diff = if diff.to_string().len() > DIFF_BYTES { Value::from(self.diff.summary()) } else { diff };
        let renames = self.renames.iter().filter_map(|rename| serde_json::to_value(rename).ok());
        Drift {
            state,
            severity: self.severity,
            after: self.after.clone(),
            diff,
            renames: renames.collect(),
            form: Some(self.form.clone()),
            seen,
            ..Drift::quarantined(why, self.told.clone(), self.detail.clone(), since)
        }
    }
}

impl Drift {
    /// Quarantined, with nothing more to be said of it than why.
    pub(crate) fn quarantined(why: Why, told: String, detail: String, since: Timestamp) -> Self {
        Self {
            state: State::Quarantined,
            why,
            severity: Severity::Breaking,
            told,
            detail,
            since,
            after: None,
            diff: Value::Null,
            renames: Vec::new(),
            version: 0,
            known: None,
            form: None,
            seen: Vec::new(),
            quiet: false,
            unkept: false,
        }
    }

    /// Quarantined because its results did not fit the output schema.
    pub(crate) fn violated(before: Option<&Self>, detail: String, now: Timestamp) -> Self {
        let told = "its results do not fit the output schema that it promises".to_owned();
        Self {
            known: before.and_then(|before| before.known),
            form: before.and_then(|before| before.form.clone()),
            seen: before.map(|before| before.seen.clone()).unwrap_or_default(),
            ..Self::quarantined(Why::Violations, told, detail, now)
        }
    }

    /// Served again, because an operator said so, or because it has another pin. What was found before is forgotten; that the
    /// lock was an older one than `known` is not.
    pub(crate) fn released(&self, now: Timestamp) -> Self {
        Self {
            state: State::Ended,
            since: now,
            form: None,
            seen: Vec::new(),
            quiet: false,
            unkept: false,
            ..self.clone()
        }
    }

    /// The lock has this version, and `known` was in use.
    pub(crate) fn downgraded(version: u32, known: u32, now: Timestamp) -> Self {
        let how =
            if version < known { "an older version of it" } else { "another contract under its version" };
        let told = format!("the lock has {how}");
        let detail = format!("the lock has version {version}; version {known} was in use, and {told}");
        Self { version, known: Some(known), ..Self::quarantined(Why::Downgraded, told, detail, now) }
    }

    pub(crate) fn is_quarantined(&self) -> bool {
        self.state == State::Quarantined
    }

    /// Whether it stays quarantined where the live definition is the pinned one again.
    fn lasts(&self) -> bool {
        self.is_quarantined() && self.why != Why::Missing
    }
}

/// How a contract stands after a comparison, and what is told of it; `None` where nothing changed.
pub(crate) fn settle(
    on_drift: OnDrift,
    before: Option<&Drift>,
    found: Option<&Found>,
    now: Timestamp,
) -> Option<(Drift, Option<Event>)> {
    let Some(found) = found else {
        let before = before.filter(|before| before.state != State::Ended)?;
        if before.lasts() {
            // It stays; that the server went back is for the operator to see.
            return before.form.is_some().then(|| (Drift { form: None, ..before.clone() }, None));
        }
        let event = (!before.quiet).then_some(Event::Ended);
        return Some((Drift { state: State::Ended, form: None, since: now, ..before.clone() }, event));
    };
    let seen = before.map(|before| before.seen.as_slice()).unwrap_or_default();
    // A release of an older lock holds whatever drifts under it.
    let known = before.and_then(|before| before.known);
    let is_new = !seen.contains(&found.form) && seen.len() < REMEMBERED;
    if let Some(before) = before.filter(|before| before.lasts()) {
        // The first reason stays; what is new to it is told.
        let kept = || Drift { known, ..found.kept(State::Quarantined, before.why, before.since, seen) };
        let moved = before.form.as_ref() != Some(&found.form);
        return (is_new || moved).then(|| (kept(), is_new.then_some(Event::Changed)));
    }
    // Only a definition can come back, or be one of too many; what is missing is nothing that a server shows.
    let is_another = before.is_some_and(|before| before.form.as_ref() != Some(&found.form));
    let alternates = found.why == Why::Changed && is_another && !is_new;
    let quarantined = match on_drift {
        OnDrift::Quarantine => true,
        OnDrift::AllowCompatible => alternates || found.severity >= Severity::Behavioural,
        OnDrift::Warn => false,
    };
    let (state, event) = match quarantined {
        true => (State::Quarantined, Event::Quarantined),
        false => (State::Noted, Event::Noted),
    };
    if before.is_some_and(|before| before.state == state && before.form.as_ref() == Some(&found.form)) {
        return None;
    }
    let why = if alternates && quarantined { Why::Alternates } else { found.why };
    // A server that comes and goes is not told of again and again.
    let worsens = before.is_some_and(|before| before.state == State::Noted) && quarantined;
    let quiet = before.is_some() && !is_new && why != Why::Alternates && !worsens;
    let kept = Drift { quiet, known, ..found.kept(state, why, now, seen) };
    Some((kept, (!quiet).then_some(event)))
}
