//! What the check of words finds in contracts, and who takes responsibility for it.

use std::collections::BTreeSet;

use aldgate_authority::Kind as Kinds;
use aldgate_contract::poison::{self, Checker, Neighbour};
use aldgate_contract::{Kind, Lock};
use serde_json::{Value, json};

use super::fault::ReviewFault;
use super::item::{Named, quoted};
use crate::config::Loaded;
use crate::fault::counted;
use crate::out;

/// The tools of all upstreams by the names that models see.
pub(super) struct Neighbours(Vec<(String, String)>);

impl Neighbours {
    /// Those that are pinned, and those that are served now, as pairs of an upstream and a tool.
    pub(super) fn of(loaded: &Loaded, served: &[(&str, &str)]) -> Self {
        let registry = loaded.config.registry();
        let mut all = BTreeSet::new();
        for (upstream, section) in &loaded.config.upstreams {
            // A lock that cannot be read is an error where it is needed.
            let pinned = loaded.lock_text(upstream, section).and_then(|text| Lock::parse(&text).ok());
            let pinned = pinned.iter().flat_map(|lock| lock.tools.keys()).map(String::as_str);
            let served = served.iter().filter(|(of, _)| of == upstream).map(|(_, tool)| *tool);
            for name in pinned.chain(served) {
                let entry = registry.entry(Kinds::Tool, upstream, name);
                let renamed = entry.and_then(|entry| entry.expose_as.clone());
                let visible = renamed.unwrap_or_else(|| format!("{}{name}", section.prefix));
                all.insert((upstream.clone(), visible));
            }
        }
        Self(all.into_iter().collect())
    }

    fn borrowed(&self) -> Vec<Neighbour<'_>> {
        self.0.iter().map(|(upstream, tool)| Neighbour { upstream, tool }).collect()
    }
}

/// What was found in one contract.
pub(super) struct Found {
    /// Which contract.
    pub(super) named: Named,
    findings: Vec<poison::Finding>,
    acknowledged: BTreeSet<String>,
}

/// Checks contracts of one upstream; those in which nothing is found are left out.
pub(super) fn check<'a>(
    upstream: &str,
    contracts: impl IntoIterator<Item = (Kind, &'a str, &'a str)>,
    neighbours: &Neighbours,
) -> Vec<Found> {
    let checker = Checker::new(upstream, &neighbours.borrowed());
    let mut all = Vec::new();
    for (kind, name, definition) in contracts {
        let findings = checker.check(kind, definition);
        if !findings.is_empty() {
            let item = aldgate_contract::Item { kind, name: name.to_owned() };
            let named = Named { upstream: upstream.to_owned(), item };
            all.push(Found { named, findings, acknowledged: BTreeSet::new() });
        }
    }
    all
}

impl Found {
    /// Takes note of checks that are acknowledged.
    pub(super) fn acknowledge<'a>(&mut self, checks: impl IntoIterator<Item = &'a str>) {
        self.acknowledged.extend(checks.into_iter().map(str::to_owned));
    }

    /// The checks that found something and are acknowledged.
    pub(super) fn acknowledged(&self) -> Vec<String> {
        self.checks()
            .into_iter()
            .filter(|check| self.acknowledged.contains(*check))
            .map(str::to_owned)
            .collect()
    }

    /// A line for each finding.
    pub(super) fn lines(&self) -> Vec<String> {
        let line = |finding: &poison::Finding| {
            let open = !self.acknowledged.contains(finding.check);
            let how = if open { "suspect" } else { "acknowledged" };
            format!(
                "{how:<12} {}: {}: {}",
                out::plain(&finding.path),
                finding.check,
                out::plain(&finding.what)
            )
        };
        self.findings.iter().map(line).collect()
    }

    /// The same as JSON.
    pub(super) fn described(&self) -> Value {
        let told = |finding: &poison::Finding| {
            json!({
                "check": finding.check, "path": finding.path, "what": finding.what,
                "acknowledged": self.acknowledged.contains(finding.check),
            })
        };
        self.findings.iter().map(told).collect()
    }

    /// The checks that found something.
    fn checks(&self) -> BTreeSet<&'static str> {
        self.findings.iter().map(|finding| finding.check).collect()
    }

    fn open(&self) -> BTreeSet<&'static str> {
        self.checks().into_iter().filter(|check| !self.acknowledged.contains(*check)).collect()
    }
}

/// Refuses where something is not acknowledged; `command` is the one that would acknowledge it, to which each contract
/// and check is added as `option` writes it.
pub(super) fn refuse_open(
    found: &[&Found],
    command: &str,
    option: impl Fn(&Named, &str) -> String,
) -> Result<(), ReviewFault> {
    let open: Vec<&Found> = found.iter().copied().filter(|found| !found.open().is_empty()).collect();
    if open.is_empty() {
        return Ok(());
    }
    let mut command = command.to_owned();
    for found in &open {
        for check in found.open() {
            command.push_str(&format!(" --acknowledge {}", quoted(&option(&found.named, check))));
        }
    }
    // In a report it would be broken into lines, and could not be copied.
    note!("to take responsibility: {}", out::plain(&command));
    let count = open.iter().flat_map(|found| &found.findings).count();
    let names: Vec<_> = open.iter().map(|found| format!("`{}`", found.named)).collect();
    let what = format!("the words of {} have {}, which", names.join(", "), counted(count, "finding"));
    Err(ReviewFault::Suspect { what: out::plain(&what) })
}

/// Says which checks are acknowledged and found nothing.
pub(super) fn note_unused(acknowledged: &[String], found: &[&Found]) {
    for said in acknowledged {
        let check = said.rsplit_once('=').map_or(said.as_str(), |(_, check)| check);
        if !found.iter().any(|found| found.checks().contains(check)) {
            note!("nothing was found by `{}`; there is nothing to acknowledge", out::plain(check));
        }
    }
}

/// Every contract of a lock, for [`check`].
pub(super) fn all(lock: &Lock) -> impl Iterator<Item = (Kind, &str, &str)> {
    Kind::ALL.into_iter().flat_map(|kind| {
        lock.pins(kind).iter().map(move |(name, pin)| (kind, name.as_str(), pin.definition.get()))
    })
}
