//! Which boundaries a run really crossed, from what was seen in it, and which it did not.

mod facts;
#[cfg(test)]
mod tests;

use serde::Serialize;

pub(super) use facts::{Facts, newest_row};

/// One boundary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Line {
    pub(super) boundary: &'static str,
    pub(super) crossed: bool,
    pub(super) what: String,
}

/// What no run of this version crosses.
const NEVER: [(&str, &str); 5] = [
    ("model", "no model planned anything: the planner is a fixed script"),
    ("customers", "no real customer, site, part or manual: all data is synthetic"),
    ("supplier", "no order left this machine, and no mail: orders and outbox are local files"),
    ("tls", "no TLS: everything is plain HTTP on loopback"),
    (
        "proof",
        "no proof against whoever owns the store: the evidence is append-only by convention, not yet a Merkle log",
    ),
];

/// The servers of the demonstration.
const SERVERS: [&str; 3] = ["tickets", "parts", "manuals"];

impl Facts {
    /// The ledger.
    pub(super) fn ledger(&self) -> Vec<Line> {
        let mut lines = Vec::new();
        let mut put = |boundary, crossed: bool, yes: String, no: &str| {
            lines.push(Line { boundary, crossed, what: if crossed { yes } else { no.to_owned() } });
        };
        let ordered = (self.orders, self.orders_confirmed) == (1, 1);
        put(
            "agent to gateway",
            self.agent_requests > 0,
            format!("{} requests over HTTP, each with the agent's bearer token", self.agent_requests),
            "the agent sent nothing over HTTP",
        );
        put(
            "signed in",
            self.signed_in,
            "each request had a token of the gateway's authorization server: the agent by client credentials, who decided by \
             a sign-in"
                .to_owned(),
            "a request had a token of the configuration",
        );
        put(
            "gateway to servers",
            self.over_http && !self.completed.is_empty(),
            format!("calls that the servers completed over HTTP: {}", self.completed_by_server()),
            if self.over_http {
                "no server completed a call"
            } else {
                "no server was called over HTTP: they ran inside the gateway's process"
            },
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
        let decided = match self.decision.as_deref() {
            Some("deny") => "denied",
            _ => "approved",
        };
        put(
            "a person's decision",
            self.decision.is_some() && self.decided_by_another,
            format!("{decided} by another principal than the caller"),
            "nobody but the caller decided anything",
        );
        put(
            "order",
            ordered,
            "exactly one order was dispatched and confirmed by the parts server".to_owned(),
            &self.other_than_one_order(),
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
            format!("{} rows of this run, read back from the store", self.rows),
            "no evidence was written",
        );
        for (boundary, what) in NEVER {
            lines.push(Line { boundary, crossed: false, what: what.to_owned() });
        }
        lines
    }

    /// How many calls each server completed, those that completed none included.
    fn completed_by_server(&self) -> String {
        let count = |server: &&str| {
            let calls = self.completed.get(*server).copied().unwrap_or(0);
            format!("{server} {calls}")
        };
        SERVERS.iter().map(count).collect::<Vec<_>>().join(", ")
    }

    /// What became of the order where it was not dispatched once and confirmed.
    fn other_than_one_order(&self) -> String {
        match (self.orders, self.orders_confirmed) {
            (0, _) => self.no_order().to_owned(),
            (1, _) if self.orders_failed > 0 => {
                "an order was dispatched, and the parts server answered with an error".to_owned()
            }
            (1, _) => "an order was dispatched, and its outcome is unknown: executed or not".to_owned(),
            (orders, confirmed) => format!(
                "{orders} orders were dispatched and {confirmed} confirmed, where one approval allows one"
            ),
        }
    }

    /// Why nothing was dispatched.
    fn no_order(&self) -> &'static str {
        match self.decision.as_deref() {
            _ if !self.order_asked => "no order was asked for",
            Some("deny") => "the order was denied, so none was dispatched",
            Some(_) => "the order was approved, and yet none was dispatched",
            None if self.order_denied_before => {
                "a person denied the same order before this run, so none was dispatched"
            }
            None if self.order_waited => "nobody decided on the order, so none was dispatched",
            None => "the order was refused before a person was asked, so none was dispatched",
        }
    }
}
