//! Names as evidence has them, and as the command line takes them.

use aldgate_authority::{Concern, Kind as Kinds};
use aldgate_contract::{Item, Kind};

/// Something pinned of an upstream, as evidence names it.
#[must_use]
pub fn concern(upstream: &str, item: &Item) -> Concern {
    let kind = match item.kind {
        Kind::Tool => Kinds::Tool,
        Kind::ResourceTemplate => Kinds::Resource,
        Kind::Prompt => Kinds::Prompt,
    };
    Concern::of(kind, &format!("{upstream}/{}", item.name))
}

/// The same as a word of a command.
pub(crate) fn spelled(upstream: &str, item: &Item) -> String {
    quoted(&concern(upstream, item).to_string())
}

/// A word of a command, in quotes where a shell would take it for something else: what an upstream chose as a name does
/// nothing there.
#[must_use]
pub fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=@%+,".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
