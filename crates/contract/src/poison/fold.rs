//! Texts as they read: what differs only in how it is written is made equal.

use std::sync::LazyLock;

use regex::Regex;
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use super::characters::{is_invisible, spelled};
use super::hidden;
use super::phrases::compiled;

/// A quoted name after a word of direction: most likely that of an argument.
static ARGUMENT: LazyLock<Regex> =
    LazyLock::new(|| compiled(r"\b(in|into|as|to|under|via|inside|within) [`'\x22“‘]([\w._-]+)[`'\x22”’]"));

/// Words of which a text that was turned around has one, if it is worth reading.
const TELLING: [&str; 12] = [
    "ignore", "instruct", "user", "before", "system", "secret", "password", "convers", "always", "never",
    "send ", "read ",
];

/// A text in lower case, compatibility characters and look-alike letters replaced, marks, quotes and invisible characters
/// left out, `_` and hyphens as spaces, and one space where there is white space.
pub(super) fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    let mut space = true;
    for c in text.nfkd().filter(|c| !is_combining_mark(*c) && !is_invisible(*c)) {
        match latin(c) {
            '\'' | '’' | '‘' | '"' | '“' | '”' | '„' | '«' | '»' | '`' | '*' => {}
            '_' | '-' | '\u{2010}'..='\u{2015}' | '\u{2212}' => push_space(&mut folded, &mut space),
            c if c.is_whitespace() => push_space(&mut folded, &mut space),
            c => {
                folded.extend(c.to_lowercase());
                space = false;
            }
        }
    }
    if space {
        folded.pop();
    }
    folded
}

fn push_space(folded: &mut String, space: &mut bool) {
    if !*space {
        folded.push(' ');
        *space = true;
    }
}

/// A text in lower case with single spaces, in its own script: for phrases of languages other than English.
pub(super) fn lowered(text: &str) -> String {
    let visible: String = text.nfkc().filter(|c| !is_invisible(*c)).flat_map(char::to_lowercase).collect();
    visible.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// An identifier as words: `apiKey`, `api_key` and `API-Key` are all `api key`.
pub(super) fn words(name: &str) -> String {
    let mut spaced = String::with_capacity(name.len() + 8);
    let mut before = ' ';
    let mut chars = name.chars().peekable();
    while let Some(c) = chars.next() {
        let starts = c.is_uppercase()
            && (before.is_lowercase()
                || before.is_ascii_digit()
                || before.is_uppercase() && chars.peek().is_some_and(|next| next.is_lowercase()));
        if starts || matches!(c, '.' | '/' | ':') {
            spaced.push(' ');
        }
        if !matches!(c, '.' | '/' | ':') {
            spaced.push(c);
        }
        before = c;
    }
    fold(&spaced)
}

/// Everything that a text may be read as, each once: folded, and what simple encodings in it hide.
pub(super) fn readings(text: &str) -> Vec<String> {
    let plain = fold(&ARGUMENT.replace_all(text, "$1 argument $2"));
    let mut all = vec![plain.clone()];
    let mut add = |reading: String| {
        if !reading.is_empty() && !all.contains(&reading) {
            all.push(reading);
        }
    };
    if !text.contains(char::is_whitespace) {
        add(words(text));
    }
    add(unleeted(&plain));
    add(fold(&spelled(text)));
    for blob in hidden::decoded(text) {
        add(fold(&blob));
    }
    let turned = [plain.chars().rev().collect(), plain.chars().map(rot13).collect::<String>()];
    for reading in turned {
        if TELLING.iter().any(|word| reading.contains(word)) {
            add(reading);
        }
    }
    all
}

/// Digits and signs as the letters that they resemble, in words that have letters too.
fn unleeted(folded: &str) -> String {
    let word = |word: &str| -> String {
        if !word.bytes().any(|b| b.is_ascii_alphabetic()) {
            return word.to_owned();
        }
        let letter = |c| match c {
            '0' => 'o',
            '1' | '!' => 'i',
            '3' => 'e',
            '4' | '@' => 'a',
            '5' | '$' => 's',
            '7' => 't',
            other => other,
        };
        word.chars().map(letter).collect()
    };
    folded.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

fn rot13(c: char) -> char {
    let turned = |first: u8, c: u8| char::from(first + (c - first + 13) % 26);
    match u8::try_from(c) {
        Ok(b @ b'a'..=b'z') => turned(b'a', b),
        _ => c,
    }
}

/// Letters of other scripts that look like Latin ones, as these (the ones in common use of Unicode's confusables).
fn latin(c: char) -> char {
    match c {
        'а' | 'α' | 'А' | 'Α' | 'ɑ' => 'a',
        'в' | 'В' | 'Β' | 'ʙ' => 'b',
        'с' | 'С' | 'ϲ' | 'ᴄ' => 'c',
        'ԁ' | 'ɗ' => 'd',
        'е' | 'Е' | 'Ε' | 'ε' | 'є' => 'e',
        'ɡ' | 'ց' => 'g',
        'һ' | 'Н' | 'Η' | 'հ' => 'h',
        'і' | 'І' | 'Ι' | 'ι' | 'ı' | 'ӏ' | 'Ӏ' => 'i',
        'ј' | 'Ј' => 'j',
        'к' | 'К' | 'κ' | 'Κ' => 'k',
        'ⅼ' => 'l',
        'м' | 'М' | 'Μ' => 'm',
        'п' | 'ո' | 'Ν' => 'n',
        'о' | 'О' | 'ο' | 'Ο' | 'օ' | 'σ' => 'o',
        'р' | 'Р' | 'ρ' | 'Ρ' => 'p',
        'ԛ' => 'q',
        'г' | 'ɾ' => 'r',
        'ѕ' | 'Ѕ' | 'ꜱ' => 's',
        'т' | 'Т' | 'τ' | 'Τ' => 't',
        'υ' | 'ս' | 'ц' => 'u',
        'ѵ' | 'ν' => 'v',
        'ԝ' | 'ω' | 'ѡ' => 'w',
        'х' | 'Х' | 'χ' | 'Χ' => 'x',
        'у' | 'У' | 'γ' | 'Υ' => 'y',
        'Ζ' => 'z',
        other => other,
    }
}
