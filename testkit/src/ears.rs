//! Those who listen to a fake's changes.

use std::sync::{Mutex, MutexGuard, PoisonError};

use axum::body::Body;
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Response};
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};

use crate::respond;

const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// Every stream of changes that is open.
#[derive(Debug)]
pub struct Ears {
    open: Mutex<Vec<Ear>>,
    /// Counts the streams that were ever opened.
    opened: watch::Sender<usize>,
    /// Resources that are not acknowledged, and those for which the whole request is refused.
    refused: Mutex<(Vec<String>, Vec<String>)>,
}

#[derive(Debug)]
struct Ear {
    id: String,
    wants: Value,
    events: mpsc::UnboundedSender<Option<Bytes>>,
}

impl Default for Ears {
    fn default() -> Self {
        Self { open: Mutex::default(), opened: watch::Sender::new(0), refused: Mutex::default() }
    }
}

impl Ears {
    /// From now on these resources are not acknowledged, and a request with one of `never` is refused as a whole.
    pub fn refuse(&self, these: &[&str], never: &[&str]) {
        let owned = |uris: &[&str]| uris.iter().map(|uri| (*uri).to_owned()).collect();
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = (owned(these), owned(never));
    }

    /// Opens a stream that acknowledges all that is asked for, but for what is refused.
    pub(crate) fn listen(&self, id: &str, params: &Value) -> Response<Body> {
        let mut wants = params.get("notifications").cloned().unwrap_or_default();
        let (these, never) = self.refused.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(uris) = wants.get_mut("resourceSubscriptions").and_then(Value::as_array_mut) {
            let among = |uri: &Value, all: &[String]| {
                uri.as_str().is_some_and(|uri| all.iter().any(|one| one == uri))
            };
            if uris.iter().any(|uri| among(uri, &never)) {
                return respond::error(200, -32602, "not this one", id);
            }
            uris.retain(|uri| !among(uri, &these));
        }
        let (events, mut waiting) = mpsc::unbounded_channel();
        let acknowledged = json!({"notifications": wants.clone()});
        let ear = Ear { id: id.to_owned(), wants, events };
        ear.tell("notifications/subscriptions/acknowledged", acknowledged);
        self.open().push(ear);
        self.opened.send_modify(|count| *count += 1);
        let stream = futures::stream::poll_fn(move |context| {
            waiting.poll_recv(context).map(|event| event.flatten().map(Ok::<_, std::io::Error>))
        });
        let mut response = Response::new(Body::from_stream(stream));
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        response
    }

    /// Sends a notification on every stream, whether or not it was asked for.
    pub fn tell(&self, method: &str, params: &Value) {
        self.open().retain(|ear| ear.tell(method, params.clone()));
    }

    /// Sends any event on every stream; `%ID%` in it becomes the id of the stream's request.
    pub fn say(&self, event: &str) {
        self.open().retain(|ear| ear.send(event.replace("%ID%", &ear.id)));
    }

    /// Ends every stream without a word.
    pub fn end(&self) {
        for ear in self.open().drain(..) {
            // The other side may have left already.
            let _ = ear.events.send(None);
        }
    }

    /// What is asked for on the streams that are open, oldest first.
    #[must_use]
    pub fn wants(&self) -> Vec<Value> {
        self.open().retain(|ear| !ear.events.is_closed());
        self.open().iter().map(|ear| ear.wants.clone()).collect()
    }

    /// Returns once so many streams were opened, ended or not.
    pub async fn were_opened(&self, times: usize) {
        // The sender lives as long as `self`.
        let _ = self.opened.subscribe().wait_for(|count| *count >= times).await;
    }

    fn open(&self) -> MutexGuard<'_, Vec<Ear>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ear {
    fn tell(&self, method: &str, mut params: Value) -> bool {
        let id: Value = serde_json::from_str(&self.id).unwrap_or_default();
        if let Some(members) = params.as_object_mut() {
            members.insert("_meta".to_owned(), json!({SUBSCRIPTION: id}));
        }
        self.send(json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string())
    }

    fn send(&self, data: String) -> bool {
        self.events.send(Some(Bytes::from(format!("data: {data}\n\n")))).is_ok()
    }
}
