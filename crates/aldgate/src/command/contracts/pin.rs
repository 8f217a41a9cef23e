//! `aldgate contracts pin`

mod drift;

use std::path::PathBuf;
use std::process::ExitCode;

use aldgate_contract::{Item, Kind, Lock, Pin};
use aldgate_gateway::pin_live;
use aldgate_gateway::settings::Settings;
use serde_json::{Value, json};

use super::compare::{Compared, State};
use super::fault::ContractsFault;
use super::item::{Named, member, quoted, shown_item};
use super::locks::{self, chosen};
use super::signed;
use super::suspect::{self, Found, Neighbours};
use crate::cli::PinArguments;
use crate::coded::WithCode as _;
use crate::command::host_configuration;
use crate::config::Loaded;
use crate::fault::counted;
use crate::out;

/// A lock that is about to be written.
struct Pinned {
    path: PathBuf,
    before: Option<Lock>,
    lock: Lock,
    left_out: Vec<String>,
    found: Vec<Found>,
}

pub(super) async fn run(arguments: &PinArguments) -> miette::Result<ExitCode> {
    let loaded = host_configuration(&arguments.file)?;
    let mut all = Vec::new();
    for (settings, path) in chosen(&loaded, arguments.upstream.as_deref())? {
        let _alone = locks::alone(&path)?;
        let before = match locks::read(&path) {
            Ok(before) => before,
            Err(_) if arguments.force => {
                note!("`{}` cannot be read; it is written anew, without its history", path.display());
                None
            }
            Err(fault) => return Err(fault),
        };
        let pinned = pin_live(&settings, &Settings::default(), before.as_ref()).await;
        let (lock, left_out) = pinned.map_err(|fault| ContractsFault::of(&settings.name, fault)).coded()?;
        for what in &left_out {
            note!("left out of `{}`: {}", settings.name, out::plain(what));
        }
        all.push(Pinned { path, before, lock, left_out, found: Vec::new() });
    }
    let refused = drift::refuse(&all, arguments).and_then(|()| review(&loaded, &mut all, arguments));
    if let Err(fault) = refused {
        if arguments.json {
            out::json(
                &all.iter().map(|pinned| pinned.described(&pinned.items(), false)).collect::<Vec<_>>(),
            )?;
        }
        return Err(fault);
    }
    let mut anew = false;
    let mut told = Vec::new();
    for pinned in &all {
        locks::write(&pinned.path, &pinned.lock)?;
        let items = pinned.items();
        anew |= pinned.is_new(&items);
        if !arguments.json {
            pinned.show(&items)?;
        }
        told.push(pinned.described(&items, true));
    }
    if all.iter().any(Pinned::is_unsigned) {
        signed::note_unsigned(&loaded, arguments.upstream.as_deref().unwrap_or_default())?;
    }
    if arguments.json {
        out::json(&told)?;
    } else if anew {
        out::line("a gateway that runs uses this after `aldgate reload`")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Checks the words of all that is about to be pinned. Nothing is written where one finding is not acknowledged.
fn review(loaded: &Loaded, all: &mut [Pinned], arguments: &PinArguments) -> miette::Result<()> {
    let served: Vec<(&str, &str)> = all.iter().flat_map(|pinned| pinned.tools()).collect();
    let neighbours = Neighbours::of(loaded, &served);
    for pinned in all.iter_mut() {
        let upstream = pinned.lock.upstream.name.clone();
        let mut found = suspect::check(&upstream, suspect::all(&pinned.lock), &neighbours);
        for one in &mut found {
            let Item { kind, name } = &one.named.item;
            let before = pinned.lock.pins(*kind).get(name).map(|pin| pin.acknowledged.clone());
            one.acknowledge(before.unwrap_or_default().iter().map(String::as_str));
            let named = one.named.to_string();
            one.acknowledge(arguments.acknowledge.iter().filter_map(|said| match said.rsplit_once('=') {
                Some((item, check)) => (item == named).then_some(check),
                None => Some(said.as_str()),
            }));
            pinned.lock.acknowledge(&one.named.item, &one.acknowledged());
        }
        pinned.found = found;
    }
    if !arguments.json {
        for one in all.iter().flat_map(|pinned| &pinned.found) {
            out::line(format!("{}:", out::plain(&one.named.to_string())))?;
            one.lines().iter().try_for_each(|line| out::line(format!("  {line}")))?;
        }
    }
    let found: Vec<&Found> = all.iter().flat_map(|pinned| &pinned.found).collect();
    suspect::note_unused(&arguments.acknowledge, &found);
    let mut command = "aldgate contracts pin".to_owned();
    command.extend(arguments.upstream.as_deref().map(|only| format!(" {only}")));
    command.push_str(if arguments.all { " --all" } else { "" });
    command.push_str(if arguments.force { " --force" } else { "" });
    command.extend(arguments.acknowledge.iter().map(|said| format!(" --acknowledge {}", quoted(said))));
    let option = |named: &Named, check: &str| format!("{named}={check}");
    Ok(suspect::refuse_open(&found, &command, option)?)
}

impl Pinned {
    /// What became of each contract.
    fn items(&self) -> Vec<Compared> {
        let mut items = Vec::new();
        for kind in Kind::ALL {
            let now = self.lock.pins(kind);
            let gone = self.before.iter().flat_map(|before| before.pins(kind));
            let gone = gone.filter(|(name, _)| !now.contains_key(*name)).map(|(name, _)| name);
            let mut names: Vec<&String> = now.keys().chain(gone).collect();
            names.sort();
            let definition = |pin: Option<&Pin>| pin.map(|pin| pin.definition.get().to_owned());
            for name in names {
                let before = definition(self.before.as_ref().and_then(|before| before.pins(kind).get(name)));
                let after = definition(now.get(name));
                let item = Item { kind, name: name.clone() };
                items.push(Compared::of(item, before.as_deref(), after.as_deref(), &[]));
            }
        }
        items
    }

    fn is_unsigned(&self) -> bool {
        let mut pins = Kind::ALL.into_iter().flat_map(|kind| self.lock.pins(kind).values());
        pins.any(|pin| pin.signature.is_none())
    }

    /// The upstream and each of its tools.
    fn tools(&self) -> impl Iterator<Item = (&str, &str)> {
        self.lock.tools.keys().map(|name| (self.lock.upstream.name.as_str(), name.as_str()))
    }

    fn is_new(&self, items: &[Compared]) -> bool {
        let moved = self.before.as_ref().is_none_or(|before| before.upstream != self.lock.upstream);
        moved || items.iter().any(|one| !matches!(one.state, State::Same))
    }

    fn versions(&self, item: &Item) -> (Option<&Pin>, Option<&Pin>) {
        let before = self.before.as_ref().and_then(|before| before.pins(item.kind).get(&item.name));
        (before, self.lock.pins(item.kind).get(&item.name))
    }

    fn line(&self, one: &Compared) -> String {
        let (before, now) = self.versions(&one.item);
        let version = now.map(|pin| pin.version).unwrap_or_default();
        let how = match (&one.state, before) {
            (State::Same, _) => format!("unchanged, version {version}"),
            (State::Gone, _) => "removed: the upstream does not list it any more".to_owned(),
            (State::OtherBytes, Some(before)) => {
                format!("changed: only in its bytes; version {} -> {version}", before.version)
            }
            (_, Some(before)) => format!("changed: {}; version {} -> {version}", one.word(), before.version),
            (_, None) => format!("new, version {version}"),
        };
        format!("  {}: {}", shown_item(&one.item), out::plain(&how))
    }

    fn show(&self, items: &[Compared]) -> miette::Result<()> {
        let lock = &self.lock;
        let pinned: Vec<_> =
            [(Kind::Tool, "tool"), (Kind::ResourceTemplate, "resource template"), (Kind::Prompt, "prompt")]
                .into_iter()
                .filter(|(kind, _)| *kind == Kind::Tool || !lock.pins(*kind).is_empty())
                .map(|(kind, word)| counted(lock.pins(kind).len(), word))
                .collect();
        let name = &lock.upstream.name;
        out::line(format!("{name}: {} pinned in `{}`", pinned.join(", "), self.path.display()))?;
        if let Some(before) = &self.before {
            let (old, new) = (&before.upstream, &lock.upstream);
            if old.endpoint != new.endpoint {
                let (old, new) = (out::plain(&old.endpoint), out::plain(&new.endpoint));
                out::line(format!("  the upstream was at {old}, is at {new}"))?;
            }
            if old.server != new.server {
                let called = |server: &Option<String>| out::plain(server.as_deref().unwrap_or("nothing"));
                let (old, new) = (called(&old.server), called(&new.server));
                out::line(format!("  the server called itself `{old}`, calls itself `{new}`"))?;
            }
        }
        for one in items {
            out::line(self.line(one))?;
            one.details().iter().try_for_each(|line| out::line(format!("      {line}")))?;
        }
        Ok(())
    }

    fn described(&self, items: &[Compared], written: bool) -> Value {
        let of = |kind: Kind| -> Vec<Value> {
            items.iter().filter(|one| one.item.kind == kind).map(|one| self.described_item(one)).collect()
        };
        json!({
            "upstream": self.lock.upstream.name,
            "lock": self.path.display().to_string(),
            "written": written,
            "tools": of(Kind::Tool),
            "resource_templates": of(Kind::ResourceTemplate),
            "prompts": of(Kind::Prompt),
            "left_out": self.left_out,
        })
    }

    fn described_item(&self, one: &Compared) -> Value {
        let (before, now) = self.versions(&one.item);
        let state = match &one.state {
            State::Same => "unchanged",
            State::New => "new",
            State::Gone => "removed",
            State::Changed(_) | State::OtherBytes | State::Unreadable(_) => "changed",
        };
        let mut told = json!({member(one.item.kind): one.item.name, "state": state});
        let mut put = |key: &str, value: Value| {
            if let Value::Object(members) = &mut told {
                members.insert(key.to_owned(), value);
            }
        };
        if let Some(pin) = now {
            put("version", pin.version.into());
            put("digest", pin.digest.to_string().into());
        }
        if let Some(pin) = before.filter(|_| state != "unchanged") {
            put("previous", json!({"version": pin.version, "digest": pin.digest.to_string()}));
        }
        if state == "changed" {
            put("compared", one.described());
        }
        if let Some(found) = self.found.iter().find(|found| found.named.item == one.item) {
            put("findings", found.described());
        }
        told
    }
}
