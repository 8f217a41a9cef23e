//! A server with two tenants, and clients of both eras. Every answer is held to the official schema and to the schemas
//! that the server itself serves.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use aldgate_contract::signature::SigningKey;
use aldgate_contract::{Lock, UpstreamIdentity};
use aldgate_evidence_server::{
    Admission, ArtefactKind, Bounds, Denied, Doors, Endpoint, EvidenceServer, Reader, Shelf,
};
use async_trait::async_trait;
use bytes::Bytes;
use http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt as _, Full};
use jsonschema::Validator;
use serde_json::{Value, json};

use crate::fake::{self, Fake};

pub(crate) const TOKEN_A: &str = "Bearer reader-of-acme";
pub(crate) const TOKEN_B: &str = "Bearer reader-of-globex";
pub(crate) const AGENT: &str = "Bearer agent-of-acme";
/// Of one whose readings cannot be recorded.
pub(crate) const UNRECORDED: &str = "Bearer unrecorded";

/// What only evidence of the other tenant holds.
pub(crate) const SECRET_A: &str = "only-acme-may-see-this";
pub(crate) const SECRET_B: &str = "only-globex-may-see-this";

const OFFICIAL: &str = include_str!("../schema/mcp-2026-07-28.json");

pub(crate) struct World {
    pub(crate) source: Arc<Fake>,
    pub(crate) server: Arc<EvidenceServer>,
    pub(crate) endpoint: Endpoint,
}

/// What came back.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answered {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    /// `null` where there is no body.
    pub(crate) body: Value,
}

pub(crate) struct Tokens;

#[async_trait]
impl Admission for Tokens {
    async fn admit(&self, headers: &HeaderMap) -> Result<Reader, Denied> {
        let text = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        match text {
            Some(TOKEN_A) => Ok(Reader::of_tenant("acme")),
            Some(TOKEN_B) => Ok(Reader::of_tenant("globex")),
            Some(AGENT) => Err(Denied::Forbidden),
            Some(UNRECORDED) => Err(Denied::Unrecorded),
            _ => Err(Denied::Credentials {
                status: 401,
                code: "AG-IDENTITY",
                message: "the token is not known here".to_owned(),
                headers: vec![(WWW_AUTHENTICATE, r#"Bearer error="invalid_token""#.to_owned())],
            }),
        }
    }
}

pub(crate) fn world() -> World {
    world_with(Bounds::default())
}

pub(crate) fn world_with(bounds: Bounds) -> World {
    world_of(evidence(), bounds, None)
}

pub(crate) fn world_of(source: Fake, bounds: Bounds, key: Option<&SigningKey>) -> World {
    let source = Arc::new(source);
    let server = Arc::new(EvidenceServer::new(source.clone(), shelves(), key).unwrap());
    let doors = Doors {
        hosts: vec!["evidence.example".to_owned()],
        origins: vec!["https://console.example".to_owned()],
    };
    let endpoint = Endpoint::new(server.clone(), Arc::new(Tokens), doors, bounds);
    World { source, server, endpoint }
}

fn definition(name: &str, property: &str, secret: &str) -> String {
    json!({
        "name": name,
        "description": secret,
        "inputSchema": {
            "type": "object",
            "properties": { property: { "type": "string", "description": "The number of the ticket." } },
            "required": [property],
            "additionalProperties": false,
        },
    })
    .to_string()
}

/// `desk` serves acme, `vault` serves globex, `common` serves both. The tool of `desk` has had an earlier contract.
pub(crate) fn shelves() -> Vec<Shelf> {
    let identity = |name: &str| UpstreamIdentity {
        name: name.to_owned(),
        endpoint: "inproc:test".to_owned(),
        server: None,
    };
    let pinned = |upstream: &str, definitions: &[String]| {
        let at = |day: usize| format!("2026-11-0{day}T00:00:00Z");
        let name =
            |text: &str| serde_json::from_str::<Value>(text).unwrap()["name"].as_str().unwrap().to_owned();
        let mut lock = Lock::pin(identity(upstream), Vec::<(&str, &str)>::new(), &at(1)).unwrap();
        for (day, text) in definitions.iter().enumerate() {
            lock = lock.repin(vec![(name(text).as_str(), text.as_str())], &at(day + 1)).unwrap();
        }
        Arc::new(lock)
    };
    let visible = |pairs: &[(&str, &str)]| {
        pairs.iter().map(|(seen, tool)| ((*seen).to_owned(), (*tool).to_owned())).collect::<BTreeMap<_, _>>()
    };
    let only = |tenant: &str| Some(BTreeSet::from([tenant.to_owned()]));
    let desk = [definition("get_ticket", "id", SECRET_A), definition("get_ticket", "ticket_id", SECRET_A)];
    vec![
        Shelf {
            tenants: only("acme"),
            lock: pinned("desk", &desk),
            visible: visible(&[("fs_get_ticket", "get_ticket"), ("fs_gone", "gone")]),
        },
        Shelf {
            tenants: only("globex"),
            lock: pinned("vault", &[definition("open", "code", SECRET_B)]),
            visible: visible(&[("open", "open")]),
        },
        Shelf {
            tenants: None,
            lock: pinned("common", &[definition("clock", "zone", "tells the time")]),
            visible: visible(&[("clock", "clock")]),
        },
    ]
}

fn evidence() -> Fake {
    let mut fake = Fake::default();
    for (tenant, tool, secret, calls) in [
        ("acme", "desk/get_ticket", SECRET_A, 3),
        ("globex", "vault/open", SECRET_B, 5),
        ("acme", "common/clock", SECRET_A, 7),
        ("globex", "common/clock", SECRET_B, 11),
    ] {
        let key = (tenant.to_owned(), tool.to_owned());
        fake.observed.insert(key.clone(), vec![fake::observed("2", calls), fake::observed("1", 2)]);
        let events = (0..120).map(|number| fake::event(tool, number, secret)).collect();
        fake.drift.insert(key, events);
        let row = |kind: &str| {
            let principal = json!({ "tenant": tenant, "name": secret });
            json!({ "at": 1, "kind": kind, "call": format!("call_of_{tenant}"), "principal": principal,
                "tool": tool, "arguments": "hmac-sha256:00", "result": "hmac-sha256:01" })
        };
        let call = fake::artefact(ArtefactKind::Call, tool, vec![row("intent"), row("outcome")]);
        fake.artefacts.insert((tenant.to_owned(), format!("call_of_{tenant}")), call);
        let drift = fake::artefact(ArtefactKind::Drift, tool, vec![row("drift")]);
        fake.artefacts.insert((tenant.to_owned(), format!("drift_of_{tenant}")), drift);
    }
    fake
}

/// `_meta` of a request of 2026-07-28.
pub(crate) fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
    })
}

/// The head of a POST of this reader.
pub(crate) fn head(token: &str) -> http::request::Builder {
    Request::post("/evidence/mcp")
        .header("host", "evidence.example")
        .header("authorization", token)
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
}

impl World {
    /// A request of 2026-07-28.
    pub(crate) async fn modern(&self, token: &str, method: &str, mut params: Value) -> Answered {
        params["_meta"] = meta();
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let mut request =
            head(token).header("mcp-protocol-version", "2026-07-28").header("mcp-method", method);
        if let Some(name) = params["name"].as_str() {
            request = request.header("mcp-name", aldgate_wire::header::encode_value(name));
        }
        let answered = self.send(request, body.to_string()).await;
        let response = match method {
            "tools/call" => "CallToolResultResponse",
            "tools/list" => "ListToolsResultResponse",
            _ => "DiscoverResultResponse",
        };
        let kind = if answered.body.get("error").is_some() { "JSONRPCErrorResponse" } else { response };
        official(kind, &answered.body);
        answered
    }

    /// A request of a client that has sent `initialize`.
    pub(crate) async fn older(&self, token: &str, method: &str, params: Value) -> Answered {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        self.send(head(token).header("mcp-protocol-version", "2025-11-25"), body.to_string()).await
    }

    pub(crate) async fn send(&self, request: http::request::Builder, body: impl Into<Bytes>) -> Answered {
        let body = Full::new(body.into());
        let response = self.endpoint.respond(request.body(body).unwrap()).await;
        collect(response).await
    }

    /// Calls a tool in both eras, which must say the same. The whole result, `resultType` and `_meta` left out.
    pub(crate) async fn call(&self, token: &str, tool: &str, arguments: Value) -> Answered {
        let params = json!({ "name": tool, "arguments": arguments });
        let mut modern = self.modern(token, "tools/call", params.clone()).await;
        let mut older = self.older(token, "tools/call", params).await;
        for answered in [&mut modern, &mut older] {
            if let Some(result) = answered.body.get_mut("result").and_then(Value::as_object_mut) {
                result.remove("resultType");
                result.remove("_meta");
            }
        }
        assert_eq!((modern.status, &modern.body), (older.status, &older.body));
        if modern.body.get("result").is_some() {
            as_promised(tool, &modern.body["result"]);
        }
        modern
    }

    /// The bare value that a tool answers.
    pub(crate) async fn value(&self, token: &str, tool: &str, arguments: Value) -> Value {
        let answered = self.call(token, tool, arguments).await;
        assert_eq!(answered.status, 200, "{}", answered.body);
        answered.body["result"]["structuredContent"]["result"].clone()
    }
}

/// Success: the text is the JSON of the bare value, the structured content holds it and fits the served schema.
fn as_promised(tool: &str, result: &Value) {
    if result["isError"] == true {
        assert!(result.get("structuredContent").is_none());
        return;
    }
    let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(result["structuredContent"], json!({ "result": text }));
    assert_eq!(result["content"].as_array().unwrap().len(), 1);
    let definitions: Vec<Value> = serde_json::from_str(include_str!("../../tools.json")).unwrap();
    let definition = definitions.iter().find(|one| one["name"] == tool).unwrap();
    valid(&definition["outputSchema"], &result["structuredContent"]);
    let contract: Value = serde_json::from_str(include_str!("../../contract.json")).unwrap();
    let least = contract["tools"].as_array().unwrap().iter().find(|one| one["name"] == tool).unwrap();
    valid(&least["outputSchema"], &result["structuredContent"]);
}

/// Holds a value to a definition of the official schema.
pub(crate) fn official(definition: &str, value: &Value) {
    static COMPILED: LazyLock<Mutex<BTreeMap<String, Arc<Validator>>>> = LazyLock::new(Mutex::default);
    let validator = {
        let mut compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
        let compile = || {
            let mut schema: Value = serde_json::from_str(OFFICIAL).unwrap();
            schema["$ref"] = json!(format!("#/$defs/{definition}"));
            Arc::new(jsonschema::draft202012::new(&schema).unwrap())
        };
        compiled.entry(definition.to_owned()).or_insert_with(compile).clone()
    };
    fits(&validator, value);
}

pub(crate) fn valid(schema: &Value, value: &Value) {
    fits(&jsonschema::draft202012::new(schema).unwrap(), value);
}

fn fits(validator: &Validator, value: &Value) {
    let faults: Vec<_> = validator.iter_errors(value).map(|fault| fault.to_string()).collect();
    assert!(faults.is_empty(), "{faults:?} in {value}");
}

pub(crate) async fn collect(response: Response<Full<Bytes>>) -> Answered {
    let (parts, body) = response.into_parts();
    let bytes = body.collect().await.unwrap().to_bytes();
    let body = if bytes.is_empty() { Value::Null } else { serde_json::from_slice(&bytes).unwrap() };
    Answered { status: parts.status.as_u16(), headers: parts.headers, body }
}
