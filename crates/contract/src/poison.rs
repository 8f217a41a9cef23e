//! Signs that the words of a contract are meant to steer a model rather than to describe.
//!
//! Every key and every string of a definition is looked at, since all of it reaches a model. Words are compared after
//! compatibility characters, look-alike letters, case, quotes and separators are folded, and also in what base64,
//! hexadecimal, tag characters, ROT13, reversed and digit-for-letter spelling hide.
//!
//! A finding is no verdict: it is what a person has to look at before the contract is accepted. Nothing found is no proof of
//! innocence either: the checks know forms of attacks, not intentions.
//!
//! **Invariant:** the time is linear in the definition for each of a fixed number of patterns, and for names linear in the
//! number of neighbours.

#[cfg(test)]
mod tests;

mod characters;
mod destinations;
mod fold;
mod hidden;
mod instructions;
mod names;
mod parameters;
mod phrases;
mod texts;

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::canonical;
use crate::kind::Kind;

use texts::Text;

/// A name that is in use elsewhere: what a definition should neither mention nor resemble.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Neighbour<'a> {
    /// The upstream that serves it.
    pub upstream: &'a str,
    /// The tool's visible name.
    pub tool: &'a str,
}

/// One sign.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Which check, one of [`CHECKS`], by which it is acknowledged.
    pub check: &'static str,
    /// JSON Pointer into the definition.
    pub path: String,
    /// What was found and why it matters: one line, printable characters only.
    pub what: String,
}

/// The checks: stable words.
pub const CHECKS: [&str; 10] = [
    UNREADABLE,
    INVISIBLE_CHARACTERS,
    BIDIRECTIONAL_CONTROLS,
    CONTROL_CHARACTERS,
    HIDDEN_CONTENT,
    MODEL_INSTRUCTIONS,
    FOREIGN_TOOLS,
    LOOKALIKE_NAME,
    SENSITIVE_PARAMETER,
    EXFILTRATION,
];

const UNREADABLE: &str = "unreadable";
const INVISIBLE_CHARACTERS: &str = "invisible_characters";
const BIDIRECTIONAL_CONTROLS: &str = "bidirectional_controls";
const CONTROL_CHARACTERS: &str = "control_characters";
const HIDDEN_CONTENT: &str = "hidden_content";
const MODEL_INSTRUCTIONS: &str = "model_instructions";
const FOREIGN_TOOLS: &str = "foreign_tools";
const LOOKALIKE_NAME: &str = "lookalike_name";
const SENSITIVE_PARAMETER: &str = "sensitive_parameter";
const EXFILTRATION: &str = "exfiltration";

/// The most findings of one check; the last of them says how many more there are.
const MOST_OF_A_CHECK: usize = 8;

/// What is checked.
struct Subject<'a> {
    kind: Kind,
    definition: &'a Map<String, Value>,
    name: &'a str,
    upstream: &'a str,
    neighbours: &'a [Neighbour<'a>],
}

/// Checks one definition, given as JSON text; `upstream` serves it, `neighbours` are the tools of all upstreams, its own
/// among them. Findings come in the order of the definition, each once.
#[must_use]
pub fn check(kind: Kind, definition: &str, upstream: &str, neighbours: &[Neighbour<'_>]) -> Vec<Finding> {
    let members = match canonical::parse(definition) {
        Ok(members) => members,
        Err(fault) => {
            let what = format!("nothing in it was checked: {fault}");
            return vec![Finding { check: UNREADABLE, path: String::new(), what }];
        }
    };
    let name = members.get(kind.key()).and_then(Value::as_str).unwrap_or_default();
    let subject = Subject { kind, definition: &members, name, upstream, neighbours };
    let mut findings = Vec::new();
    names::of_itself(&subject, &mut findings);
    let about = instructions::About {
        files: parameters::is_about_files(&subject),
        upstream: fold::words(upstream).split(' ').filter(|word| word.len() > 3).map(str::to_owned).collect(),
    };
    let mentions = names::Mentions::of(&subject);
    for text in texts::of(&members) {
        characters::check(&text, &mut findings);
        // An icon is an address or an image; no model reads it as words.
        if !text.is_of_icon() {
            hidden::check(&text, &mut findings);
            instructions::check(&text, &about, &mut findings);
            destinations::check(&text, &mut findings);
            mentions.check(&text, &mut findings);
        }
    }
    parameters::check(&subject, &mut findings);
    bounded(findings)
}

/// Each finding once, and not more than [`MOST_OF_A_CHECK`] of a check.
fn bounded(findings: Vec<Finding>) -> Vec<Finding> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut kept: Vec<Finding> = Vec::new();
    for finding in findings {
        if kept.contains(&finding) {
            continue;
        }
        let count = counts.entry(finding.check).or_default();
        *count += 1;
        if *count <= MOST_OF_A_CHECK {
            kept.push(finding);
        }
    }
    for (check, count) in counts {
        let more = count.saturating_sub(MOST_OF_A_CHECK);
        if let Some(last) = kept.iter_mut().rfind(|finding| finding.check == check).filter(|_| more > 0) {
            last.what.push_str(&format!("; {more} more like it"));
        }
    }
    kept
}

impl Finding {
    fn new(check: &'static str, text: &Text<'_>, what: impl Into<String>) -> Self {
        Self { check, path: text.path.clone(), what: what.into() }
    }
}

/// At most 80 printable characters of a text, on one line, in backticks.
fn quoted(text: &str) -> String {
    let mut shown = String::new();
    for (count, c) in text.trim().chars().enumerate() {
        if count == 80 {
            shown.push('…');
            break;
        }
        match c {
            '`' => shown.push('\''),
            c if c.is_whitespace() => shown.push(' '),
            c if characters::is_printable(c) => shown.push(c),
            c => shown.push_str(&format!("<U+{:04X}>", u32::from(c))),
        }
    }
    format!("`{shown}`")
}

/// As [`quoted`], with letters that could be taken for others as their numbers.
fn spelled_out(text: &str) -> String {
    let letter = |c: char| if c.is_ascii() { c.to_string() } else { format!("<U+{:04X}>", u32::from(c)) };
    quoted(&text.chars().map(letter).collect::<String>())
}
