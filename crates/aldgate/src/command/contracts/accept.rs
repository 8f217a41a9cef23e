//! `aldgate contracts accept`

mod entry;
mod renames;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::SystemTime;

use aldgate_contract::{Acceptance, Digest, Item, Kind, Live, Lock, State as Standing, fingerprint};
use aldgate_gateway::LiveContracts;
use serde_json::{Value, json};

use super::compare::Compared;
use super::fault::{ContractsFault, ReviewFault};
use super::item::{Named, member, quoted};
use super::locks::{self, chosen};
use super::renamed::{self, Renamed};
use super::signed;
use super::suspect::{self, Found, Neighbours};
use crate::cli::AcceptArguments;
use crate::coded::WithCode as _;
use crate::command::host_configuration;
use crate::config::Loaded;
use crate::fault::CommandFault;
use crate::out;
use renames::Renames;

pub(super) async fn run(arguments: &AcceptArguments) -> miette::Result<ExitCode> {
    let named = Named::parse(&arguments.what)?;
    let loaded = host_configuration(&arguments.file)?;
    let (settings, path) = one(chosen(&loaded, Some(&named.upstream))?)?;
    let at = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let live = locks::live(&settings).await?;
    let _alone = locks::alone(&path)?;
    let lock = match locks::read(&path)? {
        Some(lock) => lock,
        // The first contract that is accepted begins a lock.
        None => Lock::pin(live.identity(), Live::default(), &at)
            .map_err(|source| accept_fault(&named, source))
            .coded()?,
    };
    same_server(&lock, &live)?;
    let review = Review { arguments, loaded: &loaded, named, lock, live, path };
    match review.served()? {
        Some(definition) => review.accept(&definition, &at),
        None => review.retire(),
    }
}

fn one<T>(found: Vec<T>) -> Result<T, CommandFault> {
    found.into_iter().next().ok_or_else(|| CommandFault::usage("expected one upstream"))
}

fn accept_fault(named: &Named, source: aldgate_contract::PinFault) -> ContractsFault {
    ContractsFault::Accept { what: format!("`{}`", out::plain(&named.to_string())), source: Box::new(source) }
}

/// Another server is another reviewer's work: nothing of it stands under what was reviewed of the first.
fn same_server(lock: &Lock, live: &LiveContracts) -> Result<(), ReviewFault> {
    let stranger = locks::stranger(&lock.upstream, &live.identity());
    stranger.map_or(Ok(()), |what| Err(ReviewFault::Stranger { what }))
}

struct Review<'a> {
    arguments: &'a AcceptArguments,
    loaded: &'a Loaded,
    named: Named,
    lock: Lock,
    live: LiveContracts,
    path: PathBuf,
}

impl Review<'_> {
    /// The definition that is served now; `None` where it is pinned and not served any more.
    fn served(&self) -> Result<Option<String>, ReviewFault> {
        let Item { kind, name } = &self.named.item;
        let what = || format!("`{}`", out::plain(&self.named.to_string()));
        let standing = self.lock.verify(self.live.as_live());
        let standing = standing.into_iter().find(|finding| finding.item == self.named.item);
        if let Some(Standing::Unreadable { why }) = standing.as_ref().map(|finding| &finding.state) {
            return Err(ReviewFault::Unreadable { what: what(), why: out::plain(why) });
        }
        match self.live.definition(*kind, name) {
            Some(definition) => Ok(Some(definition.to_owned())),
            None if standing.is_some() => Ok(None),
            None => Err(ReviewFault::nothing(&self.named, &self.live)),
        }
    }

    fn accept(&self, definition: &str, at: &str) -> miette::Result<ExitCode> {
        let Item { kind, name } = &self.named.item;
        let digest = fingerprint(definition).map(|found| found.telling).ok();
        if let (Some(expected), Some(found)) = (self.arguments.digest, digest)
            && expected != found
        {
            let what = format!("`{}`", out::plain(&self.named.to_string()));
            return Err(ReviewFault::Digest { what, found, expected }.into());
        }
        let renames = Renames::of(self, definition)?;
        let before_name = renames.tool.as_deref().unwrap_or(name);
        let before = self.before(before_name, definition, &renames);
        let compared = Compared::of(self.named.item.clone(), before, Some(definition), &renames.properties);
        renames.check(&compared)?;
        if !self.arguments.json {
            compared.lines().iter().try_for_each(out::line)?;
        }
        let found = self.suspects(definition, renames.tool.is_none())?;
        if let Err(fault) = self.refuse_open(found.as_ref(), digest) {
            if self.arguments.json {
                let pinned = self.lock.pins(*kind).get(name).map(|pin| pin.version);
                out::json(&self.described(false, pinned, Some(&compared), found.as_ref()))?;
            }
            return Err(fault.into());
        }
        let acknowledged = found.as_ref().map(Found::acknowledged).unwrap_or_default();
        let acceptance = Acceptance {
            at,
            version: self.arguments.version,
            renamed_from: renames.tool.as_deref(),
            renames: &renames.properties,
            acknowledged: &acknowledged,
        };
        let lock = self.lock.accept(&self.named.item, definition, &acceptance);
        let lock = lock.map_err(|source| accept_fault(&self.named, source)).coded()?;
        locks::write(&self.path, &lock)?;
        let version = lock.pins(*kind).get(name).map(|pin| pin.version);
        let previous = self.lock.pins(*kind).get(name).map(|pin| pin.version);
        if lock.pins(*kind).get(name).is_some_and(|pin| pin.signature.is_none()) {
            signed::note_unsigned(self.loaded, &self.named.quoted())?;
        }
        let (now, was) = (lock.pins(*kind).get(name), self.lock.pins(*kind).get(name));
        let told = if version != previous {
            "accepted"
        } else if now.map(|pin| &pin.renames) != was.map(|pin| &pin.renames) {
            "was pinned already, and its rename is recorded now"
        } else if now.map(|pin| &pin.acknowledged) != was.map(|pin| &pin.acknowledged) {
            "was pinned already, and what is acknowledged is recorded now"
        } else {
            "is pinned already"
        };
        self.told(told, version, Some(&compared), found.as_ref())?;
        match &renames.tool {
            Some(from) => entry::note_renamed(self.loaded, &self.named, from),
            None => {
                if let Some(rename) = self.likely() {
                    let (from, command) = (out::plain(rename.from()), rename.command(&self.named.upstream));
                    note!("it has likely taken the place of `{from}`, and has not its history: `{command}`");
                }
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    /// The definition that the served one is compared with: the pinned one, or the one before it where nothing but what was
    /// renamed since then is said anew.
    fn before(&self, name: &str, definition: &str, renames: &Renames) -> Option<&str> {
        let kind = self.named.item.kind;
        let Some(pin) = self.lock.pins(kind).get(name) else {
            return self.lock.retired(kind, name).last().map(|past| past.definition.get());
        };
        let said_late = pin.definition.get() == definition && !renames.properties.is_empty();
        let earlier = pin.history.last().filter(|_| said_late);
        Some(earlier.map_or(pin.definition.get(), |past| past.definition.get()))
    }

    fn retire(&self) -> miette::Result<ExitCode> {
        let what = || format!("`{}`", out::plain(&self.named.to_string()));
        let Some(lock) = self.lock.retire(&self.named.item) else {
            return Err(ReviewFault::Nothing { what: what(), served: "none".to_owned() }.into());
        };
        if self.arguments.digest.is_some() || self.arguments.version.is_some() {
            let what = format!("{} is not served any more, so it gets no version", what());
            return Err(CommandFault::usage(what).into());
        }
        locks::write(&self.path, &lock)?;
        self.told("the upstream does not list it any more, removed", None, None, None)?;
        if let Some(rename) = self.likely() {
            let (to, command) = (out::plain(rename.to()), rename.command(&self.named.upstream));
            note!("`{to}` has likely taken its place, and would go on with its history: `{command}`");
        }
        entry::note_gone(self.loaded, &self.named);
        Ok(ExitCode::SUCCESS)
    }

    /// The rename that this is likely one end of.
    fn likely(&self) -> Option<Renamed> {
        let mut all = renamed::since(&self.lock, &self.live, &self.lock.verify(self.live.as_live()));
        all.retain(|rename| rename.compared.is_some() && rename.is_about(&self.named.item));
        (!all.is_empty()).then(|| all.remove(0))
    }

    /// Checks the words. What was acknowledged of the very same definition stays so.
    fn suspects(&self, definition: &str, same_name: bool) -> miette::Result<Option<Found>> {
        let Item { kind, name } = &self.named.item;
        let upstream = self.named.upstream.as_str();
        let served: Vec<_> = self.live.definitions(Kind::Tool).map(|(tool, _)| (upstream, tool)).collect();
        let neighbours = Neighbours::of(self.loaded, &served);
        let contract = [(*kind, name.as_str(), definition)];
        let mut found = suspect::check(upstream, contract, &neighbours).pop();
        if let Some(found) = &mut found {
            let pin =
                self.lock.pins(*kind).get(name).filter(|pin| same_name && pin.definition.get() == definition);
            found.acknowledge(pin.iter().flat_map(|pin| &pin.acknowledged).map(String::as_str));
            found.acknowledge(self.arguments.acknowledge.iter().map(String::as_str));
            if !self.arguments.json {
                found.lines().iter().try_for_each(|line| out::line(format!("  {line}")))?;
            }
        }
        let all: Vec<&Found> = found.iter().collect();
        suspect::note_unused(&self.arguments.acknowledge, &all);
        Ok(found)
    }

    /// Refuses where a finding is not acknowledged, with the command that would accept the same.
    fn refuse_open(&self, found: Option<&Found>, digest: Option<Digest>) -> Result<(), ReviewFault> {
        let mut command = format!("aldgate contracts accept {}", self.named.quoted());
        let mut add = |option: &str, value: &str| {
            command.push_str(&format!(" {option} {}", quoted(value)));
        };
        self.arguments.rename.iter().for_each(|rename| add("--rename", rename));
        self.arguments.manifest.iter().for_each(|path| add("--manifest", &shown(path)));
        self.arguments.version.iter().for_each(|version| add("--version", &version.to_string()));
        digest.iter().for_each(|digest| add("--digest", &digest.to_string()));
        self.arguments.acknowledge.iter().for_each(|check| add("--acknowledge", check));
        suspect::refuse_open(&found.into_iter().collect::<Vec<_>>(), &command, |_, check| check.to_owned())
    }

    fn told(
        &self,
        how: &str,
        version: Option<u32>,
        compared: Option<&Compared>,
        found: Option<&Found>,
    ) -> miette::Result<()> {
        if self.arguments.json {
            out::json(&self.described(true, version, compared, found))?;
        } else {
            let version = version.map(|version| format!(", version {version}")).unwrap_or_default();
            let named = out::plain(&self.named.to_string());
            out::line(format!("{named}: {how}{version} in `{}`", shown(&self.path)))?;
            out::line("a gateway that runs uses this after `aldgate reload`")?;
        }
        Ok(())
    }

    /// As JSON: whether it was written, and the version that is pinned.
    fn described(
        &self,
        written: bool,
        version: Option<u32>,
        compared: Option<&Compared>,
        found: Option<&Found>,
    ) -> Value {
        let item = &self.named.item;
        json!({
            "upstream": self.named.upstream, member(item.kind): item.name, "written": written,
            "version": version, "lock": shown(&self.path), "compared": compared.map(Compared::described),
            "findings": found.map_or_else(|| json!([]), Found::described),
        })
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
