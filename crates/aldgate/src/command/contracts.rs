//! `aldgate contracts`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use aldgate_contract::{Finding, Lock, State};
use aldgate_gateway::settings::{Settings, UpstreamSettings};
use aldgate_gateway::{fetch_live, pin_live};
use serde_json::{Value, json};

use super::configuration;
use crate::cli::{ConfigFile, ContractsCommand};
use crate::coded::WithCode as _;
use crate::config::{Kind, Loaded, upstream_settings};
use crate::fault::{CommandFault, quoted};
use crate::out;

pub(super) async fn run(what: ContractsCommand) -> miette::Result<ExitCode> {
    match what {
        ContractsCommand::Pin { upstream, file, json } => pin(upstream.as_deref(), &file, json).await,
        ContractsCommand::Verify { upstream, file, json } => verify(upstream.as_deref(), &file, json).await,
    }
}

/// The upstreams that are meant, each with the path of its lock.
fn chosen(loaded: &Loaded, only: Option<&str>) -> miette::Result<Vec<(UpstreamSettings, PathBuf)>> {
    let folder = loaded.folder.as_deref().ok_or_else(|| CommandFault::Configuration {
        what: "the demonstration's contracts are built in".to_owned(),
        help: "write an `aldgate.toml`, or name one with `--config`",
    })?;
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

fn read_lock(path: &Path) -> miette::Result<Option<Lock>> {
    match std::fs::read_to_string(path) {
        Ok(text) => Lock::parse(&text).map(Some).coded(),
        Err(missing) if missing.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(other) => Err(CommandFault::file(path, "read")(other).into()),
    }
}

async fn pin(only: Option<&str>, file: &ConfigFile, json: bool) -> miette::Result<ExitCode> {
    let loaded = configuration(file)?;
    let mut pinned = Vec::new();
    for (settings, path) in chosen(&loaded, only)? {
        let before = read_lock(&path)?;
        let (lock, unreadable) = pin_live(&settings, &Settings::default(), before.as_ref()).await.coded()?;
        for what in &unreadable {
            note!("left out of `{}`: {}", settings.name, out::plain(what));
        }
        write_whole(&path, &lock.to_pretty_json()).map_err(CommandFault::file(&path, "written"))?;
        if !json {
            out::line(format!(
                "{}: {} tools pinned in `{}`",
                settings.name,
                lock.tools.len(),
                path.display()
            ))?;
        }
        pinned.push(json!({
            "upstream": settings.name,
            "lock": path.display().to_string(),
            "tools": lock.tools.values().map(|pin| json!({
                "tool": pin.name, "version": pin.version, "digest": pin.digest.to_string(),
            })).collect::<Vec<_>>(),
            "left_out": unreadable,
        }));
    }
    if json {
        out::json(&pinned)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes beside the file and renames, so that a lock is never half written.
fn write_whole(path: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let beside = path.with_extension("json.new");
    std::fs::write(&beside, text)?;
    std::fs::rename(&beside, path)
}

async fn verify(only: Option<&str>, file: &ConfigFile, json: bool) -> miette::Result<ExitCode> {
    let loaded = configuration(file)?;
    let mut all = Vec::new();
    let mut differs = false;
    for (settings, path) in chosen(&loaded, only)? {
        let lock = read_lock(&path)?.ok_or_else(|| CommandFault::NoLock { path: path.clone() })?;
        let (identity, live, unreadable) = fetch_live(&settings, &Settings::default()).await.coded()?;
        let mut findings: Vec<Value> = Vec::new();
        if lock.upstream.server.is_some() && lock.upstream.server != identity.server {
            differs = true;
            let found = identity.server.as_deref().unwrap_or("nothing");
            findings
                .push(json!({"finding": "changed", "what": format!("the server calls itself `{found}`")}));
        }
        for finding in lock.verify(live.iter().map(|(name, raw)| (name.as_str(), raw.get()))) {
            differs |= !matches!(finding.state, State::Same | State::RawOnly { .. } | State::New);
            findings.push(described(&finding));
        }
        findings.extend(unreadable.iter().map(|what| json!({"finding": "unreadable", "what": what})));
        if !json {
            for finding in &findings {
                let word = |key: &str| finding.get(key).and_then(Value::as_str).unwrap_or_default();
                out::line(
                    format!(
                        "{}/{}: {} {}",
                        settings.name,
                        out::plain(word("tool")),
                        word("finding"),
                        out::plain(word("what"))
                    )
                    .trim_end(),
                )?;
            }
        }
        all.push(json!({"upstream": settings.name, "findings": findings}));
    }
    if json {
        out::json(&all)?;
    }
    Ok(if differs { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

fn described(finding: &Finding) -> Value {
    let tool = &finding.item.name;
    match &finding.state {
        State::Same => json!({"tool": tool, "finding": "same"}),
        State::New => json!({"tool": tool, "finding": "new", "what": "not pinned, not offered"}),
        State::Missing => {
            json!({"tool": tool, "finding": "missing", "what": "not served any more"})
        }
        State::Unreadable { why } => json!({"tool": tool, "finding": "unreadable", "what": why}),
        State::RawOnly { pinned, live } => json!({
            "tool": tool, "finding": "same", "what": "(other bytes, the same canonical form)",
            "pinned": pinned.to_string(), "live": live.to_string(),
        }),
        State::Changed { pinned, live, fields } => json!({
            "tool": tool, "finding": "changed", "what": fields.join(", "), "fields": fields,
            "pinned": pinned.to_string(), "live": live.to_string(),
        }),
    }
}
