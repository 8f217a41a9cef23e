//! Tokens for what a person granted: by the code, and by refresh tokens.
//!
//! **Invariant:** of a family, one handle is good at a time. Whoever shows one that was used before, shows that it is in
//! two hands: the family is revoked. An honest client that lost an answer has to ask its person again; that is the price
//! of telling a thief apart.

use aldgate_store::identity::{Advanced, StoredGrant};
use aws_lc_rs::constant_time::verify_slices_are_equal;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use time::Duration;

use super::refusal::{Code, Refusal, refuse};
use super::token::{Issue, Issued, TokenRequest};
use super::tokens::{Handle, HandleKind, Kind};
use super::{AuthorizationServer, millis};
use crate::Scopes;
use crate::people::User;
use crate::scopes::APPROVALS_DECIDE;

/// How long after the sign-in a token that may decide approvals is handed out.
const DECIDES_FOR: Duration = Duration::minutes(10);

/// What was granted.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GrantRecord {
    pub(super) resource: String,
    pub(super) scope: String,
    /// When the person had signed in, seconds since 1970.
    pub(super) auth_time: i64,
    /// The key that all tokens of the family are bound to.
    pub(super) jkt: Option<String>,
    /// What the token request has to repeat.
    pub(super) redirect_uri: Option<String>,
    pub(super) challenge: String,
}

impl GrantRecord {
    pub(super) fn write(&self) -> Result<String, Refusal> {
        serde_json::to_string(self).map_err(|fault| Refusal::ours("grant", &fault))
    }

    fn read(stored: &StoredGrant) -> Result<Self, Refusal> {
        serde_json::from_str(&stored.record).map_err(|fault| Refusal::ours("grant", &fault))
    }

    fn scopes(&self) -> Scopes {
        Scopes::parse(&self.scope).unwrap_or_default()
    }
}

fn invalid(step: &'static str, sent: impl Into<String>, expected: impl Into<String>) -> Refusal {
    refuse(Code::InvalidGrant, step, sent, expected)
}

impl AuthorizationServer {
    /// RFC 6749 §4.1.3, RFC 7636 §4.6.
    pub(super) async fn by_code(&self, request: &TokenRequest<'_>) -> Result<Issued, Refusal> {
        let TokenRequest { params, client, jkt, now, .. } = request;
        let (handle, grant) = self.family(HandleKind::Code, params.required("code")?, request).await?;
        let mut record = GrantRecord::read(&grant)?;
        let redirect_uri = params.get("redirect_uri");
        if record.redirect_uri.is_some() && redirect_uri != record.redirect_uri.as_deref() {
            let expected = "the redirect URI of the authorization request";
            return Err(invalid("redirect_uri", redirect_uri.unwrap_or("nothing"), expected));
        }
        let verifier = params.get("code_verifier").unwrap_or_default();
        let digest = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()));
        let short = !(43..=128).contains(&verifier.len());
        if short || verify_slices_are_equal(digest.as_bytes(), record.challenge.as_bytes()).is_err() {
            let sent = if verifier.is_empty() { "nothing" } else { "another value" };
            return Err(invalid(
                "code_verifier",
                sent,
                "43 to 128 characters whose SHA-256 is the challenge",
            ));
        }
        resource(request, &record)?;
        if record.jkt.is_some() && record.jkt != *jkt {
            return Err(invalid("DPoP proof", "another key or none", "the key of dpop_jkt"));
        }
        let scopes = record.scopes();
        if scopes.has(APPROVALS_DECIDE)
            && record.auth_time + DECIDES_FOR.whole_seconds() <= now.unix_timestamp()
        {
            let expected = "a sign-in at most 10 minutes ago";
            return Err(invalid("auth_time", "an older sign-in", expected));
        }
        let refresh = client.record.refresh && !scopes.has(APPROVALS_DECIDE);
        let ends_at = *now + if refresh { self.settings.refresh_life } else { self.life(&scopes) };
        record.jkt.clone_from(jkt);
        let user = self.standing_user(&grant).await?;
        // Roles may have changed since the person consented.
        let scopes = self.still_allowed(&scopes, &user)?;
        self.take_proof(request)?;
        let next = self.advance(&handle, &record, millis(ends_at), millis(*now)).await?;
        let refresh_token = if refresh { Some(self.refresh_token(&grant.id, next)?) } else { None };
        Ok(Issued { issue: issue(&grant, &record, user, scopes), refresh_token })
    }

    /// RFC 6749 §6.
    pub(super) async fn by_refresh_token(&self, request: &TokenRequest<'_>) -> Result<Issued, Refusal> {
        let TokenRequest { params, jkt, now, .. } = request;
        let sent = params.required("refresh_token")?;
        let (handle, grant) = self.family(HandleKind::Refresh, sent, request).await?;
        let record = GrantRecord::read(&grant)?;
        resource(request, &record)?;
        if record.jkt.is_some() && record.jkt != *jkt {
            return Err(invalid("DPoP proof", "another key or none", "the key that the family is bound to"));
        }
        let granted = record.scopes();
        let wanted = match params.get("scope") {
            None => granted.clone(),
            Some(text) => Scopes::parse(text).unwrap_or_default(),
        };
        if wanted.is_empty() || !granted.cover(&wanted) || wanted.has(APPROVALS_DECIDE) {
            let sent = params.get("scope").unwrap_or("nothing");
            return Err(refuse(Code::InvalidScope, "scope", sent, super::listed(&granted)));
        }
        let user = self.standing_user(&grant).await?;
        let scopes = self.still_allowed(&wanted, &user)?;
        self.take_proof(request)?;
        let next = self.advance(&handle, &record, grant.ends_at, millis(*now)).await?;
        let refresh_token = Some(self.refresh_token(&grant.id, next)?);
        Ok(Issued { issue: issue(&grant, &record, user, scopes), refresh_token })
    }

    /// The family that a handle is of, if the handle is good now and of this client. One that was used before revokes it.
    async fn family(
        &self,
        kind: HandleKind,
        sent: &str,
        request: &TokenRequest<'_>,
    ) -> Result<(Handle, StoredGrant), Refusal> {
        let step = if kind == HandleKind::Code { "code" } else { "refresh_token" };
        let unknown =
            || invalid(step, "one that is not good", "one that this server gave out, that has not ended");
        let handle = Handle::open(kind, &self.seal, sent).ok_or_else(unknown)?;
        let found = self.store.grant(&handle.grant).await.map_err(|fault| Refusal::ours("grant", &fault))?;
        let grant = found.ok_or_else(unknown)?;
        if grant.client != request.client.id {
            let sent = "one that was given to another client";
            return Err(invalid(step, sent, "one that was given to this client"));
        }
        if grant.generation != handle.generation && grant.revoked_at.is_none() {
            self.revoke(&grant.id).await?;
            return Err(reused(step));
        }
        if grant.revoked_at.is_some() || grant.ends_at <= millis(request.now) {
            return Err(unknown());
        }
        Ok((handle, grant))
    }

    async fn advance(
        &self,
        handle: &Handle,
        record: &GrantRecord,
        ends_at: i64,
        now: i64,
    ) -> Result<i64, Refusal> {
        let Handle { grant, generation } = handle;
        let advanced = self.store.advance_grant(grant, *generation, &record.write()?, ends_at, now).await;
        match advanced.map_err(|fault| Refusal::ours("grant", &fault))? {
            Advanced::To(next) => Ok(next),
            Advanced::Reused => {
                self.standing.revoke(grant);
                Err(reused("code or refresh_token"))
            }
            Advanced::Over => Err(invalid("grant", "one that is over", "one that stands")),
        }
    }

    fn refresh_token(&self, grant: &str, generation: i64) -> Result<String, Refusal> {
        let handle = Handle { grant: grant.to_owned(), generation };
        handle.seal(HandleKind::Refresh, &self.seal).ok_or_else(super::no_seal)
    }

    /// The person whose grant it is, unless the account is gone or disabled: then the grant is revoked.
    async fn standing_user(&self, grant: &StoredGrant) -> Result<User, Refusal> {
        let user = self.people.user(&grant.subject).await;
        let user = user.map_err(|fault| Refusal::ours("account", &fault))?.filter(|user| !user.disabled);
        match user {
            Some(user) if !self.standing.revoked(&grant.id) => Ok(user),
            _ => {
                self.revoke(&grant.id).await?;
                Err(invalid(
                    "account",
                    "one that is gone or disabled",
                    "the account of the person who granted it",
                ))
            }
        }
    }

    fn still_allowed(&self, wanted: &Scopes, user: &User) -> Result<Scopes, Refusal> {
        let allowed = self.settings.allowed(&user.roles);
        let scopes = wanted.within(&allowed);
        if scopes.is_empty() {
            let expected = format!("scopes that the roles of the person allow: {}", super::listed(&allowed));
            return Err(refuse(Code::InvalidScope, "scope", super::listed(wanted), expected));
        }
        Ok(scopes)
    }

    /// Revokes a grant, in the store and here at once. In this order: a picture of the store that is made meanwhile has it.
    pub(super) async fn revoke(&self, grant: &str) -> Result<(), Refusal> {
        let revoked = self.store.revoke_grant(grant, millis(self.now())).await;
        self.standing.revoke(grant);
        revoked.map(|_| ()).map_err(|fault| Refusal::ours("grant", &fault))
    }
}

fn reused(step: &'static str) -> Refusal {
    invalid(step, "one that was used before; all tokens of its grant are revoked", "each one once")
}

/// RFC 8707 §2.2: the resource of the grant, where one is named.
fn resource(request: &TokenRequest<'_>, record: &GrantRecord) -> Result<(), Refusal> {
    match request.params.get("resource") {
        Some(sent) if sent != record.resource => {
            Err(refuse(Code::InvalidTarget, "resource", sent, record.resource.clone()))
        }
        _ => Ok(()),
    }
}

fn issue(grant: &StoredGrant, record: &GrantRecord, user: User, scopes: Scopes) -> Issue {
    Issue {
        subject: user.id,
        name: user.display_name,
        tenant: user.tenant,
        roles: user.roles,
        kind: Kind::Person,
        resource: record.resource.clone(),
        scopes,
        auth_time: Some(record.auth_time),
        grant: Some(grant.id.clone()),
        actor: None,
        until: None,
    }
}
