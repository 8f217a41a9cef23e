//! Which boundaries a run really crossed, from what was seen in it, and which it did not.

#[cfg(test)]
mod tests;

use aldgate_agent::RunReport;
use miette::miette;
use serde::Serialize;
use serde_json::Value;

use super::events::Screen;
use super::stage::Stage;
use crate::admin::Admin;

/// What was seen in a run.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Facts {
    /// Requests of the agent that the gateway answered over HTTP.
    pub(super) agent_requests: usize,
    /// Whether the servers were called over HTTP.
    pub(super) servers_over_http: bool,
    /// Whether the servers refused a request without the gateway's secret; `None` where that was not tried.
    pub(super) refused_without_secret: Option<bool>,
    /// Contracts that were compared live and found equal to the pinned ones.
    pub(super) contracts_equal: usize,
    /// Calls that ran by themselves.
    pub(super) automatic: usize,
    /// Decisions of the second principal: `approve` or `deny`.
    pub(super) decision: Option<String>,
    /// Whether the one who decided is another principal than the caller.
    pub(super) decided_by_another: bool,
    /// Orders that were dispatched.
    pub(super) orders: usize,
    /// Orders that the parts server confirmed.
    pub(super) orders_confirmed: usize,
    /// Whether the export was asked for and refused.
    pub(super) export_refused: bool,
    /// Exports that were dispatched.
    pub(super) exports: usize,
    /// Rows of evidence, read back from the store through the admin API.
    pub(super) rows: usize,
    /// The search engine that the manuals server names.
    pub(super) search_backend: Option<String>,
}

/// One boundary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Line {
    pub(super) boundary: &'static str,
    pub(super) crossed: bool,
    pub(super) what: String,
}

/// What no run of this version crosses.
const NEVER: [(&str, &str); 6] = [
    ("model", "no model planned anything: the planner is a fixed script"),
    ("customers", "no real customer, site, part or manual: all data is synthetic"),
    ("supplier", "no order left this machine, and no mail: orders and outbox are local files"),
    ("tls", "no TLS: everything is plain HTTP on loopback"),
    ("oauth", "no OAuth: the two tokens were made for this run"),
    (
        "proof",
        "no proof against whoever owns the store: the evidence is append-only by convention, not yet a Merkle log",
    ),
];

impl Facts {
    /// What was seen on this stage.
    pub(super) async fn gather(
        stage: &Stage,
        screen: &Screen,
        report: &RunReport,
        refused_without_secret: Option<bool>,
    ) -> miette::Result<Self> {
        let admin = Admin::at(stage.admin(), Some(stage.approver_token().to_owned()));
        let status = admin.get("/v1/status").await?;
        let evidence = admin.get("/v1/evidence?limit=500").await?;
        let rows = evidence
            .get("rows")
            .and_then(Value::as_array)
            .ok_or_else(|| miette!("the evidence has no rows"))?;
        let word =
            |row: &Value, key: &str| row.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let subject = |row: &Value| {
            row.pointer("/principal/subject").and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let of_tool = |kind: &str, tool: &str| {
            rows.iter().filter(|row| word(row, "kind") == kind && word(row, "tool") == tool).count()
        };
        let decided = rows.iter().find(|row| word(row, "kind") == "approval_decided");
        let asked = rows.iter().find(|row| word(row, "kind") == "approval_asked");
        let contracts_equal =
            status.get("upstreams").and_then(Value::as_array).into_iter().flatten().map(|upstream| {
                let compared = upstream.get("compared_at").is_some_and(|at| !at.is_null());
                let changed =
                    upstream.get("changed").and_then(Value::as_object).map_or(0, serde_json::Map::len);
                let pinned = upstream
                    .get("pinned")
                    .and_then(Value::as_u64)
                    .and_then(|pinned| usize::try_from(pinned).ok());
                if compared { pinned.unwrap_or(0).saturating_sub(changed) } else { 0 }
            });
        let ordered = |row: &&Value| {
            word(row, "kind") == "outcome"
                && word(row, "tool") == "parts/raise_parts_order"
                && word(row, "outcome") == "complete"
        };
        Ok(Self {
            agent_requests: rows
                .iter()
                .filter(|row| matches!(word(row, "kind").as_str(), "answer" | "intent" | "refusal"))
                .count(),
            servers_over_http: stage.servers().is_some()
                && rows
                    .iter()
                    .any(|row| word(row, "kind") == "outcome" && word(row, "outcome") == "complete"),
            refused_without_secret,
            contracts_equal: contracts_equal.sum(),
            automatic: rows
                .iter()
                .filter(|row| word(row, "kind") == "intent" && word(row, "ruling") == "automatic")
                .count(),
            decision: decided.map(|row| word(row, "outcome")),
            decided_by_another: decided
                .zip(asked)
                .is_some_and(|(decided, asked)| subject(decided) != subject(asked)),
            orders: of_tool("intent", "parts/raise_parts_order"),
            orders_confirmed: rows.iter().filter(ordered).count(),
            export_refused: of_tool("refusal", "tickets/export_service_records") > 0
                && report.refusals().any(|(tool, _)| tool == "export_service_records"),
            exports: of_tool("intent", "tickets/export_service_records"),
            rows: rows.len(),
            search_backend: screen.search_backend(),
        })
    }

    /// The ledger.
    pub(super) fn ledger(&self) -> Vec<Line> {
        let mut lines = Vec::new();
        let mut put = |boundary, crossed: bool, yes: String, no: &str| {
            lines.push(Line { boundary, crossed, what: if crossed { yes } else { no.to_owned() } });
        };
        put(
            "agent to gateway",
            self.agent_requests > 0,
            format!("{} requests over HTTP, each with the agent's bearer token", self.agent_requests),
            "the agent sent nothing over HTTP",
        );
        put(
            "gateway to servers",
            self.servers_over_http,
            "the three servers were called over HTTP".to_owned(),
            "the servers were not called over HTTP: they ran inside the gateway's process, or nothing was called",
        );
        put(
            "servers closed to others",
            self.refused_without_secret == Some(true),
            "each server refused a request without this run's secret".to_owned(),
            "that the servers refuse others was not seen",
        );
        put(
            "contracts",
            self.contracts_equal > 0,
            format!(
                "{} live contracts were compared with the pinned ones and are equal",
                self.contracts_equal
            ),
            "no live contract was compared with a pinned one",
        );
        put(
            "automatic calls",
            self.automatic > 0,
            format!("{} calls ran by themselves, by registry and policy", self.automatic),
            "no call ran by itself",
        );
        put(
            "a person's decision",
            self.decision.is_some() && self.decided_by_another,
            format!("{} by another principal than the caller", self.decision.as_deref().unwrap_or("decided")),
            "nobody but the caller decided anything",
        );
        put(
            "order",
            self.orders == 1 && self.orders_confirmed == 1,
            "exactly one order was dispatched and confirmed by the parts server".to_owned(),
            "no order was placed",
        );
        put(
            "export refused",
            self.export_refused && self.exports == 0,
            "the export was asked for, refused by the host, and never dispatched".to_owned(),
            "no export was refused: nothing asked for one, or it was not refused",
        );
        put(
            "evidence",
            self.rows > 0,
            format!("{} rows, read back from the store", self.rows),
            "no evidence was written",
        );
        for (boundary, what) in NEVER {
            lines.push(Line { boundary, crossed: false, what: what.to_owned() });
        }
        lines
    }
}
