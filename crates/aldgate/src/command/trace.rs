//! `aldgate trace`.

use std::process::ExitCode;
use std::time::{Duration, UNIX_EPOCH};

use aldgate_telemetry::{SpanRecord, TraceSummary, tree};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::approvals::segment;
use crate::admin::Admin;
use crate::cli::TraceCommand;
use crate::fault::CommandFault;
use crate::out;

/// Traces among which the beginning of an id is looked for.
const MOST: usize = 2000;

pub(super) async fn run(what: TraceCommand) -> miette::Result<ExitCode> {
    match what {
        TraceCommand::List { limit, target } => {
            let found = Admin::of(&target).await?.get(&format!("/v1/traces?limit={limit}")).await?;
            if target.json { out::json(&found)? } else { list(&found)? }
        }
        TraceCommand::Show { id, target } => {
            let admin = Admin::of(&target).await?;
            let id = whole(&admin, id.as_deref()).await?;
            let found = admin.get(&format!("/v1/traces/{}", segment(&id)?)).await?;
            if target.json { out::json(&found)? } else { show(&found)? }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn list(found: &Value) -> miette::Result<()> {
    let traces: Vec<TraceSummary> = read(found, "traces")?;
    if traces.is_empty() {
        match found.get("sample_ratio").and_then(Value::as_f64) {
            Some(ratio) if ratio < 1.0 => {
                note!(
                    "no traces; of those that begin at the gateway the part {ratio} is kept (`telemetry.sample_ratio`)"
                );
            }
            _ => note!("no traces yet; calls make them, unless `telemetry.spans` is 0"),
        }
        return Ok(());
    }
    let rows: Vec<Vec<String>> = traces
        .iter()
        .map(|trace| {
            let began = UNIX_EPOCH + Duration::from_nanos(trace.start_unix_nano);
            let took = Duration::from_micros(trace.duration_us);
            vec![
                out::plain(&trace.trace_id),
                humantime::format_rfc3339_millis(began).to_string(),
                format!("{} ms", took.as_millis()),
                trace.spans.to_string(),
                trace.errors.to_string(),
                out::plain(&trace.name),
            ]
        })
        .collect();
    out::table(&["TRACE", "BEGAN", "TOOK", "SPANS", "ERRORS", "NAME"], &rows)
}

fn show(found: &Value) -> miette::Result<()> {
    let spans: Vec<SpanRecord> = read(found, "spans")?;
    if let Some(first) = spans.first() {
        let began =
            humantime::format_rfc3339_millis(UNIX_EPOCH + Duration::from_nanos(first.start_unix_nano));
        note!("trace {}, {} spans from {began} on; --json has their attributes", first.trace_id, spans.len());
    }
    for line in tree(&spans) {
        out::line(out::plain(&line))?;
    }
    Ok(())
}

/// The whole id of which the beginning is known; of the newest trace where none is given.
async fn whole(admin: &Admin, beginning: Option<&str>) -> miette::Result<String> {
    let wrong = |what: String| Err(CommandFault::usage(what).into());
    if beginning.is_some_and(|beginning| beginning.len() == 32) {
        return Ok(beginning.unwrap_or_default().to_owned());
    }
    let traces: Vec<TraceSummary> = read(&admin.get(&format!("/v1/traces?limit={MOST}")).await?, "traces")?;
    let Some(beginning) = beginning else {
        let none = || wrong("no trace is kept; `aldgate trace list` says why".to_owned());
        return traces.first().map_or_else(none, |newest| Ok(newest.trace_id.clone()));
    };
    let shown = out::plain(beginning);
    let hexadecimal = beginning.bytes().all(|byte| byte.is_ascii_hexdigit());
    if beginning.is_empty() || !hexadecimal {
        return wrong(format!("`{shown}` is not the beginning of a trace's id, 32 hexadecimal digits"));
    }
    let mut known = traces.iter().filter(|trace| trace.trace_id.starts_with(&beginning.to_ascii_lowercase()));
    match (known.next(), known.next()) {
        (Some(trace), None) => Ok(trace.trace_id.clone()),
        (Some(_), Some(_)) => wrong(format!("several traces begin with `{shown}`; give more of the id")),
        (None, _) => wrong(format!(
            "none of the newest {MOST} traces begins with `{shown}`; `aldgate trace list --limit {MOST}` names them"
        )),
    }
}

fn read<T: DeserializeOwned>(found: &Value, member: &str) -> miette::Result<Vec<T>> {
    let read = found.get(member).cloned().map(serde_json::from_value);
    match read {
        Some(Ok(read)) => Ok(read),
        _ => Err(CommandFault::usage(format!(
            "the gateway's answer has no list `{member}`; is it another version?"
        ))
        .into()),
    }
}
