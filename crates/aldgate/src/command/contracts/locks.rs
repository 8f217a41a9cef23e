//! The locks of a configuration: which are meant, reading and writing them.

use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use aldgate_contract::{Lock, UpstreamIdentity};
use aldgate_gateway::settings::{Settings, UpstreamSettings};
use aldgate_gateway::{LiveContracts, fetch_live};

use super::fault::ContractsFault;
use crate::coded::WithCode as _;
use crate::config::{Credentials, Kind, Loaded, UpstreamSection, upstream_settings};
use crate::fault::{CommandFault, quoted};

/// The upstreams that are meant, each with the path of its lock.
pub(super) fn sections<'a>(
    loaded: &'a Loaded,
    only: Option<&str>,
) -> miette::Result<Vec<(&'a str, &'a UpstreamSection, PathBuf)>> {
    let folder = loaded.folder.as_deref().unwrap_or(Path::new(""));
    if loaded.config.upstreams.is_empty() {
        return Err(CommandFault::Configuration {
            what: "the configuration has no upstreams".to_owned(),
            help: "add an `[upstreams.NAME]` table with `kind`, `url` and `lock`",
        }
        .into());
    }
    let meant = loaded.config.upstreams.iter().filter(|(name, _)| only.is_none_or(|only| only == *name));
    let found: Vec<_> =
        meant.map(|(name, section)| (name.as_str(), section, folder.join(&section.lock))).collect();
    if found.is_empty() {
        let known = quoted(loaded.config.upstreams.keys().map(String::as_str));
        let name = crate::out::plain(only.unwrap_or("NAME"));
        return Err(CommandFault::Unknown { kind: "upstream", name, known, help: None }.into());
    }
    Ok(found)
}

/// The same with what it takes to ask them.
pub(super) fn chosen(
    loaded: &Loaded,
    only: Option<&str>,
) -> miette::Result<Vec<(UpstreamSettings, PathBuf)>> {
    let mut found = Vec::new();
    let credentials = Credentials::of_the_host()?;
    for (name, section, path) in sections(loaded, only)? {
        if section.kind == Kind::Inproc {
            let help = "serve it with `aldgate serve field-service` and pin it over HTTP";
            let what =
                format!("upstream `{name}` runs inside the gateway's process and cannot be asked from here");
            return Err(CommandFault::Configuration { what, help }.into());
        }
        let mut settings = upstream_settings(name, section, None)?;
        settings.credential = credentials.own(name, section)?;
        found.push((settings, path));
    }
    Ok(found)
}

/// What makes the server that answers now another one than the one that was reviewed; `None` where it is the same.
pub(super) fn stranger(pinned: &UpstreamIdentity, now: &UpstreamIdentity) -> Option<String> {
    let what = if pinned.endpoint != now.endpoint {
        format!("the lock is of the server at `{}`, the upstream is at `{}`", pinned.endpoint, now.endpoint)
    } else if pinned.server.is_some() && pinned.server != now.server {
        let found = now.server.as_deref().unwrap_or("nothing");
        format!(
            "the lock is of a server that calls itself `{}`, this one calls itself `{found}`",
            pinned.server.as_deref().unwrap_or_default()
        )
    } else {
        return None;
    };
    Some(crate::out::plain(&what))
}

/// What an upstream serves now.
pub(super) async fn live(settings: &UpstreamSettings) -> miette::Result<LiveContracts> {
    let fetched = fetch_live(settings, &Settings::default()).await;
    fetched.map_err(|fault| ContractsFault::of(&settings.name, fault)).coded()
}

/// A lock, where there is one.
pub(super) fn read(path: &Path) -> miette::Result<Option<Lock>> {
    match std::fs::read_to_string(path) {
        Ok(text) => parse(path, &text).map(Some),
        Err(missing) if missing.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(other) => Err(CommandFault::file(path, "read")(other).into()),
    }
}

/// A lock that must be there.
pub(super) fn required(path: &Path) -> miette::Result<Lock> {
    Ok(read(path)?.ok_or_else(|| CommandFault::NoLock { path: path.to_owned() })?)
}

/// The lock of one upstream of a configuration, which may be the built-in one.
pub(super) fn pinned(loaded: &Loaded, upstream: &str) -> miette::Result<Lock> {
    let known = sections(loaded, Some(upstream))?;
    let Some((name, section, path)) = known.first() else {
        return Err(CommandFault::NoLock { path: PathBuf::new() }.into());
    };
    match (&loaded.folder, loaded.lock_text(name, section)) {
        (None, Some(text)) => parse(path, &text),
        _ => required(path),
    }
}

fn parse(path: &Path, text: &str) -> miette::Result<Lock> {
    Lock::parse(text)
        .map_err(|source| ContractsFault::Lock { path: path.to_owned(), source: Box::new(source) })
        .coded_with(
            "restore the file from version control, or write it anew with `aldgate contracts pin --force`, \
             which forgets its history, and review it",
        )
}

/// Keeps other commands from changing the locks of a folder, until it is dropped: of two that read, change and write one
/// at the same time, one would lose its change.
pub(super) fn alone(path: &Path) -> miette::Result<File> {
    let folder = folder(path);
    let fault = CommandFault::file(folder, "kept from being changed by another command");
    let held = std::fs::create_dir_all(folder).and_then(|()| File::open(folder));
    Ok(held.and_then(|held| held.lock().map(|()| held)).map_err(fault)?)
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Writes beside the file and renames, so that a lock is never half written, and nothing that lies there is followed.
/// What would not be read again is not written.
pub(super) fn write(path: &Path, lock: &Lock) -> miette::Result<()> {
    let text = lock.to_pretty_json();
    Lock::parse(&text)
        .map_err(|source| ContractsFault::Unwritable { path: path.to_owned(), source: Box::new(source) })
        .coded_with("its history has grown too large: move the file away, pin anew with `aldgate contracts pin`, and review it")?;
    Ok(whole(path, &text).map_err(CommandFault::file(path, "written"))?)
}

fn whole(path: &Path, text: &str) -> std::io::Result<()> {
    let folder = folder(path);
    let public = std::fs::Permissions::from_mode(0o644);
    let mut beside = tempfile::Builder::new().permissions(public).tempfile_in(folder)?;
    beside.write_all(text.as_bytes())?;
    beside.as_file().sync_all()?;
    beside.persist(path)?;
    Ok(())
}
