//! `aldgate contracts sign`

use std::path::PathBuf;
use std::process::ExitCode;

use aldgate_contract::signature::{Manifest, ManifestFault, SigningKey};
use aldgate_contract::{Item, Kind, Lock};
use serde_json::json;

use super::item::Named;
use super::signed::Reviewers;
use super::{key, locks};
use crate::cli::SignArguments;
use crate::coded::{Code, WithCode as _};
use crate::command::host_configuration;
use crate::config::Loaded;
use crate::fault::{CommandFault, counted, quoted};
use crate::out;

/// A manifest that cannot be signed.
#[derive(Debug, thiserror::Error)]
#[error("`{path}` is no manifest of renames", path = .path.display())]
pub(crate) struct UnsignableFault {
    path: PathBuf,
    #[source]
    source: ManifestFault,
}

impl Code for UnsignableFault {
    fn code_of(&self) -> &str {
        "AG-CLI-MANIFEST"
    }
}

pub(super) fn run(arguments: &SignArguments) -> miette::Result<ExitCode> {
    let signing = key::read(&arguments.key)?;
    if let Some(path) = &arguments.manifest {
        let text = std::fs::read_to_string(path).map_err(CommandFault::file(path, "read"))?;
        let manifest = Manifest::parse(&text)
            .map_err(|source| UnsignableFault { path: path.clone(), source })
            .coded()?;
        out::line(signing.sign_manifest(&manifest))?;
        return Ok(ExitCode::SUCCESS);
    }
    let loaded = host_configuration(&arguments.file)?;
    let named = arguments.what.as_deref().filter(|what| what.contains('/')).map(Named::parse).transpose()?;
    let only = named.as_ref().map(|named| named.upstream.as_str()).or(arguments.what.as_deref());
    let mut all = Vec::new();
    for (upstream, _, path) in locks::sections(&loaded, only)? {
        let _alone = locks::alone(&path)?;
        let mut lock = locks::required(&path)?;
        let items = items(upstream, &lock, named.as_ref())?;
        let signed = sign(upstream, &mut lock, &items, &signing);
        if signed > 0 {
            locks::write(&path, &lock)?;
        }
        if !arguments.json {
            let kid = signing.public().kid();
            let before = match items.len() - signed {
                0 => String::new(),
                before => format!(", {before} had its signature already"),
            };
            let told = counted(signed, "contract");
            out::line(format!("{upstream}: {told} signed by `{kid}` in `{}`{before}", path.display()))?;
        }
        all.push(json!({
            "upstream": upstream, "lock": path.display().to_string(), "kid": signing.public().kid(),
            "signed": signed, "already": items.len() - signed,
        }));
    }
    note_unknown_key(&loaded, &signing)?;
    if arguments.json {
        out::json(&all)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The contracts of a lock that are meant.
fn items(upstream: &str, lock: &Lock, named: Option<&Named>) -> miette::Result<Vec<Item>> {
    let all = Kind::ALL
        .into_iter()
        .flat_map(|kind| lock.pins(kind).keys().map(move |name| Item { kind, name: name.clone() }));
    let Some(named) = named else { return Ok(all.collect()) };
    let kind = named.item.kind;
    if lock.pins(kind).contains_key(&named.item.name) {
        return Ok(vec![named.item.clone()]);
    }
    let known = quoted(lock.pins(kind).keys().map(String::as_str));
    let what =
        format!("the lock of `{upstream}` has no {}; it has {known}", out::plain(&named.item.to_string()));
    Err(CommandFault::NotPinned { what }.into())
}

/// Signs; how many had not this very signature. The same key and contract always give the same one.
fn sign(upstream: &str, lock: &mut Lock, items: &[Item], signing: &SigningKey) -> usize {
    let mut signed = 0;
    for item in items {
        let Some(pin) = lock.pins(item.kind).get(&item.name) else { continue };
        let signature = signing.sign(&pin.statement(upstream));
        if pin.signature.as_ref() != Some(&signature) {
            signed += usize::from(lock.sign(item, signature));
        }
    }
    signed
}

/// Says why the signatures of the key do not count, where they do not.
fn note_unknown_key(loaded: &Loaded, signing: &SigningKey) -> miette::Result<()> {
    let kid = signing.public().kid();
    let reviewers = Reviewers::of(loaded)?;
    if reviewers.keyring().is_revoked(signing.public()) {
        note!("the key `{kid}` is revoked, so its signatures do not count; sign with another key");
    } else if !reviewers.keyring().kids().any(|known| known == kid) {
        note!(
            "`contracts.keys` has no key `{kid}`, so its signatures do not count; `aldgate contracts key public` prints the \
             line for `aldgate.toml`"
        );
    }
    Ok(())
}
