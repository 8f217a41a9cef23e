//! Signs that the words of a contract are meant to steer a model rather than to describe.
//!
//! Every key and every string of a definition is looked at, since all of it reaches a model. Words are compared after
//! compatibility characters, look-alike letters, case, quotes and separators are folded, and also in what base64,
//! hexadecimal, tag characters, ROT13, reversed and digit-for-letter spelling hide.
//!
//! A finding is no verdict: it is what a person has to look at before the contract is accepted. Nothing found is no proof of
//! innocence either: the checks know forms of attacks, not intentions.
//!
//! **Invariant:** the time is linear in the words that are looked at, which are bounded, for each of a fixed number of
//! patterns; names are looked up, not compared one by one.

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

use std::collections::{BTreeMap, HashSet};

use serde::Serialize;
use serde_json::{Map, Value};

use crate::canonical;
use crate::kind::Kind;

use names::{Mentions, Names};
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
}

/// Bytes of words that are looked at, of one definition.
const MAX_WORDS: usize = 128 << 10;

/// Checks the definitions of one upstream, whose neighbours are prepared once.
pub struct Checker<'a> {
    upstream: Vec<String>,
    names: Names<'a>,
    mentions: Mentions<'a>,
}

impl<'a> Checker<'a> {
    /// For what `upstream` serves; `neighbours` are the tools of all upstreams, its own among them.
    #[must_use]
    pub fn new(upstream: &str, neighbours: &[Neighbour<'a>]) -> Self {
        let words = fold::words(upstream);
        Self {
            upstream: words.split(' ').filter(|word| word.len() > 3).map(str::to_owned).collect(),
            names: Names::of(upstream, neighbours),
            mentions: Mentions::of(upstream, neighbours),
        }
    }

    /// Checks one definition, given as JSON text. Findings come in the order of the definition, each once. Of more than
    /// 128 KiB of words, each text counted once, the rest is not read for what it says, which is a finding of its own.
    #[must_use]
    pub fn check(&self, kind: Kind, definition: &str) -> Vec<Finding> {
        let members = match canonical::parse(definition) {
            Ok(members) => members,
            Err(fault) => {
                let what = format!("nothing in it was checked: {fault}");
                return vec![Finding { check: UNREADABLE, path: String::new(), what }];
            }
        };
        let name = members.get(kind.key()).and_then(Value::as_str).unwrap_or_default();
        let subject = Subject { kind, definition: &members, name };
        let mut findings = Vec::new();
        self.names.check(&subject, &mut findings);
        let about =
            instructions::About { files: parameters::is_about_files(&subject), upstream: &self.upstream };
        let mut words = Budget::new(MAX_WORDS);
        let mut harmless: HashSet<(&str, bool)> = HashSet::new();
        for text in texts::of(&members) {
            characters::check(&text, &mut findings);
            // An icon is an address or an image; no model reads it as words. What said nothing says nothing again.
            if text.is_of_icon() || harmless.contains(&(text.text, text.is_key)) {
                continue;
            }
            if !words.take(text.text.len(), &text.path) {
                continue;
            }
            let before = findings.len();
            hidden::check(&text, &mut findings);
            instructions::check(&text, &about, &mut findings);
            destinations::check(&text, &mut findings);
            if !text.is_name() {
                self.mentions.check(name, &text, &mut findings);
                if findings.len() == before {
                    harmless.insert((text.text, text.is_key));
                }
            }
        }
        let mut of_parameters = Budget::new(MAX_WORDS);
        parameters::check(&subject, &mut of_parameters, &mut findings);
        if let Some((path, bytes)) = words.beyond.or(of_parameters.beyond) {
            let what = format!(
                "{bytes} bytes of its words, from here on, were not read: more than {MAX_WORDS} bytes are too many"
            );
            findings.push(Finding { check: UNREADABLE, path, what });
        }
        bounded(findings)
    }
}

/// Checks one definition as [`Checker`] does; for many of one upstream prepare that.
#[must_use]
pub fn check(kind: Kind, definition: &str, upstream: &str, neighbours: &[Neighbour<'_>]) -> Vec<Finding> {
    Checker::new(upstream, neighbours).check(kind, definition)
}

/// How many bytes of words may still be looked at.
struct Budget {
    left: usize,
    /// Where it was too little first, and the bytes that were left out in all.
    beyond: Option<(String, usize)>,
}

impl Budget {
    fn new(left: usize) -> Self {
        Self { left, beyond: None }
    }

    /// Whether so many bytes may be looked at. A text that does not fit is left out, what is shorter may still fit.
    fn take(&mut self, bytes: usize, path: &str) -> bool {
        if bytes <= self.left {
            self.left -= bytes;
            return true;
        }
        let (_, left_out) = self.beyond.get_or_insert_with(|| (path.to_owned(), 0));
        *left_out += bytes;
        false
    }
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
