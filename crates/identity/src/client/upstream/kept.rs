//! A token that is kept until shortly before it ends, and fetched by one request for all that wait.

use std::sync::{Mutex, PoisonError};

use http::HeaderValue;
use time::{Duration, OffsetDateTime};

use super::CredentialFault;
use crate::client::token::SPARE;

/// How long a token is used whose end is not known.
const UNKNOWN: Duration = Duration::minutes(5);
/// How long after a failure nobody asks again: whoever waited is told the same.
const PAUSE: Duration = Duration::seconds(1);

/// Room for one token.
#[derive(Default)]
pub(super) struct Kept {
    state: Mutex<State>,
    gate: tokio::sync::Mutex<()>,
}

#[derive(Default)]
enum State {
    #[default]
    Empty,
    Good {
        value: HeaderValue,
        until: OffsetDateTime,
    },
    Failed {
        fault: CredentialFault,
        until: OffsetDateTime,
    },
}

/// A token as it was fetched, and when it ends.
pub(super) struct Fetched {
    pub(super) value: HeaderValue,
    pub(super) expires_at: Option<OffsetDateTime>,
}

impl Kept {
    /// The token that is kept, or the one that is fetched now.
    pub(super) async fn get(
        &self,
        now: OffsetDateTime,
        fetch: impl Future<Output = Result<Fetched, CredentialFault>> + Send,
    ) -> Result<HeaderValue, CredentialFault> {
        if let Some(found) = self.found(now) {
            return found;
        }
        let _gate = self.gate.lock().await;
        if let Some(found) = self.found(now) {
            return found;
        }
        let fetched = fetch.await;
        let (state, found) = match fetched {
            Ok(Fetched { value, expires_at }) => {
                let until = expires_at.map_or(now + UNKNOWN, |end| end - SPARE);
                (State::Good { value: value.clone(), until }, Ok(value))
            }
            Err(fault) => (State::Failed { fault: fault.clone(), until: now + PAUSE }, Err(fault)),
        };
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
        found
    }

    fn found(&self, now: OffsetDateTime) -> Option<Result<HeaderValue, CredentialFault>> {
        match &*self.state.lock().unwrap_or_else(PoisonError::into_inner) {
            State::Good { value, until } if now < *until => Some(Ok(value.clone())),
            State::Failed { fault, until } if now < *until => Some(Err(fault.clone())),
            _ => None,
        }
    }

    /// Forgets this value, if it is the one that is kept.
    pub(super) fn forget(&self, refused: &HeaderValue) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(&*state, State::Good { value, .. } if value == refused) {
            *state = State::Empty;
        }
    }
}
