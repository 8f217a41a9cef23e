//! One request's journey. Each step takes the value that the step before it returned, so that none can be left out.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use futures::FutureExt as _;
use http::Request;

use crate::approve::{self, Ready};
use crate::catalog::{self, Resolved};
use crate::gate::Gate;
use crate::receive::{self, Received};
use crate::record::{self, Recorded};
use crate::refusal::Refusal;
use crate::trail::Trail;
use crate::{head, identify, reply, rule};

/// Governs one request from its head to its response.
pub(crate) async fn govern(gate: Arc<Gate>, request: Request<Body>) -> Response {
    let mut trail = match Trail::begin() {
        Ok(trail) => trail,
        Err(fault) => return reply::json_response(500, fault.to_string().into_bytes()),
    };
    let Ok(place) = gate.in_flight.clone().try_acquire_owned() else {
        return reply::refused(
            &trail,
            &Refusal::busy("the gateway works on as many requests as it may; try again later"),
        );
    };
    let travelled = AssertUnwindSafe(travel(&gate, &mut trail, request)).catch_unwind().await;
    let ready = match travelled {
        Ok(Ok(Way::Done(recorded))) => return reply::recorded(&trail, recorded),
        Ok(Ok(Way::Ready(ready))) => ready,
        Ok(Err(refusal)) => return refuse(&gate, &trail, refusal).await,
        Err(_panic) => {
            gate.counters.count_panic();
            return refuse(
                &gate,
                &trail,
                Refusal::host("AG-INTERNAL", "the gateway failed; nothing was sent"),
            )
            .await;
        }
    };
    // From the permit on, the call goes its way in a task of its own, whether or not the client stays.
    let finishing = tokio::spawn({
        let gate = gate.clone();
        async move {
            let _place = place;
            finish(gate, trail, ready).await
        }
    });
    match finishing.await {
        Ok(response) => response,
        Err(_stopped) => {
            gate.counters.count_panic();
            reply::json_response(500, b"the gateway was stopped".to_vec())
        }
    }
}

/// Where the first part of a journey ends.
enum Way {
    /// With something to send.
    Done(Recorded),
    /// With a call that may be made.
    Ready(Box<Ready>),
}

async fn travel(gate: &Gate, trail: &mut Trail, request: Request<Body>) -> Result<Way, Refusal> {
    let head = head::check(&gate.settings.doors, &gate.settings.bounds, request)?;
    let identified = identify::caller(gate, trail, head).await?;
    let (request, headers) = match receive::body(gate, trail, identified).await? {
        Received::Request { request, headers } => (request, headers),
        Received::Notification => return Ok(Way::Done(Recorded::Accepted)),
    };
    let call = match catalog::resolve(gate, trail, request, &headers)? {
        Resolved::Host(answer) => return Ok(Way::Done(record::answer(gate, trail, answer).await?)),
        Resolved::Call(call) => call,
    };
    let ruled = rule::decide(gate, trail, call).await?;
    let ready = approve::ready(gate, trail, ruled).await?;
    Ok(Way::Ready(Box::new(ready)))
}

async fn finish(gate: Arc<Gate>, mut trail: Trail, ready: Box<Ready>) -> Response {
    let read_only = ready.read_only();
    match AssertUnwindSafe(complete(&gate, &mut trail, *ready)).catch_unwind().await {
        Ok(Ok(recorded)) => reply::recorded(&trail, recorded),
        Ok(Err(Stop::Recorded(refusal))) => reply::refused(&trail, &refusal),
        Ok(Err(Stop::Unrecorded(refusal))) => refuse(&gate, &trail, refusal).await,
        Err(_panic) => {
            gate.counters.count_panic();
            let refusal = if trail.intended && !read_only {
                Refusal::unknown("the gateway failed while the call was on its way")
            } else {
                Refusal::host("AG-INTERNAL", "the gateway failed")
            };
            refuse(&gate, &trail, refusal).await
        }
    }
}

/// A journey that ended early, and whether its evidence is written.
enum Stop {
    Recorded(Refusal),
    Unrecorded(Refusal),
}

async fn complete(gate: &Gate, trail: &mut Trail, ready: Ready) -> Result<Recorded, Stop> {
    let read_only = ready.read_only();
    let permit = approve::permit(gate, trail, ready).await.map_err(Stop::Unrecorded)?;
    let outcome = gate.dispatch(trail, permit).await;
    record::outcome(gate, trail, outcome, read_only).await.map_err(Stop::Recorded)
}

async fn refuse(gate: &Gate, trail: &Trail, refusal: Refusal) -> Response {
    record::refusal(gate, trail, &refusal).await;
    reply::refused(trail, &refusal)
}
