//! One request's journey. Each step takes the value that the step before it returned, so that none can be left out.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use aldgate_telemetry::Ended;
use aldgate_wire::request::RequestId;
use axum::body::Body;
use axum::response::Response;
use futures::FutureExt as _;
use http::Request;
use tokio::sync::OwnedSemaphorePermit;

use crate::approve::{self, Ready};
use crate::catalog::{self, Answer, Resolved};
use crate::gate::Gate;
use crate::head::Head;
use crate::identify::{Credentials, Identified};
use crate::line::Line;
use crate::listen::{self, Opened};
use crate::receive::{self, Received};
use crate::record::{self, Recorded};
use crate::refusal::Refusal;
use crate::trail::Trail;
use crate::unread::Unread;
use crate::{head, identify, line, observe, reply, rule, scope, upstream};

/// Governs one request from its head to its response.
pub(crate) async fn govern(gate: Arc<Gate>, request: Request<Body>) -> Response {
    let trail = match Trail::begin(gate.snapshot()) {
        Ok(trail) => trail,
        Err(fault) => return reply::bare(None, &Refusal::host("AG-INTERNAL", fault.to_string())),
    };
    let Ok(place) = gate.in_flight.clone().try_acquire_owned() else {
        let refusal = Refusal::busy("the gateway works on as many requests as it may; try again later");
        gate.telemetry.instruments().refusal(refusal.code());
        return Unread::of(request).past(reply::refused(&trail, &refusal)).await;
    };
    let mut underway = Underway { gate, trail, settled: false, _place: place };
    let mut unread = None;
    let travelled = AssertUnwindSafe(travel(&underway.gate, &mut underway.trail, request, &mut unread))
        .catch_unwind()
        .await;
    underway.settled = true;
    let ready = match travelled {
        Ok(Ok(Way::Accepted)) => return reply::recorded(&underway.trail, Recorded::Accepted),
        Ok(Ok(Way::Host(answer))) => match record::answer(&underway.gate, &underway.trail, answer).await {
            Ok(recorded) => return underway.reply(recorded),
            Err(refusal) => return underway.refuse(refusal).await,
        },
        Ok(Ok(Way::Listening(listening))) => return underway.listens(*listening).await,
        Ok(Ok(Way::Ready(ready))) => ready,
        Ok(Err(refusal)) => {
            let response = underway.refuse(refusal).await;
            // What nobody reads takes no place of those who call.
            drop(underway);
            return match unread {
                Some(body) => body.past(response).await,
                None => response,
            };
        }
        Err(_panic) => {
            underway.gate.counters.count_panic();
            return underway
                .refuse(Refusal::host("AG-INTERNAL", "the gateway failed; nothing was sent"))
                .await;
        }
    };
    // From the permit on, the call goes its way in a task of its own, whether or not the client stays.
    let gate = underway.gate.clone();
    let id = underway.trail.request_id.clone();
    let alive = gate.settings.bounds.keep_alive;
    let (line, client) = Line::new();
    // Boxed, so that the runtime does not move the whole of it about.
    let call = tokio::spawn(Box::pin(finish(underway, ready, line)));
    match line::response(client, call, alive).await {
        Ok(response) => response,
        Err(()) => {
            gate.counters.count_panic();
            reply::bare(id.as_ref(), &Refusal::unknown("the gateway was stopped"))
        }
    }
}

/// A request that is being worked on. One whose client leaves before it is settled leaves a row all the same.
struct Underway {
    gate: Arc<Gate>,
    trail: Trail,
    settled: bool,
    _place: OwnedSemaphorePermit,
}

impl Underway {
    /// The row of a subscription is written before its first event leaves.
    async fn listens(mut self, listening: Listening) -> Response {
        let Listening { opened, answer, id, credentials } = listening;
        let Some(principal) = self.trail.principal.clone() else {
            return self.refuse(Refusal::host("AG-INTERNAL", "nobody was identified")).await;
        };
        match record::answer(&self.gate, &self.trail, answer).await {
            Ok(_) => {
                observe::finished(&self.gate, &mut self.trail, &Ended::Well);
                listen::response(self.gate.clone(), id, principal, credentials, opened)
            }
            Err(refusal) => self.refuse(refusal).await,
        }
    }

    async fn refuse(&mut self, refusal: Refusal) -> Response {
        record::refusal(&self.gate, &self.trail, &refusal).await;
        self.refused(&refusal)
    }

    /// The response to a refusal whose evidence is written.
    fn refused(&mut self, refusal: &Refusal) -> Response {
        let response = reply::refused(&self.trail, refusal);
        observe::refused(&self.gate, &mut self.trail, refusal);
        response
    }

    /// The response to a request that came through.
    fn reply(&mut self, recorded: Recorded) -> Response {
        let response = reply::recorded(&self.trail, recorded);
        let ended = std::mem::replace(&mut self.trail.seen.ended, Ended::Well);
        observe::finished(&self.gate, &mut self.trail, &ended);
        response
    }
}

impl Drop for Underway {
    fn drop(&mut self) {
        if !self.settled {
            record::abandoned(&self.gate, &self.trail);
        }
        // Nothing happens here where it was seen to its end.
        observe::finished(&self.gate, &mut self.trail, &Ended::given_up());
    }
}

/// Where the first part of a journey ends.
enum Way {
    /// With a notification, which is not answered.
    Accepted,
    /// With an answer of the host's own.
    Host(Answer),
    /// With a call that may be made.
    Ready(Box<Ready>),
    /// With a subscription that is open.
    Listening(Box<Listening>),
}

/// A subscription, and what its stream needs of the request.
struct Listening {
    opened: Opened,
    answer: Answer,
    id: RequestId,
    credentials: Credentials,
}

/// The first part of a journey. `unread` is the body of a request that was refused without it.
async fn travel(
    gate: &Gate,
    trail: &mut Trail,
    request: Request<Body>,
    unread: &mut Option<Unread>,
) -> Result<Way, Refusal> {
    let (parts, body) = request.into_parts();
    let known = match head::check(&gate.settings.doors, &gate.settings.bounds, &parts) {
        Ok(()) => identify::caller(gate, trail, &parts.headers).await,
        Err(refusal) => Err(refusal),
    };
    if let Err(refusal) = known {
        *unread = Some(Unread::of(Request::from_parts(parts, body)));
        return Err(refusal);
    }
    let identified = Identified { head: Head { parts, body } };
    let (request, headers) = match receive::body(gate, trail, identified).await? {
        Received::Request { request, headers } => (request, headers),
        Received::Notification => return Ok(Way::Accepted),
    };
    identify::again(gate, trail, &headers).await?;
    let expires_at = trail.expires_at;
    let resolved = catalog::resolve(gate, trail, request, &headers)?;
    scope::covered(gate, trail, &resolved)?;
    let call = match resolved {
        Resolved::Host(answer) => return Ok(Way::Host(answer)),
        Resolved::Call(call) => call,
        Resolved::Listen(wanted) => {
            let id = trail.request_id.clone().ok_or_else(|| Refusal::host("AG-INTERNAL", "no id"))?;
            let (opened, answer) = Box::pin(listen::open(gate, trail, wanted)).await?;
            let credentials = Credentials::of(&headers, expires_at);
            return Ok(Way::Listening(Box::new(Listening { opened, answer, id, credentials })));
        }
    };
    let ruled = rule::decide(gate, trail, call).await?;
    if ruled.call.target.offer().source.upstream.is_of_callers() {
        // Boxed, as it is for the upstreams of few: before a person is asked, and before anything is used up.
        Box::pin(upstream::named(gate, trail, &ruled, &headers)).await?;
    }
    let ready = approve::ready(gate, trail, ruled, &headers).await?;
    Ok(Way::Ready(Box::new(ready)))
}

async fn finish(mut underway: Underway, ready: Box<Ready>, line: Line) -> Response {
    let read_only = ready.read_only();
    let completed = complete(&underway.gate, &mut underway.trail, *ready, line);
    match AssertUnwindSafe(completed).catch_unwind().await {
        Ok(Ok(recorded)) => underway.reply(recorded),
        Ok(Err(Stop::Recorded(refusal))) => underway.refused(&refusal),
        Ok(Err(Stop::Unrecorded(refusal))) => underway.refuse(refusal).await,
        Err(_panic) => {
            underway.gate.counters.count_panic();
            let refusal = if underway.trail.intended && !read_only {
                Refusal::unknown("the gateway failed while the call was on its way")
            } else {
                Refusal::host("AG-INTERNAL", "the gateway failed")
            };
            underway.refuse(refusal).await
        }
    }
}

/// A journey that ended early, and whether its evidence is written.
enum Stop {
    Recorded(Refusal),
    Unrecorded(Refusal),
}

async fn complete(gate: &Gate, trail: &mut Trail, ready: Ready, line: Line) -> Result<Recorded, Stop> {
    let read_only = ready.read_only();
    let target = ready.target().clone();
    let permit = approve::permit(gate, trail, ready).await.map_err(Stop::Unrecorded)?;
    let outcome = gate.dispatch(trail, permit, line).await;
    outcome.show(trail);
    let violation = outcome.violation;
    let recorded = record::outcome(gate, trail, outcome, read_only).await;
    if violation {
        target.offer().violated().await;
    }
    recorded.map_err(Stop::Recorded)
}
