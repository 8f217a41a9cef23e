//! Names as the command line takes them, in what operators are told to run.

use aldgate_contract::{Item, Kind};

/// Something pinned, as the command line takes it.
pub(crate) fn spelled(upstream: &str, item: &Item) -> String {
    let word = match item.kind {
        Kind::Tool => "",
        Kind::ResourceTemplate => "resource:",
        Kind::Prompt => "prompt:",
    };
    quoted(&format!("{word}{upstream}/{}", item.name))
}

/// For a shell: what an upstream chose as a name does nothing there.
pub(crate) fn quoted(text: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./:".contains(letter);
    if text.chars().all(plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}
