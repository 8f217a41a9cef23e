//! Names of other upstreams' tools: mentioned, or taken for a name that looks like them.

mod index;
mod mentions;
#[cfg(test)]
mod tests;

use unicode_security::MixedScript as _;
use unicode_security::confusable_detection::skeleton;

use super::fold::{fold, words};
use super::{Finding, LOOKALIKE_NAME, Neighbour, Subject, quoted, spelled_out};
use crate::kind::Kind;
use index::Index;
pub(super) use mentions::Mentions;

/// From how many letters on one differing letter is a likeness: `get_a` and `get_b` are two names.
const ALIKE_FROM: usize = 6;

/// Up to how many letters.
const ALIKE_UP_TO: usize = 128;

/// Words that a name gets to pass for another one's better self.
const AFFIXES: [&str; 24] = [
    "v2", "v3", "2", "3", "new", "pro", "plus", "secure", "safe", "safely", "official", "enhanced", "fast",
    "proxy", "fixed", "updated", "latest", "real", "verified", "trusted", "better", "improved", "original",
    "ex",
];

/// The names of all tools, prepared.
pub(super) struct Names<'a> {
    /// Of the item's upstream.
    own: Vec<&'a str>,
    foreign: Index<'a>,
}

impl<'a> Names<'a> {
    pub(super) fn of(upstream: &str, neighbours: &[Neighbour<'a>]) -> Self {
        let (own, foreign): (Vec<Neighbour<'a>>, Vec<Neighbour<'a>>) =
            neighbours.iter().partition(|other| other.upstream == upstream);
        Self { own: own.into_iter().map(|other| other.tool).collect(), foreign: Index::of(foreign) }
    }

    /// Signs in the item's own name.
    pub(super) fn check(&self, subject: &Subject<'_>, findings: &mut Vec<Finding>) {
        let path = format!("/{}", subject.kind.key());
        let mut add =
            |what: String| findings.push(Finding { check: LOOKALIKE_NAME, path: path.clone(), what });
        if subject.kind == Kind::ResourceTemplate {
            return;
        }
        let name = self.visible(subject.name);
        if !name.is_ascii() {
            if !name.is_single_script() {
                add(format!("{} mixes letters of several scripts", spelled_out(name)));
            } else if fold(name).is_ascii() && name.chars().any(char::is_alphabetic) {
                add(format!("{} is written in letters that look like others", spelled_out(name)));
            }
        }
        for other in self.foreign.candidates(name) {
            if let Some(how) = likeness(name, other.tool) {
                add(format!(
                    "{} {how} {} of the upstream {}",
                    spelled_out(name),
                    quoted(other.tool),
                    quoted(other.upstream)
                ));
            }
        }
    }

    /// The name under which the host shows the item: that of its own upstream's tools which ends in the item's name.
    fn visible<'n>(&self, name: &'n str) -> &'n str
    where
        'a: 'n,
    {
        let fits = self.own.iter().copied().filter(|tool| !name.is_empty() && tool.ends_with(name));
        fits.min_by_key(|tool| tool.len()).unwrap_or(name)
    }
}

/// How one name passes for another; `None` where it does not.
fn likeness(name: &str, other: &str) -> Option<&'static str> {
    if name == other {
        return Some("is also the name of");
    }
    let (plain, plain_other) = (letters(name), letters(other));
    if plain.is_empty() || plain_other.is_empty() {
        return None;
    }
    if plain == plain_other && name.is_ascii() {
        return Some("differs in separators or case alone from");
    }
    if plain == plain_other || confusable(name) == confusable(other) {
        return Some("looks like");
    }
    let lengths = [plain.chars().count(), plain_other.chars().count()];
    let fit = lengths.iter().all(|length| (ALIKE_FROM..=ALIKE_UP_TO).contains(length));
    if fit && strsim::damerau_levenshtein(&plain, &plain_other) == 1 {
        return Some("differs in one letter from");
    }
    let (words, words_other) = (words(name), words(other));
    let parts: Vec<&str> = words.split(' ').collect();
    let mut others: Vec<&str> = words_other.split(' ').collect();
    let rest = without_affixes(&parts);
    if others.len() > 1 && rest.len() < parts.len() && rest == others {
        return Some("passes for another version of");
    }
    let mut sorted = parts;
    sorted.sort_unstable();
    others.sort_unstable();
    (others.len() > 1 && sorted == others).then_some("has the words of")
}

fn without_affixes<'w>(parts: &[&'w str]) -> Vec<&'w str> {
    parts.iter().filter(|part| !AFFIXES.contains(part)).copied().collect()
}

/// Lower-case letters and digits alone.
fn letters(name: &str) -> String {
    words(name).replace(' ', "")
}

/// What stands for all names that look alike (UTS 39), case, separators and digits for letters aside.
fn confusable(name: &str) -> String {
    let skeleton: String = skeleton(&name.to_lowercase()).collect();
    let skeleton: String = skeleton.to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect();
    skeleton
        .replace("rn", "m")
        .replace("vv", "w")
        .replace(['1', 'i'], "l")
        .replace('0', "o")
        .replace('5', "s")
}
