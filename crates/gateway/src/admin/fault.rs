//! What the admin API says when it refuses.

use aldgate_identity::{Protected, Scopes, Unauthenticated, lacks_scope};
use aldgate_store::StoreFault;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::decide::DecisionFault;
use crate::refusal::Challenge;
use crate::reply;

/// A refusal, sent as `{"error": {"code", "message"}}`.
#[derive(Debug)]
pub(super) struct AdminFault {
    status: u16,
    code: &'static str,
    message: String,
    challenge: Option<Challenge>,
}

impl AdminFault {
    pub(super) fn new(status: u16, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), challenge: None }
    }

    /// No principal.
    pub(super) fn unauthenticated(cause: &Unauthenticated, of: Option<&Protected>) -> Self {
        let fault = Self::new(cause.status(), cause.code(), cause.to_string());
        Self { challenge: Challenge::of(cause, of), ..fault }
    }

    /// A token that was not made for this.
    pub(super) fn scope(needs: &str, has: &Scopes, of: Option<&Protected>) -> Self {
        let message = lacks_scope("this", needs, has);
        let challenge = of.map(|of| Challenge::scope(needs, has, &message, of));
        Self { challenge, ..Self::new(403, "AG-SCOPE", message) }
    }

    /// The stable code.
    pub(super) fn code(&self) -> &'static str {
        self.code
    }

    /// What the caller is told.
    pub(super) fn message(&self) -> &str {
        &self.message
    }

    pub(super) fn no_route() -> Self {
        let message = "there is no such route; the API has /v1/status, /v1/reload, /v1/quarantine/release, /v1/tools, /v1/approvals, /v1/evidence, /v1/traces and /metrics";
        Self::new(404, "AG-ADMIN-ROUTE", message)
    }

    pub(super) fn bad(message: impl Into<String>) -> Self {
        Self::new(400, "AG-ADMIN-REQUEST", message)
    }

    pub(super) fn store(fault: StoreFault) -> Self {
        Self::decision(fault.into())
    }

    /// What an approval was not shown for, or a decision not taken.
    pub(super) fn decision(fault: DecisionFault) -> Self {
        Self::new(fault.status(), fault.code(), fault.to_string())
    }
}

impl IntoResponse for AdminFault {
    fn into_response(self) -> Response {
        let body = json!({"error": {"code": self.code, "message": self.message}});
        let mut response = reply::json_response(self.status, body.to_string().into_bytes());
        if let Some(challenge) = &self.challenge {
            challenge.tell(&mut response);
        }
        response
    }
}
