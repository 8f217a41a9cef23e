use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::Body;
use axum::extract::State as Shared;
use http::{Request, Response, StatusCode};
use http_body_util::BodyExt as _;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::behaviour::Behaviour;
use crate::ears::Ears;
use crate::respond::{self, Asked, Closed};
use crate::seen::Seen;
use crate::serving::Serving;

/// A fake MCP server. Its clones are the same server.
#[derive(Clone, Debug)]
pub struct Upstream(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    state: Mutex<State>,
    arrived: watch::Sender<usize>,
    ears: Ears,
}

#[derive(Debug)]
struct State {
    server: String,
    tools: Vec<Box<RawValue>>,
    /// What it lists instead to who shows this bearer token.
    tools_for: BTreeMap<String, Vec<Box<RawValue>>>,
    behaviours: BTreeMap<String, Behaviour>,
    /// What a tool does first, once each.
    turns: BTreeMap<String, VecDeque<Behaviour>>,
    listing: Option<Behaviour>,
    /// The elements of further lists, by method.
    lists: BTreeMap<&'static str, Vec<Box<RawValue>>>,
    /// What it says that it can, where that is not what it can.
    declared: Option<Value>,
    /// What further methods do.
    methods: BTreeMap<String, Behaviour>,
    closing: bool,
    seen: Vec<Seen>,
}

#[derive(Deserialize)]
struct Message {
    id: Option<Box<RawValue>>,
    #[serde(default)]
    method: String,
    #[serde(default)]
    params: Value,
}

impl Upstream {
    /// A server without tools that calls itself `server`.
    #[must_use]
    pub fn new(server: &str) -> Self {
        let state = State {
            server: server.to_owned(),
            tools: Vec::new(),
            tools_for: BTreeMap::new(),
            behaviours: BTreeMap::new(),
            turns: BTreeMap::new(),
            listing: None,
            lists: BTreeMap::new(),
            declared: None,
            methods: BTreeMap::new(),
            closing: false,
            seen: Vec::new(),
        };
        let (state, arrived) = (Mutex::new(state), watch::Sender::new(0));
        Self(Arc::new(Inner { state, arrived, ears: Ears::default() }))
    }

    /// The same server with one more tool: its definition as it is served, and what it does.
    ///
    /// # Errors
    /// A definition that is not JSON.
    pub fn tool(self, name: &str, definition: &str, does: Behaviour) -> Result<Self, serde_json::Error> {
        let definition = RawValue::from_string(definition.to_owned())?;
        let mut state = self.state();
        state.tools.push(definition);
        state.behaviours.insert(name.to_owned(), does);
        drop(state);
        Ok(self)
    }

    /// From now on a tool does this.
    pub fn does(&self, name: &str, behaviour: Behaviour) {
        self.state().behaviours.insert(name.to_owned(), behaviour);
    }

    /// A tool does these in turn, once each, before it does again what it did.
    pub fn does_first(&self, name: &str, behaviours: impl IntoIterator<Item = Behaviour>) {
        self.state().turns.insert(name.to_owned(), behaviours.into_iter().collect());
    }

    /// From now on these definitions are listed; what the tools do stays.
    ///
    /// # Errors
    /// A definition that is not JSON.
    pub fn lists(&self, definitions: &[&str]) -> Result<(), serde_json::Error> {
        let tools = raw(definitions)?;
        self.state().tools = tools;
        Ok(())
    }

    /// From now on these definitions are listed to who shows this bearer token, whatever others are shown.
    ///
    /// # Errors
    /// A definition that is not JSON.
    pub fn lists_to(&self, bearer: &str, definitions: &[&str]) -> Result<(), serde_json::Error> {
        let tools = raw(definitions)?;
        self.state().tools_for.insert(bearer.to_owned(), tools);
        Ok(())
    }

    /// From now on `server/discover` and `tools/list` do this; with `None` they answer again.
    pub fn lists_by(&self, behaviour: Option<Behaviour>) {
        self.state().listing = behaviour;
    }

    /// From now on one more of its lists has these elements: `resources/list`, `resources/templates/list` or
    /// `prompts/list`. With the first one the server says that it can.
    ///
    /// # Errors
    /// An element that is not JSON.
    pub fn offers(&self, list: &'static str, elements: &[&str]) -> Result<(), serde_json::Error> {
        let elements = raw(elements)?;
        self.state().lists.insert(list, elements);
        Ok(())
    }

    /// From now on a method other than `tools/call` does this.
    pub fn answers(&self, method: &str, behaviour: Behaviour) {
        self.state().methods.insert(method.to_owned(), behaviour);
    }

    /// From now on the server says that it can this.
    pub fn declares(&self, capabilities: Value) {
        self.state().declared = Some(capabilities);
    }

    /// Those who listen to changes.
    #[must_use]
    pub fn ears(&self) -> &Ears {
        &self.0.ears
    }

    /// From now on the server calls itself this.
    pub fn is_called(&self, server: &str) {
        server.clone_into(&mut self.state().server);
    }

    /// From now on every answer ends its connection.
    pub fn ends_connections(&self) {
        self.state().closing = true;
    }

    /// The calls of a tool, in the order in which they came.
    #[must_use]
    pub fn calls(&self, name: &str) -> Vec<Seen> {
        let called = |seen: &&Seen| seen.method == "tools/call" && seen.name.as_deref() == Some(name);
        self.state().seen.iter().filter(called).cloned().collect()
    }

    /// Every request, in the order in which they came.
    #[must_use]
    pub fn seen(&self) -> Vec<Seen> {
        self.state().seen.clone()
    }

    /// Returns once a tool was called so many times, answered or not.
    pub async fn was_called(&self, name: &str, times: usize) {
        let mut arrived = self.0.arrived.subscribe();
        // The sender lives as long as `self`.
        let _ = arrived.wait_for(|_| self.calls(name).len() >= times).await;
    }

    /// The server as a router, for a gateway that runs it inside its process; its endpoint is `/mcp`.
    pub fn router(&self) -> Router {
        Router::new().route("/mcp", axum::routing::any(in_process)).with_state(self.clone())
    }

    /// Serves on a free port of the loopback interface.
    ///
    /// # Errors
    /// Where the port cannot be had.
    pub async fn serve(&self) -> std::io::Result<Serving> {
        Serving::start(self.clone()).await
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) async fn answer(&self, request: Request<Body>) -> Result<Response<Body>, Closed> {
        let (parts, body) = request.into_parts();
        let bytes = body.collect().await.map_err(|_| Closed)?.to_bytes();
        let body = String::from_utf8_lossy(&bytes).into_owned();
        let Ok(message) = serde_json::from_str::<Message>(&body) else {
            return Ok(respond::error(400, -32700, "not one JSON-RPC message", "null"));
        };
        let name = message.params.get("name").and_then(Value::as_str).map(str::to_owned);
        let seen = Seen {
            method: message.method.clone(),
            name: name.clone(),
            body,
            params: message.params.clone(),
            headers: parts.headers,
        };
        let bearer = seen.bearer().to_owned();
        let closing = {
            let mut state = self.state();
            state.seen.push(seen);
            state.closing
        };
        self.0.arrived.send_modify(|count| *count += 1);
        let mut response = self.reply(&message, name.as_deref(), &bearer).await?;
        if closing {
            respond::closing(&mut response);
        }
        Ok(response)
    }

    async fn reply(
        &self,
        message: &Message,
        name: Option<&str>,
        bearer: &str,
    ) -> Result<Response<Body>, Closed> {
        let id = message.id.as_deref().map_or("null", RawValue::get);
        let state = message.params.get("requestState").and_then(Value::as_str);
        let asked = Asked { id, state };
        let scripted = self.state().methods.get(&message.method).cloned();
        if let Some(behaviour) = scripted {
            return respond::respond(behaviour, asked).await;
        }
        if message.method == "subscriptions/listen" && !self.state().lists.is_empty() {
            return Ok(self.0.ears.listen(id, &message.params));
        }
        if let Some(list) = self.further_list(&message.method) {
            return Ok(respond::result(&list, id));
        }
        let behaviour = match message.method.as_str() {
            "server/discover" | "tools/list" => self.state().listing.clone(),
            "tools/call" => match self.turn(name.unwrap_or_default()) {
                Some(behaviour) => Some(behaviour),
                None => return Ok(respond::error(200, -32602, "unknown tool", id)),
            },
            _ => return Ok(respond::error(404, -32601, "method not found", id)),
        };
        match behaviour {
            Some(behaviour) => respond::respond(behaviour, asked).await,
            None if message.method == "tools/list" => Ok(respond::result(&self.list(bearer), id)),
            None => Ok(respond::result(&self.discovery(), id)),
        }
    }

    fn turn(&self, name: &str) -> Option<Behaviour> {
        let mut state = self.state();
        let first = state.turns.get_mut(name).and_then(VecDeque::pop_front);
        first.or_else(|| state.behaviours.get(name).cloned())
    }

    fn discovery(&self) -> String {
        json!({
            "resultType": "complete",
            "supportedVersions": ["2026-07-28"],
            "capabilities": self.capabilities(),
            "ttlMs": 0,
            "cacheScope": "public",
            "_meta": {"io.modelcontextprotocol/serverInfo": {"name": self.state().server, "version": "1.0.0"}},
        })
        .to_string()
    }

    fn capabilities(&self) -> Value {
        let state = self.state();
        if let Some(declared) = &state.declared {
            return declared.clone();
        }
        let lists = &state.lists;
        let mut can = serde_json::Map::new();
        let mut put = |what: &str, how: Value| can.insert(what.to_owned(), how);
        put("tools", json!({"listChanged": !lists.is_empty()}));
        if lists.keys().any(|list| list.starts_with("resources/")) {
            put("resources", json!({"listChanged": true, "subscribe": true}));
        }
        if lists.contains_key("prompts/list") {
            put("prompts", json!({"listChanged": true}));
        }
        can.into()
    }

    fn further_list(&self, method: &str) -> Option<String> {
        let state = self.state();
        let elements = state.lists.get(method)?.iter().map(|raw| raw.get()).collect::<Vec<_>>().join(",");
        let member = match method {
            "prompts/list" => "prompts",
            "resources/list" => "resources",
            _ => "resourceTemplates",
        };
        Some(format!(
            r#"{{"resultType":"complete","{member}":[{elements}],"ttlMs":0,"cacheScope":"public"}}"#
        ))
    }

    fn list(&self, bearer: &str) -> String {
        let state = self.state();
        let tools = state.tools_for.get(bearer).unwrap_or(&state.tools);
        let tools: Vec<&str> = tools.iter().map(|raw| raw.get()).collect();
        format!(
            r#"{{"resultType":"complete","tools":[{}],"ttlMs":0,"cacheScope":"public"}}"#,
            tools.join(",")
        )
    }
}

fn raw(texts: &[&str]) -> Result<Vec<Box<RawValue>>, serde_json::Error> {
    texts.iter().map(|text| RawValue::from_string((*text).to_owned())).collect()
}

async fn in_process(Shared(upstream): Shared<Upstream>, request: Request<Body>) -> Response<Body> {
    upstream.answer(request).await.unwrap_or_else(|Closed| {
        // Inside the process there is no connection to end; a proxy would say this.
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::BAD_GATEWAY;
        response
    })
}
