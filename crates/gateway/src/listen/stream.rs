//! The events of one subscription, from the acknowledgement to its end.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use aldgate_authority::Principal;
use aldgate_identity::{Proof, Scopes, Unauthenticated, scopes};
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

use super::opening::{Digests, Held, View, kinds, may_hear, view};
use super::{ListChange, Opened, Seat, Wanted};
use crate::catalog::listed;
use crate::gate::Gate;
use crate::identify::{self, Credentials};
use crate::line::{KEEP_ALIVE, event};
use crate::reply;
use crate::scope::covers;
use crate::serving::Lasting;
use crate::snapshot::Snapshot;

/// The key under which every message of a subscription names it.
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// Under which the last message says why it is the last.
const ENDED: &str = "io.github.aldgate/ended";

/// Why a subscription ends before its client leaves.
#[derive(Clone, Copy)]
enum Why {
    Stopping,
    Expired,
    NotAuthenticated,
    NotPermitted,
    ContractChanged,
    NotTakenOn,
}

impl Why {
    /// The word that the client is told.
    const fn word(self) -> &'static str {
        match self {
            Self::Stopping => "stopping",
            Self::Expired => "expired",
            Self::NotAuthenticated => "not_authenticated",
            Self::NotPermitted => "not_permitted",
            Self::ContractChanged => "contract_changed",
            Self::NotTakenOn => "not_taken_on",
        }
    }
}

/// One subscription and its client.
struct Subscription {
    gate: Arc<Gate>,
    id: RequestId,
    principal: Arc<Principal>,
    scopes: Arc<Scopes>,
    credentials: Credentials,
    wanted: Wanted,
    view: View,
    /// Given up last, so that nothing is marked for a subscription that has ended.
    seat: Seat,
    /// When the credentials were looked at last.
    checked: Instant,
    /// Events that are to be sent.
    ready: VecDeque<Bytes>,
    ended: bool,
}

/// The response of a subscription: a stream that begins with the acknowledgement.
pub(crate) fn response(
    gate: Arc<Gate>,
    id: RequestId,
    principal: Arc<Principal>,
    credentials: Credentials,
    opened: Opened,
) -> Response {
    let Opened { seat, view, honoured, scopes } = opened;
    let mut subscription = Subscription {
        gate,
        id,
        principal,
        scopes,
        credentials,
        wanted: honoured,
        view,
        seat,
        checked: Instant::now(),
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
            // What was made ready for credentials that are good no more is not sent.
            if !self.ended && self.left().is_zero() {
                self.ready.clear();
                self.end(Why::Expired);
            }
            // However much there is to tell.
            if !self.ended && self.checked.elapsed() >= self.gate.settings.bounds.keep_alive {
                Box::pin(self.look_at_credentials()).await;
            }
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            if self.ended {
                return None;
            }
            let wake = Instant::now() + self.gate.settings.bounds.keep_alive.min(self.left());
            let listener = self.seat.listener.clone();
            // A mark that was set before this waits for it.
            if tokio::time::timeout_at(wake, listener.wake.notified()).await.is_ok() {
                Box::pin(self.look()).await;
            } else if !self.left().is_zero() {
                Box::pin(self.look_at_credentials()).await;
                if self.ready.is_empty() {
                    return Some(Bytes::from_static(KEEP_ALIVE));
                }
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
        let mut changed: Vec<ListChange> = Vec::new();
        // What is acknowledged holds to the end: where it cannot be kept, the client is to listen anew.
        let ended = if pending.ended {
            Some(Why::Stopping)
        } else if pending.lost.iter().any(|uri| self.view.held.contains_key(uri)) {
            Some(Why::NotTakenOn)
        } else if pending.recheck {
            self.recheck(&mut changed).await
        } else {
            None
        };
        if let Some(why) = ended {
            return self.end(why);
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
        self.tell_lists(&changed);
        let mut told = BTreeSet::new();
        for (subscribed, uri) in pending.uris {
            if !self.view.held.contains_key(&subscribed) {
                continue;
            }
            // Of a part that the principal may not listen to, the whole is told.
            let whole =
                uri == subscribed || !may_hear(&self.view.snapshot, &self.principal, &self.scopes, &uri);
            told.insert(if whole { subscribed } else { uri });
        }
        for uri in told {
            let uri = serde_json::Value::from(uri).to_string();
            self.tell("notifications/resources/updated", &format!(r#","uri":{uri}"#));
        }
    }

    /// Looks up anew whether what is acknowledged may still be heard of, and which lists have changed; why not, if not.
    async fn recheck(&mut self, changed: &mut Vec<ListChange>) -> Option<Why> {
        let snapshot = self.gate.snapshot();
        if Arc::ptr_eq(&snapshot, &self.view.snapshot) {
            let now = Digests::of(&snapshot, &self.principal, self.view.lists);
            changed.extend(now.differing(&self.view.digests));
            self.view.digests = now;
            return self.view.held.values().any(Held::is_changed).then_some(Why::ContractChanged);
        }
        match self.authenticate(&snapshot).await {
            Ok(_) => self.see(&snapshot, changed),
            Err(why) => Some(why),
        }
    }

    /// Ends the subscription where its credentials are good no more: they may be taken away at any time.
    async fn look_at_credentials(&mut self) {
        let snapshot = self.gate.snapshot();
        let mut changed = Vec::new();
        let ended = match self.authenticate(&snapshot).await {
            Ok(true) => self.see(&snapshot, &mut changed),
            Ok(false) => None,
            Err(why) => Some(why),
        };
        match ended {
            Some(why) => {
                self.ready.clear();
                self.end(why);
            }
            None => self.tell_lists(&changed),
        }
    }

    /// Looks up for whom the credentials stand now; whether anything of it changed, or why the subscription ends.
    async fn authenticate(&mut self, snapshot: &Snapshot) -> Result<bool, Why> {
        self.checked = Instant::now();
        let value = self.credentials.value.as_deref();
        let presented = identify::presented(&self.gate, value, Proof::Checked);
        let identity = match snapshot.identity.authenticate(&presented, OffsetDateTime::now_utc()).await {
            Ok(identity) => identity,
            // Nobody can tell. The next tick looks again.
            Err(Unauthenticated::Unavailable) => return Ok(false),
            Err(_) => return Err(Why::NotAuthenticated),
        };
        let same =
            identity.principal.is_same(&self.principal) && identity.principal.tenant == self.principal.tenant;
        if !same {
            return Err(Why::NotAuthenticated);
        }
        let changed = identity.principal != self.principal || identity.scopes != self.scopes;
        self.principal = identity.principal;
        self.scopes = identity.scopes;
        self.credentials.expires_at = identity.expires_at;
        Ok(changed)
    }

    /// Sees all anew, as the one whom the credentials stand for; why the subscription ends, where it does.
    fn see(&mut self, snapshot: &Arc<Snapshot>, changed: &mut Vec<ListChange>) -> Option<Why> {
        let before = self.view.digests;
        let (view, refused) = view(snapshot, &self.principal, &self.scopes, &self.wanted, &self.seat);
        self.view = view;
        changed.extend(self.view.digests.differing(&before));
        let nothing = !self.wanted.any() && !covers(&self.scopes, scopes::TOOLS_READ);
        if nothing || refused.lacks.contains(scopes::TOOLS_READ) {
            return Some(Why::NotAuthenticated);
        }
        refused.any().then_some(Why::NotPermitted)
    }

    fn tell_lists(&mut self, changed: &[ListChange]) {
        for list in ListChange::ALL.into_iter().filter(|list| changed.contains(list)) {
            self.tell(list.method(), "");
        }
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
    fn end(&mut self, why: Why) {
        if self.ended {
            return;
        }
        self.ended = true;
        let mut meta = reply::own_meta();
        if let serde_json::Value::Object(members) = &mut meta {
            let id = serde_json::from_str::<Box<RawValue>>(self.id.as_raw().get());
            members.insert(SUBSCRIPTION.to_owned(), json!(id.ok()));
            members.insert(ENDED.to_owned(), json!({"why": why.word()}));
        }
        let result = json!({"resultType": "complete", "_meta": meta}).to_string();
        self.ready.push_back(event(&response_bytes(&self.id, result.as_bytes())));
    }
}

/// Whether the principal's list has something of the upstream.
fn sees(view: &View, principal: &Principal, list: ListChange, upstream: &str) -> bool {
    kinds(list).iter().any(|kind| listed(&view.snapshot, principal, *kind).has(upstream))
}
