//! `aldgate contracts pin`

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::ExitCode;

use aldgate_contract::{Kind, Live, Lock, Pin, State};
use aldgate_gateway::pin_live;
use aldgate_gateway::settings::Settings;
use serde_json::{Value, json};

use super::change::{self, changes};
use super::{ContractsFault, chosen, member, read_lock, shown_item};
use crate::cli::PinArguments;
use crate::coded::WithCode as _;
use crate::command::host_configuration;
use crate::fault::{CommandFault, counted};
use crate::out;

pub(super) async fn run(arguments: &PinArguments) -> miette::Result<ExitCode> {
    let loaded = host_configuration(&arguments.file)?;
    let mut told = Vec::new();
    let mut anew = false;
    for (settings, path) in chosen(&loaded, arguments.upstream.as_deref())? {
        let before = match read_lock(&path) {
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
        write_whole(&path, &lock.to_pretty_json()).map_err(CommandFault::file(&path, "written"))?;
        let items = items(before.as_ref(), &lock);
        let moved = before.as_ref().is_some_and(|before| before.upstream != lock.upstream);
        anew |= before.is_none() || moved || items.iter().any(|item| item.word != "unchanged");
        if !arguments.json {
            shown(&settings.name, &path, before.as_ref(), &lock, &items)?;
        }
        told.push(json!({
            "upstream": settings.name,
            "lock": path.display().to_string(),
            "tools": described(&items, Kind::Tool),
            "resource_templates": described(&items, Kind::ResourceTemplate),
            "prompts": described(&items, Kind::Prompt),
            "left_out": left_out,
        }));
    }
    if arguments.json {
        out::json(&told)?;
    } else if anew {
        out::line("a gateway that runs uses this after `aldgate reload`")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What became of one contract.
struct Item<'a> {
    kind: Kind,
    name: String,
    word: &'static str,
    before: Option<&'a Pin>,
    now: Option<&'a Pin>,
    /// The members that differ from the contract before.
    fields: Vec<String>,
}

fn items<'a>(before: Option<&'a Lock>, now: &'a Lock) -> Vec<Item<'a>> {
    let mut items = Vec::new();
    for kind in Kind::ALL {
        let Some(before) = before else {
            items.extend(now.pins(kind).iter().map(|(name, pin)| Item {
                kind,
                name: name.clone(),
                word: "new",
                before: None,
                now: Some(pin),
                fields: Vec::new(),
            }));
            continue;
        };
        let definitions = now.pins(kind).iter().map(|(name, pin)| (name.as_str(), pin.definition.get()));
        for finding in before.verify(Live::default().with(kind, definitions)) {
            let name = finding.item.name;
            let (word, fields) = match finding.state {
                State::Same => ("unchanged", Vec::new()),
                State::New => ("new", Vec::new()),
                State::Missing => ("removed", Vec::new()),
                State::Changed { fields, .. } => ("changed", fields),
                State::RawOnly { .. } | State::Unreadable { .. } => ("changed", Vec::new()),
            };
            let (before, now) = (before.pins(kind).get(&name), now.pins(kind).get(&name));
            items.push(Item { kind, name, word, before, now, fields });
        }
    }
    items
}

impl Item<'_> {
    fn line(&self) -> String {
        let version = self.now.map(|pin| pin.version).unwrap_or_default();
        let how = match (self.word, self.before) {
            ("changed", Some(before)) => {
                let fields = self.fields.join(", ");
                let what = if fields.is_empty() { "only in its bytes" } else { &fields };
                format!("changed: {what}; version {} -> {version}", before.version)
            }
            ("removed", _) => "removed: the upstream does not list it any more".to_owned(),
            (word, _) => format!("{word}, version {version}"),
        };
        format!("  {}: {}", shown_item(self.kind, &self.name), out::plain(&how))
    }

    fn described(&self) -> Value {
        let mut told = json!({member(self.kind): self.name, "state": self.word});
        let mut put = |key: &str, value: Value| {
            if let Value::Object(members) = &mut told {
                members.insert(key.to_owned(), value);
            }
        };
        if let Some(pin) = self.now {
            put("version", pin.version.into());
            put("digest", pin.digest.to_string().into());
        }
        if let Some(pin) = self.before.filter(|_| self.word != "unchanged") {
            put("previous", json!({"version": pin.version, "digest": pin.digest.to_string()}));
        }
        if let (Some(before), Some(now), "changed") = (self.before, self.now, self.word) {
            put("changed", change::both(before.definition.get(), now.definition.get(), &self.fields));
        }
        told
    }
}

fn described(items: &[Item<'_>], kind: Kind) -> Vec<Value> {
    items.iter().filter(|item| item.kind == kind).map(Item::described).collect()
}

fn shown(
    name: &str,
    path: &Path,
    before: Option<&Lock>,
    lock: &Lock,
    items: &[Item<'_>],
) -> miette::Result<()> {
    let pinned: Vec<_> =
        [(Kind::Tool, "tool"), (Kind::ResourceTemplate, "resource template"), (Kind::Prompt, "prompt")]
            .into_iter()
            .filter(|(kind, _)| *kind == Kind::Tool || !lock.pins(*kind).is_empty())
            .map(|(kind, word)| counted(lock.pins(kind).len(), word))
            .collect();
    out::line(format!("{name}: {} pinned in `{}`", pinned.join(", "), path.display()))?;
    if let Some(before) = before {
        let (old, new) = (&before.upstream, &lock.upstream);
        if old.endpoint != new.endpoint {
            out::line(format!(
                "  the upstream was at {}, is at {}",
                out::plain(&old.endpoint),
                out::plain(&new.endpoint)
            ))?;
        }
        if old.server != new.server {
            let called = |server: &Option<String>| out::plain(server.as_deref().unwrap_or("nothing"));
            out::line(format!(
                "  the server called itself `{}`, calls itself `{}`",
                called(&old.server),
                called(&new.server)
            ))?;
        }
    }
    for item in items {
        out::line(item.line())?;
        let (Some(before), Some(now)) = (item.before, item.now) else { continue };
        for change in changes(before.definition.get(), now.definition.get(), &item.fields) {
            change.lines().iter().try_for_each(|line| out::line(format!("      {}", out::plain(line))))?;
        }
    }
    Ok(())
}

/// Writes beside the file and renames, so that a lock is never half written, and nothing that lies there is followed.
fn write_whole(path: &Path, text: &str) -> std::io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let public = std::fs::Permissions::from_mode(0o644);
    let mut beside = tempfile::Builder::new().permissions(public).tempfile_in(folder)?;
    beside.write_all(text.as_bytes())?;
    beside.as_file().sync_all()?;
    beside.persist(path)?;
    Ok(())
}
