//! The second step: who calls.

use aldgate_identity::Identity;
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
