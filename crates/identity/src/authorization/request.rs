//! Authorization requests: from parameters to a value that says all that was validated (RFC 6749 §4.1.1, RFC 7636,
//! RFC 8707, RFC 9449 §10).

use aldgate_approval::SealKey;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use time::{Duration, OffsetDateTime};

use super::client::Client;
use super::params::Params;
use super::refusal::{Code, Refusal, refuse};
use super::settings::Settings;
use super::{at, millis, random};
use crate::people::SignedIn;
use crate::scopes::APPROVALS_DECIDE;
use crate::{Door, Doors, Scopes};

/// How long a person has for signing in and consenting.
pub(super) const GOOD_FOR: Duration = Duration::minutes(15);
/// How long a person who signed in for a request has for consenting to it, where it needs a sign-in of its own.
const OWN_SIGN_IN: Duration = Duration::minutes(5);
const PURPOSE: &str = "authorization request";
/// Longest `state` that is carried along.
const LONGEST_STATE: usize = 2048;

/// A validated request. It is sealed while the person signs in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Asked {
    /// Random: a request is answered once.
    pub(super) id: String,
    pub(super) client: String,
    pub(super) redirect_uri: String,
    /// Whether the redirect URI was sent: then the token request has to repeat it.
    pub(super) redirect_sent: bool,
    pub(super) resource: String,
    /// As asked, or the default.
    pub(super) scope: String,
    pub(super) state: Option<String>,
    /// SHA-256 of the code verifier, base64url.
    pub(super) challenge: String,
    /// Thumbprint of the key that proofs at the token endpoint have to be made with.
    pub(super) jkt: Option<String>,
    /// When it was asked, milliseconds since 1970.
    pub(super) asked_at: i64,
    /// The person has to have signed in since then, milliseconds since 1970.
    pub(super) signed_in_since: Option<i64>,
    /// The person has to sign in for this very request.
    pub(super) own_sign_in: bool,
    /// Nobody is to be asked anything.
    pub(super) silent: bool,
}

/// Where the answer to a request goes to: what is known before the rest is validated.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) redirect_uri: String,
    pub(super) state: Option<String>,
}

impl Asked {
    /// Validates a request of a client that may have its answer at this redirect URI.
    pub(super) fn read(
        params: &Params,
        client: &Client,
        redirect_uri: &str,
        settings: &Settings,
        now: OffsetDateTime,
    ) -> Result<Self, Refusal> {
        let invalid = |step, sent: &str, expected: &str| refuse(Code::InvalidRequest, step, sent, expected);
        for (name, code) in
            [("request", Code::RequestNotSupported), ("request_uri", Code::RequestUriNotSupported)]
        {
            if params.get(name).is_some() {
                return Err(refuse(code, name, "a request object", "plain parameters"));
            }
        }
        let kind = params.required("response_type")?;
        if kind != "code" {
            return Err(refuse(Code::UnsupportedResponseType, "response_type", kind, "code"));
        }
        if let Some(mode) = params.get("response_mode").filter(|mode| *mode != "query") {
            return Err(invalid("response_mode", mode, "query"));
        }
        let state = params.get("state");
        if state.is_some_and(|state| state.len() > LONGEST_STATE) {
            return Err(invalid("state", "more", "2048 bytes at most"));
        }
        let challenge = params.get("code_challenge");
        let challenge = challenge.ok_or_else(|| invalid("code_challenge", "nothing", "PKCE with S256"))?;
        let method = params.get("code_challenge_method").unwrap_or("plain, by its absence");
        if method != "S256" {
            return Err(invalid("code_challenge_method", method, "S256"));
        }
        if !is_digest(challenge) {
            return Err(invalid("code_challenge", challenge, "a SHA-256 in base64url, 43 characters"));
        }
        let jkt = params.get("dpop_jkt");
        if let Some(jkt) = jkt.filter(|jkt| !is_digest(jkt)) {
            return Err(invalid("dpop_jkt", jkt, "a SHA-256 thumbprint in base64url, 43 characters"));
        }
        let resource = params.get("resource").unwrap_or(&settings.doors.mcp);
        let door = settings.doors.door(resource).ok_or_else(|| unknown_resource(resource, settings))?;
        let scopes = scopes(params.get("scope"), door, settings)?;
        let (silent, login) = prompt(params.get("prompt").unwrap_or_default())?;
        let age = match params.get("max_age") {
            None => None,
            Some(text) => {
                let seconds: Option<u32> = text.parse().ok();
                let wrong = || invalid("max_age", text, "a number of seconds");
                Some(Duration::seconds(i64::from(seconds.ok_or_else(wrong)?)))
            }
        };
        // Where other programs may have seen the cookie of a session, it is good for nothing that its person did not ask for.
        let own_sign_in =
            login || age == Some(Duration::ZERO) || scopes.has(APPROVALS_DECIDE) || settings.shares_cookies();
        let id = hex::encode(random::<16>().map_err(|_| super::no_seal())?);
        Ok(Self {
            id,
            client: client.id.clone(),
            redirect_uri: redirect_uri.to_owned(),
            redirect_sent: params.get("redirect_uri").is_some(),
            resource: resource.to_owned(),
            scope: scopes.to_string(),
            state: state.map(str::to_owned),
            challenge: challenge.to_owned(),
            jkt: jkt.map(str::to_owned),
            asked_at: millis(now),
            signed_in_since: age.map(|age| millis(now - age)),
            own_sign_in,
            silent,
        })
    }

    /// The scopes that were asked for.
    pub(super) fn scopes(&self) -> Scopes {
        Scopes::parse(&self.scope).unwrap_or_default()
    }

    /// Whether the person signed in late enough for it and, where it needs that, for the request with this digest and not long
    /// ago.
    pub(super) fn is_fresh_enough(&self, signed_in: &SignedIn, digest: &str, now: OffsetDateTime) -> bool {
        let late_enough = self.signed_in_since.is_none_or(|since| millis(signed_in.at) >= since);
        let for_it = signed_in.signed_in_for.as_deref() == Some(digest) && now < signed_in.at + OWN_SIGN_IN;
        late_enough && (for_it || !self.own_sign_in)
    }

    /// Until when its answer is remembered: then it is too old to be answered again. Milliseconds since 1970.
    pub(super) fn ends_at(&self) -> i64 {
        millis(at(self.asked_at) + GOOD_FOR)
    }

    pub(super) fn answer(&self) -> Answer {
        Answer { redirect_uri: self.redirect_uri.clone(), state: self.state.clone() }
    }

    /// Seals it, so that it can go through the browser and come back as it was.
    pub(super) fn seal(&self, key: &SealKey) -> Option<String> {
        let plain = serde_json::to_vec(self).ok()?;
        Some(URL_SAFE_NO_PAD.encode(key.seal(PURPOSE, random().ok()?, &plain).ok()?))
    }

    /// Opens one that is not too old.
    pub(super) fn open(key: &SealKey, sealed: &str, now: OffsetDateTime) -> Result<Self, Refusal> {
        let other = || {
            let expected = "a request that was begun at this server within the last 15 minutes";
            refuse(Code::InvalidRequest, "sign-in", "another one", expected)
        };
        let sealed = URL_SAFE_NO_PAD.decode(sealed).map_err(|_| other())?;
        let plain = key.open(PURPOSE, &sealed).map_err(|_| other())?;
        let asked: Self = serde_json::from_slice(&plain).map_err(|_| other())?;
        if at(asked.asked_at) + GOOD_FOR <= now { Err(other()) } else { Ok(asked) }
    }
}

/// The scopes of a request. Those that nobody knows here are left out of the grant; a request for nothing else is refused.
fn scopes(sent: Option<&str>, door: Door, settings: &Settings) -> Result<Scopes, Refusal> {
    let refused = |sent: &str, expected: &str| refuse(Code::InvalidScope, "scope", sent, expected);
    let scopes = match sent {
        None => settings.default_for(door),
        Some(text) if text.len() > 1000 => return Err(refused("more", "1000 characters at most")),
        Some(text) => Scopes::parse(text).map_err(|fault| refused(text, &fault.to_string()))?,
    };
    let known = settings.every_scope();
    if !scopes.is_empty() && scopes.within(&known).is_empty() {
        return Err(refused(&scopes.to_string(), &format!("some of {}", super::listed(&known))));
    }
    let alone = scopes.iter().count() == 1;
    if scopes.has(APPROVALS_DECIDE) != (door == Door::Decisions) || (scopes.has(APPROVALS_DECIDE) && !alone) {
        let decisions = &settings.doors.decisions;
        let expected = format!("{APPROVALS_DECIDE} alone for {decisions}, and nowhere else");
        return Err(refused(&scopes.to_string(), &expected));
    }
    Ok(scopes)
}

/// Whether nobody is to be asked, and whether the person has to sign in (OpenID Connect Core §3.1.2.1).
fn prompt(text: &str) -> Result<(bool, bool), Refusal> {
    let (mut silent, mut login, mut others) = (false, false, false);
    for one in text.split(' ').filter(|one| !one.is_empty()) {
        match one {
            "none" => silent = true,
            "login" => (login, others) = (true, true),
            "consent" => others = true,
            _ => return Err(refuse(Code::InvalidRequest, "prompt", text, "none, login or consent")),
        }
    }
    if silent && others {
        return Err(refuse(Code::InvalidRequest, "prompt", text, "none alone"));
    }
    Ok((silent, login))
}

/// No door has this URL.
pub(super) fn unknown_resource(sent: &str, settings: &Settings) -> Refusal {
    // Where the admin API is, is nothing for those who have to ask.
    let Doors { mcp, evidence, .. } = &settings.doors;
    refuse(
        Code::InvalidTarget,
        "resource",
        sent,
        format!("{mcp}, {evidence}, or another resource of this gateway"),
    )
}

fn is_digest(text: &str) -> bool {
    text.len() == 43 && URL_SAFE_NO_PAD.decode(text).is_ok_and(|bytes| bytes.len() == 32)
}
