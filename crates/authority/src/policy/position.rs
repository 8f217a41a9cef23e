/// A place in a file: line and column, both from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// The place of a byte offset; an offset beyond the end is the end.
pub(crate) fn of_offset(text: &str, offset: usize) -> Position {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    Position {
        line: before.matches('\n').count() + 1,
        column: before.get(line_start..).map_or(0, |line| line.chars().count()) + 1,
    }
}

/// The place of a diagnostic's first label; the file's start where it has none.
pub(crate) fn of_label(
    text: &str,
    labels: Option<Box<dyn Iterator<Item = miette::LabeledSpan> + '_>>,
) -> Position {
    let offset = labels.and_then(|mut labels| labels.next()).map_or(0, |label| label.offset());
    of_offset(text, offset)
}
