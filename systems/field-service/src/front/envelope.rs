//! The JSON-RPC envelope of a request, and its agreement with the headers of the transport.

use http::HeaderMap;
use http::header::HeaderName;
use serde_json::{Map, Value, json};

use super::reply::{self, Refusal};
use crate::desk::Features;

pub(super) const VERSION: &str = "2026-07-28";
pub(super) const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
pub(super) const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";

/// Whether a server with these features has a method. One that it does not advertise is as unknown as any other.
fn is_known(method: &str, features: Features) -> bool {
    match method {
        "server/discover" | "tools/list" | "tools/call" | "subscriptions/listen" => true,
        "resources/list" | "resources/templates/list" | "resources/read" | "completion/complete" => {
            features.resources
        }
        "prompts/list" | "prompts/get" => features.prompts,
        _ => false,
    }
}

/// A request with a usable id and method.
#[derive(Debug)]
pub(super) struct Envelope {
    pub(super) id: Value,
    pub(super) method: String,
    pub(super) params: Map<String, Value>,
}

impl Envelope {
    /// Reads a body; `None` is a notification.
    pub(super) fn read(body: &[u8]) -> Result<Option<Envelope>, Refusal> {
        let message: Value = serde_json::from_slice(body).map_err(|fault| {
            Refusal::rpc(Value::Null, reply::PARSE_ERROR, format!("the body is not JSON: {fault}"))
        })?;
        let Value::Object(mut message) = message else {
            return Err(invalid("the body must be one JSON-RPC request, not a batch or another value"));
        };
        if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return Err(invalid("`jsonrpc` must be \"2.0\""));
        }
        let Some(Value::String(method)) = message.remove("method") else {
            return Err(invalid(
                "`method` must be a text; this server sends no requests and takes no responses",
            ));
        };
        let Some(id) = message.remove("id") else { return Ok(None) };
        if !(id.is_string() || id.as_i64().is_some()) {
            return Err(invalid("`id` must be a text or an integer of 64 bits"));
        }
        let params = match message.remove("params") {
            None => Map::new(),
            Some(Value::Object(params)) => params,
            Some(_) => return Err(Refusal::rpc(id, reply::INVALID_REQUEST, "`params` must be an object")),
        };
        Ok(Some(Envelope { id, method, params }))
    }

    /// The envelope written anew, so that `rmcp` reads exactly the values that were checked.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let message =
            json!({ "jsonrpc": "2.0", "id": self.id, "method": self.method, "params": self.params });
        message.to_string().into_bytes()
    }

    pub(super) fn meta(&self) -> Option<&Map<String, Value>> {
        self.params.get("_meta").and_then(Value::as_object)
    }

    /// Per-request metadata and mirrored headers, in the order that the transport page and the conformance suite
    /// need: header present, metadata present, both equal, version known, method header, method known, name header.
    pub(super) fn check(&self, headers: &HeaderMap, features: Features) -> Result<(), Refusal> {
        let mismatch = |message: String| Refusal::rpc(self.id.clone(), reply::HEADER_MISMATCH, message);
        let header = |name: &'static str| self.header(headers, name);
        let version_header = header("mcp-protocol-version")?.ok_or_else(|| {
            mismatch(format!("header `MCP-Protocol-Version` is missing, this server speaks {VERSION} only"))
        })?;

        let text = |key: &str| self.meta().and_then(|meta| meta.get(key)).and_then(Value::as_str);
        let version = text(VERSION_KEY).ok_or_else(|| self.lacks_meta(VERSION_KEY))?;
        let capabilities = self.meta().and_then(|meta| meta.get(CAPABILITIES_KEY));
        if !capabilities.is_some_and(Value::is_object) {
            return Err(self.lacks_meta(CAPABILITIES_KEY));
        }
        if version_header != version {
            return Err(mismatch(format!(
                "header `MCP-Protocol-Version` is `{version_header}` and `_meta` says `{version}`"
            )));
        }
        if version != VERSION {
            return Err(Refusal::rpc(
                self.id.clone(),
                reply::UNSUPPORTED_VERSION,
                format!("unsupported protocol version `{version}`, this server speaks {VERSION} only"),
            )
            .with_data(json!({ "supported": [VERSION], "requested": version })));
        }

        match header("mcp-method")? {
            None => return Err(mismatch("header `Mcp-Method` is missing".to_owned())),
            Some(method) if method != self.method => {
                return Err(mismatch(format!(
                    "header `Mcp-Method` is `{method}` and the body says `{}`",
                    self.method
                )));
            }
            Some(_) => {}
        }
        if !is_known(&self.method, features) {
            return Err(Refusal::rpc(
                self.id.clone(),
                reply::METHOD_NOT_FOUND,
                format!("method `{}` is unknown, this server speaks MCP {VERSION} only", self.method),
            ));
        }
        self.check_name(header("mcp-name")?.as_deref())
    }

    /// `Mcp-Name` mirrors the tool, prompt or resource that the request names.
    fn check_name(&self, header: Option<&str>) -> Result<(), Refusal> {
        let member = match self.method.as_str() {
            "tools/call" | "prompts/get" => "name",
            "resources/read" => "uri",
            _ => return Ok(()),
        };
        let Some(name) = self.params.get(member) else {
            // The check of the parameters says what is missing.
            return Ok(());
        };
        let mismatch = |message: String| Refusal::rpc(self.id.clone(), reply::HEADER_MISMATCH, message);
        let Some(header) = header else { return Err(mismatch("header `Mcp-Name` is missing".to_owned())) };
        if name.is_string() && name.as_str() != Some(header) {
            return Err(mismatch(format!("header `Mcp-Name` is `{header}` and the body says {name}")));
        }
        Ok(())
    }

    /// One mirrored header, decoded; repeated or undecodable ones are refused.
    fn header(&self, headers: &HeaderMap, name: &'static str) -> Result<Option<String>, Refusal> {
        let refuse = |what: &str| {
            Refusal::rpc(self.id.clone(), reply::HEADER_MISMATCH, format!("header `{name}` is {what}"))
        };
        let mut values = headers.get_all(HeaderName::from_static(name)).iter();
        let Some(value) = values.next() else { return Ok(None) };
        if values.next().is_some() {
            return Err(refuse("repeated"));
        }
        let value = value.to_str().map_err(|_| refuse("not ASCII; encode it as =?base64?…?="))?;
        decode(value.trim_matches([' ', '\t'])).map(Some).ok_or_else(|| refuse("not valid base64 of UTF-8"))
    }

    fn lacks_meta(&self, key: &str) -> Refusal {
        let message = format!("`params._meta` lacks `{key}`, or it has a wrong type");
        Refusal::rpc(self.id.clone(), reply::INVALID_PARAMS, message)
            .with_status(http::StatusCode::BAD_REQUEST)
    }
}

/// Decodes the sentinel `=?base64?…?=` of header values that are not plain ASCII.
fn decode(value: &str) -> Option<String> {
    use base64::Engine as _;
    let Some(encoded) = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) else {
        return Some(value.to_owned());
    };
    let bytes = base64::engine::general_purpose::STANDARD.decode(encoded).ok()?;
    String::from_utf8(bytes).ok()
}

fn invalid(message: &str) -> Refusal {
    Refusal::rpc(Value::Null, reply::INVALID_REQUEST, message)
}
