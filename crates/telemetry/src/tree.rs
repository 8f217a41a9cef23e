//! A trace as a tree for people.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use crate::names;
use crate::ring::SpanRecord;

/// The lines of a tree: each span below the one that it is a part of, in the order in which they began. A span whose parent
/// is not here stands at the top.
#[must_use]
pub fn tree(spans: &[SpanRecord]) -> Vec<String> {
    let known: BTreeSet<&str> = spans.iter().map(|span| span.span_id.as_str()).collect();
    let mut below: BTreeMap<Option<&str>, Vec<&SpanRecord>> = BTreeMap::new();
    for span in spans {
        let parent =
            span.parent_id.as_deref().filter(|parent| known.contains(parent) && *parent != span.span_id);
        below.entry(parent).or_default().push(span);
    }
    for children in below.values_mut() {
        children.sort_by_key(|span| span.start_unix_nano);
    }
    let mut lines = Vec::new();
    let mut seen = BTreeSet::new();
    for root in below.get(&None).into_iter().flatten() {
        lines.push(line(root));
        branch(root, "", &below, &mut seen, &mut lines);
    }
    lines
}

fn branch<'a>(
    parent: &'a SpanRecord,
    indent: &str,
    below: &BTreeMap<Option<&'a str>, Vec<&'a SpanRecord>>,
    seen: &mut BTreeSet<&'a str>,
    lines: &mut Vec<String>,
) {
    // Ids come from peers: one that stands twice must not lead in a circle.
    if !seen.insert(&parent.span_id) {
        return;
    }
    let children = below.get(&Some(parent.span_id.as_str())).map(Vec::as_slice).unwrap_or_default();
    for (index, child) in children.iter().enumerate() {
        let last = index + 1 == children.len();
        let (arm, next) = if last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        lines.push(format!("{indent}{arm}{}", line(child)));
        branch(child, &format!("{indent}{next}"), below, seen, lines);
    }
}

fn line(span: &SpanRecord) -> String {
    let mut line = format!("{}  {}", span.name, took(span.duration_us));
    if span.kind != "internal" {
        line = format!("{line}  {}", span.kind);
    }
    line = format!("{line}  [{}]", span.service);
    let said = |name: &str| span.attributes.get(name).and_then(serde_json::Value::as_str);
    if let Some(decision) = said(names::GUARDRAIL_DECISION) {
        line = format!("{line}  {}: {decision}", said(names::GUARDRAIL).unwrap_or("guardrail"));
    }
    if span.error.is_some() {
        let kind = said(names::ERROR_TYPE).unwrap_or("error");
        let code = said(names::REFUSAL).map(|code| format!(" {code}")).unwrap_or_default();
        line = format!("{line}  ! {kind}{code}");
    }
    line
}

/// A duration, with three digits that say something.
fn took(micros: u64) -> String {
    match micros {
        0..1000 => format!("{micros} µs"),
        1000..1_000_000 => format!("{}.{} ms", micros / 1000, micros % 1000 / 100),
        _ => format!("{}.{} s", micros / 1_000_000, micros % 1_000_000 / 100_000),
    }
}
