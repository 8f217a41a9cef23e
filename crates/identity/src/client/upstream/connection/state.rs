//! What the answer to a request for a connection needs, sealed into `state`.

use aldgate_approval::SealKey;
use aldgate_approval::seal::NONCE_BYTES;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64URL;
use serde::{Deserialize, Serialize};
use time::{Duration, OffsetDateTime};
use zeroize::Zeroizing;

use super::ConnectionFault;
use crate::client::proof_key::NoRandomness;
use crate::client::secret::Secret;

/// How long a user has to answer.
const TIME: Duration = Duration::minutes(10);

/// Who began a connection, the verifier of its code, and until when the answer is taken.
pub(super) struct State {
    user: String,
    verifier: Secret,
    until: i64,
}

#[derive(Deserialize, Serialize)]
struct Written<S> {
    user: String,
    verifier: S,
    until: i64,
}

impl State {
    pub(super) fn new(user: &str, verifier: Secret, now: OffsetDateTime) -> Self {
        Self { user: user.to_owned(), verifier, until: (now + TIME).unix_timestamp() }
    }

    pub(super) const fn verifier(&self) -> &Secret {
        &self.verifier
    }

    /// Whether the answer is the user's, and in time.
    pub(super) fn check(&self, user: &str, now: OffsetDateTime) -> Result<(), ConnectionFault> {
        match (self.user == user, now.unix_timestamp() < self.until) {
            (true, true) => Ok(()),
            (false, _) => Err(ConnectionFault::OtherUser),
            (true, false) => Err(ConnectionFault::Late),
        }
    }

    pub(super) fn seal(&self, key: &SealKey, purpose: String) -> Result<Secret, ConnectionFault> {
        let written =
            Written { user: self.user.clone(), verifier: self.verifier.expose(), until: self.until };
        seal(key, &purpose, &written).map(Secret::new)
    }

    pub(super) fn open(sealed: &Secret, key: &SealKey, purpose: String) -> Result<Self, ConnectionFault> {
        let found = open::<Written<Secret>>(key, &purpose, sealed.expose());
        let Written { user, verifier, until } = found.map_err(|_| ConnectionFault::State)?;
        Ok(Self { user, verifier, until })
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
