//! Writing to standard output.

use std::io::Write as _;

use miette::IntoDiagnostic as _;

/// Writes a line.
pub(crate) fn line(text: impl std::fmt::Display) -> miette::Result<()> {
    Ok(writeln!(std::io::stdout().lock(), "{text}").map_err(Unwritten)?)
}

/// Writes a message to standard error. Nobody reading it is no reason to stop.
pub(crate) fn message(text: std::fmt::Arguments<'_>) {
    let mut out = std::io::stderr().lock();
    // A terminal that has gone cannot be told that it has gone.
    let _ = out.write_fmt(text).and_then(|()| out.flush());
}

/// A line on standard error.
macro_rules! note {
    ($($text:tt)*) => { $crate::out::message(format_args!("{}\n", format_args!($($text)*))) };
}

/// A question on standard error, with no line end.
macro_rules! prompt {
    ($($text:tt)*) => { $crate::out::message(format_args!($($text)*)) };
}

/// Writes a JSON value over several lines.
pub(crate) fn json(value: &impl serde::Serialize) -> miette::Result<()> {
    line(serde_json::to_string_pretty(value).into_diagnostic()?)
}

/// Writes rows under a heading, each column as wide as its widest cell.
pub(crate) fn table(heading: &[&str], rows: &[Vec<String>]) -> miette::Result<()> {
    let mut widths: Vec<usize> = heading.iter().map(|cell| cell.chars().count()).collect();
    for row in rows {
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

/// Text from elsewhere, made safe for a terminal: no control character gets there.
pub(crate) fn plain(text: &str) -> String {
    text.chars()
        .map(|letter| if letter.is_control() && letter != '\n' { '\u{fffd}' } else { letter })
        .collect()
}

/// Standard output that cannot be written.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
#[error("the output cannot be written")]
#[diagnostic(code("AG-CLI-OUTPUT"))]
struct Unwritten(#[from] std::io::Error);

/// Whether whoever read the output has gone; that is no failure.
pub(crate) fn is_broken_pipe(report: &miette::Report) -> bool {
    report.downcast_ref::<Unwritten>().is_some_and(|fault| fault.0.kind() == std::io::ErrorKind::BrokenPipe)
}
