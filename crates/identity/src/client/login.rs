//! Signing in from a command line: a browser, and a listener on this machine that it comes back to (RFC 8252).

mod request;
#[cfg(test)]
mod tests;

use std::time::Duration;

use time::OffsetDateTime;
use url::Url;

use super::browser;
use super::callback::{CallbackFault, Expected};
use super::discover::{Discovered, DiscoveryFault, Probe, Purpose, discover};
use super::dpop::{DpopFault, DpopKey};
use super::http::Http;
use super::keep::{Keep, KeepFault, Kept};
use super::loopback::Loopback;
use super::proof_key::{NoRandomness, random_text};
use super::register::{Preregistered, Registration, RegistrationFault, Wanted, redirect};
use super::token::AccessToken;
use super::token_endpoint::{TokenEndpoint, TokenFault};
use crate::Scopes;
use crate::scopes::APPROVALS_DECIDE;

/// What a sign-in is for and how it goes.
#[derive(Clone, Debug)]
pub struct LoginSettings {
    /// The URL of the protected resource.
    pub resource: Url,
    /// How it is asked who signs people in.
    pub probe: Probe,
    /// A label that tells several accounts at one resource apart.
    pub account: String,
    /// Scopes to ask for; where they are left out, those of the challenge or of the resource. `approvals:decide` is asked
    /// for only by name, with a fresh sign-in, and its tokens are not kept.
    pub scopes: Option<Scopes>,
    /// Chooses one of several authorization servers.
    pub issuer: Option<String>,
    /// Clients that authorization servers know beforehand.
    pub preregistered: Vec<Preregistered>,
    /// URL of this client's metadata document.
    pub document: Option<Url>,
    /// What people are shown of this client.
    pub client_name: String,
    /// Port of the redirect, or 0 for any free one.
    pub port: u16,
    /// Whether a browser is opened. The URL is told in any case.
    pub browser: bool,
    /// How long the person is waited for.
    pub wait: Duration,
    /// Whether tokens are bound to a key where the server can do so.
    pub dpop: bool,
    /// Where tokens are kept; nowhere, where it is left out.
    pub keep: Option<Keep>,
    /// Tells the time.
    pub clock: fn() -> OffsetDateTime,
}

impl LoginSettings {
    /// A sign-in at a resource of MCP, with a browser, waited for five minutes, and nothing kept.
    #[must_use]
    pub fn at(resource: Url, clock: fn() -> OffsetDateTime) -> Self {
        Self {
            resource,
            probe: Probe::Mcp,
            account: "default".to_owned(),
            scopes: None,
            issuer: None,
            preregistered: Vec::new(),
            document: None,
            client_name: "Aldgate".to_owned(),
            port: 0,
            browser: true,
            wait: Duration::from_secs(300),
            dpop: false,
            keep: None,
            clock,
        }
    }
}

/// What happens during a sign-in, for the person to see.
#[derive(Clone, Copy, Debug)]
pub enum LoginEvent<'a> {
    /// The page to sign in at.
    Open {
        /// Its URL: to be shown in full.
        url: &'a Url,
        /// Whether a browser was started with it.
        browser: bool,
    },
}

/// A sign-in that succeeded.
#[derive(Clone, Debug)]
pub struct Login {
    /// Who signed the person in.
    pub issuer: String,
    /// The resource as it calls itself.
    pub resource: String,
    /// What was asked for.
    pub asked: Option<Scopes>,
    /// The access token.
    pub token: AccessToken,
    /// Whether tokens were kept.
    pub kept: bool,
}

/// Why a sign-in failed.
#[derive(Debug, thiserror::Error)]
pub enum LoginFault {
    /// No authorization server may be used.
    #[error(transparent)]
    Discovery(#[from] DiscoveryFault),
    /// The client is not known to it.
    #[error(transparent)]
    Registration(#[from] RegistrationFault),
    /// Nothing can listen on this machine.
    #[error("nothing can listen at 127.0.0.1:{port} for the browser to come back")]
    Listener {
        /// The port, 0 for any.
        port: u16,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// Nobody came back.
    #[error("nobody signed in within {seconds} s; try again")]
    TimedOut {
        /// How long was waited.
        seconds: u64,
    },
    /// The answer is not to be taken.
    #[error(transparent)]
    Callback(#[from] CallbackFault),
    /// The code was not exchanged for tokens.
    #[error("the sign-in was not exchanged for tokens")]
    Token(#[from] TokenFault),
    /// Tokens are not kept.
    #[error(transparent)]
    Keep(#[from] KeepFault),
    /// No random numbers.
    #[error(transparent)]
    Random(#[from] NoRandomness),
    /// No key.
    #[error(transparent)]
    Key(#[from] DpopFault),
}

/// Signs a person in. `events` is told the URL of the page.
///
/// # Errors
/// Where any step fails; nothing is kept then.
pub async fn login(
    http: &Http,
    settings: &LoginSettings,
    events: &mut (dyn FnMut(LoginEvent<'_>) + Send),
) -> Result<Login, LoginFault> {
    let wanted = settings.issuer.as_deref();
    let found = discover(http, &settings.resource, &settings.probe, Purpose::SignIn, wanted).await?;
    let (client, loopback) = known(http, settings, &found).await?;
    let asked = request::scopes(settings.scopes.as_ref(), &found);
    let (verifier, state) = (random_text()?, random_text()?);
    let url = request::url(&found, &client.client_id, loopback.port(), &verifier, &state, asked.as_ref())?;
    events(LoginEvent::Open { url: &url, browser: settings.browser && browser::open(&url) });
    let redirect = redirect(loopback.port());
    let issuer = found.server.issuer.clone();
    let promised = found.server.authorization_response_iss_parameter_supported;
    let expected = Expected { state, issuer: issuer.clone(), promised };
    let Some(code) = loopback.answer(expected, settings.wait).await else {
        // A server that has forgotten this client shows a page about it and sends nobody back.
        forget_client(settings, &client, &issuer)?;
        return Err(LoginFault::TimedOut { seconds: settings.wait.as_secs() });
    };
    let code = code?;
    let bind = settings.dpop && found.server.takes_dpop();
    let key = bind.then(DpopKey::generate).transpose()?;
    let endpoint = TokenEndpoint {
        http,
        reach: found.reach,
        issuer: &issuer,
        client_id: &client.client_id,
        authentication: &client.authentication,
        key: key.as_ref(),
    };
    let form = [
        ("grant_type", "authorization_code"),
        ("code", code.expose()),
        ("redirect_uri", &redirect),
        ("code_verifier", verifier.expose()),
        ("resource", &found.resource),
    ];
    let now = (settings.clock)();
    let given =
        endpoint.ask(found.server.token_endpoint.as_deref().unwrap_or_default(), &form, asked.as_ref(), now);
    let tokens = match given.await {
        Ok(tokens) => tokens,
        Err(fault) => {
            if matches!(&fault, TokenFault::Refused { code, .. } if code == "invalid_client") {
                forget_client(settings, &client, &issuer)?;
            }
            return Err(fault.into());
        }
    };
    let may_decide = asked.as_ref().is_some_and(|asked| asked.has(APPROVALS_DECIDE));
    let mut kept = false;
    if let Some(keep) = settings.keep.as_ref().filter(|_| !may_decide) {
        let signed_in = Kept {
            issuer: issuer.clone(),
            resource: settings.resource.as_str().to_owned(),
            account: settings.account.clone(),
            indicator: found.resource.clone(),
            client_id: client.client_id,
            access: tokens.access.clone(),
            refresh: tokens.refresh,
            signed_in_at: now,
        };
        // Another process may be about to write what it refreshed of an earlier sign-in.
        let _lock = keep.lock(signed_in.key()).await?;
        kept = keep.write(&signed_in)?;
    }
    Ok(Login { issuer, resource: found.resource, asked, token: tokens.access, kept })
}

/// Who the client is to the server, and a listener at the redirect that it is known with.
async fn known(
    http: &Http,
    settings: &LoginSettings,
    found: &Discovered,
) -> Result<(Registration, Loopback), LoginFault> {
    let bind = async |port: u16| {
        let bound = Loopback::bind(port).await;
        bound.map_err(|source| LoginFault::Listener { port, source })
    };
    let client = Wanted {
        name: &settings.client_name,
        document: settings.document.as_ref(),
        preregistered: &settings.preregistered,
    };
    if let Some(known) = client.known(found)? {
        return Ok((known, bind(settings.port).await?));
    }
    let issuer = &found.server.issuer;
    let kept = settings.keep.as_ref().map(|keep| keep.read_client(issuer)).transpose()?.flatten();
    if let Some(kept) = kept {
        // Servers differ in whether another port is the same redirect: where this one is taken, the client registers anew.
        let port = kept.port.filter(|port| settings.port == 0 || settings.port == *port);
        if let Some(Ok(loopback)) = futures::future::OptionFuture::from(port.map(Loopback::bind)).await {
            return Ok((kept, loopback));
        }
    }
    let loopback = bind(settings.port).await?;
    let registered = client.register(http, found, loopback.port()).await?;
    if let Some(keep) = &settings.keep {
        keep.write_client(issuer, &registered)?;
    }
    Ok((registered, loopback))
}

fn forget_client(settings: &LoginSettings, client: &Registration, issuer: &str) -> Result<(), KeepFault> {
    match &settings.keep {
        Some(keep) if client.port.is_some() => keep.remove_client(issuer),
        _ => Ok(()),
    }
}
