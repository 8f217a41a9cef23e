//! Content that a page or a terminal does not show, or that a person does not read.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use regex::Regex;

use super::phrases::{Phrases, compiled};
use super::{Finding, HIDDEN_CONTENT, Text, quoted, spelled_out};

/// Spaces, tabs or line breaks in a row from which on what follows is out of sight.
const WIDE: usize = 60;
const TALL: usize = 10;

static MARKUP: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::new(&[
        (r"<!--", "a comment in HTML, which pages do not show"),
        (r"(?m)^\s*\[(?://|comment|_)[^\]]*\]: ?[#<]", "a comment in Markdown, which pages do not show"),
        (
            r"!\[[^\]]*\]\(\s*(?:https?:|//|data:)",
            "an image from elsewhere, which tells its server that and with what it was shown",
        ),
        (
            r"(?i)<(?:img|iframe|script|object|embed|svg|style|link|form|meta|video|audio)\b[^>]*[\s/=]",
            "an element of HTML that loads or hides something",
        ),
        (
            r"(?i)\b(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|opacity\s*:\s*0(?:\D|$)|color\s*:\s*(?:white|transparent|#fff))",
            "a style that hides text",
        ),
        (
            r"(?i)\bjavascript:|\bdata:(?:text|application)/[\w.+-]*[;,]",
            "an address that carries content of its own",
        ),
        (r"(?i)\\(?:x1b|033|u001b|e)\[[\d;]*[a-z]", "escape sequences, which can hide text in a terminal"),
        (
            r"(?i)(?:\\u[0-9a-f]{4}|\\x[0-9a-f]{2}|&#x?[0-9a-f]{2,6};|%[0-9a-f]{2}){6}",
            "text spelled in escapes",
        ),
    ])
});
static BASE64: LazyLock<Regex> = LazyLock::new(|| compiled(r"[A-Za-z0-9+/_-]{24,}"));
static HEX: LazyLock<Regex> = LazyLock::new(|| compiled(r"\b(?:[0-9a-fA-F]{2}[ :]?){16,}"));

pub(super) fn check(text: &Text<'_>, findings: &mut Vec<Finding>) {
    for (what, found) in MARKUP.find(text.text) {
        findings.push(Finding::new(HIDDEN_CONTENT, text, format!("{what}: {}", quoted(found))));
    }
    let (wide, tall) = gap(text.text);
    if wide >= WIDE || tall >= TALL {
        let gap = if tall >= TALL { format!("{tall} line breaks") } else { format!("{wide} spaces") };
        findings.push(Finding::new(
            HIDDEN_CONTENT,
            text,
            format!("{gap} in a row, which put what follows out of sight"),
        ));
    }
    for decoded in decoded(text.text) {
        findings.push(Finding::new(
            HIDDEN_CONTENT,
            text,
            format!("encoded text, which reads {}", quoted(&decoded)),
        ));
    }
    for blob in BASE64.find_iter(text.text).filter(|blob| is_blob(blob.as_str())) {
        findings.push(Finding::new(
            HIDDEN_CONTENT,
            text,
            format!("{} characters of encoded content", blob.len()),
        ));
    }
    if let Some(word) = text.text.split(|c: char| !c.is_alphabetic()).find(|word| mixes_scripts(word)) {
        findings.push(Finding::new(
            HIDDEN_CONTENT,
            text,
            format!("a word with letters of another script that look like its own: {}", spelled_out(word)),
        ));
    }
    if is_spaced_out(text.text) {
        findings.push(Finding::new(
            HIDDEN_CONTENT,
            text,
            "words spelled letter by letter, which a search does not find",
        ));
    }
}

/// The longest run of spaces and tabs, and of line breaks with nothing but these between them, that something follows.
fn gap(text: &str) -> (usize, usize) {
    let (mut wide, mut tall) = (0, 0);
    let (mut spaces, mut breaks) = (0, 0);
    for c in text.trim().chars() {
        match c {
            '\n' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => {
                breaks += 1;
                spaces = 0;
            }
            c if c.is_whitespace() || super::characters::is_invisible(c) => spaces += 1,
            _ => {
                (wide, tall) = (wide.max(spaces), tall.max(breaks));
                (spaces, breaks) = (0, 0);
            }
        }
    }
    (wide, tall)
}

/// The words that base64 and hexadecimal in a text stand for.
pub(super) fn decoded(text: &str) -> Vec<String> {
    let base64 = BASE64.find_iter(text).filter_map(|found| {
        let digits = found.as_str();
        // Four digits are three bytes: a length that does not fit has digits of something else at its end.
        let digits = digits.get(..digits.len() - usize::from(digits.len() % 4 == 1))?;
        STANDARD_NO_PAD.decode(digits).or_else(|_| URL_SAFE_NO_PAD.decode(digits)).ok()
    });
    let hex = HEX.find_iter(text).filter_map(|found| {
        let digits: String = found.as_str().chars().filter(char::is_ascii_hexdigit).collect();
        hex::decode(digits).ok()
    });
    base64
        .chain(hex)
        .filter_map(|bytes| String::from_utf8(bytes).ok())
        .filter(|text| is_prose(text))
        .collect()
}

/// Words and spaces: what decodes by chance does not look like it.
fn is_prose(text: &str) -> bool {
    let fit = |c: char| c.is_ascii_graphic() || c == ' ' || c == '\n' || c.is_alphabetic();
    text.len() >= 12 && text.contains([' ', '/', ':', '{']) && text.chars().all(fit)
}

/// Long, and mixed as prose, paths and identifiers are not.
fn is_blob(digits: &str) -> bool {
    let has = |wanted: fn(&u8) -> bool| digits.as_bytes().iter().filter(|b| wanted(b)).count();
    let (upper, lower, digit) =
        (has(u8::is_ascii_uppercase), has(u8::is_ascii_lowercase), has(u8::is_ascii_digit));
    digits.len() >= 64 && upper * 6 > digits.len() && lower * 6 > digits.len() && digit * 20 > digits.len()
}

/// Eight single letters or more with one and the same separator between them, not in the order of the alphabet.
fn is_spaced_out(text: &str) -> bool {
    let (mut length, mut is_alphabet) = (0_usize, true);
    let mut last = None;
    let mut separator = None;
    for (a, b) in text.chars().zip(text.chars().skip(1)) {
        if a.is_alphabetic() && !b.is_alphanumeric() && (length == 0 || separator == Some(b)) {
            is_alphabet &= last.is_none_or(|last| last <= a);
            (separator, last) = (Some(b), Some(a));
            length += 1;
        } else if a.is_alphanumeric() || Some(a) != separator || !(b.is_alphabetic() || Some(b) == separator)
        {
            (length, is_alphabet, last) = (0, true, None);
        }
        if length >= 8 && !is_alphabet {
            return true;
        }
    }
    false
}

/// Latin letters beside Cyrillic or Armenian ones, or beside Greek ones that look Latin; units such as `kΩ` have none.
fn mixes_scripts(word: &str) -> bool {
    let latin = word.chars().filter(char::is_ascii_alphabetic).count();
    let foreign = |c: char| matches!(c, '\u{400}'..='\u{52f}' | '\u{531}'..='\u{58f}');
    let greek = |c: char| "ονρικαυτχΑΒΕΖΗΙΚΜΝΟΡΤΥΧ".contains(c);
    latin > 0 && word.chars().any(foreign) || latin > 2 && word.chars().any(greek)
}
