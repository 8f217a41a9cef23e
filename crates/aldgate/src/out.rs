//! Writing to standard output.

use std::io::Write as _;

use miette::IntoDiagnostic as _;

/// Writes a line.
pub(crate) fn line(text: impl std::fmt::Display) -> miette::Result<()> {
    writeln!(std::io::stdout().lock(), "{text}").into_diagnostic()
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

/// Whether whoever read the output has gone; that is no failure.
pub(crate) fn is_broken_pipe(report: &miette::Report) -> bool {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(report.as_ref());
    while let Some(fault) = cause {
        if fault
            .downcast_ref::<std::io::Error>()
            .is_some_and(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
        {
            return true;
        }
        cause = fault.source();
    }
    false
}
