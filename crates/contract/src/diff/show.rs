//! What of a peer's text is shown to a person: bounded, printable, on one line.

use super::{Change, Severity};

/// Characters of a name, pattern or value within a sentence.
const QUOTED: usize = 80;
/// Characters of a summary.
const SUMMARY: usize = 300;

/// A name or value of a peer between backticks.
pub(super) fn quoted(text: impl AsRef<str>) -> String {
    format!("`{}`", bounded(&text.as_ref().replace('`', "\\u{60}"), QUOTED))
}

/// A sentence that may hold words of a peer.
pub(super) fn line(text: &str) -> String {
    bounded(text, SUMMARY)
}

/// Names between backticks; of many, the first.
pub(super) fn listed<T: AsRef<str>>(names: &[T]) -> String {
    let shown: Vec<String> = names.iter().take(5).map(quoted).collect();
    let more = names.len().saturating_sub(shown.len());
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    shown.join(", ") + &more
}

/// One line about all changes.
pub(super) fn summary(changes: &[Change]) -> String {
    let Some(gravest) = changes.iter().rev().max_by_key(|change| change.severity) else {
        return String::new();
    };
    let counts: Vec<String> =
        [Severity::Breaking, Severity::Behavioural, Severity::Compatible, Severity::Cosmetic]
            .into_iter()
            .filter_map(|severity| {
                let count = changes.iter().filter(|change| change.severity == severity).count();
                (count > 0).then(|| format!("{count} {}", severity.word()))
            })
            .collect();
    let path = bounded(&gravest.path, 120);
    bounded(&format!("{}: {path}: {}", counts.join(", "), gravest.what), SUMMARY)
}

/// At most so many characters, those that are not printable in the form `\u{202e}`.
fn bounded(text: &str, most: usize) -> String {
    let (mut shown, mut count, mut cut) = (String::new(), 0, 0);
    for letter in text.chars() {
        let escaped: String =
            if printable(letter) { letter.into() } else { letter.escape_unicode().collect() };
        count += escaped.chars().count();
        if count > most {
            shown.truncate(cut);
            shown.push('…');
            break;
        }
        shown.push_str(&escaped);
        if count < most {
            cut = shown.len();
        }
    }
    shown
}

/// Not a control, a line break, or one of those that are invisible or change the direction of the text around them.
fn printable(letter: char) -> bool {
    !matches!(letter,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{a0}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}'
        | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{2000}'..='\u{200f}' | '\u{2028}'..='\u{202f}'
        | '\u{205f}'..='\u{206f}' | '\u{2800}' | '\u{3000}' | '\u{3164}' | '\u{e000}'..='\u{f8ff}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{10ffff}')
}
