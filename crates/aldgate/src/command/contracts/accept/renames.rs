//! What was renamed, as a person or a signed manifest says.

use std::path::PathBuf;

use aldgate_contract::rename::Confirmed;
use aldgate_contract::signature::SignatureFault;
use aldgate_contract::{Digest, Kind, fingerprint};

use super::super::compare::Compared;
use super::super::fault::ReviewFault;
use super::super::signed::Reviewers;
use super::Review;
use crate::coded::{Code, WithCode as _};
use crate::fault::{CommandFault, quoted};
use crate::out;

/// A manifest whose signature does not count.
#[derive(Debug, thiserror::Error)]
#[error("the manifest `{path}` does not count", path = .path.display())]
pub(crate) struct ManifestFault {
    path: PathBuf,
    #[source]
    source: SignatureFault,
}

impl Code for ManifestFault {
    fn code_of(&self) -> &str {
        "AG-CLI-MANIFEST"
    }
}

/// What was renamed.
#[derive(Default)]
pub(super) struct Renames {
    /// The tool whose place the accepted one takes.
    pub(super) tool: Option<String>,
    /// Properties of the arguments.
    pub(super) properties: Vec<Confirmed>,
}

impl Renames {
    /// What the command line and the manifest say, where the definition is accepted.
    pub(super) fn of(review: &Review<'_>, definition: &str) -> miette::Result<Self> {
        let mut found = Self::default();
        for text in &review.arguments.rename {
            let (from, to) =
                text.split_once('=').filter(|(from, to)| !from.is_empty() && !to.is_empty()).ok_or_else(
                    || CommandFault::usage(format!("expected OLD=NEW, found `{}`", out::plain(text))),
                )?;
            let rename = Confirmed { from: from.to_owned(), to: to.to_owned() };
            found.add(review, rename);
        }
        if let Some(path) = &review.arguments.manifest {
            found.add_manifest(review, definition, path)?;
        }
        found.check_one_to_one()?;
        if !found.is_empty() && review.named.item.kind != Kind::Tool {
            return Err(
                rename_fault("only tools and the properties of their arguments are renamed", None).into()
            );
        }
        if let Some(from) = &found.tool {
            check_tool(review, from)?;
        }
        Ok(found)
    }

    /// Refuses renames of properties that did not happen.
    pub(super) fn check(&self, compared: &Compared) -> Result<(), ReviewFault> {
        for said in &self.properties {
            let confirmed = compared
                .renames()
                .iter()
                .any(|rename| rename.identity_confirmed && rename.from == said.from && rename.to == said.to);
            if !confirmed {
                let candidates = compared.renames().iter().filter(|rename| !rename.identity_confirmed);
                let likely: Vec<_> =
                    candidates.map(|rename| format!("`{}={}`", rename.from, rename.to)).collect();
                let what = format!(
                    "`{}={}` is no rename here: the old name must be one of the arguments before and gone, and the new one be new; a name \
                     that stays must be an end of another rename",
                    said.from, said.to
                );
                let help = (!likely.is_empty()).then(|| format!("candidates are {}", likely.join(", ")));
                return Err(rename_fault(&what, help));
            }
        }
        Ok(())
    }

    fn check_one_to_one(&self) -> Result<(), ReviewFault> {
        for (at, one) in self.properties.iter().enumerate() {
            let others = self.properties.iter().skip(at + 1);
            if let Some(other) = others.into_iter().find(|other| other.from == one.from || other.to == one.to)
            {
                let what =
                    format!("`{}={}` and `{}={}` are not one to one", one.from, one.to, other.from, other.to);
                return Err(rename_fault(&what, None));
            }
        }
        Ok(())
    }

    fn is_empty(&self) -> bool {
        self.tool.is_none() && self.properties.is_empty()
    }

    /// A rename to the tool's own name is the tool's, where the lock knows one of the old name.
    fn add(&mut self, review: &Review<'_>, rename: Confirmed) {
        let is_tool = rename.to == review.named.item.name && is_known(review, &rename.from);
        if is_tool {
            self.tool = Some(rename.from);
        } else {
            self.properties.push(rename);
        }
    }

    fn add_manifest(&mut self, review: &Review<'_>, definition: &str, path: &PathBuf) -> miette::Result<()> {
        let text = std::fs::read_to_string(path).map_err(CommandFault::file(path, "read"))?;
        let reviewers = Reviewers::of(review.loaded)?;
        let (manifest, kid) = reviewers
            .keyring()
            .manifest(&text)
            .map_err(|source| ManifestFault { path: path.clone(), source })
            .coded()?;
        let named = &review.named;
        let was = manifest.of_tool().map(|rename| rename.from);
        let after = fingerprint(definition).ok().map(|found| found.jcs);
        let about = |before: Digest| manifest.of(&named.upstream, &named.item.name, before, after?);
        let before = digests_of(review, was.as_deref().unwrap_or(&named.item.name), after);
        let properties = before.into_iter().find_map(about);
        let Some(properties) = properties else {
            let what = format!(
                "the manifest `{}` is about other contracts than the pinned and the served one of `{named}`",
                path.display()
            );
            let (before, after) = manifest.contracts();
            return Err(rename_fault(&what, Some(format!("it is about {before} and {after}"))).into());
        };
        note!("`{}` is signed by the key `{}`", path.display(), out::plain(&kid));
        self.tool = was.or(self.tool.take());
        self.properties.extend_from_slice(properties);
        Ok(())
    }
}

fn rename_fault(what: &str, help: Option<String>) -> ReviewFault {
    ReviewFault::Rename { what: out::plain(what), help: help.map(|help| out::plain(&help)) }
}

/// Whether the lock has, or had, a tool of this name.
fn is_known(review: &Review<'_>, name: &str) -> bool {
    let kind = review.named.item.kind;
    kind == Kind::Tool
        && (review.lock.pins(kind).contains_key(name) || !review.lock.retired(kind, name).is_empty())
}

/// Digests of what the served definition may have come from: the contract that is pinned, or was at last; and the one
/// before it, where the served one is pinned already.
fn digests_of(review: &Review<'_>, name: &str, served: Option<Digest>) -> Vec<Digest> {
    let kind = review.named.item.kind;
    let Some(pin) = review.lock.pins(kind).get(name) else {
        return review.lock.retired(kind, name).last().map(|past| past.digest).into_iter().collect();
    };
    let earlier = pin.history.last().filter(|_| served == Some(pin.digest));
    std::iter::once(pin.digest).chain(earlier.map(|past| past.digest)).collect()
}

/// A tool whose place is taken must have been pinned, and be gone.
fn check_tool(review: &Review<'_>, from: &str) -> Result<(), ReviewFault> {
    let item = &review.named.item;
    let was = review.lock.pins(item.kind).get(&item.name).and_then(|pin| pin.renamed_from.as_deref());
    if was == Some(from) {
        return Ok(());
    }
    if review.live.definition(item.kind, from).is_some() {
        let what = format!("the upstream still serves `{from}`, so `{}` has not taken its place", item.name);
        return Err(rename_fault(&what, None));
    }
    if is_known(review, from) {
        return Ok(());
    }
    let known = quoted(review.lock.pins(item.kind).keys().map(String::as_str));
    Err(rename_fault(&format!("the lock never had a tool `{from}`"), Some(format!("it has {known}"))))
}
