//! What the admin API says when it refuses.

use aldgate_store::StoreFault;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::reply;

/// A refusal, sent as `{"error": {"code", "message"}}`.
#[derive(Debug)]
pub(super) struct AdminFault {
    status: u16,
    code: &'static str,
    message: String,
    challenge: Option<&'static str>,
}

impl AdminFault {
    pub(super) fn new(status: u16, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), challenge: None }
    }

    /// No principal.
    pub(super) fn unauthenticated(cause: &aldgate_identity::Unauthenticated) -> Self {
        let fault = Self::new(401, "AG-IDENTITY", cause.to_string());
        Self { challenge: Some(cause.challenge()), ..fault }
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
        match fault {
            StoreFault::NoApproval { .. } => Self::new(404, "AG-ADMIN-APPROVAL", fault.to_string()),
            StoreFault::Decide(_) => Self::new(409, "AG-ADMIN-DECIDED", fault.to_string()),
            other => {
                tracing::error!(error = &other as &dyn std::error::Error, "the store failed");
                Self::new(500, "AG-STORE", "the store failed; see the gateway's log")
            }
        }
    }
}

impl IntoResponse for AdminFault {
    fn into_response(self) -> Response {
        let body = json!({"error": {"code": self.code, "message": self.message}});
        let mut response = reply::json_response(self.status, body.to_string().into_bytes());
        if let Some(challenge) = self.challenge {
            let value = http::HeaderValue::from_static(challenge);
            response.headers_mut().insert(http::header::WWW_AUTHENTICATE, value);
        }
        response
    }
}
