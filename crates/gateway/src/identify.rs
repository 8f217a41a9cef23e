//! The second step: who calls.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use aldgate_authority::Principal;
use aldgate_identity::{Door, Identity, Presented, Proof, Unauthenticated};
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, HeaderValue};
use time::OffsetDateTime;

use crate::gate::Gate;
use crate::head::Head;
use crate::refusal::Refusal;
use crate::snapshot::Snapshot;
use crate::trail::Trail;

/// A proof of possession (RFC 9449 §4).
pub(crate) const DPOP: HeaderName = HeaderName::from_static("dpop");

/// A request of a known principal; the trail names it.
pub(crate) struct Identified {
    pub(crate) head: Head,
}

/// The credentials of a request whose answer may outlive them.
#[derive(Clone)]
pub(crate) struct Credentials {
    /// The value of `Authorization`.
    pub(crate) value: Option<Box<[u8]>>,
    /// From when on they are good no more.
    pub(crate) expires_at: Option<OffsetDateTime>,
}

impl Credentials {
    /// Those that stand in the headers of a request.
    pub(crate) fn of(headers: &HeaderMap, expires_at: Option<OffsetDateTime>) -> Self {
        let value = headers.get(AUTHORIZATION).map(|value| value.as_bytes().into());
        Self { value, expires_at }
    }
}

/// Nothing of a token is shown.
impl std::fmt::Debug for Credentials {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Credentials")
            .field("value", &self.value.as_ref().map(|_| "…"))
            .field("expires_at", &self.expires_at)
            .finish()
    }
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
    let authorization = headers.get(AUTHORIZATION).map(HeaderValue::as_bytes);
    let presented = presented(gate, authorization, Proof::Checked);
    let identity = snapshot.identity.authenticate(&presented, now).await;
    let identity = identity.map_err(|fault| refused(gate, &snapshot, &fault))?;
    // Its place was taken for whom it was.
    if trail.principal.as_ref().is_none_or(|before| !before.is_same(&identity.principal)) {
        return Err(refused(gate, &snapshot, &Unauthenticated::Unknown));
    }
    trail.snapshot = snapshot;
    trail.principal = Some(identity.principal);
    trail.scopes = identity.scopes;
    trail.expires_at = identity.expires_at;
    Ok(())
}

/// After a wait, under the configuration of now: whether the credentials still stand for whom they stood for. What was ruled
/// on stays what it was.
pub(crate) async fn still(gate: &Gate, trail: &mut Trail, credentials: &Credentials) -> Result<(), Refusal> {
    let snapshot = gate.snapshot();
    let presented = presented(gate, credentials.value.as_deref(), Proof::Checked);
    let identity = snapshot.identity.authenticate(&presented, OffsetDateTime::now_utc()).await;
    let identity = identity.map_err(|fault| refused(gate, &snapshot, &fault))?;
    let same = |before: &Arc<Principal>| {
        before.is_same(&identity.principal) && before.tenant == identity.principal.tenant
    };
    if !trail.principal.as_ref().is_some_and(same) {
        return Err(refused(gate, &snapshot, &Unauthenticated::Unknown));
    }
    trail.scopes = identity.scopes;
    trail.expires_at = identity.expires_at;
    Ok(())
}

/// Finds the principal that the request's credentials stand for.
pub(crate) async fn caller(gate: &Gate, trail: &mut Trail, headers: &HeaderMap) -> Result<(), Refusal> {
    let header = |name| headers.get(name).map(HeaderValue::as_bytes);
    let presented = presented(gate, header(AUTHORIZATION), Proof::Sent(header(DPOP)));
    match trail.snapshot.identity.authenticate(&presented, OffsetDateTime::now_utc()).await {
        Ok(Identity { principal, scopes, expires_at }) => {
            let place = gate.shares.take(&principal);
            trail.principal = Some(principal);
            trail.scopes = scopes;
            trail.expires_at = expires_at;
            trail.place = Some(place?);
            Ok(())
        }
        Err(fault) => Err(refused(gate, &trail.snapshot, &fault)),
    }
}

/// What a request to the MCP endpoint shows.
pub(crate) fn presented<'a>(
    gate: &'a Gate,
    authorization: Option<&'a [u8]>,
    proof: Proof<'a>,
) -> Presented<'a> {
    let url = gate.settings.reach.doors.url(Door::Mcp);
    Presented { authorization, proof, method: "POST", url, door: Door::Mcp }
}

fn refused(gate: &Gate, snapshot: &Snapshot, fault: &Unauthenticated) -> Refusal {
    gate.counters.count_unauthenticated();
    Refusal::unauthenticated(fault, gate.protected(snapshot, Door::Mcp).as_ref())
}
