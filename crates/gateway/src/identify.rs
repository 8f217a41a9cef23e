//! The second step: who calls.

use std::sync::Arc;

use aldgate_identity::{Identity, Unauthenticated};
use http::HeaderMap;
use time::OffsetDateTime;

use crate::gate::Gate;
use crate::head::Head;
use crate::refusal::Refusal;
use crate::trail::Trail;

/// A request of a known principal; the trail names it.
pub(crate) struct Identified {
    pub(crate) head: Head,
}

/// The credentials of a request whose answer may outlive them.
#[derive(Clone, Debug)]
pub(crate) struct Credentials {
    /// The value of `Authorization`.
    pub(crate) value: Option<Box<[u8]>>,
    /// From when on they are good no more.
    pub(crate) expires_at: Option<OffsetDateTime>,
}

/// Once the body is there: it may have come long after the head. What holds now is what counts, for the principal as for
/// everything else that decides.
pub(crate) async fn again(gate: &Gate, trail: &mut Trail, headers: &HeaderMap) -> Result<(), Refusal> {
    let now = OffsetDateTime::now_utc();
    let expired = trail.expires_at.is_some_and(|end| now >= end);
    let snapshot = gate.snapshot();
    if Arc::ptr_eq(&snapshot, &trail.snapshot) && !expired {
        return Ok(());
    }
    let authorization = headers.get(http::header::AUTHORIZATION).map(http::HeaderValue::as_bytes);
    let identity = snapshot.identity.authenticate(authorization, now).await;
    let identity = identity.map_err(|fault| {
        gate.counters.count_unauthenticated();
        Refusal::unauthenticated(&fault)
    })?;
    // Its place was taken for whom it was.
    if trail.principal.as_ref().is_none_or(|before| !before.is_same(&identity.principal)) {
        return Err(Refusal::unauthenticated(&Unauthenticated::Unknown));
    }
    trail.snapshot = snapshot;
    trail.principal = Some(identity.principal);
    trail.expires_at = identity.expires_at;
    Ok(())
}

/// Finds the principal that the request's credentials stand for.
pub(crate) async fn caller(gate: &Gate, trail: &mut Trail, head: Head) -> Result<Identified, Refusal> {
    let authorization = head.parts.headers.get(http::header::AUTHORIZATION).map(http::HeaderValue::as_bytes);
    match trail.snapshot.identity.authenticate(authorization, OffsetDateTime::now_utc()).await {
        Ok(Identity { principal, expires_at }) => {
            let place = gate.shares.take(&principal);
            trail.principal = Some(principal);
            trail.expires_at = expires_at;
            trail.place = Some(place?);
            Ok(Identified { head })
        }
        Err(fault) => {
            gate.counters.count_unauthenticated();
            Err(Refusal::unauthenticated(&fault))
        }
    }
}
