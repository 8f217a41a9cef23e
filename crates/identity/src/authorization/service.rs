//! Tokens for clients that act for themselves (RFC 6749 §4.4).

use super::AuthorizationServer;
use super::refusal::{Code, Refusal, refuse};
use super::request::unknown_resource;
use super::token::{Issue, Issued, TokenRequest, unauthorized};
use super::tokens::Kind;
use crate::scopes::APPROVALS_DECIDE;
use crate::{Door, Scopes};

impl AuthorizationServer {
    /// The service that the client is, with the scopes that were written down for it. Decisions are for people.
    pub(super) fn by_itself(&self, request: &TokenRequest<'_>) -> Result<Issued, Refusal> {
        let TokenRequest { params, client, .. } = request;
        let expected = "a client that was registered beforehand as a service";
        let service =
            client.record.service.clone().ok_or_else(|| unauthorized("client_credentials", expected))?;
        let resource = params.get("resource").unwrap_or(&self.settings.doors.mcp);
        let door =
            self.settings.doors.door(resource).ok_or_else(|| unknown_resource(resource, &self.settings))?;
        if door == Door::Decisions {
            let expected = "a resource that services may use; only people decide approvals";
            return Err(refuse(Code::InvalidTarget, "resource", resource, expected));
        }
        let most = client.record.scopes().unwrap_or_default().unwrap_or_default();
        let decide = Scopes::of([APPROVALS_DECIDE]).unwrap_or_default();
        let most = most.without(&decide);
        let wanted = match params.get("scope") {
            Some(text) => Scopes::parse(text).unwrap_or_default(),
            None => self.settings.default_for(door).within(&most),
        };
        if wanted.is_empty() || !most.cover(&wanted) {
            let sent = params.get("scope").unwrap_or("nothing");
            return Err(refuse(Code::InvalidScope, "scope", sent, super::listed(&most)));
        }
        self.take_proof(request)?;
        self.standing.serve(&client.id);
        let issue = Issue {
            subject: client.id.clone(),
            name: client.record.name.clone(),
            tenant: service.tenant,
            roles: service.roles,
            kind: Kind::Service,
            resource: resource.to_owned(),
            scopes: wanted,
            auth_time: None,
            grant: None,
            actor: None,
            until: None,
        };
        Ok(Issued { issue, refresh_token: None })
    }
}
