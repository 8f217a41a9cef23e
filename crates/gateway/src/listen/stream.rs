//! The events of one subscription, from the acknowledgement to its end.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use aldgate_authority::Principal;
use aldgate_wire::request::RequestId;
use aldgate_wire::response::response_bytes;
use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures::stream;
use serde_json::json;
use serde_json::value::RawValue;
use time::OffsetDateTime;
use tokio::time::Instant;

use super::opening::{Digests, View, kinds, view};
use super::{ListChange, Opened, Seat, Wanted};
use crate::catalog::listed;
use crate::gate::Gate;
use crate::identify::Credentials;
use crate::line::{KEEP_ALIVE, event};
use crate::reply;
use crate::serving::Lasting;

/// The key under which every message of a subscription names it.
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// One subscription and its client.
struct Subscription {
    gate: Arc<Gate>,
    id: RequestId,
    principal: Principal,
    credentials: Credentials,
    wanted: Wanted,
    view: View,
    /// Given up last, so that nothing is marked for a subscription that has ended.
    seat: Seat,
    /// Events that are to be sent.
    ready: VecDeque<Bytes>,
    ended: bool,
}

/// The response of a subscription: a stream that begins with the acknowledgement.
pub(crate) fn response(
    gate: Arc<Gate>,
    id: RequestId,
    principal: Principal,
    credentials: Credentials,
    opened: Opened,
) -> Response {
    let Opened { seat, view, honoured } = opened;
    let mut subscription = Subscription {
        gate,
        id,
        principal,
        credentials,
        wanted: honoured,
        view,
        seat,
        ready: VecDeque::new(),
        ended: false,
    };
    let acknowledged = subscription.wanted.as_filter().to_string();
    subscription
        .tell("notifications/subscriptions/acknowledged", &format!(r#","notifications":{acknowledged}"#));
    // Boxed: what a stream needs only while it works is not kept by each that is idle.
    let events = stream::unfold(Box::new(subscription), |mut subscription| async move {
        let next = subscription.next().await?;
        Some((Ok::<_, std::io::Error>(next), subscription))
    });
    let mut response = reply::event_stream(Body::from_stream(events));
    response.extensions_mut().insert(Lasting);
    response
}

impl Subscription {
    /// The next event, or a comment where there is none for a while; `None` after the end.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            if self.ended {
                return None;
            }
            // Registered before the look, so that a mark in between is not missed.
            let wake = Instant::now() + self.gate.settings.bounds.keep_alive.min(self.left());
            let listener = self.seat.listener.clone();
            if tokio::time::timeout_at(wake, listener.wake.notified()).await.is_ok() {
                Box::pin(self.look()).await;
            } else if self.left().is_zero() {
                self.end();
            } else {
                return Some(Bytes::from_static(KEEP_ALIVE));
            }
        }
    }

    /// How long the credentials are good.
    fn left(&self) -> Duration {
        let Some(end) = self.credentials.expires_at else { return Duration::MAX };
        Duration::try_from(end - OffsetDateTime::now_utc()).unwrap_or(Duration::ZERO)
    }

    /// Makes events of what is marked.
    async fn look(&mut self) {
        let pending = self.seat.listener.take();
        if pending.ended {
            return self.end();
        }
        let mut changed: Vec<ListChange> = Vec::new();
        if pending.recheck && !self.recheck(&mut changed).await {
            return self.end();
        }
        // Only of an upstream of which the principal sees something.
        for (list, upstream) in pending.lists {
            if self.view.lists.has(list)
                && !changed.contains(&list)
                && sees(&self.view, &self.principal, list, &upstream)
            {
                changed.push(list);
            }
        }
        for list in ListChange::ALL.into_iter().filter(|list| changed.contains(list)) {
            self.tell(list.method(), "");
        }
        for uri in pending.uris {
            // A subscription may have been lost since it was marked.
            if self.view.watched.keys().any(|subscribed| uri.starts_with(subscribed.as_str())) {
                let uri = serde_json::Value::from(uri).to_string();
                self.tell("notifications/resources/updated", &format!(r#","uri":{uri}"#));
            }
        }
    }

    /// Looks up anew what the principal may hear of; false where that is nothing.
    async fn recheck(&mut self, changed: &mut Vec<ListChange>) -> bool {
        let snapshot = self.gate.snapshot();
        if !Arc::ptr_eq(&snapshot, &self.view.snapshot) {
            let now = OffsetDateTime::now_utc();
            let identity = snapshot.identity.authenticate(self.credentials.value.as_deref(), now).await;
            let Ok(identity) = identity else { return false };
            if !identity.principal.is_same(&self.principal)
                || identity.principal.tenant != self.principal.tenant
            {
                return false;
            }
            self.principal = identity.principal;
            self.credentials.expires_at = identity.expires_at;
            let before = self.view.digests;
            let (view, _refused) = view(&snapshot, &self.principal, &self.wanted, &self.seat);
            self.view = view;
            changed.extend(self.view.digests.differing(&before));
        } else {
            let now = Digests::of(&snapshot, &self.principal, self.view.lists);
            changed.extend(now.differing(&self.view.digests));
            self.view.digests = now;
        }
        changed.retain(|list| self.view.lists.has(*list));
        self.view.lists.any() || !self.view.watched.is_empty() || self.wants_nothing()
    }

    fn wants_nothing(&self) -> bool {
        !self.wanted.lists.any() && self.wanted.uris.is_empty()
    }

    /// A notification, with the subscription's id as the client spelled it.
    fn tell(&mut self, method: &str, rest: &str) {
        let id = self.id.as_raw().get();
        let message = format!(
            r#"{{"jsonrpc":"2.0","method":"{method}","params":{{"_meta":{{"{SUBSCRIPTION}":{id}}}{rest}}}}}"#
        );
        self.ready.push_back(event(message.as_bytes()));
    }

    /// The subscription ends with the answer to its request.
    fn end(&mut self) {
        if self.ended {
            return;
        }
        self.ended = true;
        let mut meta = reply::own_meta();
        if let serde_json::Value::Object(members) = &mut meta {
            let id = serde_json::from_str::<Box<RawValue>>(self.id.as_raw().get());
            members.insert(SUBSCRIPTION.to_owned(), json!(id.ok()));
        }
        let result = json!({"resultType": "complete", "_meta": meta}).to_string();
        self.ready.push_back(event(&response_bytes(&self.id, result.as_bytes())));
    }
}

/// Whether the principal's list has something of the upstream.
fn sees(view: &View, principal: &Principal, list: ListChange, upstream: &str) -> bool {
    kinds(list).iter().any(|kind| listed(&view.snapshot, principal, *kind).has(upstream))
}
