//! `aldgate status`.

use std::process::ExitCode;

use serde_json::Value;

use crate::admin::Admin;
use crate::cli::AdminTarget;
use crate::fault::counted;
use crate::out;

pub(super) async fn run(target: &AdminTarget) -> miette::Result<ExitCode> {
    let found = Admin::new(target).get("/v1/status").await?;
    if target.json {
        out::json(&found)?;
        return Ok(ExitCode::SUCCESS);
    }
    let word = |value: &Value, key: &str| match value.get(key) {
        Some(Value::String(text)) => out::plain(text),
        Some(Value::Number(number)) => number.to_string(),
        _ => "-".to_owned(),
    };
    let number = |key: &str| {
        let number = found.get(key).and_then(Value::as_u64).unwrap_or_default();
        usize::try_from(number).unwrap_or(usize::MAX)
    };
    out::line(format!(
        "aldgate {}, MCP {}, {}",
        word(&found, "version"),
        word(&found, "revision"),
        counted(number("tools"), "tool"),
    ))?;
    for upstream in found.get("upstreams").and_then(Value::as_array).into_iter().flatten() {
        let compared = word(upstream, "compared_at");
        out::line(format!(
            "upstream {} at {}: {} pinned, compared {compared}",
            word(upstream, "name"),
            word(upstream, "endpoint"),
            word(upstream, "pinned"),
        ))?;
        if upstream.get("unreachable").is_some_and(|why| !why.is_null()) {
            out::line(format!("    not reached: {}", word(upstream, "unreachable")))?;
        }
        for (tool, what) in upstream.get("changed").and_then(Value::as_object).into_iter().flatten() {
            out::line(format!(
                "    refused: {}: {}",
                out::plain(tool),
                out::plain(what.as_str().unwrap_or_default())
            ))?;
        }
    }
    for held in found.get("held_back").and_then(Value::as_array).into_iter().flatten() {
        out::line(format!("held back {}: {}", word(held, "tool"), word(held, "why")))?;
    }
    let counted = found.get("counted").cloned().unwrap_or_default();
    out::line(format!(
        "counted: {} unauthenticated requests, {} panics, {} refusals without a row",
        word(&counted, "unauthenticated"),
        word(&counted, "panics"),
        word(&counted, "unrecorded_refusals"),
    ))?;
    Ok(ExitCode::SUCCESS)
}
