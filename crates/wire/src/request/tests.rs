mod journey;
mod meta;
mod params;

use http::{HeaderMap, HeaderName, HeaderValue};

use super::{Incoming, Method, Rejection, Request, accept};
use crate::guard::Limits;

const VERSIONS: &[&str] = &["2026-07-28"];

/// A whole `tools/call`, to be changed by a test.
struct Call {
    headers: Vec<(&'static str, String)>,
    body: String,
}

const META: &str = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

impl Call {
    fn new(method: &str, members: &str) -> Self {
        let comma = if members.is_empty() { "" } else { "," };
        Self::with_body(
            method,
            format!(
                r#"{{"jsonrpc":"2.0","id":7,"method":"{method}","params":{{{members}{comma}"_meta":{META}}}}}"#
            ),
        )
    }

    fn with_body(method: &str, body: impl Into<String>) -> Self {
        let headers =
            vec![("MCP-Protocol-Version", "2026-07-28".to_owned()), ("Mcp-Method", method.to_owned())];
        Self { headers, body: body.into() }
    }

    fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(header, _)| *header != name);
        self
    }

    fn send(&self) -> Result<Incoming, Rejection> {
        let mut headers = HeaderMap::new();
        for (name, value) in &self.headers {
            let value = HeaderValue::from_bytes(value.as_bytes()).unwrap();
            headers.append(HeaderName::try_from(*name).unwrap(), value);
        }
        accept(&headers, self.body.as_bytes(), &Limits::default(), &Method::ALL, VERSIONS)
    }

    fn request(&self) -> Request {
        match self.send().unwrap() {
            Incoming::Request(request) => request,
            Incoming::Notification { method } => panic!("notification {method}"),
        }
    }

    /// Status, codes, id and message of the refusal.
    fn refusal(&self) -> String {
        let rejection = self.send().unwrap_err();
        let id = rejection.id.as_ref().map_or("none", |id| id.as_raw().get());
        format!("{} {} {} id {id}: {rejection}", rejection.http, rejection.code, rejection.ag)
    }
}

/// A call of the tool `t`, headers and all.
fn call(members: &str) -> Call {
    let comma = if members.is_empty() { "" } else { "," };
    Call::new("tools/call", &format!(r#""name":"t"{comma}{members}"#)).header("Mcp-Name", "t")
}

/// A list request with another `_meta`.
fn with_meta(meta: &str) -> Call {
    let body = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{{"_meta":{meta}}}}}"#);
    Call::with_body("tools/list", body)
}
