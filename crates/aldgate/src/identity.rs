//! Who calls: the configured tokens, the issuers, and the authorization server of the gateway's own with its people.

mod guard;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use aldgate_gateway::settings::Reach;
use aldgate_identity::authorization::{
    self, AuthorizationFault, AuthorizationServer, ClientMethod, ClientRecord, ClientStore, ClientsFault,
};
use aldgate_identity::people::{People, Settings as PeopleSettings};
use aldgate_identity::resource::{self, TableFirst, Verifier};
use aldgate_identity::{Authenticator, Scopes, TokenTable};
use aldgate_store::identity::IdentityStore;
use aldgate_wire::head;
use axum::Router;
use tokio::task::JoinHandle;
use url::Url;

use crate::config::{
    AssembleFault, IdentitySection, Loaded, Secrets, ServerSection, base, issuers, lasting, reach,
};

/// The client that `aldgate login` is, which the authorization server knows by itself.
pub(crate) const CLI: &str = "aldgate-cli";

/// The parts that stay while the configuration is read again: keys, what was revoked, and which proofs were used.
pub(crate) struct Identity {
    reach: Reach,
    /// With the proofs that were used, which no reload forgets.
    checks: resource::Settings,
    server: Option<Running>,
    /// `[identity]` at the start, but for the issuers.
    begun_with: IdentitySection,
    /// The issuers as they were read last, so that a reload that leaves them as they are forgets nothing.
    verifier: Mutex<Option<(IdentitySection, Arc<Verifier>)>>,
}

/// The authorization server of the gateway's own.
struct Running {
    server: Arc<AuthorizationServer>,
    people: Arc<People>,
    current: JoinHandle<()>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.current.abort();
    }
}

impl Identity {
    /// Opens accounts, clients and keys, where the gateway has an authorization server of its own.
    pub(crate) async fn open(
        loaded: &Loaded,
        reach: &Reach,
        secrets: &Secrets,
    ) -> Result<Self, AssembleFault> {
        let server = match loaded.config.runs_a_server() {
            true => Some(running(loaded, reach, secrets).await?),
            false => None,
        };
        let checks = resource::Settings {
            nonces: Some(secrets.seal.clone()),
            ..resource::Settings::new(reach.doors.clone(), Vec::new())
        };
        let begun_with = loaded.config.identity.without_issuers();
        Ok(Self { reach: reach.clone(), checks, server, begun_with, verifier: Mutex::new(None) })
    }

    /// Who calls, by this configuration; and the issuers that clients are told of.
    pub(crate) fn authenticator(
        &self,
        loaded: &Loaded,
    ) -> Result<(Arc<dyn Authenticator>, Vec<String>), AssembleFault> {
        if loaded.config.identity.without_issuers() != self.begun_with {
            let what = "`[identity]` is read at the start alone, but for `[[identity.issuers]]`: restart the gateway, or put it \
                back as it was";
            return Err(AssembleFault::Value { what: what.to_owned() });
        }
        let table = TokenTable::new(&loaded.config.principals)?;
        let verifier = self.verifier(&loaded.config.identity)?;
        let issuers = verifier.issuers().map(str::to_owned).collect();
        Ok((Arc::new(TableFirst { table, verifier }), issuers))
    }

    fn verifier(&self, section: &IdentitySection) -> Result<Arc<Verifier>, AssembleFault> {
        let mut kept = self.verifier.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((before, verifier)) = kept.as_ref()
            && before == section
        {
            return Ok(verifier.clone());
        }
        let mut trusted = issuers(section)?;
        if let Some(Running { server, .. }) = &self.server {
            let keys = resource::KeySource::Held(server.clone());
            let tenants = resource::Tenants::Claimed(section.server.tenants.clone());
            let own = resource::Issuer::new(base(&self.reach), keys, tenants);
            trusted.insert(0, resource::Issuer { claims: resource::ClaimNames::own(), ..own });
        }
        let settings = resource::Settings { proofs: section.dpop, issuers: trusted, ..self.checks.clone() };
        let verifier = Arc::new(Verifier::new(settings)?);
        *kept = Some((section.clone(), verifier.clone()));
        Ok(verifier)
    }

    /// The pages and endpoints of the authorization server.
    pub(crate) fn router(&self, doors: &head::Doors) -> Router {
        match &self.server {
            Some(Running { server, people, .. }) => {
                guard::guarded(server.router().merge(people.router()), doors)
            }
            None => Router::new(),
        }
    }
}

/// Writes down the client that the command line is, unless it is known already, or was disabled.
async fn know_the_command_line(clients: &ClientStore) -> Result<(), AssembleFault> {
    let record = ClientRecord {
        name: "Aldgate command line".to_owned(),
        redirect_uris: vec!["http://127.0.0.1/callback".to_owned()],
        method: ClientMethod::Public,
        jwks: None,
        refresh: true,
        scope: None,
        service: None,
        exchange_for: Vec::new(),
    };
    match clients.add(CLI, &record, time::OffsetDateTime::now_utc()).await {
        Ok(_) | Err(ClientsFault::Taken { .. }) => Ok(()),
        Err(fault) => Err(fault.into()),
    }
}

/// Accounts, clients and keys.
pub(crate) async fn identity_store(loaded: &Loaded) -> Result<IdentityStore, AssembleFault> {
    let path = loaded.state_dir();
    let opened = IdentityStore::open(&path).await;
    opened.map_err(|source| AssembleFault::Store { path, source: Box::new(source) })
}

/// The settings of the authorization server in a configuration.
pub(crate) fn server_settings_of(loaded: &Loaded) -> Result<authorization::Settings, AssembleFault> {
    let reach = reach(&loaded.config)?;
    server_settings(&loaded.config.identity.server, base(&reach), &reach)
}

/// Checks what can be checked without opening anything.
pub(crate) fn check(loaded: &Loaded, reach: &Reach) -> Result<(), AssembleFault> {
    let section = &loaded.config.identity;
    TokenTable::new(&loaded.config.principals)?;
    bounds(&section.server)?;
    let settings = resource::Settings::new(reach.doors.clone(), issuers(section)?);
    Verifier::new(settings)?;
    let server = server_settings(&section.server, base(reach), reach)?;
    if loaded.config.runs_a_server() {
        server.check().map_err(AuthorizationFault::from)?;
    }
    Ok(())
}

/// Checks the times of the authorization server.
fn bounds(section: &ServerSection) -> Result<(), AssembleFault> {
    const MINUTE: Duration = Duration::from_secs(60);
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    for (what, found, least, most) in [
        ("access_token", section.access_token, MINUTE, 60 * MINUTE),
        ("refresh", section.refresh, 60 * MINUTE, 365 * DAY),
        ("session_idle", section.session_idle, 5 * MINUTE, 7 * DAY),
        ("session", section.session, 5 * MINUTE, 30 * DAY),
    ] {
        lasting(&format!("identity.server.{what}"), found, least, most)?;
    }
    Ok(())
}

async fn running(loaded: &Loaded, reach: &Reach, secrets: &Secrets) -> Result<Running, AssembleFault> {
    let section = &loaded.config.identity.server;
    let store = Arc::new(identity_store(loaded).await?);
    let issuer = base(reach);
    let at = Url::parse(issuer)
        .map_err(|_| AssembleFault::Value { what: format!("`{issuer}` is no URL of an issuer") })?;
    let settings = PeopleSettings {
        idle: section.session_idle.0,
        absolute: section.session.0,
        ..PeopleSettings::at(at)
    };
    let people = People::new(settings, store.clone(), &secrets.cookies);
    let settings = server_settings(section, issuer, reach)?;
    let server =
        AuthorizationServer::new(settings, store.clone(), secrets.seal.clone(), people.clone()).await?;
    know_the_command_line(&ClientStore::new(store)).await?;
    let told = server.clone();
    people.on_sign_out_everywhere(Box::new(move |_user| {
        let told = told.clone();
        Box::pin(async move { told.refresh().await.map_err(Into::into) })
    }));
    let current = tokio::spawn(server.clone().keep_current());
    Ok(Running { server, people, current })
}

fn server_settings(
    section: &ServerSection,
    issuer: &str,
    reach: &Reach,
) -> Result<authorization::Settings, AssembleFault> {
    let scopes = |what: &str, listed: &[String]| {
        Scopes::of(listed.iter().map(String::as_str)).map_err(|fault| AssembleFault::Value {
            what: format!("`identity.server.{what}` cannot be used: {fault}"),
        })
    };
    let roles = section.roles.iter().map(|(role, listed)| {
        Ok::<_, AssembleFault>((role.clone(), scopes(&format!("roles.{role}"), listed)?))
    });
    let lasts = |span: std::time::Duration| time::Duration::try_from(span).unwrap_or(time::Duration::ZERO);
    Ok(authorization::Settings {
        default_scopes: scopes("default_scopes", &section.default_scopes)?,
        everybody: scopes("everybody", &section.everybody)?,
        role_scopes: roles.collect::<Result<_, _>>()?,
        access_token_life: lasts(section.access_token.0),
        refresh_life: lasts(section.refresh.0),
        client_metadata: section.client_metadata,
        dynamic_registration: section.dynamic_registration,
        ..authorization::Settings::new(issuer.to_owned(), reach.doors.clone())
    })
}
