//! `aldgate contracts`.

mod change;
mod pin;
mod verify;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use aldgate_contract::{Lock, LockFault};
use aldgate_gateway::settings::UpstreamSettings;
use aldgate_gateway::{LiveFault, StartFault};

use crate::cli::ContractsCommand;
use crate::coded::{Code as _, WithCode as _};
use crate::config::{Kind, Loaded, upstream_settings};
use crate::fault::{CommandFault, quoted};
use crate::out;

pub(super) async fn run(what: ContractsCommand) -> miette::Result<ExitCode> {
    match what {
        ContractsCommand::Pin(arguments) => pin::run(&arguments).await,
        ContractsCommand::Verify { upstream, file, json } => {
            verify::run(upstream.as_deref(), &file, json).await
        }
    }
}

/// The upstreams that are meant, each with the path of its lock.
fn chosen(loaded: &Loaded, only: Option<&str>) -> miette::Result<Vec<(UpstreamSettings, PathBuf)>> {
    let folder = loaded.folder.as_deref().unwrap_or(Path::new(""));
    if loaded.config.upstreams.is_empty() {
        return Err(CommandFault::Configuration {
            what: "the configuration has no upstreams".to_owned(),
            help: "add an `[upstreams.NAME]` table with `kind`, `url` and `lock`",
        }
        .into());
    }
    let mut found = Vec::new();
    for (name, section) in &loaded.config.upstreams {
        if only.is_some_and(|only| only != name) {
            continue;
        }
        if section.kind == Kind::Inproc {
            let help = "serve it with `aldgate serve field-service` and pin it over HTTP";
            let what =
                format!("upstream `{name}` runs inside the gateway's process and cannot be asked from here");
            return Err(CommandFault::Configuration { what, help }.into());
        }
        found.push((upstream_settings(name, section, None, true)?, folder.join(&section.lock)));
    }
    if found.is_empty() {
        let known = quoted(loaded.config.upstreams.keys().map(String::as_str));
        let name = only.unwrap_or("NAME").to_owned();
        return Err(CommandFault::Unknown { kind: "upstream", name, known, help: None }.into());
    }
    Ok(found)
}

/// What cannot be pinned or compared.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ContractsFault {
    /// A lock that must not be used.
    #[error("the lock `{path}` cannot be used", path = .path.display())]
    Lock {
        path: PathBuf,
        #[source]
        source: Box<LockFault>,
    },
    /// An upstream that gave no list.
    #[error("upstream `{upstream}` could not be asked for its contracts")]
    Live {
        upstream: String,
        #[source]
        source: Box<LiveFault>,
    },
    /// An upstream that cannot be pinned for another reason.
    #[error(transparent)]
    Start(StartFault),
}

impl ContractsFault {
    /// The stable code.
    pub(crate) fn code(&self) -> &str {
        match self {
            Self::Lock { .. } => "AG-CONFIG-LOCK",
            Self::Live { .. } => "AG-CLI-UPSTREAM",
            Self::Start(fault) => fault.code_of(),
        }
    }

    /// A list that was not had: nothing was to be pinned on its first use.
    fn of(upstream: &str, fault: StartFault) -> Self {
        match fault {
            StartFault::FirstUse { source, .. } => {
                Self::Live { upstream: upstream.to_owned(), source: Box::new(source) }
            }
            other => Self::Start(other),
        }
    }
}

fn read_lock(path: &Path) -> miette::Result<Option<Lock>> {
    match std::fs::read_to_string(path) {
        Ok(text) => Lock::parse(&text)
            .map(Some)
            .map_err(|source| ContractsFault::Lock { path: path.to_owned(), source: Box::new(source) })
            .coded_with(
                "restore the file from version control, or write it anew with `aldgate contracts pin --force`, \
                 which forgets its history, and review it",
            ),
        Err(missing) if missing.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(other) => Err(CommandFault::file(path, "read")(other).into()),
    }
}

/// A contract as it is named in lists: of tools there are the most.
fn shown_item(kind: aldgate_contract::Kind, name: &str) -> String {
    let name = out::plain(name);
    if kind == aldgate_contract::Kind::Tool { name } else { format!("{kind} `{name}`") }
}

/// The member under which JSON names a contract.
fn member(kind: aldgate_contract::Kind) -> &'static str {
    match kind {
        aldgate_contract::Kind::Tool => "tool",
        aldgate_contract::Kind::ResourceTemplate => "resource_template",
        aldgate_contract::Kind::Prompt => "prompt",
    }
}
