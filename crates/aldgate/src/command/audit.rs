//! `aldgate audit`.

use std::process::ExitCode;

use aldgate_evidence::Kind;
use serde_json::{Value, json};

use super::approvals::segment;
use crate::admin::Admin;
use crate::cli::AuditCommand;
use crate::fault::{CommandFault, quoted};
use crate::out;

pub(super) async fn run(what: AuditCommand) -> miette::Result<ExitCode> {
    match what {
        AuditCommand::List { tool, kind, limit, target } => {
            if let Some(kind) = kind.as_deref().filter(|kind| !KINDS.iter().any(|one| one.as_str() == *kind))
            {
                let known = quoted(KINDS.iter().map(|kind| kind.as_str()));
                let what = format!("there is no kind `{}`; expected one of {known}", out::plain(kind));
                return Err(CommandFault::usage(what).into());
            }
            let admin = Admin::of(&target).await?;
            let found = match tool.as_deref().filter(|tool| !tool.contains('/')) {
                Some(tool) => of_any_upstream(&admin, tool, kind.as_deref(), limit).await?,
                None => {
                    let query = query(limit, &[("tool", tool.as_deref()), ("kind", kind.as_deref())]);
                    admin.get(&query).await?
                }
            };
            if target.json { out::json(&found)? } else { list(&found)? }
        }
        AuditCommand::Show { call, target } => {
            let found = Admin::of(&target).await?.get(&format!("/v1/evidence/{}", segment(&call)?)).await?;
            if target.json { out::json(&found)? } else { show(&found)? }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The kinds of rows.
const KINDS: [Kind; 8] = Kind::ALL;
/// Rows in one answer of the API.
const PAGE: u32 = 500;
/// Answers that are read in the search for a tool of which only the name is known.
const PAGES: usize = 100;

fn query(limit: u32, filters: &[(&str, Option<&str>)]) -> String {
    let given = filters.iter().filter_map(|(key, value)| Some(format!("&{key}={}", encoded((*value)?))));
    format!("/v1/evidence?limit={limit}{}", given.collect::<String>())
}

/// The newest rows of a tool, whatever upstream it is of: the API knows tools by `upstream/tool` alone.
async fn of_any_upstream(admin: &Admin, tool: &str, kind: Option<&str>, limit: u32) -> miette::Result<Value> {
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut found: Vec<Value> = Vec::new();
    let mut before: Option<String> = None;
    for page in 0.. {
        if page == PAGES {
            note!(
                "only the newest {} rows were searched; name the tool as `upstream/tool`",
                PAGES * PAGE as usize
            );
            break;
        }
        let answer = admin.get(&query(PAGE, &[("kind", kind), ("before", before.as_deref())])).await?;
        let read = rows(&answer);
        before = read.first().and_then(|row| row.get("seq")).map(Value::to_string);
        let of_tool = |row: &&Value| {
            let key = row.get("tool").and_then(Value::as_str).unwrap_or_default();
            key.split_once('/').is_some_and(|(_, name)| name == tool)
        };
        let older: Vec<Value> = read.iter().filter(of_tool).cloned().collect();
        found = older.into_iter().chain(found).collect();
        if found.len() >= most || before.is_none() || read.len() < PAGE as usize {
            break;
        }
    }
    let newest = found.split_off(found.len().saturating_sub(most));
    Ok(json!({ "rows": newest }))
}

/// Percent-encoding of everything that is not unreserved (RFC 3986 §2.3).
fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~');
    text.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

fn rows(found: &Value) -> &[Value] {
    found.get("rows").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn word(row: &Value, pointer: &str) -> String {
    match row.pointer(pointer) {
        Some(Value::String(text)) => out::plain(text),
        Some(Value::Number(number)) => number.to_string(),
        _ => "-".to_owned(),
    }
}

fn list(found: &Value) -> miette::Result<()> {
    let cells = rows(found).iter().map(|row| {
        let tool = match row.get("tool") {
            Some(_) => word(row, "/tool"),
            None => word(row, "/method"),
        };
        let how = match row.get("outcome") {
            Some(_) => word(row, "/outcome"),
            None => word(row, "/ruling"),
        };
        vec![
            word(row, "/seq"),
            word(row, "/kind"),
            word(row, "/principal/name"),
            tool,
            how,
            word(row, "/code"),
            word(row, "/call"),
        ]
    });
    let cells: Vec<_> = cells.collect();
    if cells.is_empty() {
        return out::line("no evidence yet");
    }
    out::table(&["seq", "row", "principal", "tool or method", "ruling or outcome", "code", "call"], &cells)
}

fn show(found: &Value) -> miette::Result<()> {
    for row in rows(found) {
        out::line(format!("{} {} round {}", word(row, "/seq"), word(row, "/kind"), word(row, "/round")))?;
        for (name, pointer) in [
            ("principal", "/principal/name"),
            ("method", "/method"),
            ("tool", "/tool"),
            ("contract", "/contract"),
            ("version", "/contract_version"),
            ("ruling", "/ruling"),
            ("approval", "/approval"),
            ("outcome", "/outcome"),
            ("code", "/code"),
            ("detail", "/detail"),
            ("arguments", "/arguments"),
            ("responses", "/responses"),
            ("result", "/result"),
            ("took (ms)", "/took_ms"),
        ] {
            if row.pointer(pointer).is_some() {
                out::line(format!("    {name:<10} {}", word(row, pointer)))?;
            }
        }
        for (name, place) in [
            ("honoured", "/explanation/honoured"),
            ("refused", "/explanation/not_permitted"),
            ("not heard", "/explanation/not_taken_on"),
        ] {
            if let Some(said) = row.pointer(place) {
                out::line(format!("    {name:<10} {}", out::plain(&said.to_string())))?;
            }
        }
        for reason in row.pointer("/explanation/reasons").and_then(Value::as_array).into_iter().flatten() {
            out::line(format!(
                "    {:<10} {} ({})",
                "because",
                word(reason, "/message"),
                word(reason, "/rule")
            ))?;
        }
    }
    Ok(())
}
