//! `aldgate explain`: why one call was ruled as it was, from the record alone. Neither configuration nor policies are read,
//! which may be others by now.

use std::process::ExitCode;

use serde_json::{Value, json};

use super::approvals::segment;
use crate::admin::Admin;
use crate::cli::AdminTarget;
use crate::out;

pub(super) async fn run(call: &str, target: &AdminTarget) -> miette::Result<ExitCode> {
    let found = Admin::of(target).await?.get(&format!("/v1/evidence/{}", segment(call)?)).await?;
    let rows = found.get("rows").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    if target.json {
        out::json(&json!({"call": call, "steps": rows.iter().map(step).collect::<Vec<_>>()}))?;
    } else {
        told(call, rows)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// One row, with the members that say who, what, why and how it ended.
fn step(row: &Value) -> Value {
    let members = [
        "seq",
        "at",
        "kind",
        "round",
        "principal",
        "method",
        "tool",
        "contract",
        "contract_version",
        "ruling",
        "explanation",
        "approval",
        "outcome",
        "code",
        "detail",
        "drift",
        "violation",
    ];
    let kept = members.iter().filter_map(|key| Some(((*key).to_owned(), row.get(*key)?.clone())));
    Value::Object(kept.collect())
}

fn told(call: &str, rows: &[Value]) -> miette::Result<()> {
    let first = rows.first();
    let word = |pointer: &str| first.and_then(|row| text(row, pointer));
    let what = word("/tool").or(word("/method")).unwrap_or_else(|| "a request".to_owned());
    let who = word("/principal/name").unwrap_or_default();
    out::line(format!(
        "{}: {what}, by {who} of tenant {}",
        out::plain(call),
        word("/principal/tenant").unwrap_or_default()
    ))?;
    let mut contract = None;
    for row in rows {
        let pinned = text(row, "/contract");
        if pinned.is_some() && pinned != contract {
            let version = text(row, "/contract_version").map(|version| format!(" version {version}"));
            let digest = pinned.clone().unwrap_or_default();
            out::line(format!("  contract  {digest}{}", version.unwrap_or_default()))?;
            contract = pinned;
        }
        for line in lines(row) {
            out::line(line)?;
        }
    }
    Ok(())
}

/// What one row says, its heading first.
fn lines(row: &Value) -> Vec<String> {
    let word = |pointer: &str| text(row, pointer);
    let mut lines = vec![heading(row)];
    let mut put =
        |name: &str, said: Option<String>| lines.extend(said.map(|said| format!("    {name:<9} {said}")));
    for reason in array(row, "/explanation/reasons") {
        let (message, rule) = (text(reason, "/message"), text(reason, "/rule"));
        put("because", message.map(|message| format!("{message} ({})", rule.unwrap_or_default())));
    }
    let digest = word("/explanation/registry/digest").unwrap_or_default();
    put(
        "registry",
        word("/explanation/registry/authority").map(|authority| format!("{authority} ({digest})")),
    );
    let labels = array(row, "/explanation/registry/labels").filter_map(Value::as_str).collect::<Vec<_>>();
    put("labels", (!labels.is_empty()).then(|| out::plain(&labels.join(", "))));
    let implied = word("/explanation/implied");
    put("implied", implied.map(|implied| format!("{implied} by the annotations alone; shown, never used")));
    for policy in array(row, "/explanation/policies") {
        let of = |pointer: &str| text(policy, pointer).unwrap_or_default();
        put(
            "policy",
            Some(format!(
                "{} ({} {}) in {}:{}",
                of("/id"),
                of("/effect"),
                of("/action"),
                of("/file"),
                of("/line")
            )),
        );
    }
    for guardrail in array(row, "/explanation/guardrails") {
        let of = |pointer: &str| text(guardrail, pointer).unwrap_or_default();
        put("step", Some(format!("{}: {}", of("/name"), of("/decision"))));
    }
    for path in array(row, "/explanation/unmapped").filter_map(Value::as_str) {
        put("unseen", Some(format!("{} could not be seen by policies", out::plain(path))));
    }
    put("approval", word("/approval"));
    put("code", word("/code"));
    put("detail", word("/detail"));
    for change in array(row, "/drift/diff") {
        let (severity, what) = (text(change, "/severity"), text(change, "/what"));
        put("change", severity.map(|severity| format!("{severity}: {}", what.unwrap_or_default())));
    }
    if row.pointer("/violation").and_then(Value::as_bool) == Some(true) {
        put("result", Some("does not fit the pinned output schema".to_owned()));
    }
    lines
}

fn heading(row: &Value) -> String {
    let word = |pointer: &str| text(row, pointer);
    let ruling = word("/ruling").filter(|_| row.get("explanation").is_some());
    let rule = word("/explanation/rule");
    let how = match (ruling, word("/outcome")) {
        (Some(ruling), _) => format!("ruled {ruling}, by {}", rule.unwrap_or_default()),
        (None, Some(outcome)) => outcome,
        (None, None) => word("/method").unwrap_or_default(),
    };
    let round = match row.get("round").and_then(Value::as_u64) {
        Some(0) | None => String::new(),
        Some(round) => format!(", round {round}"),
    };
    format!("  {}{round}: {how}", word("/kind").unwrap_or_default().replace('_', " "))
}

fn array<'a>(row: &'a Value, pointer: &str) -> impl Iterator<Item = &'a Value> {
    row.pointer(pointer).and_then(Value::as_array).into_iter().flatten()
}

fn text(row: &Value, pointer: &str) -> Option<String> {
    match row.pointer(pointer)? {
        Value::String(text) => Some(out::plain(text)),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
