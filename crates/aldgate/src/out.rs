//! Writing to standard output and standard error.
//!
//! **Invariant:** no character that a terminal obeys or does not show gets there, whoever wrote it: it is written as an
//! escape, so that a reader sees that something is there.

#[cfg(test)]
mod tests;

use std::fmt::Write as _;
use std::io::Write as _;

/// Writes text. Its line feeds stay; whoever writes a field of one line from elsewhere has it made [`plain`] first.
pub(crate) fn line(text: impl std::fmt::Display) -> miette::Result<()> {
    raw(&plain_lines(&text.to_string()))
}

/// Writes a part of a text as it comes, with no line end. Its line feeds stay.
pub(crate) fn part(text: &str) -> miette::Result<()> {
    let mut out = std::io::stdout().lock();
    let written = out.write_all(plain_lines(text).as_bytes()).and_then(|()| out.flush());
    Ok(written.map_err(Unwritten)?)
}

/// Writes a JSON value over several lines.
pub(crate) fn json(value: &impl serde::Serialize) -> miette::Result<()> {
    raw(&shown_in_json(&serde_json::to_string_pretty(value).map_err(Unserialized)?))
}

/// Writes a JSON value in one line.
pub(crate) fn json_line(value: &impl serde::Serialize) -> miette::Result<()> {
    raw(&shown_in_json(&serde_json::to_string(value).map_err(Unserialized)?))
}

fn raw(text: &str) -> miette::Result<()> {
    Ok(writeln!(std::io::stdout().lock(), "{text}").map_err(Unwritten)?)
}

/// Writes a message to standard error. Nobody reading it is no reason to stop.
pub(crate) fn message(text: std::fmt::Arguments<'_>) {
    told(&plain_lines(&text.to_string()));
}

/// Writes a report of a failure, coloured where the terminal has colours. What peers wrote was made plain when the
/// report was made.
pub(crate) fn report(report: &miette::Report) {
    told(&format!("{report:?}\n"));
}

fn told(text: &str) {
    let mut out = std::io::stderr().lock();
    // A terminal that has gone cannot be told that it has gone.
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// A line on standard error.
macro_rules! note {
    ($($text:tt)*) => { $crate::out::message(format_args!("{}\n", format_args!($($text)*))) };
}

/// A question on standard error, with no line end.
macro_rules! prompt {
    ($($text:tt)*) => { $crate::out::message(format_args!($($text)*)) };
}

/// Writes rows under a heading, each column as wide as its widest cell.
pub(crate) fn table(heading: &[&str], rows: &[Vec<String>]) -> miette::Result<()> {
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|cell| plain(cell)).collect()).collect();
    let mut widths: Vec<usize> = heading.iter().map(|cell| cell.chars().count()).collect();
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let written = |cells: &[String]| {
        let cells = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    line(written(&heading.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>()))?;
    rows.iter().try_for_each(|row| line(written(row)))
}

/// Text from elsewhere for a field of one line: what a terminal obeys or does not show is written as an escape, such as
/// `\n` or `\u{202e}`.
pub(crate) fn plain(text: &str) -> String {
    escaped(text, |_| false)
}

/// The same for text of several lines: its line feeds stay.
pub(crate) fn plain_lines(text: &str) -> String {
    escaped(text, |letter| letter == '\n')
}

fn escaped(text: &str, keep: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if keep(letter) || is_shown(letter) {
            out.push(letter);
        } else {
            out.extend(letter.escape_default());
        }
    }
    out
}

/// The same JSON, with JSON's own escapes. Outside strings JSON has no character that is not shown but the line feed.
pub(crate) fn shown_in_json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter == '\n' || is_shown(letter) {
            out.push(letter);
        } else {
            for unit in letter.encode_utf16(&mut [0; 2]) {
                // Writing to a String does not fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
    out
}

/// Characters without a shape of their own that Unicode counts as letters, marks or symbols, not as format characters
/// (`Default_Ignorable_Code_Point` without `Cf`), and those that fonts show as nothing: the empty Braille cell, the null notehead
/// and the object replacement character.
const SHAPELESS: [(char, char); 11] = [
    ('\u{34f}', '\u{34f}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{2800}', '\u{2800}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fffc}', '\u{fffc}'),
    ('\u{1d159}', '\u{1d159}'),
    ('\u{e0100}', '\u{e01ef}'),
];

/// Whether a terminal shows the character and does nothing else with it.
fn is_shown(letter: char) -> bool {
    if letter.is_ascii() {
        return letter == ' ' || letter.is_ascii_graphic();
    }
    // The spaces of typography, which `escape_debug` escapes, have a width.
    if matches!(letter, '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}') {
        return true;
    }
    if SHAPELESS.iter().any(|(first, last)| (*first..=*last).contains(&letter)) {
        return false;
    }
    // After another character `escape_debug` escapes what is not printable: control (Cc), format (Cf), private and
    // unassigned characters, and line and paragraph separators. Alone it would escape combining marks as well.
    String::from_iter(['x', letter]).escape_debug().count() == 2
}

/// Standard output that cannot be written.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
#[error("the output cannot be written")]
#[diagnostic(code("AG-CLI-OUTPUT"))]
struct Unwritten(#[from] std::io::Error);

/// A value that has no JSON form.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
#[error("the output has no form in JSON")]
#[diagnostic(code("AG-CLI-OUTPUT"))]
struct Unserialized(#[source] serde_json::Error);

/// Whether whoever read the output has gone; that is no failure.
pub(crate) fn is_broken_pipe(report: &miette::Report) -> bool {
    report.downcast_ref::<Unwritten>().is_some_and(|fault| fault.0.kind() == std::io::ErrorKind::BrokenPipe)
}
