//! Text of others, fit to be shown: in a log, on a page, on a terminal.

#[cfg(test)]
mod tests;

/// Whether a character breaks a line, or makes the text around it be shown in another order (Unicode UAX #9).
pub(crate) const fn reorders(letter: char) -> bool {
    matches!(letter, '\u{61C}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// The first `most` characters that print as themselves; more are told by `…`.
pub(crate) fn shown(text: &str, most: usize) -> String {
    let mut printable = text.chars().filter(|letter| !letter.is_control() && !reorders(*letter));
    let mut told: String = printable.by_ref().take(most).collect();
    if printable.next().is_some() {
        told.push('…');
    }
    told
}
