//! Tokens for tokens (RFC 8693): a client acts for whom it has a token of.

use super::AuthorizationServer;
use super::refusal::{Code, Refusal, refuse};
use super::token::{Issue, Issued, TokenRequest, unauthorized};
use super::tokens::{Actor, Claims, Kind};
use crate::scopes::APPROVALS_DECIDE;
use crate::{Door, Scopes};

pub(super) const GRANT_TYPE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
pub(super) const ACCESS_TOKEN: &str = "urn:ietf:params:oauth:token-type:access_token";
/// How many may act for one another in a row.
const DEEPEST: usize = 4;

impl AuthorizationServer {
    /// A token of the same subject for another resource, with no more scopes and no longer life, that says who acts.
    pub(super) async fn by_exchange(&self, request: &TokenRequest<'_>) -> Result<Issued, Refusal> {
        let TokenRequest { params, client, .. } = request;
        if client.record.exchange_for.is_empty() {
            return Err(unauthorized(GRANT_TYPE, "a client that was registered to exchange tokens"));
        }
        for name in ["subject_token_type", "requested_token_type"] {
            let found = params.get(name).unwrap_or(if name == "subject_token_type" {
                "nothing"
            } else {
                ACCESS_TOKEN
            });
            if found != ACCESS_TOKEN {
                return Err(refuse(Code::InvalidRequest, name, found, ACCESS_TOKEN));
            }
        }
        if params.get("actor_token").is_some() {
            let expected = "none: the client that authenticates is the actor";
            return Err(refuse(Code::InvalidRequest, "actor_token", "one", expected));
        }
        let resource = target(request)?;
        let claims = self.subject(request)?;
        let (name, tenant, roles) = match claims.kind {
            Kind::Service => (claims.name, claims.tenant, claims.roles),
            Kind::Person => {
                let user = self.people.user(&claims.sub).await;
                let user = user.map_err(|fault| Refusal::ours("account", &fault))?;
                let user =
                    user.filter(|user| !user.disabled).ok_or_else(|| bad("one of a person who is gone"))?;
                (user.display_name, user.tenant, user.roles)
            }
        };
        let most = Scopes::parse(&claims.scope).unwrap_or_default();
        let most =
            if claims.kind == Kind::Person { most.within(&self.settings.allowed(&roles)) } else { most };
        let most = match client.record.scopes().unwrap_or(Some(Scopes::default())) {
            Some(own) => most.within(&own),
            None => most,
        };
        let wanted = match params.get("scope") {
            Some(text) => Scopes::parse(text).unwrap_or_default(),
            None => most.clone(),
        };
        if wanted.is_empty() || !most.cover(&wanted) || wanted.has(APPROVALS_DECIDE) {
            let sent = params.get("scope").unwrap_or("nothing");
            return Err(refuse(Code::InvalidScope, "scope", sent, super::listed(&most)));
        }
        let actor = Actor { sub: client.id.clone(), act: claims.act.map(Box::new) };
        if actor.row().count() > DEEPEST {
            let expected = format!("{DEEPEST} actors at most");
            return Err(refuse(Code::InvalidRequest, "subject_token", "a longer row of actors", expected));
        }
        self.take_proof(request)?;
        let issue = Issue {
            subject: claims.sub,
            name,
            tenant,
            roles,
            kind: claims.kind,
            resource,
            scopes: wanted,
            auth_time: claims.auth_time,
            grant: claims.grant,
            actor: Some(actor),
            until: Some(claims.exp),
        };
        Ok(Issued { issue, refresh_token: None })
    }

    /// The claims of the token that is to be exchanged: one of ours that is good now, and decides nothing.
    fn subject(&self, request: &TokenRequest<'_>) -> Result<Claims, Refusal> {
        let token = request.params.required("subject_token")?;
        let claims: Claims =
            self.keys.load().verify(token).ok_or_else(|| bad("one that was not signed here"))?;
        let now = request.now.unix_timestamp();
        if claims.iss != self.settings.issuer || claims.exp <= now || claims.nbf > now {
            return Err(bad("one that is not good now"));
        }
        if !self.is_current() {
            let expected = "a store that says what was revoked; try again later";
            return Err(refuse(
                Code::TemporarilyUnavailable,
                "subject_token",
                "one that may be good",
                expected,
            ));
        }
        let acting = |actor: &Actor| actor.row().all(|actor| self.acts(&actor.sub));
        if !self.stands(&claims.sub, claims.grant.as_deref()) || !claims.act.as_ref().is_none_or(acting) {
            return Err(bad("one that was revoked"));
        }
        // Whoever has the token alone, has not what it is good with.
        if claims.cnf.as_ref().is_some_and(|bound| request.jkt.as_ref() != Some(&bound.jkt)) {
            let expected = "a proof with the key that the subject token is bound to";
            return Err(refuse(Code::InvalidRequest, "DPoP proof", "another key or none", expected));
        }
        let decisions = self.settings.doors.url(Door::Decisions);
        if claims.aud == decisions || Scopes::parse(&claims.scope).is_ok_and(|all| all.has(APPROVALS_DECIDE))
        {
            return Err(bad("one that decides approvals, which no other may do in the person's name"));
        }
        Ok(claims)
    }
}

fn bad(sent: &str) -> Refusal {
    let expected = "an access token of this server that is good now";
    refuse(Code::InvalidRequest, "subject_token", sent, expected)
}

/// The resource of the new token: one of those that were written down for the client.
fn target(request: &TokenRequest<'_>) -> Result<String, Refusal> {
    let TokenRequest { params, client, .. } = request;
    let sent = match (params.get("resource"), params.get("audience")) {
        (Some(one), None) | (None, Some(one)) => one,
        (Some(one), Some(other)) if one == other => one,
        (Some(_), Some(_)) => {
            let expected = "one resource";
            return Err(refuse(Code::InvalidTarget, "resource", "another audience besides", expected));
        }
        (None, None) => return Err(refuse(Code::InvalidTarget, "resource", "nothing", "one resource")),
    };
    let allowed = &client.record.exchange_for;
    if allowed.iter().any(|one| one == sent) {
        Ok(sent.to_owned())
    } else {
        Err(refuse(Code::InvalidTarget, "resource", sent, format!("one of {}", allowed.join(", "))))
    }
}
