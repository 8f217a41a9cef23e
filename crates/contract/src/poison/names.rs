//! Names of other upstreams' tools: mentioned, or taken for a name that looks like them.

use std::collections::{BTreeMap, BTreeSet};

use unicode_security::MixedScript as _;
use unicode_security::confusable_detection::skeleton;

use super::fold::{fold, words};
use super::texts::Text;
use super::{FOREIGN_TOOLS, Finding, LOOKALIKE_NAME, Subject, quoted, spelled_out};
use crate::kind::Kind;

/// From how many letters on one differing letter is a likeness: `get_a` and `get_b` are two names.
const ALIKE_FROM: usize = 6;

/// Words that a name gets to pass for another one's better self.
const AFFIXES: [&str; 24] = [
    "v2", "v3", "2", "3", "new", "pro", "plus", "secure", "safe", "safely", "official", "enhanced", "fast",
    "proxy", "fixed", "updated", "latest", "real", "verified", "trusted", "better", "improved", "original",
    "ex",
];

/// Signs in the item's own name.
pub(super) fn of_itself(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let path = format!("/{}", subject.kind.key());
    let mut add = |what: String| findings.push(Finding { check: LOOKALIKE_NAME, path: path.clone(), what });
    if subject.kind == Kind::ResourceTemplate {
        return;
    }
    let name = visible(subject);
    if !name.is_ascii() {
        if !name.is_single_script() {
            add(format!("{} mixes letters of several scripts", spelled_out(name)));
        } else if fold(name).is_ascii() && name.chars().any(char::is_alphabetic) {
            add(format!("{} is written in letters that look like others", spelled_out(name)));
        }
    }
    let foreign = subject.neighbours.iter().filter(|other| other.upstream != subject.upstream);
    for other in foreign {
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
fn visible<'a>(subject: &Subject<'a>) -> &'a str {
    let own =
        subject.neighbours.iter().filter(|other| other.upstream == subject.upstream).map(|other| other.tool);
    let fits = own.filter(|tool| !subject.name.is_empty() && tool.ends_with(subject.name));
    fits.min_by_key(|tool| tool.len()).unwrap_or(subject.name)
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
    let long = plain.chars().count().min(plain_other.chars().count()) >= ALIKE_FROM;
    if long && strsim::damerau_levenshtein(&plain, &plain_other) == 1 {
        return Some("differs in one letter from");
    }
    let (words, words_other) = (words(name), words(other));
    let parts: Vec<&str> = words.split(' ').collect();
    let mut others: Vec<&str> = words_other.split(' ').collect();
    let rest: Vec<&str> = parts.iter().filter(|part| !AFFIXES.contains(part)).copied().collect();
    if others.len() > 1 && rest.len() < parts.len() && rest == others {
        return Some("passes for another version of");
    }
    let mut sorted = parts;
    sorted.sort_unstable();
    others.sort_unstable();
    (others.len() > 1 && sorted == others).then_some("has the words of")
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

/// The names that a definition should not mention.
pub(super) struct Mentions<'a> {
    /// Upstream and visible name, by the letters of the name.
    foreign: BTreeMap<String, (&'a str, &'a str)>,
    /// Other upstreams, by folded name.
    upstreams: BTreeMap<String, &'a str>,
}

impl<'a> Mentions<'a> {
    pub(super) fn of(subject: &Subject<'a>) -> Self {
        let is_own = |upstream: &str| upstream == subject.upstream;
        let own: BTreeSet<String> = subject
            .neighbours
            .iter()
            .filter(|other| is_own(other.upstream))
            .map(|other| letters(other.tool))
            .chain([letters(subject.name)])
            .collect();
        let foreign = subject.neighbours.iter().filter(|other| !is_own(other.upstream));
        let mut names = BTreeMap::new();
        let mut upstreams = BTreeMap::new();
        for other in foreign {
            let name = letters(other.tool);
            // A name that the upstream has too is its own in its own words.
            if !name.is_empty() && !own.iter().any(|own| own.ends_with(&name)) {
                names.entry(name).or_insert((other.upstream, other.tool));
            }
            upstreams.entry(words(other.upstream)).or_insert(other.upstream);
        }
        upstreams.remove(&words(subject.upstream));
        Self { foreign: names, upstreams }
    }

    pub(super) fn check(&self, text: &Text<'_>, findings: &mut Vec<Finding>) {
        // The item's own name is compared elsewhere, and a member's name is no mention where it is one word.
        if self.foreign.is_empty() || text.path == "/name" || text.path == "/uriTemplate" {
            return;
        }
        let mut mentioned: BTreeSet<(&str, &str)> = BTreeSet::new();
        for token in tokens(text.text) {
            if let Some(found) = self.foreign.get(&letters(token.word))
                && (is_telling(found.1) || token.is_marked && !text.is_key)
                && (is_telling(token.word) || token.is_marked)
            {
                mentioned.insert(*found);
            }
        }
        let folded = fold(text.text);
        let each: Vec<&str> =
            folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        // In prose: `the send email tool`.
        for at in each.iter().enumerate().filter(|(_, word)| is_tool(word)).map(|(at, _)| at) {
            for length in 2..=5 {
                let name = at.checked_sub(length).and_then(|from| each.get(from..at)).map(<[&str]>::concat);
                if let Some(found) =
                    name.and_then(|name| self.foreign.get(&name)).filter(|found| is_telling(found.1))
                {
                    mentioned.insert(*found);
                }
            }
        }
        for (upstream, tool) in mentioned {
            let what = format!("it mentions {} of the upstream {}", quoted(tool), quoted(upstream));
            findings.push(Finding::new(FOREIGN_TOOLS, text, what));
        }
        for pair in each.windows(2) {
            if let [name, "server" | "servers" | "upstream" | "mcp" | "connector" | "plugin"] = pair
                && let Some(upstream) = self.upstreams.get(*name)
            {
                findings.push(Finding::new(
                    FOREIGN_TOOLS,
                    text,
                    format!("it mentions the upstream {}", quoted(upstream)),
                ));
            }
        }
    }
}

fn is_tool(word: &str) -> bool {
    matches!(word, "tool" | "tools" | "function" | "command" | "action" | "endpoint")
}

/// A name that is no plain word of prose: it has a separator, a digit, or a capital inside.
fn is_telling(name: &str) -> bool {
    let inside = name.chars().skip(1).any(|c| c.is_uppercase()) && name.chars().any(char::is_lowercase);
    inside || name.contains(['_', '-', '.']) || name.chars().any(|c| c.is_ascii_digit())
}

struct Token<'a> {
    word: &'a str,
    /// In quotes or backticks, or called with parentheses.
    is_marked: bool,
}

/// The words of a text that could be names, each also without what is before a `/`, `.`, `:` or `__` in it.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':');
    let mut found = Vec::new();
    let mut rest = text;
    let mut before = ' ';
    while let Some(start) = rest.find(is_name) {
        before = rest.get(..start).and_then(|skipped| skipped.chars().next_back()).unwrap_or(before);
        let from = rest.get(start..).unwrap_or_default();
        let end = from.find(|c| !is_name(c)).unwrap_or(from.len());
        let (word, after) = from.split_at_checked(end).unwrap_or((from, ""));
        let next = after.chars().next().unwrap_or(' ');
        let is_marked = next == '('
            || matches!(
                (before, next),
                ('`', '`') | ('\'', '\'') | ('"', '"') | ('“', '”') | ('*', '*') | ('<', '>') | ('[', ']')
            );
        let word = word.trim_matches(['.', ':', '-', '/']);
        let parts = word.split(['/', '.', ':']).chain(word.split("__").filter(|_| word.contains("__")));
        found.extend(
            [word]
                .into_iter()
                .chain(parts.filter(|part| *part != word))
                .map(|word| Token { word, is_marked }),
        );
        rest = after;
        before = ' ';
    }
    found
}
