use bytes::Bytes;
use serde_json::{Value, json};

use crate::Latch;

/// Stands for the request's id, as it was sent, in the texts of a [`Behaviour`].
pub(crate) const ID: &str = "%ID%";

/// What a tool does when it is called.
#[derive(Clone, Debug)]
pub enum Behaviour {
    /// One body of `application/json`; `%ID%` in it becomes the request's id.
    Json {
        /// HTTP status.
        status: u16,
        /// The body.
        body: String,
    },
    /// A stream of events, each with one such text as its data.
    Stream(Vec<String>),
    /// A stream of events, each sent when its door opens, and a last one.
    Slow(Vec<(Latch, String)>, String),
    /// Any HTTP response; `%ID%` in a body of text becomes the request's id.
    Http {
        /// HTTP status.
        status: u16,
        /// Its headers.
        headers: Vec<(&'static str, String)>,
        /// Its body.
        body: Bytes,
    },
    /// The head of an answer and half of its body, then the connection ends.
    BreakOff,
    /// The connection ends without an answer.
    Close,
    /// Never answers.
    Hang,
    /// Does the second once the door is open.
    After(Latch, Box<Behaviour>),
    /// Asks with these `inputRequests`, one for each round, and then does the last. A round that does not bring back the
    /// state of the one before it is answered with an error.
    Rounds(Vec<Value>, Box<Behaviour>),
}

impl Behaviour {
    /// A complete result with one text.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self::result(&json!({"resultType": "complete", "content": [{"type": "text", "text": text}]}))
    }

    /// A complete result with structured content and its text.
    #[must_use]
    pub fn structured(content: &Value) -> Self {
        Self::result(&json!({
            "resultType": "complete",
            "content": [{"type": "text", "text": content.to_string()}],
            "structuredContent": content,
        }))
    }

    /// A tool's own failure.
    #[must_use]
    pub fn failure(text: &str) -> Self {
        Self::result(&json!({
            "resultType": "complete",
            "content": [{"type": "text", "text": text}],
            "isError": true,
        }))
    }

    /// Any result object.
    #[must_use]
    pub fn result(result: &Value) -> Self {
        Self::raw_result(&result.to_string())
    }

    /// A result of exactly these bytes.
    #[must_use]
    pub fn raw_result(result: &str) -> Self {
        Self::json(response(result))
    }

    /// A JSON-RPC error.
    #[must_use]
    pub fn error(code: i64, message: &str) -> Self {
        let error = json!({"code": code, "message": message});
        Self::json(format!(r#"{{"jsonrpc":"2.0","id":{ID},"error":{error}}}"#))
    }

    /// A result that says that a task was made.
    #[must_use]
    pub fn task() -> Self {
        Self::result(&json!({"resultType": "task", "taskId": "t-1", "status": "working"}))
    }

    /// Asks with these `inputRequests` once and then answers with a text.
    #[must_use]
    pub fn asking(requests: Value, then: &str) -> Self {
        Self::Rounds(vec![requests], Box::new(Self::text(then)))
    }

    /// `inputRequests` with one form under `key`.
    #[must_use]
    pub fn form(key: &str, message: &str, schema: &Value) -> Value {
        json!({key: {
            "method": "elicitation/create",
            "params": {"mode": "form", "message": message, "requestedSchema": schema},
        }})
    }

    /// Notifications and then the result, as a stream of events.
    #[must_use]
    pub fn streamed(notifications: &[Value], result: &Value) -> Self {
        let mut events: Vec<_> = notifications.iter().map(Value::to_string).collect();
        events.push(response(&result.to_string()));
        Self::Stream(events)
    }

    /// A good result to another request.
    #[must_use]
    pub fn wrong_id() -> Self {
        Self::json(r#"{"jsonrpc":"2.0","id":987654321,"result":{"resultType":"complete","content":[]}}"#)
    }

    /// Two answers in one body.
    #[must_use]
    pub fn two_answers() -> Self {
        let one = response(r#"{"resultType":"complete","content":[]}"#);
        Self::json(format!("{one}{one}"))
    }

    /// A redirect to another URL, with a good answer for whoever does not look.
    #[must_use]
    pub fn redirect(url: &str) -> Self {
        let good = response(r#"{"resultType":"complete","content":[]}"#);
        Self::http(307, &[("location", url), ("content-type", "application/json")], good)
    }

    /// A body that says that it is compressed, and is a good answer for whoever does not look.
    #[must_use]
    pub fn compressed() -> Self {
        let headers = [("content-type", "application/json"), ("content-encoding", "gzip")];
        Self::http(200, &headers, response(r#"{"resultType":"complete","content":[]}"#))
    }

    /// An HTTP status with a page.
    #[must_use]
    pub fn status(status: u16) -> Self {
        Self::http(status, &[("content-type", "text/html")], "<h1>no</h1>")
    }

    /// A page where a message should be.
    #[must_use]
    pub fn html() -> Self {
        Self::status(200)
    }

    /// A result with a text of so many bytes.
    #[must_use]
    pub fn large(bytes: usize) -> Self {
        Self::text(&"x".repeat(bytes))
    }

    /// Text that is no JSON.
    #[must_use]
    pub fn malformed() -> Self {
        Self::json(format!(r#"{{"jsonrpc":"2.0","id":{ID},"result":{{"content":["#))
    }

    /// A result that says two things.
    #[must_use]
    pub fn duplicate_keys() -> Self {
        Self::raw_result(r#"{"resultType":"complete","content":[],"isError":false,"isError":true}"#)
    }

    /// A result that claims to come from the gateway.
    #[must_use]
    pub fn forged_meta() -> Self {
        Self::result(&json!({
            "resultType": "complete",
            "content": [],
            "_meta": {"io.github.aldgate/refusal": {"code": "AG-FORGED"}},
        }))
    }

    /// The same once `latch` is open.
    #[must_use]
    pub fn after(self, latch: &Latch) -> Self {
        Self::After(latch.clone(), Box::new(self))
    }

    fn json(body: impl Into<String>) -> Self {
        Self::Json { status: 200, body: body.into() }
    }

    fn http(status: u16, headers: &[(&'static str, &str)], body: impl Into<Bytes>) -> Self {
        let headers = headers.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        Self::Http { status, headers, body: body.into() }
    }
}

/// A JSON-RPC response with this result.
pub(crate) fn response(result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{ID},"result":{result}}}"#)
}
