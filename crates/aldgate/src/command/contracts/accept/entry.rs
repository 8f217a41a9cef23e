//! The registry entry of something that the lock no longer holds under its name.

use aldgate_authority::Kind as Kinds;
use aldgate_contract::Kind;

use super::Named;
use crate::config::Loaded;
use crate::out;

/// Says what has to become of the entry of a tool whose place another took.
pub(super) fn note_renamed(loaded: &Loaded, named: &Named, from: &str) {
    let old = Named { upstream: named.upstream.clone(), item: named.item.kind.item(from) };
    if let Some(entry) = entry(loaded, &old) {
        let what = match self::entry(loaded, named) {
            Some(_) => format!("remove `{entry}`"),
            None => format!("rename `{entry}` to `{}`", heading(named)),
        };
        note(named.item.kind, &what);
    }
}

/// Says what has to become of the entry of something that is gone.
pub(super) fn note_gone(loaded: &Loaded, named: &Named) {
    if let Some(entry) = entry(loaded, named) {
        note(named.item.kind, &format!("remove `{entry}`, or rename it to what took its place"));
    }
}

fn note(kind: Kind, what: &str) {
    // Resources are named by the host; their templates need not be pinned.
    let until = if kind == Kind::ResourceTemplate { "" } else { "; no gateway starts or reloads before" };
    note!("the configuration names what the lock no longer holds: {}{until}", out::plain(what));
}

/// The heading of the entry that the configuration has of this very name.
fn entry(loaded: &Loaded, named: &Named) -> Option<String> {
    let kind = match named.item.kind {
        Kind::Tool => Kinds::Tool,
        Kind::ResourceTemplate => Kinds::Resource,
        Kind::Prompt => Kinds::Prompt,
    };
    let key = format!("{}/{}", named.upstream, named.item.name);
    let registry = loaded.config.registry();
    registry.entries(kind).any(|(entry, _)| entry == key).then(|| heading(named))
}

fn heading(named: &Named) -> String {
    let section = match named.item.kind {
        Kind::Tool => "registry",
        Kind::ResourceTemplate => "resources",
        Kind::Prompt => "prompts",
    };
    format!("[{section}.\"{}/{}\"]", named.upstream, named.item.name)
}
