//! `aldgate contracts show` and `aldgate contracts history`

use std::process::ExitCode;

use aldgate_authority::{Authority, Kind as Kinds};
use aldgate_contract::rename::Confirmed;
use aldgate_contract::{Digest, Item, Kind, Lock, Past, Pin, field_digests};
use serde_json::{Value, json};

use super::compare::{Compared, implied_authority};
use super::item::{Named, member};
use super::locks;
use super::signed::{Reviewers, Signed};
use crate::cli::ItemArguments;
use crate::command::configuration;
use crate::config::Loaded;
use crate::fault::{CommandFault, quoted};
use crate::out;

/// A pinned contract.
struct Found {
    loaded: Loaded,
    named: Named,
    pin: Pin,
    reviewers: Reviewers,
}

fn find(arguments: &ItemArguments) -> miette::Result<Found> {
    let named = Named::parse(&arguments.what)?;
    let loaded = configuration(&arguments.file)?;
    let lock = locks::pinned(&loaded, &named.upstream)?;
    let pins = lock.pins(named.item.kind);
    let Some(pin) = pins.get(&named.item.name).cloned() else {
        let known = quoted(pins.keys().map(String::as_str));
        let what = format!(
            "the lock of `{}` has no {}; {}",
            named.upstream,
            out::plain(&named.item.to_string()),
            whereabouts(&lock, &named).unwrap_or_else(|| format!("it has {known}"))
        );
        return Err(CommandFault::NotPinned { what }.into());
    };
    let reviewers = Reviewers::of(&loaded)?;
    Ok(Found { loaded, named, pin, reviewers })
}

/// Where the contracts of something are that was pinned once.
fn whereabouts(lock: &Lock, named: &Named) -> Option<String> {
    let Item { kind, name } = &named.item;
    if let Some(successor) = lock.successor(*kind, name) {
        let successor = Named { upstream: named.upstream.clone(), item: kind.item(successor) };
        let command = format!("aldgate contracts history {}", successor.quoted());
        return Some(out::plain(&format!("`{successor}` took its place: `{command}` has its contracts")));
    }
    let last = lock.retired(*kind, name).last()?;
    Some(format!(
        "it was taken out because the upstream does not list it any more, after version {} of {}; the lock keeps its \
         contracts among the retired",
        last.version, last.digest
    ))
}

pub(super) fn show(arguments: &ItemArguments) -> miette::Result<ExitCode> {
    let found = find(arguments)?;
    let Found { named, pin, .. } = &found;
    let fields = field_digests(pin.definition.get()).unwrap_or_default();
    let signed = found.reviewers.state(&pin.statement(&named.upstream), pin.signature.as_deref());
    let registry = found.registry();
    let implied = (pin.kind == Kind::Tool).then(|| implied_authority(pin.definition.get()));
    if arguments.json {
        let fields: serde_json::Map<_, _> =
            fields.iter().map(|(name, digest)| (name.clone(), digest.to_string().into())).collect();
        out::json(&json!({
            "upstream": named.upstream, member(pin.kind): pin.name, "version": pin.version,
            "digest": pin.digest.to_string(), "raw_digest": pin.raw_digest.to_string(), "fields": fields,
            "pinned_at": pin.pinned_at, "renamed_from": pin.renamed_from, "renames": pin.renames,
            "acknowledged": pin.acknowledged, "signature": signed.described(),
            "registry_authority": registry.map(|says| says.as_str()),
            "implied_authority": implied.map(|implied| implied.as_str()),
            "definition": pin.definition,
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let field = |name: &str, value: &str| out::line(format!("{name:<14} {}", out::plain(value)));
    out::line(format!("{}, version {}\n", out::plain(&named.to_string()), pin.version))?;
    field("digest", &pin.digest.to_string())?;
    field("raw digest", &pin.raw_digest.to_string())?;
    field("pinned at", &pin.pinned_at)?;
    field("signature", &signed.told())?;
    said(&pin.renamed_from, &pin.renames, &pin.acknowledged)?;
    field("registry says", registry.map_or("nothing: prohibited, and not listed", |says| says.as_str()))?;
    if let Some(implied) = implied {
        field("annotations", &format!("alone would imply {}; nothing is decided by them", implied.as_str()))?;
    }
    out::line("\nfields")?;
    let width = fields.keys().map(|name| out::plain(name).chars().count()).max().unwrap_or_default();
    for (name, digest) in &fields {
        out::line(format!("  {:<width$}  {digest}", out::plain(name)))?;
    }
    out::line("\ndefinition")?;
    out::json(&serde_json::from_str::<Value>(pin.definition.get()).unwrap_or_default())?;
    Ok(ExitCode::SUCCESS)
}

impl Found {
    fn registry(&self) -> Option<Authority> {
        let kind = match self.pin.kind {
            Kind::Tool => Kinds::Tool,
            Kind::ResourceTemplate => Kinds::Resource,
            Kind::Prompt => Kinds::Prompt,
        };
        let registry = self.loaded.config.registry();
        registry.entry(kind, &self.named.upstream, &self.pin.name).map(|entry| entry.authority)
    }
}

/// What a person said when a contract was accepted.
fn said(from: &Option<String>, renames: &[Confirmed], acknowledged: &[String]) -> miette::Result<()> {
    let field = |name: &str, value: String| out::line(format!("{name:<14} {}", out::plain(&value)));
    if let Some(from) = from {
        field("renamed from", from.clone())?;
    }
    if !renames.is_empty() {
        let told: Vec<_> = renames.iter().map(|one| format!("{} -> {}", one.from, one.to)).collect();
        field("renames", told.join(", "))?;
    }
    if !acknowledged.is_empty() {
        field("acknowledged", acknowledged.join(", "))?;
    }
    Ok(())
}

/// One contract of a history.
struct Entry<'a> {
    name: &'a str,
    version: u32,
    digest: Digest,
    pinned_at: &'a str,
    renamed_from: &'a Option<String>,
    renames: &'a [Confirmed],
    acknowledged: &'a [String],
    definition: &'a str,
    signed: Signed,
}

pub(super) fn history(arguments: &ItemArguments) -> miette::Result<ExitCode> {
    let found = find(arguments)?;
    let entries = found.entries();
    let mut told = Vec::new();
    let mut before: Option<&str> = None;
    for entry in &entries {
        let item = Item { kind: found.pin.kind, name: entry.name.to_owned() };
        let compared =
            before.map(|before| Compared::of(item, Some(before), Some(entry.definition), entry.renames));
        before = Some(entry.definition);
        if !arguments.json {
            entry.show(compared.as_ref())?;
        }
        told.push(entry.described(found.pin.kind, compared.as_ref()));
    }
    if arguments.json {
        out::json(&told)?;
    }
    Ok(ExitCode::SUCCESS)
}

impl Found {
    fn entries(&self) -> Vec<Entry<'_>> {
        let upstream = self.named.upstream.as_str();
        let past = |past: &'_ Past| {
            self.reviewers.state(&past.statement(self.pin.kind, upstream), past.signature.as_deref())
        };
        let mut entries: Vec<Entry<'_>> = self
            .pin
            .history
            .iter()
            .map(|one| Entry {
                name: &one.name,
                version: one.version,
                digest: one.digest,
                pinned_at: &one.pinned_at,
                renamed_from: &one.renamed_from,
                renames: &one.renames,
                acknowledged: &one.acknowledged,
                definition: one.definition.get(),
                signed: past(one),
            })
            .collect();
        let pin = &self.pin;
        entries.push(Entry {
            name: &pin.name,
            version: pin.version,
            digest: pin.digest,
            pinned_at: &pin.pinned_at,
            renamed_from: &pin.renamed_from,
            renames: &pin.renames,
            acknowledged: &pin.acknowledged,
            definition: pin.definition.get(),
            signed: self.reviewers.state(&pin.statement(upstream), pin.signature.as_deref()),
        });
        entries
    }
}

impl Entry<'_> {
    fn show(&self, compared: Option<&Compared>) -> miette::Result<()> {
        let how = compared.map_or_else(|| "the first".to_owned(), Compared::word);
        out::line(format!(
            "version {}: {}, pinned at {}: {}",
            self.version,
            out::plain(self.name),
            out::plain(self.pinned_at),
            out::plain(&how)
        ))?;
        out::line(format!("  {:<14} {}", "digest", self.digest))?;
        out::line(format!("  {:<14} {}", "signature", out::plain(&self.signed.told())))?;
        let lines = compared.map(Compared::details).unwrap_or_default();
        lines.iter().try_for_each(|line| out::line(format!("  {line}")))?;
        said(self.renamed_from, &[], self.acknowledged)
    }

    fn described(&self, kind: Kind, compared: Option<&Compared>) -> Value {
        json!({
            member(kind): self.name, "version": self.version, "digest": self.digest.to_string(),
            "pinned_at": self.pinned_at, "renamed_from": self.renamed_from, "renames": self.renames,
            "acknowledged": self.acknowledged, "signature": self.signed.described(),
            "compared": compared.map(Compared::described),
        })
    }
}
