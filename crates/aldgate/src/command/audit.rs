//! `aldgate audit`.

use std::process::ExitCode;

use serde_json::Value;

use super::approvals::segment;
use crate::admin::Admin;
use crate::cli::AuditCommand;
use crate::out;

pub(super) async fn run(what: AuditCommand) -> miette::Result<ExitCode> {
    match what {
        AuditCommand::List { tool, kind, limit, target } => {
            let mut path = format!("/v1/evidence?limit={limit}");
            for (key, value) in [("tool", tool), ("kind", kind)] {
                if let Some(value) = value {
                    path.push_str(&format!("&{key}={}", encoded(&value)));
                }
            }
            let found = Admin::new(&target).get(&path).await?;
            if target.json { out::json(&found)? } else { list(&found)? }
        }
        AuditCommand::Show { call, target } => {
            let found = Admin::new(&target).get(&format!("/v1/evidence/{}", segment(&call)?)).await?;
            if target.json { out::json(&found)? } else { show(&found)? }
        }
    }
    Ok(ExitCode::SUCCESS)
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
