//! One stream on which an upstream tells of changes, from its acknowledgement on.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use aldgate_wire::guard::Limits;
use aldgate_wire::request::Method;
use aldgate_wire::response::{Message, read_message};
use aldgate_wire::sse::Decoder;
use axum::body::Body;
use http_body_util::BodyExt as _;
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::listen::{ListChange, Lists, Wanted};
use crate::upstream::exchange::{MAX_DEPTH, Outgoing};
use crate::upstream::hidden::Hidden;
use crate::upstream::shown::Whose;
use crate::upstream::{ExchangeFault, Upstream};

/// Bytes of one event: an acknowledgement repeats all that was asked for.
const MAX_EVENT: usize = 512 << 10;
/// How long an upstream may take to acknowledge.
const MAX_WAIT: Duration = Duration::from_secs(10);

/// One stream of an upstream that has acknowledged.
pub(super) struct Hearing {
    id: u64,
    body: Body,
    hidden: Hidden,
    decoder: Decoder,
    events: std::vec::IntoIter<Vec<u8>>,
    pub(super) asked: Wanted,
    /// The lists that the upstream acknowledged.
    lists: Lists,
    /// The URIs that it acknowledged.
    pub(super) uris: Arc<BTreeSet<String>>,
}

/// What an upstream tells.
pub(super) enum Told {
    Listed(ListChange),
    Updated(String),
}

/// Asks an upstream to tell of changes, and waits for its acknowledgement.
pub(super) async fn hear(upstream: &Upstream, asked: Wanted) -> Result<Hearing, ExchangeFault> {
    let slow = ExchangeFault::TimedOut { seconds: MAX_WAIT.as_secs() };
    tokio::time::timeout(MAX_WAIT, acknowledged(upstream, asked)).await.unwrap_or(Err(slow))
}

async fn acknowledged(upstream: &Upstream, asked: Wanted) -> Result<Hearing, ExchangeFault> {
    let filter = to_raw_value(&asked.as_filter()).map_err(ExchangeFault::Request)?;
    let (id, body, headers) = upstream.own_request(Method::Listen, None, &[("notifications", &*filter)])?;
    let (body, hidden) = upstream.wire.open(Outgoing { body, headers, id, whose: Whose::Gateway }).await?;
    let mut hearing = Hearing {
        id,
        body,
        hidden,
        decoder: Decoder::new(MAX_EVENT),
        events: Vec::new().into_iter(),
        asked,
        lists: Lists::default(),
        uris: Arc::default(),
    };
    let Some(Message::Notification { method, params }) = hearing.message().await? else {
        return Err(ExchangeFault::Unacknowledged);
    };
    let honoured = params.as_deref().filter(|_| method == "notifications/subscriptions/acknowledged");
    let honoured = honoured.filter(|params| hearing.is_ours(params)).and_then(acknowledgement);
    let honoured = honoured.ok_or(ExchangeFault::Unacknowledged)?;
    // What was not asked for is not taken, whatever is acknowledged.
    let asked = &hearing.asked;
    hearing.lists = Lists {
        tools: asked.lists.tools && honoured.tools_list_changed,
        prompts: asked.lists.prompts && honoured.prompts_list_changed,
        resources: asked.lists.resources && honoured.resources_list_changed,
    };
    let uris = honoured.resource_subscriptions.into_iter().filter(|uri| asked.uris.contains(uri));
    hearing.uris = Arc::new(uris.collect());
    Ok(hearing)
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Honoured {
    tools_list_changed: bool,
    prompts_list_changed: bool,
    resources_list_changed: bool,
    resource_subscriptions: Vec<String>,
}

/// What an acknowledgement honours.
fn acknowledgement(params: &RawValue) -> Option<Honoured> {
    #[derive(Deserialize)]
    struct Acknowledged {
        #[serde(default)]
        notifications: Honoured,
    }
    let acknowledged: Acknowledged = serde_json::from_str(params.get()).ok()?;
    Some(acknowledged.notifications)
}

impl Hearing {
    /// What is told next; `None` when the upstream ends the stream. What was not asked for is dropped.
    pub(super) async fn next(&mut self) -> Result<Option<Told>, ExchangeFault> {
        loop {
            let Some(Message::Notification { method, params }) = self.message().await? else {
                return Ok(None);
            };
            let Some(params) = params.filter(|params| self.is_ours(params)) else { continue };
            let list = ListChange::ALL.into_iter().find(|list| list.method() == method);
            if let Some(list) = list.filter(|list| self.lists.has(*list)) {
                return Ok(Some(Told::Listed(list)));
            }
            if method == "notifications/resources/updated"
                && let Some(uri) = updated_uri(&params)
            {
                return Ok(Some(Told::Updated(uri)));
            }
        }
    }

    /// The next message; `None` at the end.
    async fn message(&mut self) -> Result<Option<Message>, ExchangeFault> {
        let limits = Limits { max_bytes: MAX_EVENT, max_depth: MAX_DEPTH };
        loop {
            if let Some(data) = self.events.next() {
                return Ok(Some(read_message(&self.hidden.out_of(&data), self.id, &limits)?));
            }
            let Some(frame) = self.body.frame().await else { return Ok(None) };
            let frame = frame.map_err(|fault| ExchangeFault::Broken(fault.into()))?;
            let Some(piece) = frame.data_ref() else { continue };
            let events = self.decoder.push(piece)?.into_iter();
            let messages = events
                .filter(|event| event.kind == "message" && !event.data.iter().all(u8::is_ascii_whitespace));
            self.events = messages.map(|event| event.data).collect::<Vec<_>>().into_iter();
        }
    }

    /// Whether a notification names this subscription. A server that spells the number as a string means the same.
    fn is_ours(&self, params: &RawValue) -> bool {
        #[derive(Deserialize)]
        struct Params {
            #[serde(rename = "_meta")]
            meta: Meta,
        }
        #[derive(Deserialize)]
        struct Meta {
            #[serde(rename = "io.modelcontextprotocol/subscriptionId")]
            subscription: serde_json::Value,
        }
        let Ok(params) = serde_json::from_str::<Params>(params.get()) else { return false };
        match params.meta.subscription {
            serde_json::Value::Number(number) => number.as_u64() == Some(self.id),
            serde_json::Value::String(text) => text == self.id.to_string(),
            _ => false,
        }
    }
}

/// The URI of a resource that changed, where it is one that can be.
fn updated_uri(params: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    struct Updated {
        uri: String,
    }
    let updated: Updated = serde_json::from_str(params.get()).ok()?;
    aldgate_authority::Uri::parse(&updated.uri).is_ok().then_some(updated.uri)
}
