//! Who takes part: a program that works the ticket and one that reads the evidence, each with credentials of its own, and a
//! person who decides. All that they show the gateway was given out by its authorization server.

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::{Duration, Instant};

use aldgate_identity::Scopes;
use aldgate_identity::authorization::{ClientMethod, ClientRecord, ClientStore, Service};
use aldgate_identity::client::{
    ClientAuthentication, Http, LoginEvent, LoginSettings, Preregistered, Probe, login,
};
use aldgate_identity::people::{Accounts, Hashing, NewPerson};
use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::Value;
use time::OffsetDateTime;
use tokio::sync::Mutex;
use url::Url;

use super::browser::Browser;
use super::stage::{AGENT, TENANT};
use crate::coded::WithCode as _;
use crate::config::Loaded;
use crate::fault::CommandFault;
use crate::identity::{CLI, identity_store};

/// The program that reads the evidence for what is said at the end.
const LEDGER: &str = "ledger";
/// The person who decides.
pub(super) const APPROVER: &str = "approver";
/// How long a token for decisions is used: it is good for five minutes.
const DECIDES_FOR: Duration = Duration::from_secs(240);

/// Who takes part.
pub(super) struct People {
    agent: String,
    ledger: String,
    approver: Mutex<Approver>,
    /// Where the gateway is.
    issuer: String,
    admin: String,
}

/// What the person signs in with. It is shown: whoever runs the demonstration is that person.
struct Approver {
    password: String,
    /// Whether it is the one that was given out, which the first sign-in changes.
    is_good_once: bool,
    decides: Option<(String, Instant)>,
}

impl People {
    /// Makes the accounts and clients in the store of a configuration.
    pub(super) async fn invite(loaded: &Loaded, issuer: String, admin: String) -> miette::Result<Self> {
        let store = Arc::new(identity_store(loaded).await?);
        let now = OffsetDateTime::now_utc();
        let clients = ClientStore::new(store.clone());
        let program = async |id: &str, name: &str, scope: &str| {
            // A store that was kept knows it from before, with a secret that nobody has any more.
            let _ = clients.remove(id, now).await;
            let service = Service { tenant: TENANT.to_owned(), roles: [id.to_owned()].into() };
            let record = ClientRecord {
                name: name.to_owned(),
                redirect_uris: Vec::new(),
                method: ClientMethod::Secret,
                jwks: None,
                refresh: false,
                scope: Some(scope.to_owned()),
                service: Some(service),
                exchange_for: Vec::new(),
            };
            let added = clients.add(id, &record, now).await.coded()?;
            Ok::<_, miette::Report>(added.secret.unwrap_or_default())
        };
        let agent = program(AGENT, "Field-service agent", "tools:read tools:write").await?;
        let ledger = program(LEDGER, "The demonstration's ledger", "admin evidence:read").await?;
        let accounts = Accounts::new(store, &Hashing::default());
        let known = accounts.list().await.coded()?.iter().any(|listed| listed.user.name == APPROVER);
        let password = if known {
            accounts.reset(APPROVER, now).await.coded()?.1
        } else {
            let person = NewPerson {
                name: APPROVER.to_owned(),
                display_name: Some("Demo approver".to_owned()),
                tenant: TENANT.to_owned(),
                roles: [APPROVER.to_owned()].into(),
            };
            accounts.add(&person, now).await.coded()?.1
        };
        let approver = Mutex::new(Approver::with(password.password.as_str()));
        Ok(Self { agent, ledger, approver, issuer, admin })
    }

    /// A token of the agent for the MCP endpoint, by client credentials (RFC 6749 §4.4).
    pub(super) async fn agent(&self) -> miette::Result<String> {
        self.program(AGENT, &self.agent, &format!("{}/mcp", self.issuer), None).await
    }

    /// One for the admin API, where the agent sees what it asked for itself.
    pub(super) async fn asker(&self) -> miette::Result<String> {
        self.program(AGENT, &self.agent, &format!("{}/v1", self.admin), Some("tools:read")).await
    }

    /// A token for the admin API of the program that reads the evidence.
    pub(super) async fn ledger(&self) -> miette::Result<String> {
        self.program(LEDGER, &self.ledger, &format!("{}/v1", self.admin), None).await
    }

    /// The password that the person signs in with as [`APPROVER`] now, as far as this program knows.
    pub(super) async fn password(&self) -> String {
        self.approver.lock().await.password.clone()
    }

    /// The same for whoever reads it.
    pub(super) async fn shown(&self) -> String {
        self.approver.lock().await.shown()
    }

    /// A token of the person for decisions alone, by a sign-in of its own: this program goes through the pages.
    pub(super) async fn decider(&self) -> miette::Result<String> {
        let mut approver = self.approver.lock().await;
        if let Some((token, since)) = &approver.decides
            && since.elapsed() < DECIDES_FOR
        {
            return Ok(token.clone());
        }
        let resource = format!("{}/v1/approvals", self.admin);
        let token = self.signs_in(&mut approver, &resource, "approvals:decide").await?;
        approver.decides = Some((token.clone(), Instant::now()));
        Ok(token)
    }

    /// A token of the person for another door, by a sign-in of its own.
    pub(super) async fn approver(&self, resource: &str, scopes: &str) -> miette::Result<String> {
        self.signs_in(&mut *self.approver.lock().await, resource, scopes).await
    }

    async fn signs_in(
        &self,
        approver: &mut Approver,
        resource: &str,
        scopes: &str,
    ) -> miette::Result<String> {
        let url = Url::parse(resource).map_err(|_| CommandFault::usage(format!("`{resource}` is no URL")))?;
        let settings = LoginSettings {
            scopes: Scopes::parse(scopes).ok(),
            issuer: Some(self.issuer.clone()),
            preregistered: vec![Preregistered {
                issuer: self.issuer.clone(),
                client_id: CLI.to_owned(),
                authentication: ClientAuthentication::None,
            }],
            client_name: "Aldgate demonstration".to_owned(),
            browser: false,
            probe: if url.path().ends_with("/mcp") { Probe::Mcp } else { Probe::Get },
            wait: Duration::from_secs(60),
            ..LoginSettings::at(url, OffsetDateTime::now_utc)
        };
        let (tell, told) = tokio::sync::oneshot::channel();
        let mut tell = Some(tell);
        let mut opened = |LoginEvent::Open { url, .. }: LoginEvent<'_>| {
            // Nobody waits for the page where the sign-in has failed before.
            let _ = tell.take().map(|tell| tell.send(url.clone()));
        };
        let http = Http::default();
        let mut asked = std::pin::pin!(login(&http, &settings, &mut opened));
        let password = approver.password.clone();
        let mut visit = std::pin::pin!(async {
            match told.await {
                Ok(url) => Browser::open().sign_in(&url, APPROVER, &password).await.map(Some),
                Err(_) => Ok(None),
            }
        });
        let (mut token, mut visited) = (None, false);
        while token.is_none() || !visited {
            tokio::select! {
                login = &mut asked, if token.is_none() => token = Some(login.coded()?.token),
                done = &mut visit, if !visited => {
                    visited = true;
                    if let Some(password) = done.map_err(|fault| failed(APPROVER, chain(&fault)))? {
                        approver.signed_in_with(password);
                    }
                }
            }
        }
        let token = token.and_then(|token| token.bearer().map(str::to_owned));
        Ok(token
            .ok_or_else(|| CommandFault::usage("the token is bound to a key, and cannot be used here"))?)
    }

    async fn program(
        &self,
        id: &str,
        secret: &str,
        resource: &str,
        scope: Option<&str>,
    ) -> miette::Result<String> {
        let mut form = url::form_urlencoded::Serializer::new(String::new());
        form.append_pair("grant_type", "client_credentials").append_pair("resource", resource);
        form.append_pair("client_id", id).append_pair("client_secret", secret);
        if let Some(scope) = scope {
            form.append_pair("scope", scope);
        }
        let request = Request::post(format!("{}/oauth/token", self.issuer))
            .header("content-type", "application/x-www-form-urlencoded")
            .body(Full::new(Bytes::from(form.finish())))
            .map_err(|_| CommandFault::usage(format!("`{}` is no address", self.issuer)))?;
        let client: Client<HttpConnector, Full<Bytes>> =
            Client::builder(TokioExecutor::new()).build(HttpConnector::new());
        let refused = |why: String| failed(id, why);
        let response = client.request(request).await.map_err(|fault| refused(fault.to_string()))?;
        let body = Limited::new(response.into_body(), 1 << 20).collect().await;
        let body = body.map_err(|fault| refused(fault.to_string()))?.to_bytes();
        let answer: Value = serde_json::from_slice(&body).map_err(|fault| refused(fault.to_string()))?;
        match answer.get("access_token").and_then(Value::as_str) {
            Some(token) => Ok(token.to_owned()),
            None => {
                let said = ["error", "error_description"]
                    .map(|name| answer.get(name).and_then(Value::as_str).unwrap_or("-"));
                Err(refused(crate::out::plain(&said.join(": "))).into())
            }
        }
    }
}

impl Approver {
    /// With a password that is good once.
    fn with(password: &str) -> Self {
        Self { password: password.to_owned(), is_good_once: true, decides: None }
    }

    /// After a sign-in of this program, which had to choose another password where the first was good once.
    fn signed_in_with(&mut self, password: String) {
        (self.password, self.is_good_once) = (password, false);
    }

    fn shown(&self) -> String {
        let once = if self.is_good_once { " (good once)" } else { "" };
        format!("the password {}{once}", self.password)
    }
}

fn failed(name: &str, why: String) -> CommandFault {
    CommandFault::SignIn { name: name.to_owned(), why }
}

/// A fault and what lies behind it.
fn chain(fault: &dyn std::error::Error) -> String {
    let all = std::iter::successors(Some(fault), |fault| fault.source());
    all.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
