//! Passkeys (Web Authentication, level 3): to sign in without a name and a password, where the browser runs the script for
//! it. Without script the pages are as if there were none.

mod answered;
mod own;
mod proof;
mod sign_in;

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use time::OffsetDateTime;
use url::Host;

pub(super) use own::{add, remove};
#[cfg(test)]
pub(super) use proof::tests::Authenticator;
pub(super) use sign_in::send;

use super::keys::{millis, random, stored};
use super::settings::Settings;
use super::{Fault, People};
use aldgate_store::identity::{Account, Passkey};
use proof::{ALGORITHMS, Expected};

/// The form to sign in with a passkey.
pub(super) const SIGN_IN: &str = "/oauth/passkey";
/// The form that adds one.
pub(super) const ADD: &str = "/account/passkeys";
/// The form that removes one.
pub(super) const REMOVE: &str = "/account/passkeys/remove";

/// How long an authenticator may take.
const CHALLENGE: Duration = Duration::from_secs(300);

/// What a challenge is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ceremony {
    /// A passkey is made.
    Create,
    /// Somebody signs in.
    Get,
    /// Somebody who signed in proves it anew.
    Act,
}

impl Ceremony {
    const fn name(self) -> &'static str {
        match self {
            Self::Create => "passkey create",
            Self::Get => "passkey get",
            Self::Act => "act",
        }
    }
}

/// A challenge that was set here. The form carries it, with a tag: no row is written for one that nobody answers.
pub(super) struct Challenge {
    pub(super) text: String,
    pub(super) until: i64,
}

impl People {
    /// The domain that passkeys are for; none where the issuer is reached by an address, or without TLS by another name than
    /// `localhost`: browsers have none there (§5.1.3).
    pub(super) fn relying_party(&self) -> Option<&str> {
        relying_party(&self.settings)
    }

    /// A new challenge, and the field that brings it back. It is bound to a cookie or a session.
    pub(super) fn challenge(
        &self,
        ceremony: Ceremony,
        bound: &[u8],
        now: OffsetDateTime,
    ) -> Result<(String, String), Fault> {
        let text = URL_SAFE_NO_PAD.encode(random::<32>()?);
        let until = stored(now).saturating_add(millis(CHALLENGE)).to_string();
        let tag = self.keys.tag(ceremony.name(), &[bound, text.as_bytes(), until.as_bytes()]);
        let field = format!("{text}.{until}.{tag}");
        Ok((text, field))
    }

    /// The challenge in a field, where it was set here, for this, and its time is not over.
    pub(super) fn opened(
        &self,
        ceremony: Ceremony,
        bound: &[u8],
        field: &str,
        now: OffsetDateTime,
    ) -> Option<Challenge> {
        let (text, rest) = field.split_once('.')?;
        let (until, tag) = rest.split_once('.')?;
        let parts = [bound, text.as_bytes(), until.as_bytes()];
        let is_ours = self.keys.is_tag(ceremony.name(), &parts, tag);
        let until = until.parse().ok().filter(|until| is_ours && *until > stored(now))?;
        Some(Challenge { text: text.to_owned(), until })
    }

    fn expected<'a>(&'a self, origin: &'a str, challenge: &'a Challenge) -> Option<Expected<'a>> {
        Some(Expected { relying_party: self.relying_party()?, origin, challenge: &challenge.text })
    }

    fn origin(&self) -> String {
        self.settings.issuer.origin().ascii_serialization()
    }
}

fn relying_party(settings: &Settings) -> Option<&str> {
    match settings.issuer.host()? {
        Host::Domain(domain) => (settings.is_secure() || domain == "localhost").then_some(domain),
        Host::Ipv4(_) | Host::Ipv6(_) => None,
    }
}

/// `PublicKeyCredentialRequestOptionsJSON`: any passkey of this server.
fn request(relying_party: &str, challenge: &str) -> Value {
    json!({
        "challenge": challenge,
        "rpId": relying_party,
        "timeout": millis(CHALLENGE),
        "userVerification": "required",
    })
}

/// `PublicKeyCredentialCreationOptionsJSON`: one that names the account by itself, on a device that has none yet.
fn creation(relying_party: &str, challenge: &str, account: &Account, there: &[Passkey]) -> Value {
    let algorithms = ALGORITHMS.map(|alg| json!({"type": "public-key", "alg": alg}));
    let there: Vec<Value> = there.iter().map(|one| json!({"type": "public-key", "id": one.id})).collect();
    json!({
        "rp": {"id": relying_party, "name": "Aldgate"},
        "user": {"id": account.id, "name": account.name, "displayName": account.display_name},
        "challenge": challenge,
        "pubKeyCredParams": algorithms,
        "timeout": millis(CHALLENGE),
        "excludeCredentials": there,
        "authenticatorSelection": {
            "residentKey": "required",
            "requireResidentKey": true,
            "userVerification": "required",
        },
        "attestation": "none",
    })
}
