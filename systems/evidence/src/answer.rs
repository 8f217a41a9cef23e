//! Results, in the form that each era has for them.

use aldgate_wire::request::RequestId;
use aldgate_wire::response::{error_bytes, response_bytes};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::SERVER_NAME;
use crate::era::{Era, MODERN};
use crate::fault::Fault;

/// What a model is told of evidence that cannot be read; an agreed text.
const UNAVAILABLE: &str = "Tenant evidence unavailable or invalid.";
/// The stable code beside it.
const UNAVAILABLE_CODE: &str = "AG-EVIDENCE-UNAVAILABLE";
/// How long `server/discover` and `tools/list` stay fresh: they change with the program and its key.
const TTL_MS: u64 = 300_000;
const INSTRUCTIONS: &str = "Read-only evidence about the tools that this host governs, for your own tenant. Nothing here calls a tool or \
     changes a ruling. null, an empty list or a missing result is no evidence, and no sign that something is safe.";

/// What a request is answered with.
#[derive(Debug)]
pub(crate) enum Answer<'a> {
    /// To `server/discover`.
    Discovered,
    /// To `initialize`, with the revision that is spoken.
    Initialized(&'static str),
    /// To `ping`.
    Pong,
    /// To `tools/list`.
    Tools(&'a RawValue),
    /// To `tools/call`: the bare value.
    Value(Value),
    /// To `tools/call`, where this tenant's evidence cannot be read or fails its check.
    Unavailable,
}

impl Answer<'_> {
    /// The whole response.
    pub(crate) fn response(self, id: &RequestId, era: Era) -> Vec<u8> {
        let mut members = self.members();
        if era == Era::Modern {
            members.insert("resultType".to_owned(), "complete".into());
            let meta = members.entry("_meta").or_insert_with(|| json!({}));
            if let Value::Object(meta) = meta {
                meta.insert("io.modelcontextprotocol/serverInfo".to_owned(), server_info());
            }
        } else {
            members.remove("ttlMs");
            members.remove("cacheScope");
        }
        response_bytes(id, Value::Object(members).to_string().as_bytes())
    }

    fn members(self) -> Map<String, Value> {
        let value = match self {
            Self::Discovered => json!({
                "supportedVersions": [MODERN],
                "capabilities": { "tools": {} },
                "instructions": INSTRUCTIONS,
                "ttlMs": TTL_MS,
                "cacheScope": "public",
            }),
            Self::Initialized(version) => json!({
                "protocolVersion": version,
                "capabilities": { "tools": {} },
                "serverInfo": server_info(),
                "instructions": INSTRUCTIONS,
            }),
            Self::Pong => json!({}),
            Self::Tools(listed) => json!({ "tools": listed, "ttlMs": TTL_MS, "cacheScope": "public" }),
            Self::Value(value) => json!({
                "content": [{ "type": "text", "text": value.to_string() }],
                "structuredContent": { "result": value },
            }),
            Self::Unavailable => json!({
                "content": [{ "type": "text", "text": UNAVAILABLE }],
                "isError": true,
                "_meta": { "io.github.aldgate/refusal": { "code": UNAVAILABLE_CODE } },
            }),
        };
        match value {
            Value::Object(members) => members,
            _ => Map::new(),
        }
    }
}

/// The response to a request that has no result.
pub(crate) fn fault_response(id: &RequestId, fault: &Fault) -> Vec<u8> {
    error_bytes(Some(id), fault.code(), &fault.to_string(), Some(&fault.data()))
}

fn server_info() -> Value {
    json!({ "name": SERVER_NAME, "title": "Aldgate evidence", "version": env!("CARGO_PKG_VERSION") })
}
