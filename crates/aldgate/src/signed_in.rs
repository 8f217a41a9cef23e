//! Who uses the command line, where no token was given: what `aldgate login` kept, or a person who signs in now.

use std::path::PathBuf;
use std::sync::Arc;

use aldgate_identity::Scopes;
use aldgate_identity::client::{
    ClientAuthentication, Http, Keep, Login, LoginEvent, LoginSettings, Preregistered, Probe, Session,
    SessionFault, login,
};
use time::OffsetDateTime;
use url::Url;

use crate::coded::WithCode as _;
use crate::fault::CommandFault;
use crate::identity::CLI;

/// The MCP endpoint of a gateway where none is named.
const USUAL: &str = "http://127.0.0.1:7300/mcp";

/// Which account of which resource.
#[derive(Clone, Debug)]
pub(crate) struct Account {
    /// The protected resource.
    pub(crate) resource: Url,
    /// Tells several accounts at one resource apart.
    pub(crate) label: String,
}

/// How somebody signs in.
#[derive(Clone, Debug, Default)]
pub(crate) struct How {
    /// The scopes to ask for; those that the resource names, where they are left out.
    pub(crate) scopes: Option<Scopes>,
    /// The one of several authorization servers, and the id of the client there.
    pub(crate) issuer: Option<String>,
    /// The id of the client there.
    pub(crate) client_id: Option<String>,
    /// Whether a browser is opened.
    pub(crate) browser: bool,
}

impl Account {
    /// The default account at a URL.
    pub(crate) fn at(url: &str) -> miette::Result<Self> {
        let resource = Url::parse(url).map_err(|_| {
            let found = crate::out::plain(url);
            CommandFault::usage(format!(
                "`{found}` is no URL; expected one such as `http://127.0.0.1:7300/mcp`"
            ))
        })?;
        Ok(Self { resource, label: "default".to_owned() })
    }

    /// The default account at the admin API.
    pub(crate) fn admin(url: &str) -> miette::Result<Self> {
        Self::at(&format!("{}/v1", url.trim_end_matches('/')))
    }

    /// The default account at the decisions of the admin API.
    pub(crate) fn decisions(url: &str) -> miette::Result<Self> {
        Self::at(&format!("{}/v1/approvals", url.trim_end_matches('/')))
    }

    /// A token that is kept and still good, refreshed where that is needed; none where nobody signed in: whoever asks without
    /// one is told what to do.
    pub(crate) async fn token(&self) -> miette::Result<Option<String>> {
        let Some(folder) = folder().filter(|folder| folder.is_dir()) else { return Ok(None) };
        match self.session(&folder)?.token(OffsetDateTime::now_utc()).await {
            Ok(token) => Ok(token.bearer().map(str::to_owned)),
            Err(SessionFault::SignIn { why, .. }) if why.is_empty() => Ok(None),
            Err(fault) => Err(fault).coded(),
        }
    }

    /// Signs in with a browser. What may decide approvals is kept nowhere.
    pub(crate) async fn sign_in(&self, how: &How, keep: bool) -> miette::Result<Login> {
        let keep = match folder().filter(|_| keep) {
            Some(folder) => Some(Keep::open(&folder).coded()?),
            None => None,
        };
        let settings = LoginSettings {
            account: self.label.clone(),
            scopes: how.scopes.clone(),
            issuer: how.issuer.clone(),
            preregistered: self.known(how),
            client_name: "Aldgate command line".to_owned(),
            browser: how.browser,
            probe: if self.resource.path().ends_with("/mcp") { Probe::Mcp } else { Probe::Get },
            keep,
            ..LoginSettings::at(self.resource.clone(), OffsetDateTime::now_utc)
        };
        let mut told = |event: LoginEvent<'_>| {
            let LoginEvent::Open { url, browser } = event;
            let how = if browser { "a browser was opened; if it shows nothing, open" } else { "open" };
            note!("sign in: {how} {}", crate::out::plain(url.as_str()));
        };
        login(&Http::default(), &settings, &mut told).await.coded()
    }

    /// Takes away what is kept, here and at the authorization server.
    pub(crate) fn session(&self, folder: &std::path::Path) -> miette::Result<Session> {
        let keep = Keep::open(folder).coded()?;
        let session =
            Session::new(Arc::new(Http::default()), keep, self.resource.clone(), self.label.clone());
        Ok(session.knowing(self.known(&How::default())))
    }

    /// The client that a gateway's own authorization server knows by itself, and one that was named.
    fn known(&self, how: &How) -> Vec<Preregistered> {
        let gateway = std::env::var("ALDGATE_URL").unwrap_or_else(|_| USUAL.to_owned());
        let gateway = Url::parse(&gateway).map(|url| url.origin().ascii_serialization());
        let issuers = match &how.issuer {
            Some(issuer) => vec![issuer.clone()],
            // The admin API names the authorization server of the gateway, which is at another port.
            None => gateway.into_iter().chain([self.resource.origin().ascii_serialization()]).collect(),
        };
        let client_id = how.client_id.as_deref().unwrap_or(CLI);
        let known = |issuer| Preregistered {
            issuer,
            client_id: client_id.to_owned(),
            authentication: ClientAuthentication::None,
        };
        issuers.into_iter().map(known).collect()
    }
}

/// Where tokens are kept: `aldgate` in `XDG_STATE_HOME`, else in `.local/state` of the home folder.
pub(crate) fn folder() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let state = set("XDG_STATE_HOME").filter(|path| path.is_absolute());
    let state = state.or_else(|| set("HOME").map(|home| home.join(".local/state")));
    state.map(|state| state.join("aldgate"))
}
