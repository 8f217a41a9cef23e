//! Two sides, compared: files, servers, or a lock and what its upstream serves.

use std::collections::{BTreeMap, BTreeSet};

use aldgate_contract::diff::Severity;
use aldgate_contract::{Item, Kind};
use serde_json::{Value, json};

use super::compare::{Compared, State, gravest};
use super::fault::ReviewFault;
use super::item::Named;
use super::renamed::{self, Renamed};
use super::side::Side;
use crate::out;

/// Two sides, compared.
pub(super) struct Comparison {
    before: String,
    after: String,
    /// The upstream that is compared with its lock, where it is one.
    upstream: Option<String>,
    /// What the server called itself and calls itself, where that differs.
    stranger: Option<(String, String)>,
    /// Every item of either side.
    pub(super) items: Vec<Compared>,
    unreadable: Vec<String>,
    renames: Vec<Renamed>,
}

/// Compares two sides; `upstream` is the one whose lock and whose live contracts they are, where they are that.
pub(super) fn compare(
    before: &Side,
    after: &Side,
    upstream: Option<&str>,
) -> Result<Comparison, ReviewFault> {
    let kinds: Vec<Kind> = Kind::ALL
        .into_iter()
        .filter(|kind| before.contracts.contains_key(kind) && after.contracts.contains_key(kind))
        .collect();
    if kinds.is_empty() {
        let what = format!("`{}` and `{}` have no kind of contract in common", before.label, after.label);
        let help =
            Some("compare tools with tools, prompts with prompts, templates with templates".to_owned());
        return Err(ReviewFault::Compare { what, help });
    }
    // Nobody accepts what is in a file.
    let hints = upstream.is_some();
    let compared = |item: Item, before: Option<&String>, after: Option<&String>| {
        let one = Compared::of(item, before.map(String::as_str), after.map(String::as_str), &[]);
        if hints { one } else { one.without_hints() }
    };
    let mut items = Vec::new();
    let mut renames = Vec::new();
    for kind in kinds {
        let (Some(old), Some(new)) = (before.contracts.get(&kind), after.contracts.get(&kind)) else {
            continue;
        };
        if before.is_single && after.is_single {
            // One definition and another are what is compared, whatever they are called.
            for ((_, old), (name, new)) in old.iter().zip(new) {
                items.push(compared(kind.item(name), Some(old), Some(new)));
            }
            continue;
        }
        let mut names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        if before.is_single {
            names.retain(|name| old.contains_key(*name));
        }
        if after.is_single {
            names.retain(|name| new.contains_key(*name));
        }
        let first = items.len();
        items.extend(names.into_iter().map(|name| compared(kind.item(name), old.get(name), new.get(name))));
        if kind == Kind::Tool {
            let found = items.get(first..).unwrap_or_default();
            renames = renamed::candidates(
                &standing(found, old, |state| matches!(state, State::Gone)),
                &standing(found, new, |state| matches!(state, State::New)),
                hints,
            );
        }
    }
    let stranger = match (&before.server, &after.server) {
        (Some(before), Some(after)) if before != after => Some((before.clone(), after.clone())),
        _ => None,
    };
    Ok(Comparison {
        before: before.label.clone(),
        after: after.label.clone(),
        upstream: upstream.map(str::to_owned),
        stranger,
        items,
        unreadable: [before.unreadable.as_slice(), after.unreadable.as_slice()].concat(),
        renames,
    })
}

/// The names and definitions of those items that stand so.
fn standing<'a>(
    items: &'a [Compared],
    definitions: &'a BTreeMap<String, String>,
    so: fn(&State) -> bool,
) -> Vec<(&'a str, &'a str)> {
    let names = items.iter().filter(|one| so(&one.state)).map(|one| one.item.name.as_str());
    names.filter_map(|name| Some((name, definitions.get(name)?.as_str()))).collect()
}

impl Comparison {
    /// The gravest change. What cannot be read cannot be shown to be compatible.
    pub(super) fn severity(&self) -> Option<Severity> {
        let unknown = self.stranger.is_some() || !self.unreadable.is_empty();
        gravest(&self.items).max(unknown.then_some(Severity::Breaking))
    }

    /// Leaves out all but one item and what it was likely renamed from or to; whether there is such an item.
    pub(super) fn keep(&mut self, item: &Item) -> bool {
        self.renames.retain(|rename| rename.is_about(item));
        let likely = renamed::likely(&self.renames, item);
        self.items.retain(|one| one.item == *item || likely.is_some_and(|rename| rename.is_about(&one.item)));
        self.items.iter().any(|one| one.item == *item)
    }

    /// Prints it, with the commands that accept it.
    pub(super) fn show(&self) -> miette::Result<()> {
        let how = self.severity().map_or("the same", Severity::word);
        out::line(format!("{} -> {}: {how}", self.before, self.after))?;
        if let Some((before, after)) = &self.stranger {
            let (before, after) = (out::plain(before), out::plain(after));
            out::line(format!("  the server called itself `{before}`, calls itself `{after}`"))?;
        }
        for one in self.items.iter().filter(|one| one.severity().is_some()) {
            // The ends of a likely rename are one change.
            if matches!(one.state, State::New | State::Gone)
                && renamed::likely(&self.renames, &one.item).is_some()
            {
                continue;
            }
            one.lines().iter().try_for_each(|line| out::line(format!("  {line}")))?;
            if let Some(command) = self.command(one) {
                out::line(format!("    to accept: `{}`", out::plain(&command)))?;
            }
        }
        for what in &self.unreadable {
            out::line(format!("  cannot be read: {}", out::plain(what)))?;
        }
        self.renames.iter().try_for_each(|rename| self.show_rename(rename))
    }

    fn show_rename(&self, rename: &Renamed) -> miette::Result<()> {
        let Some(compared) = &rename.compared else {
            return out::line(format!("  tool {}", rename.line(self.upstream.is_some())));
        };
        out::line(format!("  tool {}: {}", rename.line(false), compared.word()))?;
        compared.details().iter().try_for_each(|line| out::line(format!("    {line}")))?;
        match &self.upstream {
            Some(upstream) => out::line(format!("    to accept: `{}`", rename.command(upstream))),
            None => Ok(()),
        }
    }

    /// The command that accepts exactly what was compared.
    fn command(&self, one: &Compared) -> Option<String> {
        let named = Named { upstream: self.upstream.clone()?, item: one.item.clone() };
        let command = format!("aldgate contracts accept {}", named.quoted());
        match one.state {
            State::Gone => Some(command),
            _ => Some(format!("{command} --digest {}", one.telling?)),
        }
    }

    /// The same as JSON.
    pub(super) fn described(&self) -> Value {
        json!({
            "before": self.before, "after": self.after, "upstream": self.upstream, "severity": self.severity(),
            "server": self.stranger.as_ref().map(|(before, after)| json!({"before": before, "after": after})),
            "items": self.items.iter().map(Compared::described).collect::<Vec<_>>(),
            "unreadable": self.unreadable,
            "renames": self.renames.iter().map(Renamed::described).collect::<Vec<_>>(),
        })
    }
}
