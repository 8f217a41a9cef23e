//! Names and descriptions as words.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::contrast::{Signs, bounds, is_unit};
use super::vocabulary::{COMMON, COMPOUND, FILLER, NEAR, PHRASES, SAME, SHORT, TEMPORAL};

/// The most words of one name.
const MAX_TOKENS: usize = 8;
/// The most characters of one word.
const MAX_CHARS: usize = 24;
/// The most words of one description.
const MAX_WORDS: usize = 64;

static SHORT_FORMS: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| SHORT.iter().copied().collect());
static PARTS: LazyLock<HashMap<&str, [&str; 2]>> =
    LazyLock::new(|| COMPOUND.iter().map(|(whole, a, b)| (*whole, [*a, *b])).collect());
static SAME_GROUPS: LazyLock<HashMap<&str, Vec<usize>>> = LazyLock::new(|| groups(SAME));
static NEAR_GROUPS: LazyLock<HashMap<&str, Vec<usize>>> = LazyLock::new(|| groups(NEAR));
static PHRASE_NUMBERS: LazyLock<HashMap<String, Vec<usize>>> = LazyLock::new(|| {
    let mut found: HashMap<String, Vec<usize>> = HashMap::new();
    for (number, names) in PHRASES.iter().enumerate() {
        for name in *names {
            found.entry(joined(&tokens(name))).or_default().push(number);
        }
    }
    found
});

fn groups(lists: &'static [&'static [&'static str]]) -> HashMap<&'static str, Vec<usize>> {
    let mut found: HashMap<&str, Vec<usize>> = HashMap::new();
    for (number, words) in lists.iter().enumerate() {
        for word in *words {
            found.entry(word).or_default().push(number);
        }
    }
    found
}

/// A name, taken apart.
#[derive(Debug, Clone)]
pub(super) struct Name {
    /// Its words: lower case, singular, short forms written out.
    pub(super) tokens: Vec<String>,
    /// All letters and digits in lower case.
    spelling: String,
    phrases: &'static [usize],
    /// Of each word, what is known of it.
    pub(super) meanings: Vec<Meaning>,
    pub(super) signs: Signs,
}

/// What is known of a word.
#[derive(Debug, Clone, Copy)]
pub(super) struct Meaning {
    same: &'static [usize],
    near: &'static [usize],
    bounds: [u8; 2],
    /// How much it adds to a name.
    pub(super) weight: f64,
    /// Whether it is in the names of many properties.
    pub(super) is_common: bool,
}

impl Meaning {
    fn of(word: &str) -> Self {
        let weight = if FILLER.contains(&word) {
            0.15
        } else if TEMPORAL.contains(&word) || is_unit(word) {
            0.3
        } else {
            1.0
        };
        Self {
            same: SAME_GROUPS.get(word).map_or(&[], Vec::as_slice),
            near: NEAR_GROUPS.get(word).map_or(&[], Vec::as_slice),
            bounds: bounds(word),
            weight,
            is_common: COMMON.contains(&word),
        }
    }

    /// Whether it says something on its own.
    pub(super) fn tells(&self) -> bool {
        self.weight > 0.35
    }
}

impl Name {
    pub(super) fn new(name: &str) -> Self {
        let tokens = tokens(name);
        let phrases = PHRASE_NUMBERS.get(&joined(&tokens)).map_or(&[][..], Vec::as_slice);
        let letters = name.chars().take(MAX_CHARS * 4).filter(|c| c.is_alphanumeric());
        let spelling = letters.flat_map(char::to_lowercase).collect();
        let meanings = tokens.iter().map(|token| Meaning::of(token)).collect();
        let mut name = Self { tokens, spelling, phrases, meanings, signs: Signs::default() };
        name.signs = Signs::of_name(&name.tokens, name.head());
        name
    }

    /// Whether only case and separators differ.
    pub(super) fn is_respelled(&self, other: &Self) -> bool {
        !self.spelling.is_empty() && self.spelling == other.spelling
    }

    /// Whether both are known for one meaning as wholes.
    pub(super) fn is_same_phrase(&self, other: &Self) -> bool {
        self.phrases.iter().any(|phrase| other.phrases.contains(phrase))
    }

    /// Whether both are known as wholes, for different meanings.
    pub(super) fn is_other_phrase(&self, other: &Self) -> bool {
        !self.phrases.is_empty() && !other.phrases.is_empty() && !self.is_same_phrase(other)
    }

    /// The word that says what kind of thing is named: the last but for fillers and numbers.
    pub(super) fn head(&self) -> Option<&str> {
        let says =
            |token: &&String| !FILLER.contains(&token.as_str()) && !token.chars().all(|c| c.is_ascii_digit());
        let not_temporal =
            |token: &&String| says(token) && !TEMPORAL.contains(&token.as_str()) && !is_unit(token);
        let last = self.tokens.iter().rfind(not_temporal).or_else(|| self.tokens.iter().rfind(says));
        last.or(self.tokens.last()).map(String::as_str)
    }
}

/// How alike two words are: 1 where they are the same.
pub(super) fn alike((a, left): (&str, &Meaning), (b, right): (&str, &Meaning)) -> f64 {
    let share = |a: &[usize], b: &[usize]| a.iter().any(|group| b.contains(group));
    if a == b {
        1.0
    } else if share(left.same, right.same) {
        0.9
    } else if left.bounds.iter().zip(right.bounds).any(|(a, b)| a & b != 0) {
        0.88
    } else if is_prefix(a, b) || is_prefix(b, a) {
        0.84
    } else if share(left.near, right.near) {
        0.72
    } else if is_typo(a, b) {
        0.86
    } else {
        0.0
    }
}

/// `lang` of `language`: short enough to be cut off, long enough to be told.
fn is_prefix(short: &str, long: &str) -> bool {
    (3..=4).contains(&short.len()) && long.len() >= 2 * short.len() && long.starts_with(short)
}

/// A slip of the keyboard: two letters in each other's place, a double letter that is single, one vowel for another. Other
/// words of one letter's difference, such as `contact` and `contract`, are different words.
fn is_typo(a: &str, b: &str) -> bool {
    let lengths = a.len().min(b.len()) < 6 || a.len().abs_diff(b.len()) > 1;
    if lengths || !differ_at_one_place(a, b) || strsim::osa_distance(a, b) != 1 {
        return false;
    }
    let single = |word: &str| -> String {
        let mut letters: Vec<char> = word.chars().collect();
        letters.dedup();
        letters.into_iter().collect()
    };
    let consonants = |word: &str| -> String { word.chars().filter(|c| !"aeiou".contains(*c)).collect() };
    let transposed = a.len() == b.len() && strsim::levenshtein(a, b) == 2;
    transposed || single(a) == single(b) || (a.len() == b.len() && consonants(a) == consonants(b))
}

/// Whether two words are the same but for at most two characters beside each other.
fn differ_at_one_place(a: &str, b: &str) -> bool {
    let before = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let after = a.chars().rev().zip(b.chars().rev()).take_while(|(a, b)| a == b).count();
    before + after + 2 >= a.chars().count().max(b.chars().count())
}

/// One form for all forms of a word, and for words of one meaning.
pub(super) fn canonical(word: &str) -> String {
    let group = SAME_GROUPS.get(word).and_then(|groups| SAME.get(*groups.first()?)?.first());
    (*group.unwrap_or(&stem(word))).to_owned()
}

fn stem(word: &str) -> &str {
    if word.len() < 6 {
        return word;
    }
    ["ing", "ion", "ed", "er", "e"].iter().find_map(|ending| word.strip_suffix(ending)).unwrap_or(word)
}

/// The words of a name.
pub(super) fn tokens(name: &str) -> Vec<String> {
    let mut found = Vec::new();
    let words = split(name);
    for (at, word) in words.iter().enumerate() {
        match PARTS.get(word.as_str()) {
            Some(parts) => found.extend(parts.iter().map(|part| whole(part))),
            // `part_no`, not `no_cache`
            None if word == "no" && at > 0 && at + 1 == words.len() => found.push("number".to_owned()),
            None => found.push(whole(word)),
        }
        if found.len() >= MAX_TOKENS {
            break;
        }
    }
    found
}

/// The words of a description, in the same form as those of names.
pub(super) fn words(text: &str) -> Vec<String> {
    let text: String = text.chars().take(MAX_WORDS * 12).collect();
    split(&text).into_iter().take(MAX_WORDS).map(|word| whole(&word)).collect()
}

fn joined(tokens: &[String]) -> String {
    tokens.join("_")
}

/// A short form written out, a plural as its singular.
fn whole(word: &str) -> String {
    let written = |word: &str| SHORT_FORMS.get(word).map(|whole| (*whole).to_owned());
    written(word).unwrap_or_else(|| {
        let one = singular(word);
        written(&one).unwrap_or(one)
    })
}

fn singular(word: &str) -> String {
    let but = |ending: &str, more: &str| word.strip_suffix(ending).map(|stem| format!("{stem}{more}"));
    let found = if word.chars().count() < 4 || !word.ends_with('s') {
        None
    } else if word.ends_with("ies") {
        but("ies", "y")
    } else if ["sses", "shes", "ches", "xes", "uses"].iter().any(|ending| word.ends_with(ending)) {
        but("es", "")
    } else if ["ss", "us", "is", "as"].iter().any(|ending| word.ends_with(ending)) {
        None
    } else {
        but("s", "")
    };
    found.unwrap_or_else(|| word.to_owned())
}

/// Lower-case words, split where case or kind of character changes.
fn split(name: &str) -> Vec<String> {
    let chars: Vec<char> = name.chars().take(MAX_CHARS * MAX_WORDS).collect();
    let mut words = Vec::new();
    let mut word = String::new();
    let mut before: Option<char> = None;
    for (at, c) in chars.iter().copied().enumerate() {
        let next = chars.get(at + 1).copied();
        let starts = before.is_some_and(|before| {
            let hump = c.is_uppercase() && !before.is_uppercase();
            let last_of_run = c.is_uppercase()
                && before.is_uppercase()
                && next
                    .is_some_and(|next| next.is_lowercase() && !(next == 's' && is_end(chars.get(at + 2))));
            hump || last_of_run || c.is_numeric() != before.is_numeric()
        });
        if (!c.is_alphanumeric() || starts) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() && word.len() < MAX_CHARS {
            word.extend(c.to_lowercase());
        }
        before = c.is_alphanumeric().then_some(c);
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// Whether a run of capitals with a plural s, as in `IDs`, ends here.
fn is_end(after: Option<&char>) -> bool {
    after.is_none_or(|c| !c.is_lowercase())
}
