//! What the answer to a request for a connection needs, sealed into `state`.

use aldgate_approval::SealKey;
use aldgate_approval::seal::NONCE_BYTES;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64URL;
use serde::{Deserialize, Serialize};
use time::{Duration, OffsetDateTime};
use zeroize::Zeroizing;

use super::{ConnectionFault, Who};
use crate::client::proof_key::NoRandomness;
use crate::client::secret::Secret;

/// How long a user has to answer.
const TIME: Duration = Duration::minutes(10);

/// Who began a connection in which session, the verifier of its code, and until when the answer is taken.
pub(super) struct State {
    user: String,
    session: Secret,
    back: Secret,
    verifier: Secret,
    until: i64,
}

#[derive(Deserialize, Serialize)]
struct Written<S> {
    user: String,
    session: S,
    back: S,
    verifier: S,
    until: i64,
}

impl State {
    /// `back` is the page that it was begun on, whose address may hold half of what proves who is signed in.
    pub(super) fn new(who: Who<'_>, back: &str, verifier: Secret, now: OffsetDateTime) -> Self {
        let Who { user, session } = who;
        let [session, back] = [session, back].map(|text| Secret::new(text.to_owned()));
        Self { user: user.to_owned(), session, back, verifier, until: (now + TIME).unix_timestamp() }
    }

    pub(super) const fn back(&self) -> &Secret {
        &self.back
    }

    pub(super) fn into_verifier(self) -> Secret {
        self.verifier
    }

    /// Whether the answer is the user's, in the session that began.
    pub(super) fn check(&self, who: Who<'_>) -> Result<(), ConnectionFault> {
        let is_same = self.user == who.user && self.session.expose() == who.session;
        if is_same { Ok(()) } else { Err(ConnectionFault::OtherUser) }
    }

    pub(super) fn seal(&self, key: &SealKey, purpose: String) -> Result<Secret, ConnectionFault> {
        let written = Written {
            user: self.user.clone(),
            session: self.session.expose(),
            back: self.back.expose(),
            verifier: self.verifier.expose(),
            until: self.until,
        };
        seal(key, &purpose, &written).map(Secret::new)
    }

    /// Opens what is in time. Nothing in it is of use to anybody after that.
    pub(super) fn open(
        sealed: &Secret,
        key: &SealKey,
        purpose: String,
        now: OffsetDateTime,
    ) -> Result<Self, ConnectionFault> {
        let found = open::<Written<Secret>>(key, &purpose, sealed.expose());
        let Written { user, session, back, verifier, until } = found.map_err(|_| ConnectionFault::State)?;
        if until <= now.unix_timestamp() {
            return Err(ConnectionFault::Late);
        }
        Ok(Self { user, session, back, verifier, until })
    }
}

/// Seals a value, as base64url.
pub(super) fn seal(key: &SealKey, purpose: &str, what: &impl Serialize) -> Result<String, ConnectionFault> {
    let mut nonce = [0; NONCE_BYTES];
    aws_lc_rs::rand::fill(&mut nonce).map_err(|_| NoRandomness)?;
    let altered = |_| ConnectionFault::Sealed(aldgate_approval::SealFault::Cipher);
    let plain = Zeroizing::new(serde_json::to_vec(what).map_err(altered)?);
    Ok(BASE64URL.encode(key.seal(purpose, nonce, &plain).map_err(ConnectionFault::Sealed)?))
}

/// Opens what [`seal`] made for the same purpose.
pub(super) fn open<T: serde::de::DeserializeOwned>(
    key: &SealKey,
    purpose: &str,
    sealed: &str,
) -> Result<T, ConnectionFault> {
    let altered = || ConnectionFault::Sealed(aldgate_approval::SealFault::Altered);
    let bytes = BASE64URL.decode(sealed).map_err(|_| altered())?;
    let plain = Zeroizing::new(key.open(purpose, &bytes).map_err(ConnectionFault::Sealed)?);
    serde_json::from_slice(&plain).map_err(|_| altered())
}
