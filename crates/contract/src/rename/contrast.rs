//! Signs that two names or descriptions speak of different things, however alike they look.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::opposites::{HEADS, NEGATIVE, NEGATIVE_IN_TEXT, NEGATIVE_PREFIXES, OPPOSITE, TOLD_HEADS, UNITS};
use super::prose::Prose;
use super::vocabulary::HANDLES;
use super::words::Name;

/// How sure it can be at most, in spite of what was found; 1 where nothing was.
pub(super) const NO_CAP: f64 = 1.0;
/// Opposites, other units: it is something else.
const OTHER: f64 = 0.3;
/// It may well be something else.
const DOUBTFUL: f64 = 0.6;
/// One side names a unit and the other none: the numbers may mean something else.
const UNIT_UNKNOWN: f64 = 0.75;

/// Words that stand in sentences for grammar, and are opposites in names alone.
const GRAMMAR: &[&str] = &[
    "to", "from", "first", "last", "new", "old", "get", "set", "add", "list", "open", "read", "current",
    "create", "created", "update", "updated", "size", "limit", "count", "order", "page", "title", "body",
    "content", "text", "customer", "client", "search", "find", "send", "run", "name", "key", "value",
    "start", "end", "head", "base", "top", "left", "right", "total", "source", "host", "main", "private",
    "work", "home", "plain", "index", "json", "public", "day", "week", "month", "year", "hour", "minute",
    "maximum", "minimum", "input", "output", "request", "response", "city", "country", "region",
];

/// On which side of which line a word is, as number of the line and bit of the side.
static SIDES: LazyLock<HashMap<&str, Vec<(usize, u8)>>> = LazyLock::new(|| {
    let mut found: HashMap<&str, Vec<(usize, u8)>> = HashMap::new();
    for (number, line) in OPPOSITE.iter().enumerate() {
        for (side, words) in line.iter().enumerate() {
            for word in *words {
                found.entry(word).or_default().push((number, 1 << side));
            }
        }
    }
    found
});
static UNIT_BITS: LazyLock<HashMap<&str, u64>> =
    LazyLock::new(|| bits(UNITS.iter().map(|(_, spellings)| *spellings)));
static KIND_BITS: LazyLock<HashMap<&str, u64>> = LazyLock::new(|| bits(HEADS.iter().copied()));

/// Of each word, the lists that hold it, as bits.
fn bits(lists: impl Iterator<Item = &'static [&'static str]>) -> HashMap<&'static str, u64> {
    let mut found: HashMap<&str, u64> = HashMap::new();
    for (number, words) in lists.enumerate() {
        for word in words {
            *found.entry(word).or_default() |= 1 << number;
        }
    }
    found
}

/// What words say of themselves, found once.
#[derive(Debug, Clone, Default)]
pub(super) struct Signs {
    /// For each line of opposites, the sides on which words are.
    sides: Vec<u8>,
    units: u64,
    /// The kinds of value of which words speak.
    kinds: u64,
    /// Whether they say that something is not so; twice is not.
    negative: bool,
    /// The same, with the words that say so of something that is switched.
    negative_switch: bool,
}

impl Signs {
    pub(super) fn of_name(tokens: &[String], head: Option<&str>) -> Self {
        let mut units = units(tokens);
        // `timeout_s`
        if tokens.len() > 1 && tokens.last().is_some_and(|word| word == "s") {
            units |= UNIT_BITS.get("second").copied().unwrap_or_default();
        }
        let odd = tokens.iter().filter(|token| NEGATIVE.contains(&token.as_str())).count() % 2 == 1;
        let kinds = head.and_then(|head| KIND_BITS.get(head)).copied().unwrap_or_default();
        Self { sides: sides(tokens.iter()), units, kinds, negative: odd, negative_switch: odd }
    }

    pub(super) fn of_text(words: &[String]) -> Self {
        let telling = words.iter().filter(|word| !GRAMMAR.contains(&word.as_str()));
        let odd = |more: &[&str]| {
            let negative =
                |word: &&String| NEGATIVE_IN_TEXT.contains(&word.as_str()) || more.contains(&word.as_str());
            words.iter().filter(negative).count() % 2 == 1
        };
        Self {
            sides: sides(telling),
            units: units(words),
            kinds: words
                .iter()
                .filter_map(|word| KIND_BITS.get(word.as_str()))
                .fold(0, |all, kinds| all | kinds),
            negative: odd(&[]),
            negative_switch: odd(&["not", "no", "don", "never"]),
        }
    }

    /// Whether words are on different sides of a line, and none is on both.
    fn is_opposite(&self, other: &Self) -> bool {
        self.sides.iter().zip(&other.sides).any(|(a, b)| *a != 0 && *b != 0 && a & b == 0)
    }
}

fn sides<'a>(words: impl Iterator<Item = &'a String>) -> Vec<u8> {
    let mut found = vec![0; OPPOSITE.len()];
    for (line, side) in words.filter_map(|word| SIDES.get(word.as_str())).flatten() {
        if let Some(sides) = found.get_mut(*line) {
            *sides |= side;
        }
    }
    found
}

fn units(words: &[String]) -> u64 {
    words.iter().filter_map(|word| UNIT_BITS.get(word.as_str())).fold(0, |all, unit| all | unit)
}

/// How sure a rename between two names can be.
pub(super) fn of_names(a: &Name, b: &Name) -> f64 {
    if a.is_respelled(b) || a.is_same_phrase(b) {
        return NO_CAP;
    }
    let (left, right) = (&a.signs, &b.signs);
    if a.is_other_phrase(b) || left.is_opposite(right) || left.negative != right.negative || prefixed(a, b) {
        return OTHER;
    }
    if left.kinds != 0 && right.kinds != 0 && left.kinds & right.kinds == 0 {
        return DOUBTFUL;
    }
    NO_CAP
}

/// How sure a rename between two described properties can be, by their descriptions alone; `switched` where both are
/// on or off.
pub(super) fn of_descriptions(a: &Prose, b: &Prose, switched: bool) -> f64 {
    let (left, right) = (&a.signs, &b.signs);
    let turned = if switched {
        left.negative_switch != right.negative_switch
    } else {
        left.negative != right.negative
    };
    let both = !a.words.is_empty() && !b.words.is_empty();
    if left.is_opposite(right) || (both && turned) { DOUBTFUL } else { NO_CAP }
}

/// How sure a rename can be by what kind of thing each value is: of one that its name does not tell, by its description.
pub(super) fn of_kinds(a: (&Name, &Prose), b: (&Name, &Prose)) -> f64 {
    match (a.0.signs.kinds == 0, b.0.signs.kinds == 0) {
        _ if a.0.is_same_phrase(b.0) => NO_CAP,
        (true, false) => of_kind(a.1, b.0),
        (false, true) => of_kind(b.1, a.0),
        _ => NO_CAP,
    }
}

/// As [`of_kinds`], where only one name tells the kind.
fn of_kind(silent: &Prose, told: &Name) -> f64 {
    let (kinds, named) = (told.signs.kinds, silent.signs.kinds);
    if kinds & named != 0 {
        return NO_CAP;
    }
    let is_told = |kinds: u64| kinds & ((1 << TOLD_HEADS) - 1) != 0;
    let further = told.tokens.len() > 1 && !told.head().is_some_and(|head| HANDLES.contains(&head));
    if further || (is_told(kinds) && is_told(named)) { DOUBTFUL } else { NO_CAP }
}

/// How sure a rename can be by the units that are named: in the names, else in the descriptions.
pub(super) fn of_units(a: (&Name, &Prose), b: (&Name, &Prose)) -> f64 {
    let all = |(name, prose): (&Name, &Prose)| {
        if name.signs.units == 0 { prose.signs.units } else { name.signs.units }
    };
    let (left, right) = (all(a), all(b));
    if left != 0 && right != 0 {
        if left & right == 0 { OTHER } else { NO_CAP }
    } else if a.0.signs.units == 0 && b.0.signs.units == 0 {
        NO_CAP
    } else {
        UNIT_UNKNOWN
    }
}

/// Whether a word of one is the opposite of a word of the other by its prefix: `active`, `inactive`.
fn prefixed(a: &Name, b: &Name) -> bool {
    let turned = |word: &str, other: &str| {
        let without = |prefix: &&str| word.strip_prefix(*prefix).is_some_and(|rest| rest == other);
        other.len() > 3 && NEGATIVE_PREFIXES.iter().any(without)
    };
    a.tokens.iter().any(|word| b.tokens.iter().any(|other| turned(word, other) || turned(other, word)))
}

/// Whether a word tells which of several alike properties is meant, such as `first` or `billing`.
pub(super) fn is_side(word: &str) -> bool {
    SIDES.contains_key(word)
}

/// Whether a word says in what a value is measured.
pub(super) fn is_unit(word: &str) -> bool {
    UNIT_BITS.contains_key(word)
}

/// The sides of a word on the two lines that run through most names: from where to where, and from when to when.
pub(super) fn bounds(word: &str) -> [u8; 2] {
    let sides = SIDES.get(word).map_or(&[][..], Vec::as_slice);
    [0, 1].map(|line| sides.iter().filter(|(number, _)| *number == line).fold(0, |all, (_, side)| all | side))
}
