//! Who calls: the configured tokens, the issuers, and the authorization server of the gateway's own with its people.

mod connections;
mod guard;
mod proxies;
mod witness;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use aldgate_gateway::settings::Reach;
use aldgate_gateway::{Approvals, View};
use aldgate_identity::authorization::{
    self, AuthorizationFault, AuthorizationServer, ClientMethod, ClientRecord, ClientStore, ClientsFault,
    MetadataHosts, MetadataHostsFault,
};
use aldgate_identity::client::upstream::ConnectionStore;
use aldgate_identity::people::{People, Settings as PeopleSettings};
use aldgate_identity::resource::{self, TableFirst, Verifier};
use aldgate_identity::{Authenticator, Scopes, TokenTable};
use aldgate_store::identity::IdentityStore;
use aldgate_wire::head;
use axum::Router;
use proxies::Proxies;
use tokio::task::JoinHandle;
use url::Url;

use crate::approvals;
use crate::config::{
    AssembleFault, Credentials, IdentitySection, Loaded, OwnNames, Secrets, ServerSection, base, issuers,
    lasting, reach,
};

/// The client that `aldgate login` is, which the authorization server knows by itself.
pub(crate) const CLI: &str = "aldgate-cli";

/// The parts that stay while the configuration is read again: keys, what was revoked, and which proofs were used.
pub(crate) struct Identity {
    reach: Reach,
    proxies: Proxies,
    /// With the proofs that were used, which no reload forgets.
    checks: resource::Settings,
    server: Option<Running>,
    credentials: Arc<Credentials>,
    /// `[identity]` at the start, but for the issuers.
    begun_with: IdentitySection,
    /// The issuers as they were read last, so that a reload that leaves them as they are forgets nothing.
    verifier: Mutex<Option<Verifying>>,
    /// Those of a configuration that may be refused yet.
    next: Mutex<Option<Verifying>>,
}

/// The issuers, and what checks their tokens.
type Verifying = (IdentitySection, Arc<Verifier>);

/// The authorization server of the gateway's own.
struct Running {
    store: Arc<IdentityStore>,
    server: Arc<AuthorizationServer>,
    people: Arc<People>,
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
        let public = base(reach);
        let url = Url::parse(public)
            .map_err(|_| AssembleFault::Value { what: format!("`{public}` is no URL of a gateway") })?;
        let people = server.as_ref().map(|running: &Running| {
            (ConnectionStore::new(running.store.clone(), secrets.seal.clone()), public.to_owned())
        });
        let credentials = Arc::new(Credentials::new(url, people));
        let checks = resource::Settings {
            nonces: Some(secrets.seal.clone()),
            ..resource::Settings::new(reach.doors.clone(), Vec::new())
        };
        let begun_with = loaded.config.identity.without_issuers();
        let proxies = Proxies::of(&loaded.config.gateway.trusted_proxies)?;
        let (verifier, next) = Default::default();
        Ok(Self { reach: reach.clone(), proxies, checks, server, credentials, begun_with, verifier, next })
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
        let before = self.verifier.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let same = before.filter(|(before, _)| before == section);
        let next = match same {
            Some(same) => same,
            None => (section.clone(), self.verifier_of(section)?),
        };
        let verifier = next.1.clone();
        *self.next.lock().unwrap_or_else(PoisonError::into_inner) = Some(next);
        Ok(verifier)
    }

    fn verifier_of(&self, section: &IdentitySection) -> Result<Arc<Verifier>, AssembleFault> {
        let mut trusted = issuers(section)?;
        if let Some(Running { server, .. }) = &self.server {
            let keys = resource::KeySource::Held(server.clone());
            let tenants = resource::Tenants::Claimed(section.server.tenants.clone());
            let own = resource::Issuer::new(base(&self.reach), keys, tenants);
            trusted.insert(0, resource::Issuer { claims: resource::ClaimNames::own(), ..own });
        }
        let settings = resource::Settings { proofs: section.dpop, issuers: trusted, ..self.checks.clone() };
        Ok(Arc::new(Verifier::new(settings)?))
    }

    /// The configuration that was read last is in use: nothing of one that was refused is kept or shown.
    pub(crate) fn accepted(&self) {
        let next = self.next.lock().unwrap_or_else(PoisonError::into_inner).take();
        if next.is_some() {
            *self.verifier.lock().unwrap_or_else(PoisonError::into_inner) = next;
        }
        self.credentials.accepted();
    }

    /// Brings what becomes of accounts, clients, grants and keys into the evidence of the gateway, until it is aborted.
    pub(crate) fn witness(&self, view: View) -> JoinHandle<()> {
        let Some(Running { store, .. }) = &self.server else { return tokio::spawn(async {}) };
        let whose = witness::Whose {
            issuer: base(&self.reach).to_owned(),
            tenants: self.begun_with.server.tenants.clone(),
        };
        tokio::spawn(witness::witness(store.clone(), view, whose))
    }

    /// The accounts and clients of the authorization server, for whoever names them in the configuration.
    pub(crate) async fn own_names(&self) -> Result<OwnNames, AssembleFault> {
        let Some(Running { store, .. }) = &self.server else { return Ok(OwnNames::None) };
        let unread = |source| AssembleFault::Accounts(Box::new(source));
        let accounts = store.accounts().await.map_err(unread)?;
        let clients = store.clients().await.map_err(unread)?;
        Ok(OwnNames::Read {
            issuer: base(&self.reach).to_owned(),
            accounts: accounts.into_iter().map(|account| (account.name, account.id)).collect(),
            clients: clients.into_iter().map(|client| client.id).collect(),
        })
    }

    /// What upstreams are shown.
    pub(crate) fn credentials(&self) -> &Credentials {
        &self.credentials
    }

    /// The pages and endpoints of the authorization server, and the pages of approvals and connections.
    pub(crate) fn router(&self, doors: &head::Doors, approvals: Approvals) -> Router {
        match &self.server {
            Some(Running { server, people, .. }) => {
                let tenants = self.begun_with.server.tenants.clone();
                let connections =
                    connections::router(people.clone(), self.credentials.clone(), tenants.clone());
                let waiting = approvals::router(people.clone(), server.clone(), tenants, approvals);
                let routes = server.router().merge(people.router()).merge(waiting).merge(connections);
                guard::guarded(routes, doors, &self.proxies)
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
    server_settings(loaded, &reach)
}

/// Checks what can be checked without opening anything.
pub(crate) fn check(loaded: &Loaded, reach: &Reach) -> Result<(), AssembleFault> {
    let section = &loaded.config.identity;
    TokenTable::new(&loaded.config.principals)?;
    Proxies::of(&loaded.config.gateway.trusted_proxies)?;
    bounds(&section.server)?;
    let settings = resource::Settings::new(reach.doors.clone(), issuers(section)?);
    Verifier::new(settings)?;
    let server = server_settings(loaded, reach)?;
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
    let settings = server_settings(loaded, reach)?;
    let server =
        AuthorizationServer::new(settings, store.clone(), secrets.seal.clone(), people.clone()).await?;
    know_the_command_line(&ClientStore::new(store.clone())).await?;
    let told = server.clone();
    people.on_sign_out_everywhere(Box::new(move |_user| {
        let told = told.clone();
        Box::pin(async move { told.refresh().await.map_err(Into::into) })
    }));
    let told = server.clone();
    people.describes_requests(Box::new(move |sealed| {
        let told = told.clone();
        Box::pin(async move { told.described(&sealed).await })
    }));
    tokio::spawn(AuthorizationServer::keep_current(Arc::downgrade(&server)));
    Ok(Running { store, server, people })
}

fn server_settings(loaded: &Loaded, reach: &Reach) -> Result<authorization::Settings, AssembleFault> {
    let section = &loaded.config.identity.server;
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
        metadata_hosts: metadata_hosts(loaded, section)?,
        dynamic_registration: section.dynamic_registration,
        ..authorization::Settings::new(base(reach).to_owned(), reach.doors.clone())
    })
}

/// The hosts inside a private network that clients' documents may stand at.
fn metadata_hosts(loaded: &Loaded, section: &ServerSection) -> Result<MetadataHosts, AssembleFault> {
    let value = |what: String| AssembleFault::Value { what };
    if !section.client_metadata && !section.client_metadata_hosts.is_empty() {
        return Err(value(
            "`identity.server.client_metadata_hosts` names hosts, but `client_metadata` is off; turn it on, or take them out"
                .to_owned(),
        ));
    }
    let ca = section.client_metadata_ca.as_ref().map(|path| loaded.read(path)).transpose()?;
    let hosts = section.client_metadata_hosts.iter().map(String::as_str);
    MetadataHosts::new(hosts, ca.as_ref().map(String::as_bytes)).map_err(|fault| {
        let key = match fault {
            MetadataHostsFault::Host { .. } | MetadataHostsFault::Many { .. } => "client_metadata_hosts",
            MetadataHostsFault::NoHost | MetadataHostsFault::Certificates => "client_metadata_ca",
        };
        value(format!("`identity.server.{key}` cannot be used: {fault}"))
    })
}
