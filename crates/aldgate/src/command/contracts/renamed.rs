//! Tools that are gone, and those that may have taken their place.

use aldgate_contract::rename::{Rename, THRESHOLD, of_tools};
use aldgate_contract::{Finding, Item, Kind, Lock, State};
use aldgate_gateway::LiveContracts;
use serde_json::{Value, json};

use super::compare::{Compared, rename_line};
use super::item::{Named, quoted};
use crate::out;

/// A tool that may have taken another's place.
pub(super) struct Renamed {
    rename: Rename,
    /// Where that is likely: how its definition differs from the other's.
    pub(super) compared: Option<Compared>,
}

/// Candidates among the tools that are gone and those that are new, pairs of a name and a definition; the surest first.
pub(super) fn candidates(gone: &[(&str, &str)], new: &[(&str, &str)], hints: bool) -> Vec<Renamed> {
    let definition = |tools: &[(&str, &str)], name: &str| {
        tools.iter().find(|(known, _)| *known == name).map(|(_, definition)| (*definition).to_owned())
    };
    let (before, after) = (values(gone), values(new));
    let found = of_tools(&named(gone, &before), &named(new, &after), &[]);
    let compared = |rename: &Rename| {
        let (old, new) = (definition(gone, &rename.from)?, definition(new, &rename.to)?);
        let compared = Compared::of(Kind::Tool.item(&rename.to), Some(&old), Some(&new), &[]);
        Some(if hints { compared } else { compared.without_hints() })
    };
    found
        .into_iter()
        .map(|rename| {
            let compared = (rename.confidence >= THRESHOLD).then(|| compared(&rename)).flatten();
            Renamed { rename, compared }
        })
        .collect()
}

fn values(tools: &[(&str, &str)]) -> Vec<Value> {
    tools.iter().map(|(_, definition)| serde_json::from_str(definition).unwrap_or_default()).collect()
}

fn named<'a>(tools: &[(&'a str, &str)], values: &'a [Value]) -> Vec<(&'a str, &'a Value)> {
    tools.iter().map(|(name, _)| *name).zip(values).collect()
}

/// Candidates between a lock and what is served; `findings` are how the two compare.
pub(super) fn since(lock: &Lock, live: &LiveContracts, findings: &[Finding]) -> Vec<Renamed> {
    let names = |state: &State| -> Vec<&str> {
        let tools = findings.iter().filter(|one| one.item.kind == Kind::Tool && one.state == *state);
        tools.map(|one| one.item.name.as_str()).collect()
    };
    let gone = names(&State::Missing);
    let gone = gone.iter().filter_map(|name| Some((*name, lock.tools.get(*name)?.definition.get())));
    let new = names(&State::New);
    let new = new.iter().filter_map(|name| Some((*name, live.definition(Kind::Tool, name)?)));
    candidates(&gone.collect::<Vec<_>>(), &new.collect::<Vec<_>>(), true)
}

/// The likely one of those that `from` or `to` is an end of.
pub(super) fn likely<'a>(all: &'a [Renamed], item: &Item) -> Option<&'a Renamed> {
    all.iter().find(|one| one.compared.is_some() && one.is_about(item))
}

impl Renamed {
    /// Whether the item is one end of it.
    pub(super) fn is_about(&self, item: &Item) -> bool {
        item.kind == Kind::Tool && (item.name == self.rename.from || item.name == self.rename.to)
    }

    /// The name before.
    pub(super) fn from(&self) -> &str {
        &self.rename.from
    }

    /// The name after.
    pub(super) fn to(&self) -> &str {
        &self.rename.to
    }

    /// In one line.
    pub(super) fn line(&self, hints: bool) -> String {
        rename_line(&self.rename, hints)
    }

    /// The command that accepts the one in the place of the other.
    pub(super) fn command(&self, upstream: &str) -> String {
        let named = Named { upstream: upstream.to_owned(), item: Kind::Tool.item(&self.rename.to) };
        let rename = quoted(&format!("{}={}", self.rename.from, self.rename.to));
        let command = format!("aldgate contracts accept {} --rename {rename}", named.quoted());
        let digest = self.compared.as_ref().and_then(|compared| compared.telling);
        let digest = digest.map(|digest| format!(" --digest {digest}")).unwrap_or_default();
        out::plain(&format!("{command}{digest}"))
    }

    /// As JSON.
    pub(super) fn described(&self) -> Value {
        let mut told = json!(self.rename);
        if let (Some(compared), Value::Object(members)) = (&self.compared, &mut told) {
            members.insert("compared".to_owned(), compared.described());
        }
        told
    }
}
