use bytes::Bytes;
use http::{HeaderName, HeaderValue, Request};
use serde_json::{Value, json};

use crate::client::ClientFault;

const VERSION: &str = "2026-07-28";

/// A request of a client, as it will stand on the wire. Its texts are put in as they are.
#[derive(Clone, Debug)]
pub struct Call {
    id: String,
    method: String,
    name: Option<String>,
    arguments: Option<String>,
    responses: Option<Value>,
    state: Option<String>,
    capabilities: Value,
    meta: Vec<(String, Value)>,
    body: Option<Vec<u8>>,
    headers: Vec<(String, Option<String>)>,
    /// Further members of `params`.
    params: Vec<(String, Value)>,
}

impl Call {
    /// A request of `method` with id 1.
    #[must_use]
    pub fn method(method: &str) -> Self {
        Self {
            id: "1".to_owned(),
            method: method.to_owned(),
            name: None,
            arguments: None,
            responses: None,
            state: None,
            capabilities: json!({}),
            meta: Vec::new(),
            body: None,
            headers: Vec::new(),
            params: Vec::new(),
        }
    }

    /// The same with one more member in `params`.
    #[must_use]
    pub fn param(mut self, key: &str, value: Value) -> Self {
        self.params.push((key.to_owned(), value));
        self
    }

    /// Gets a prompt with these arguments.
    #[must_use]
    pub fn prompt(name: &str, arguments: &Value) -> Self {
        Self { arguments: Some(arguments.to_string()), ..Self::method("prompts/get").named(name) }
    }

    /// Reads a resource.
    #[must_use]
    pub fn resource(uri: &str) -> Self {
        Self::method("resources/read").param("uri", uri.into()).header("mcp-name", uri)
    }

    /// Listens to changes.
    #[must_use]
    pub fn listen(notifications: Value) -> Self {
        Self::method("subscriptions/listen").param("notifications", notifications)
    }

    fn named(self, name: &str) -> Self {
        Self { name: Some(name.to_owned()), ..self }
    }

    /// A call of a tool with arguments of exactly these bytes.
    #[must_use]
    pub fn tool(name: &str, arguments: &str) -> Self {
        Self {
            name: Some(name.to_owned()),
            arguments: Some(arguments.to_owned()),
            ..Self::method("tools/call")
        }
    }

    /// With this id, as JSON text.
    #[must_use]
    pub fn id(self, id: &str) -> Self {
        Self { id: id.to_owned(), ..self }
    }

    /// With elicitation by form declared.
    #[must_use]
    pub fn with_forms(self) -> Self {
        self.declaring(json!({"elicitation": {"form": {}}}))
    }

    /// With these capabilities declared.
    #[must_use]
    pub fn declaring(self, capabilities: Value) -> Self {
        Self { capabilities, ..self }
    }

    /// With the state of an earlier answer.
    #[must_use]
    pub fn state(self, state: &str) -> Self {
        Self { state: Some(state.to_owned()), ..self }
    }

    /// With answers to what was asked.
    #[must_use]
    pub fn answering(self, responses: Value) -> Self {
        Self { responses: Some(responses), ..self }
    }

    /// With one more member in `_meta`; a `null` takes the member out.
    #[must_use]
    pub fn meta(mut self, key: &str, value: Value) -> Self {
        self.meta.push((key.to_owned(), value));
        self
    }

    /// With one more header, even if there is one of that name already.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), Some(value.to_owned())));
        self
    }

    /// Without this header.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.headers.push((name.to_owned(), None));
        self
    }

    /// With exactly this body; the headers stay those of the request that this was.
    #[must_use]
    pub fn body(self, body: impl Into<Vec<u8>>) -> Self {
        Self { body: Some(body.into()), ..self }
    }

    /// The body as it will be sent.
    #[must_use]
    pub fn text(&self) -> String {
        if let Some(body) = &self.body {
            return String::from_utf8_lossy(body).into_owned();
        }
        let mut meta = json!({
            "io.modelcontextprotocol/protocolVersion": VERSION,
            "io.modelcontextprotocol/clientCapabilities": self.capabilities,
            "io.modelcontextprotocol/clientInfo": {"name": "testkit", "version": "1.0.0"},
        });
        if let Value::Object(members) = &mut meta {
            for (key, value) in &self.meta {
                match value {
                    Value::Null => members.remove(key),
                    value => members.insert(key.clone(), value.clone()),
                };
            }
        }
        let quoted = |text: &String| Value::from(text.as_str()).to_string();
        let members = [
            ("name", self.name.as_ref().map(quoted)),
            ("arguments", self.arguments.clone()),
            ("inputResponses", self.responses.as_ref().map(Value::to_string)),
            ("requestState", self.state.as_ref().map(quoted)),
            ("_meta", Some(meta.to_string())),
        ];
        let mut params: Vec<_> =
            members.iter().filter_map(|(key, text)| Some(format!(r#""{key}":{}"#, text.as_ref()?))).collect();
        params.extend(self.params.iter().map(|(key, value)| format!(r#""{key}":{value}"#)));
        let (id, method) = (&self.id, &self.method);
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{}}}}}"#, params.join(","))
    }

    /// The HTTP request. `Host` is the address that it is sent to, unless a header says otherwise.
    pub(crate) fn request(
        &self,
        path: &str,
        host: &str,
        token: Option<&str>,
    ) -> Result<Request<Bytes>, ClientFault> {
        let body = self.body.clone().unwrap_or_else(|| self.text().into_bytes());
        let mut request = Request::post(path)
            .header("host", host)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", VERSION)
            .header("mcp-method", &self.method)
            .header("content-length", body.len());
        if let Some(name) = &self.name {
            request = request.header("mcp-name", name);
        }
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let mut request = request.body(Bytes::from(body)).map_err(ClientFault::Request)?;
        for (name, value) in &self.headers {
            let name = HeaderName::try_from(name).map_err(|fault| ClientFault::Request(fault.into()))?;
            match value {
                Some(value) => {
                    let value =
                        HeaderValue::try_from(value).map_err(|fault| ClientFault::Request(fault.into()))?;
                    request.headers_mut().append(name, value);
                }
                None => {
                    request.headers_mut().remove(name);
                }
            }
        }
        Ok(request)
    }
}
