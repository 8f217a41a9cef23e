//! How one contract is named on the command line.

#[cfg(test)]
mod tests;

use aldgate_contract::{Item, Kind};
use aldgate_gateway::concern;
pub(super) use aldgate_gateway::quoted;

use crate::fault::CommandFault;
use crate::out;

/// One contract of one upstream.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Named {
    /// The host's name of the upstream.
    pub(super) upstream: String,
    /// Which of its contracts.
    pub(super) item: Item,
}

impl Named {
    /// Reads `UPSTREAM/TOOL`, `prompt:UPSTREAM/NAME` or `resource:UPSTREAM/TEMPLATE`, as the evidence writes them too.
    pub(super) fn parse(text: &str) -> Result<Self, CommandFault> {
        let (kind, rest) = match text.split_once(':') {
            Some(("prompt", rest)) => (Kind::Prompt, rest),
            Some(("resource", rest)) => (Kind::ResourceTemplate, rest),
            _ => (Kind::Tool, text),
        };
        match rest.split_once('/') {
            Some((upstream, name)) if !upstream.is_empty() && !name.is_empty() => {
                Ok(Self { upstream: upstream.to_owned(), item: Item { kind, name: name.to_owned() } })
            }
            _ => Err(CommandFault::usage(format!(
                "`{}` names no contract; expected `UPSTREAM/TOOL`, `prompt:UPSTREAM/NAME` or \
                 `resource:UPSTREAM/TEMPLATE`",
                out::plain(text)
            ))),
        }
    }

    /// The same as a word of a command that can be copied into a shell.
    pub(super) fn quoted(&self) -> String {
        quoted(&self.to_string())
    }
}

impl std::fmt::Display for Named {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        concern(&self.upstream, &self.item).fmt(f)
    }
}

/// A contract as it is named in lists: of tools there are the most.
pub(super) fn shown_item(item: &Item) -> String {
    let name = out::plain(&item.name);
    if item.kind == Kind::Tool { name } else { format!("{} `{name}`", item.kind) }
}

/// The member under which JSON names a contract.
pub(super) fn member(kind: Kind) -> &'static str {
    match kind {
        Kind::Tool => "tool",
        Kind::ResourceTemplate => "resource_template",
        Kind::Prompt => "prompt",
    }
}
