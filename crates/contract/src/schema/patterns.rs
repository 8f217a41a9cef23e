//! What compiling the patterns of a schema may cost, estimated before they are compiled.

use std::collections::HashSet;
use std::iter::Peekable;
use std::str::Chars;

use serde_json::{Map, Value};

/// What a pattern costs whatever it says.
const EACH: u64 = 24;
/// A class that is named, or holds all but such a one.
const WIDE: u64 = 300;
/// Any other class.
const CLASS: u64 = 4;
/// How much more a pattern weighs that takes both cases of letters, or line breaks as any character.
const FOLDED: u64 = 8;

/// What the patterns of a schema take.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Patterns {
    /// In about a microsecond each.
    pub(super) weight: u64,
    /// Automata that are built for them, at most.
    pub(super) automata: u64,
}

impl Patterns {
    /// Each pattern once.
    pub(super) fn of(schema: &Value) -> Self {
        let mut found = Self::default();
        for pattern in all(schema).into_iter().collect::<HashSet<_>>() {
            found.weight = found.weight.saturating_add(of(pattern));
            found.automata += automata(pattern);
        }
        found
    }
}

/// The patterns of a schema. Whatever has the name of a pattern counts as one.
pub(crate) fn all(schema: &Value) -> Vec<&str> {
    let (mut found, mut waiting) = (Vec::new(), vec![schema]);
    while let Some(value) = waiting.pop() {
        match value {
            Value::Object(members) => {
                found.extend(members.get("pattern").and_then(Value::as_str));
                let named = members.get("patternProperties").and_then(Value::as_object);
                found.extend(named.into_iter().flat_map(Map::keys).map(String::as_str));
                waiting.extend(members.values());
            }
            Value::Array(items) => waiting.extend(items),
            _ => {}
        }
    }
    found
}

/// The weight of all patterns of a schema.
pub(crate) fn weight(schema: &Value) -> u64 {
    Patterns::of(schema).weight
}

/// Whether a pattern says what takes more than one linear automaton: it looks around, refers back, or does not go back.
pub(crate) fn is_hard(pattern: &str) -> bool {
    hard(pattern) > 0
}

/// How many automata a pattern may take: what is hard parts it, and so do the groups and alternatives around.
fn automata(pattern: &str) -> u64 {
    let parts = pattern.bytes().filter(|byte| matches!(byte, b'(' | b'|')).count() as u64;
    match hard(pattern) {
        0 => 1,
        hard => 1 + 2 * hard + parts,
    }
}

/// How many parts are, or may be, hard.
fn hard(pattern: &str) -> u64 {
    const PLAIN: &str = "dwsDWSpPtnrfvcux0-./+*?()[]{}|^$\\\"'`@#%&=!:;,<>~_ ";
    let mut found = 0;
    let (mut chars, mut before) = (pattern.chars().peekable(), ' ');
    while let Some(c) = chars.next() {
        found += match c {
            '\\' => u64::from(chars.next().is_some_and(|name| !PLAIN.contains(name))),
            '+' => u64::from("+*?}".contains(before)),
            '?' if before == '(' => {
                let rest: String = chars.clone().take(2).collect();
                u64::from(
                    !rest.starts_with([':', 'P'])
                        && (rest.starts_with("<=")
                            || rest.starts_with("<!")
                            || !rest.starts_with(|c: char| c == '<' || c == '-' || c.is_ascii_alphabetic())),
                )
            }
            _ => 0,
        };
        before = if c == '\\' { ' ' } else { c };
    }
    found
}

/// The weight of one pattern: what is repeated counts as often as it may be repeated. Whether brackets in a class are a
/// class of their own depends on who reads it; what weighs more counts.
fn of(pattern: &str) -> u64 {
    let has_flag = |flag| {
        let groups = pattern.split("(?").skip(1);
        groups
            .into_iter()
            .any(|rest| rest.chars().take_while(|c| c.is_ascii_alphabetic() || *c == '-').any(|c| c == flag))
    };
    // Where white space and comments mean nothing, it is not read what is repeated.
    if has_flag('x') {
        return u64::MAX;
    }
    let weight = read(pattern, true).max(read(pattern, false));
    // Each letter and class is wider.
    if has_flag('i') || has_flag('s') { weight.saturating_mul(FOLDED) } else { weight }
}

fn read(pattern: &str, nests: bool) -> u64 {
    // Of each group that is open: what is before its last part, and the last part.
    let mut open = vec![(EACH, 0_u64)];
    let mut is_group = false;
    let mut rest = pattern.chars().peekable();
    while let Some(c) = rest.next() {
        let part = match c {
            '(' => {
                open.push((1, 0));
                continue;
            }
            ')' if open.len() > 1 => {
                let (before, last) = open.pop().unwrap_or_default();
                before.saturating_add(last)
            }
            '{' => {
                let Some(times) = repeated(&mut rest) else { continue };
                // `^X{m,n}$` alone is counted, and not compiled.
                if !is_group && is_lone(&open) && pattern.starts_with('^') && rest.clone().eq(['$']) {
                    continue;
                }
                if let Some((_, last)) = open.last_mut() {
                    *last = last.saturating_mul(times);
                }
                continue;
            }
            '[' => class(&mut rest, nests),
            '\\' => {
                let name = rest.next();
                // The name of a class is no repetition.
                if matches!(name, Some('p' | 'P')) && rest.next_if_eq(&'{').is_some() {
                    while rest.next_if(|c| *c != '}').is_some() {}
                    rest.next();
                }
                name.map_or(1, escape)
            }
            '.' => CLASS * 4,
            // What is repeated so, may be repeated again.
            '*' | '+' | '?' => {
                if let Some((_, last)) = open.last_mut() {
                    *last = last.saturating_add(1);
                }
                continue;
            }
            _ => 1,
        };
        is_group = c == ')';
        if let Some((before, last)) = open.last_mut() {
            *before = before.saturating_add(*last);
            *last = part;
        }
    }
    open.into_iter().fold(0, |sum, (before, last)| sum.saturating_add(before).saturating_add(last))
}

/// Whether nothing but `^` is before the last part.
fn is_lone(open: &[(u64, u64)]) -> bool {
    matches!(open, [(before, _)] if *before == EACH + 1)
}

/// The most times that a repetition allows, after its bracket; `None` where it is none.
fn repeated(rest: &mut Peekable<Chars<'_>>) -> Option<u64> {
    let bounds: String = rest.clone().take_while(|c| *c != '}').take(64).collect();
    if !bounds.chars().all(|c| c.is_ascii_digit() || c == ',' || c == ' ') {
        return None;
    }
    rest.by_ref().take(bounds.len() + 1).for_each(drop);
    bounds.split(',').filter_map(|bound| bound.trim().parse().ok()).max().map(|times: u64| times.max(1))
}

/// The weight of a class, read to its end.
fn class(rest: &mut Peekable<Chars<'_>>, nests: bool) -> u64 {
    let mut weight = rest.next_if_eq(&'^').map_or(CLASS, |_| CLASS * 4);
    let (mut depth, mut is_first) = (1_usize, true);
    while let Some(c) = rest.next() {
        weight = weight.saturating_add(match c {
            '\\' => rest.next().map_or(1, escape),
            '^' => CLASS * 16,
            c if c.is_ascii() => 0,
            _ => CLASS,
        });
        match c {
            '[' if nests => depth += 1,
            ']' if !is_first => depth -= 1,
            _ => {}
        }
        is_first = false;
        if depth == 0 {
            break;
        }
    }
    weight
}

fn escape(name: char) -> u64 {
    match name {
        'p' | 'P' | 'D' | 'W' | 'S' => WIDE,
        's' | 'd' | 'w' => CLASS * 4,
        _ => 1,
    }
}
