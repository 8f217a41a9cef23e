use std::collections::{BTreeMap, BTreeSet};

use super::super::fold::{fold, words};
use super::super::texts::Text;
use super::super::{FOREIGN_TOOLS, Finding, Neighbour, quoted};
use super::letters;

/// Letters of a name of its own at whose end another one is looked for.
const MAX_OWN: usize = 256;

/// The names that a definition should not mention.
pub(in crate::poison) struct Mentions<'a> {
    /// Upstream and visible name, by the letters of the name.
    foreign: BTreeMap<String, (&'a str, &'a str)>,
    /// Other upstreams, by folded name.
    upstreams: BTreeMap<String, &'a str>,
}

impl<'a> Mentions<'a> {
    pub(in crate::poison) fn of(upstream: &str, neighbours: &[Neighbour<'a>]) -> Self {
        let mut foreign = BTreeMap::new();
        let mut upstreams = BTreeMap::new();
        for other in neighbours.iter().filter(|other| other.upstream != upstream) {
            let name = letters(other.tool);
            if !name.is_empty() {
                foreign.entry(name).or_insert((other.upstream, other.tool));
            }
            upstreams.entry(words(other.upstream)).or_insert(other.upstream);
        }
        upstreams.remove(&words(upstream));
        // A name that the upstream has too is its own in its own words.
        for own in neighbours.iter().filter(|other| other.upstream == upstream) {
            let own = letters(own.tool);
            let starts = own.char_indices().rev().take(MAX_OWN).map(|(at, _)| at);
            for end in starts.filter_map(|at| own.get(at..)) {
                foreign.remove(end);
            }
        }
        Self { foreign, upstreams }
    }

    /// `own` is the item's own name.
    pub(in crate::poison) fn check(&self, own: &str, text: &Text<'_>, findings: &mut Vec<Finding>) {
        if self.foreign.is_empty() {
            return;
        }
        let own = letters(own);
        let named = |name: &str| self.foreign.get(name).filter(|_| !own.ends_with(name));
        let mut mentioned: BTreeSet<(&str, &str)> = BTreeSet::new();
        for token in tokens(text.text) {
            if let Some(found) = named(&letters(token.word))
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
                if let Some(found) = name.and_then(|name| named(&name)).filter(|found| is_telling(found.1)) {
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
