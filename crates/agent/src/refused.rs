#[cfg(test)]
mod tests;

use rmcp::ErrorData;
use rmcp::transport::streamable_http_client::{HttpStatusError, StreamableHttpError};
use serde_json::Value;

/// What an endpoint said when it did not take a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refused {
    /// The HTTP status, where it is known.
    pub(crate) status: Option<u16>,
    /// The stable code, `AG-…`, where it is the gateway that refused.
    pub(crate) code: Option<String>,
    /// In words.
    pub(crate) message: String,
}

/// What the client library writes before a status where it has read no message that it knows.
const BEFORE: [&str; 2] = ["server/discover rejected with ", ""];

impl Refused {
    /// From a JSON-RPC error: one with a code of the gateway, or one that the client library made of an HTTP status.
    pub(crate) fn of_error(error: &ErrorData) -> Option<Self> {
        let code = error.data.as_ref().and_then(|data| data.get("code")).and_then(Value::as_str);
        match code.filter(|code| code.starts_with("AG-")) {
            Some(code) => {
                Some(Self { status: None, code: Some(code.to_owned()), message: error.message.to_string() })
            }
            None => Self::of_text(&error.message),
        }
    }

    /// From what the transport says.
    pub(crate) fn of_transport(fault: &StreamableHttpError<reqwest::Error>) -> Option<Self> {
        match fault {
            StreamableHttpError::HttpStatus(HttpStatusError { status, .. }) => Some(Self::of_status(*status)),
            StreamableHttpError::UnexpectedServerResponse(text) => Self::of_text(text),
            _ => None,
        }
    }

    /// Whether the status says that the request was not begun. Of a timeout or a conflict nobody knows.
    pub(crate) fn was_not_begun(&self) -> bool {
        self.status.is_some_and(|status| (400..500).contains(&status) && status != 408 && status != 409)
    }

    fn of_status(status: u16) -> Self {
        let said = match status {
            404 | 405 => "there is no MCP endpoint at this path; the gateway's is `/mcp`",
            413 => "the request is too large",
            429 => "it takes no more requests now; try again later",
            500.. => "it has trouble; try again later",
            _ => "it does not take the request",
        };
        Self { status: Some(status), code: None, message: format!("HTTP {status}, {said}") }
    }

    /// From a text such as `HTTP 404 Not Found: …`, with the body at its end.
    fn of_text(text: &str) -> Option<Self> {
        let text = BEFORE.iter().find_map(|before| text.strip_prefix(before)?.strip_prefix("HTTP "))?;
        let (status, body) = text.split_once(": ").unwrap_or((text.trim_end_matches(':'), ""));
        let status: u16 = status.split(' ').next()?.parse().ok()?;
        let body: Value = serde_json::from_str(body).unwrap_or_default();
        // An endpoint for agents has the code in the error's data, the admin API in the error.
        let code = ["/error/data/code", "/error/code"].iter().find_map(|at| body.pointer(at)?.as_str());
        let message = body.pointer("/error/message").and_then(Value::as_str);
        match (code.filter(|code| code.starts_with("AG-")), message) {
            (Some(code), Some(message)) => {
                Some(Self { status: Some(status), code: Some(code.to_owned()), message: message.to_owned() })
            }
            _ => Some(Self::of_status(status)),
        }
    }
}
