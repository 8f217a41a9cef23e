//! What the gateway shows an upstream: for its own requests, and for those of callers.

#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, PoisonError};

use aldgate_identity::client::upstream::{Caller, CredentialFault, UpstreamCredential, UpstreamHeader};
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};
use time::OffsetDateTime;

use super::exchange::TransportFault;
use super::hidden::Hidden;
use crate::settings::Credential;

/// What is shown to one upstream.
pub(super) struct Shown {
    /// With the requests of the gateway's own, and with those of callers where they have nothing of their own.
    own: Own,
    /// With the requests of callers.
    callers: Option<Arc<dyn UpstreamCredential>>,
    /// What was shown last, which mostly is what is shown next, and how it is found in answers.
    last: Mutex<Option<(HeaderValue, Hidden)>>,
}

/// Whose request it is.
#[derive(Clone, Copy)]
pub(super) enum Whose<'a> {
    /// The gateway's own.
    Gateway,
    /// A caller's. Who that is has to be known where each caller has a credential of its own.
    Caller(Option<&'a Caller>),
}

enum Own {
    Nothing,
    /// The same with each request.
    Fixed(HeaderValue, Hidden),
    /// What a source has now.
    Current(Arc<dyn UpstreamCredential>),
}

/// A header that a source gave for one request. It can be given back.
pub(super) struct Lent<'a> {
    source: &'a Arc<dyn UpstreamCredential>,
    caller: Option<&'a Caller>,
    header: UpstreamHeader,
}

impl Lent<'_> {
    /// The upstream did not take it.
    pub(super) fn refused(&self) {
        self.source.refused(self.caller, &self.header);
    }
}

impl Shown {
    pub(super) fn new(credential: &Credential) -> Result<Self, TransportFault> {
        let (own, callers) = match credential {
            Credential::OfCallers { shown, own } => (own.as_ref(), Some(shown.clone())),
            own => (own, None),
        };
        let own = match own {
            Credential::None => Own::Nothing,
            Credential::Bearer(token) => {
                let mut value = HeaderValue::try_from(format!("Bearer {token}"))
                    .map_err(|_| TransportFault::Credential)?;
                value.set_sensitive(true);
                let hidden = Hidden::of(&value);
                Own::Fixed(value, hidden)
            }
            Credential::Current(source) => Own::Current(source.clone()),
            Credential::OfCallers { .. } => return Err(TransportFault::Credential),
        };
        Ok(Self { own, callers, last: Mutex::default() })
    }

    /// Whether each caller has a credential of its own.
    pub(super) const fn is_of_callers(&self) -> bool {
        self.callers.is_some()
    }

    /// Whether the gateway's own requests are shown the same.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (&self.own, &other.own) {
            (Own::Nothing, Own::Nothing) => true,
            (Own::Fixed(one, _), Own::Fixed(other, _)) => one == other,
            (Own::Current(one), Own::Current(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }

    /// Whether there is a credential for this caller.
    pub(super) async fn look(&self, caller: &Caller) -> Result<(), CredentialFault> {
        if let Some(source) = &self.callers {
            source.authorization(Some(caller), OffsetDateTime::now_utc()).await?;
        }
        Ok(())
    }

    /// Puts the header into a request. Gives what the answer must not repeat, and the header where it can be given back.
    pub(super) async fn show<'a>(
        &'a self,
        headers: &mut HeaderMap,
        whose: Whose<'a>,
    ) -> Result<(Hidden, Option<Lent<'a>>), CredentialFault> {
        let (source, caller) = match (&self.callers, whose, &self.own) {
            (Some(source), Whose::Caller(Some(caller)), _) => (source, Some(caller)),
            // What the gateway shows with requests of its own is for none of a caller's.
            (Some(_), Whose::Caller(None), _) => return Err(CredentialFault::NoCaller),
            (_, _, Own::Nothing) => return Ok((Hidden::default(), None)),
            (_, _, Own::Fixed(value, hidden)) => {
                headers.insert(AUTHORIZATION, value.clone());
                return Ok((hidden.anew(), None));
            }
            (_, _, Own::Current(source)) => (source, None),
        };
        let Some(header) = source.authorization(caller, OffsetDateTime::now_utc()).await? else {
            return Ok((Hidden::default(), None));
        };
        headers.insert(header.name.clone(), header.value.clone());
        Ok((self.hidden(&header.value), Some(Lent { source, caller, header })))
    }

    fn hidden(&self, value: &HeaderValue) -> Hidden {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match last.as_ref() {
            Some((known, hidden)) if known == value => hidden.anew(),
            _ => last.insert((value.clone(), Hidden::of(value))).1.anew(),
        }
    }
}
