//! `aldgate status`.

use std::process::ExitCode;

use aldgate_authority::{Concern, Kind};
use serde_json::Value;

use super::policy::offered;
use crate::admin::Admin;
use crate::cli::AdminTarget;
use crate::fault::counted;
use crate::out;

pub(super) async fn run(target: &AdminTarget) -> miette::Result<ExitCode> {
    let found = Admin::of(target).await?.get("/v1/status").await?;
    if target.json {
        out::json(&found)?;
        return Ok(ExitCode::SUCCESS);
    }
    let word = |value: &Value, key: &str| match value.get(key) {
        Some(Value::String(text)) => out::plain(text),
        Some(Value::Number(number)) => number.to_string(),
        _ => "-".to_owned(),
    };
    out::line(format!(
        "aldgate {}, MCP {}, {}",
        word(&found, "version"),
        word(&found, "revision"),
        offered(number(&found, "tools"), number(&found, "resources"), number(&found, "prompts")),
    ))?;
    for upstream in found.get("upstreams").and_then(Value::as_array).into_iter().flatten() {
        let compared = word(upstream, "compared_at");
        let others = [("pinned_resource_templates", "resource template"), ("pinned_prompts", "prompt")];
        let others = others.into_iter().filter(|(key, _)| number(upstream, key) > 0);
        let pinned: Vec<String> = [("pinned", "tool")]
            .into_iter()
            .chain(others)
            .map(|(key, thing)| counted(number(upstream, key), thing))
            .collect();
        let listed = match number(upstream, "resources") {
            0 => String::new(),
            listed => format!("{} listed, ", counted(listed, "resource")),
        };
        out::line(format!(
            "upstream {} at {}: {} pinned, {listed}compared {compared}",
            word(upstream, "name"),
            word(upstream, "endpoint"),
            pinned.join(", "),
        ))?;
        if upstream.get("unreachable").is_some_and(|why| !why.is_null()) {
            out::line(format!("    not reached: {}", word(upstream, "unreachable")))?;
        }
        if let Some(stranger) = upstream.get("stranger").filter(|stranger| !stranger.is_null()) {
            let (since, why) = (text(stranger, "since"), text(stranger, "why"));
            out::line(format!("    quarantined: everything since {since}: {why}"))?;
            out::line(format!("        {}", text(stranger, "command")))?;
        }
        for (state, word) in [("quarantined", "quarantined"), ("drift", "drifted")] {
            for item in upstream.get(state).and_then(Value::as_array).into_iter().flatten() {
                drifted(word, item)?;
            }
        }
    }
    for held in found.get("held_back").and_then(Value::as_array).into_iter().flatten() {
        let spelled = |kind: Kind| Some(Concern::of(kind, held.get(kind.as_str())?.as_str()?).to_string());
        let what = Kind::ALL.into_iter().find_map(spelled).unwrap_or_default();
        out::line(format!("held back {}: {}", out::plain(&what), word(held, "why")))?;
    }
    let listening = number(&found, "listening");
    if listening > 0 {
        out::line(format!("listening: {}", counted(listening, "client")))?;
    }
    let counts = found.get("counted").cloned().unwrap_or_default();
    out::line(format!(
        "counted: {} unauthenticated requests, {} panics, {} refusals without a row",
        word(&counts, "unauthenticated"),
        word(&counts, "panics"),
        word(&counts, "unrecorded_refusals"),
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// One contract that drifted: since when, why, and what ends it.
fn drifted(word: &str, item: &Value) -> miette::Result<()> {
    let of = |key: &str| text(item, key);
    out::line(format!(
        "    {word} {} since {} ({}): {}",
        of("item"),
        of("since"),
        of("severity"),
        of("why")
    ))?;
    out::line(format!("        {}", of("command")))
}

fn text(value: &Value, key: &str) -> String {
    value.get(key).and_then(Value::as_str).map(out::plain).unwrap_or_else(|| "-".to_owned())
}

fn number(value: &Value, key: &str) -> usize {
    let number = value.get(key).and_then(Value::as_u64).unwrap_or_default();
    usize::try_from(number).unwrap_or(usize::MAX)
}
