//! The second step: who calls.

use crate::gate::Gate;
use crate::head::Head;
use crate::refusal::Refusal;
use crate::trail::Trail;

/// A request of a known principal; the trail names it.
pub(crate) struct Identified {
    pub(crate) head: Head,
}

/// Finds the principal that the request's credentials stand for.
pub(crate) async fn caller(gate: &Gate, trail: &mut Trail, head: Head) -> Result<Identified, Refusal> {
    let authorization = head.parts.headers.get(http::header::AUTHORIZATION).map(http::HeaderValue::as_bytes);
    match trail.snapshot.identity.authenticate(authorization).await {
        Ok(principal) => {
            let place = gate.shares.take(&principal);
            trail.principal = Some(principal);
            trail.place = Some(place?);
            Ok(Identified { head })
        }
        Err(fault) => {
            gate.counters.count_unauthenticated();
            Err(Refusal::unauthenticated(&fault))
        }
    }
}
