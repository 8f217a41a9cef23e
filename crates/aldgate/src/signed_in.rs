//! Who uses the command line, where no token was given: what `aldgate login` kept, or a person who signs in now.

use std::path::PathBuf;
use std::sync::Arc;

use aldgate_agent::Renewal;
use aldgate_identity::Scopes;
use aldgate_identity::client::{
    AccessToken, ClientAuthentication, Http, Keep, Login, LoginEvent, LoginSettings, Preregistered, Probe,
    Session, SessionFault, login,
};
use async_trait::async_trait;
use time::OffsetDateTime;
use tokio::sync::Mutex;
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

    /// A token that is kept and still good, and where others come from for as long as the command runs; none where nobody signed
    /// in.
    pub(crate) async fn renewing(&self) -> miette::Result<Option<(String, Arc<dyn Renewal>)>> {
        let Some(token) = self.token().await? else { return Ok(None) };
        let Some(folder) = folder() else { return Ok(None) };
        let renewing = Renewing { session: self.session(&folder)?, shown: Mutex::default() };
        Ok(Some((token, Arc::new(renewing))))
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
        // The admin API names the authorization server of the gateway, which is at another port.
        let own = gateway.into_iter().chain([self.resource.origin().ascii_serialization()]);
        let own = own.map(|issuer| (issuer, CLI.to_owned()));
        let named = how.issuer.clone().zip(how.client_id.clone());
        let known = |(issuer, client_id)| Preregistered {
            issuer,
            client_id,
            authentication: ClientAuthentication::None,
        };
        named.into_iter().chain(own).map(known).collect()
    }
}

/// The tokens of a session, while a command runs that may outlive each of them.
struct Renewing {
    session: Session,
    /// The one that was shown last.
    shown: Mutex<Option<AccessToken>>,
}

impl Renewing {
    async fn take(&self, found: Result<AccessToken, SessionFault>) -> Option<String> {
        let found = found.inspect_err(|fault| {
            tracing::warn!(error = fault as &dyn std::error::Error, "there is no other token");
        });
        let token = found.ok()?;
        let bearer = token.bearer().map(str::to_owned);
        *self.shown.lock().await = Some(token);
        bearer
    }
}

#[async_trait]
impl Renewal for Renewing {
    async fn current(&self) -> Option<String> {
        self.take(self.session.token(OffsetDateTime::now_utc()).await).await
    }

    async fn another(&self, refused: &str) -> Option<String> {
        let shown = self.shown.lock().await.clone().filter(|shown| shown.bearer() == Some(refused))?;
        let another = self.session.after_refusal(&shown, OffsetDateTime::now_utc()).await;
        // The same one once more would be refused once more.
        self.take(another).await.filter(|another| another != refused)
    }
}

/// Where tokens are kept: `aldgate` in `XDG_STATE_HOME`, else in `.local/state` of the home folder.
pub(crate) fn folder() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let state = set("XDG_STATE_HOME").filter(|path| path.is_absolute());
    let state = state.or_else(|| set("HOME").map(|home| home.join(".local/state")));
    state.map(|state| state.join("aldgate"))
}
