//! What was seen in one run: the evidence that it wrote, read back from the store.

use std::collections::{BTreeMap, BTreeSet};

use aldgate_agent::RunReport;
use serde::Serialize;
use serde_json::Value;

use super::super::stage::{AGENT, Stage};
use crate::admin::{Admin, AdminFault};

/// Rows in one page of the admin API.
const PAGE: usize = 500;
/// The tool of which the demonstration needs a person's word.
const ORDER: &str = "parts/raise_parts_order";
/// The tool that the host prohibits.
const EXPORT: &str = "tickets/export_service_records";

/// What was seen in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(in crate::demo) struct Facts {
    /// Requests of the agent that the gateway answered over HTTP.
    pub(in crate::demo) agent_requests: usize,
    /// Whether everybody in the rows had a token that the gateway's authorization server gave out.
    pub(in crate::demo) signed_in: bool,
    /// Whether the servers are reached over HTTP.
    pub(in crate::demo) over_http: bool,
    /// The agent's calls that each upstream completed.
    pub(in crate::demo) completed: BTreeMap<String, usize>,
    /// Whether the servers refused a request without the gateway's secret; `None` where that was not tried.
    pub(in crate::demo) refused_without_secret: Option<bool>,
    /// Contracts that were compared live and found equal to the pinned ones.
    pub(in crate::demo) contracts_equal: usize,
    /// Calls that ran by themselves.
    pub(in crate::demo) automatic: usize,
    /// Whether the agent asked for the order.
    pub(in crate::demo) order_asked: bool,
    /// Whether the order waited for a person.
    pub(in crate::demo) order_waited: bool,
    /// Whether the order was refused because a person denied the same one before this run.
    pub(in crate::demo) order_denied_before: bool,
    /// What was decided of the order in this run: `approve` or `deny`.
    pub(in crate::demo) decision: Option<String>,
    /// Whether the one who decided is another principal than the caller.
    pub(in crate::demo) decided_by_another: bool,
    /// Orders that were dispatched.
    pub(in crate::demo) orders: usize,
    /// Orders that the parts server confirmed.
    pub(in crate::demo) orders_confirmed: usize,
    /// Orders that the parts server answered with an error of its own.
    pub(in crate::demo) orders_failed: usize,
    /// Whether the export was asked for and refused.
    pub(in crate::demo) export_refused: bool,
    /// Exports that were dispatched.
    pub(in crate::demo) exports: usize,
    /// Rows of evidence of this run, read back from the store through the admin API: those about accounts and clients are not
    /// counted, which the gateway writes when it gets to them.
    pub(in crate::demo) rows: usize,
    /// The search engine that the manuals server names.
    pub(in crate::demo) search_backend: Option<String>,
}

/// The position of the newest row of evidence, 0 where there is none: a kept store holds rows of earlier runs.
pub(in crate::demo) async fn newest_row(stage: &Stage) -> miette::Result<i64> {
    let newest = page(&admin(stage).await?, 1, None).await?;
    Ok(newest.iter().filter_map(position).max().unwrap_or(0))
}

async fn admin(stage: &Stage) -> miette::Result<Admin> {
    Ok(Admin::at(stage.admin(), Some(stage.people().ledger().await?)))
}

async fn page(admin: &Admin, limit: usize, before: Option<i64>) -> Result<Vec<Value>, AdminFault> {
    let mut path = format!("/v1/evidence?limit={limit}");
    if let Some(before) = before {
        path.push_str(&format!("&before={before}"));
    }
    match admin.get(&path).await?.get_mut("rows").map(Value::take) {
        Some(Value::Array(rows)) => Ok(rows),
        _ => Err(admin.no_answer()),
    }
}

/// The rows after `start`, in their order.
async fn rows_after(admin: &Admin, start: i64) -> Result<Vec<Value>, AdminFault> {
    let mut pages = Vec::new();
    let mut before = None;
    loop {
        let rows = page(admin, PAGE, before).await?;
        let oldest = rows.iter().filter_map(position).min();
        let more = rows.len() == PAGE && oldest.is_some_and(|oldest| oldest > start + 1);
        pages.push(rows);
        if !more {
            break;
        }
        before = oldest;
    }
    let rows = pages.into_iter().rev().flatten();
    Ok(rows.filter(|row| position(row).is_some_and(|at| at > start)).collect())
}

fn position(row: &Value) -> Option<i64> {
    row.get("seq")?.as_i64()
}

fn word<'a>(row: &'a Value, pointer: &str) -> &'a str {
    row.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// Whether some rows are of somebody with a token of this issuer, and all others of the gateway itself, which compares contracts.
pub(super) fn all_signed_in(rows: &[Value], issuer: &str) -> bool {
    let mut others =
        rows.iter().map(|row| word(row, "/principal/issuer")).filter(|found| *found != "aldgate");
    others.next().is_some_and(|first| first == issuer) && others.all(|found| found == issuer)
}

/// Whether the row is about an account or a client, and no request.
fn is_about_people(row: &Value) -> bool {
    word(row, "/kind") == "identity"
}

/// Whether the row is of the principal that works the ticket.
fn is_agents(row: &Value) -> bool {
    word(row, "/principal/kind") == "service" && word(row, "/principal/subject") == AGENT
}

impl Facts {
    /// What was seen on this stage since the row at `start`.
    pub(in crate::demo) async fn gather(
        stage: &Stage,
        start: i64,
        report: &RunReport,
        refused_without_secret: Option<bool>,
        search_backend: Option<String>,
    ) -> miette::Result<Self> {
        let admin = admin(stage).await?;
        let mut rows = rows_after(&admin, start).await?;
        rows.retain(|row| !is_about_people(row));
        let mut facts = Self::of_rows(&rows);
        facts.signed_in = all_signed_in(&rows, stage.issuer());
        facts.over_http = stage.servers().is_some();
        facts.refused_without_secret = refused_without_secret;
        facts.contracts_equal = contracts_equal(&admin.get("/v1/status").await?);
        facts.export_refused &= report.refusals().any(|(tool, _)| tool == "export_service_records");
        facts.search_backend = search_backend;
        Ok(facts)
    }

    /// What the rows of a run say. Rows of other principals count as decisions alone.
    pub(super) fn of_rows(rows: &[Value]) -> Self {
        let of_agent: Vec<&Value> = rows.iter().filter(|row| is_agents(row)).collect();
        let kind =
            |wanted: &'static str| of_agent.iter().copied().filter(move |row| word(row, "/kind") == wanted);
        let of_tool = |wanted: &'static str, tool: &'static str| {
            kind(wanted).filter(move |row| word(row, "/tool") == tool)
        };
        let ended = |outcome: &'static str| {
            of_tool("outcome", ORDER).filter(move |row| word(row, "/outcome") == outcome).count()
        };
        let mut completed = BTreeMap::new();
        for row in kind("outcome").filter(|row| word(row, "/outcome") == "complete") {
            if let Some((upstream, _)) = word(row, "/tool").split_once('/') {
                *completed.entry(upstream.to_owned()).or_default() += 1;
            }
        }
        let orders = || of_agent.iter().copied().filter(|row| word(row, "/tool") == ORDER);
        // Of all decisions in the store only those on the agent's own order are part of the run.
        let approvals: BTreeSet<&str> =
            orders().map(|row| word(row, "/approval")).filter(|id| !id.is_empty()).collect();
        let decided = rows.iter().rev().find(|row| {
            word(row, "/kind") == "approval_decided" && approvals.contains(word(row, "/approval"))
        });
        let refused = |code: &str| of_tool("refusal", ORDER).any(|row| word(row, "/code") == code);
        Self {
            agent_requests: ["answer", "intent", "refusal"].map(|one| kind(one).count()).iter().sum(),
            completed,
            automatic: kind("intent").filter(|row| word(row, "/ruling") == "automatic").count(),
            order_asked: orders().next().is_some(),
            order_waited: of_tool("approval_asked", ORDER).next().is_some() || refused("AG-APPROVAL-PENDING"),
            order_denied_before: decided.is_none() && refused("AG-APPROVAL-DENIED"),
            decision: decided.map(|row| word(row, "/outcome").to_owned()),
            decided_by_another: decided.is_some_and(|row| !is_agents(row)),
            orders: of_tool("intent", ORDER).count(),
            orders_confirmed: ended("complete"),
            orders_failed: ended("tool_error") + ended("rpc_error"),
            export_refused: of_tool("refusal", EXPORT).next().is_some(),
            exports: of_tool("intent", EXPORT).count(),
            rows: rows.len(),
            ..Self::default()
        }
    }
}

/// Pinned contracts of upstreams that were compared, without those that differ.
fn contracts_equal(status: &Value) -> usize {
    let upstreams = status.get("upstreams").and_then(Value::as_array).into_iter().flatten();
    let equal = upstreams.map(|upstream| {
        let compared = upstream.get("compared_at").is_some_and(|at| !at.is_null());
        let changed = ["quarantined", "drift"].map(|state| upstream.get(state)?.as_array().map(Vec::len));
        let changed = changed.into_iter().flatten().sum::<usize>();
        let pinned = upstream.get("pinned").and_then(Value::as_u64);
        let pinned = pinned.and_then(|pinned| usize::try_from(pinned).ok()).unwrap_or(0);
        if compared { pinned.saturating_sub(changed) } else { 0 }
    });
    equal.sum()
}
