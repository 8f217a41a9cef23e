//! From the configuration to the values that the gateway takes.

mod credential;
mod fault;
mod host_key;
mod issuers;
mod people;
mod reach;
mod seal;
mod settings;
mod signatures;
mod telemetry;
mod tenants;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use aldgate_authority::{Kind as Kinds, PolicySet, Registry, overlaps};
use aldgate_contract::Lock;
use aldgate_contract::signature::SigningKey;
use aldgate_field_service::{FieldService, ServerName};
use aldgate_gateway::settings::{
    Credential, MayAsk, OnDrift, Pins, Signatures, Transport, UpstreamSettings, origin_of,
};
use aldgate_gateway::{Configured, Parts, Reviewed, review};
use aldgate_identity::{Scopes, TokenTable};
use aldgate_store::Store;
use aldgate_telemetry::Telemetry;

pub(crate) use credential::Credentials;
pub(crate) use fault::AssembleFault;
pub(crate) use host_key::read_host_key;
pub(crate) use issuers::issuers;
pub(crate) use people::OwnNames;
pub(crate) use reach::{base, reach};
pub(crate) use seal::{Secrets, secrets};
pub(crate) use settings::lasting;
pub(crate) use signatures::signatures;

use super::load::demo;
use super::types::{Asking, Drifting};
use super::{Kind, Loaded, UpstreamSection};
use crate::identity::{self, Identity};
use settings::{SECOND, VERIFY_AT_LEAST, settings};

/// Everything to start a gateway with.
pub(crate) struct Assembled {
    pub(crate) parts: Parts,
    /// What the host signs its own tools with.
    pub(crate) host_key: SigningKey,
    /// Who calls.
    pub(crate) identity: Arc<Identity>,
}

/// Makes the parts of a gateway. `systems` are the servers inside the process, where there are any.
pub(crate) async fn assemble(
    loaded: &Loaded,
    systems: Option<&FieldService>,
) -> Result<Assembled, AssembleFault> {
    let config = &loaded.config;
    // What can be wrong in the configuration is found before anything is made.
    let (host, settings) = (host(loaded, systems)?, settings(loaded)?);
    identity::check(loaded, &settings.reach)?;
    let state_dir = loaded.state_dir();
    let secrets = secrets(config.gateway.sealing_key_env.as_deref(), &state_dir)?;
    let identity = Arc::new(Identity::open(loaded, &settings.reach, &secrets).await?);
    let configured = called_by(host, &identity, loaded).await?;
    let host_key = host_key::host_key(&state_dir)?;
    let store = Store::open(&state_dir)
        .await
        .map_err(|source| AssembleFault::Store { path: state_dir.clone(), source: Box::new(source) })?;
    Ok(Assembled {
        parts: Parts {
            settings,
            configured,
            store,
            seal: secrets.seal,
            telemetry: Telemetry::start(telemetry::settings(loaded)?)?,
        },
        host_key,
        identity,
    })
}

/// What can change while a gateway runs.
pub(crate) async fn configured(
    loaded: &Loaded,
    systems: Option<&FieldService>,
    identity: &Identity,
) -> Result<Configured, AssembleFault> {
    called_by(host(loaded, systems)?, identity, loaded).await
}

/// What the host says: who calls is not in it yet.
struct Host {
    upstreams: Vec<UpstreamSettings>,
    registry: Registry,
    policies: PolicySet,
    signatures: Signatures,
}

fn host(loaded: &Loaded, systems: Option<&FieldService>) -> Result<Host, AssembleFault> {
    Ok(Host {
        upstreams: upstreams(loaded, systems)?,
        registry: registry(loaded)?,
        policies: policies(loaded)?,
        signatures: signatures(loaded)?,
    })
}

async fn called_by(host: Host, identity: &Identity, loaded: &Loaded) -> Result<Configured, AssembleFault> {
    let Host { mut upstreams, registry, policies, signatures } = host;
    identity.credentials().give(loaded, &mut upstreams)?;
    let own = match loaded.config.people.is_empty() {
        true => OwnNames::Unread,
        false => identity.own_names().await?,
    };
    let aliases = people::aliases(&loaded.config, &own)?;
    let (identity, issuers) = identity.authenticator(loaded)?;
    let tenants = tenants::all(&loaded.config);
    Ok(Configured { upstreams, registry, policies, identity, aliases, issuers, tenants, signatures })
}

/// The upstreams with their locks, for whoever connects to none of them.
pub(crate) fn upstreams_of(loaded: &Loaded) -> Result<Vec<UpstreamSettings>, AssembleFault> {
    upstreams(loaded, None)
}

/// Checks everything that can be checked without starting anything.
pub(crate) fn reviewed(loaded: &Loaded) -> Result<Reviewed, AssembleFault> {
    TokenTable::new(&loaded.config.principals)?;
    identity::check(loaded, &settings(loaded)?.reach)?;
    telemetry::settings(loaded)?;
    let signatures = signatures(loaded)?;
    let aliases = people::aliases(&loaded.config, &OwnNames::Unread)?;
    let reviewed = review(upstreams(loaded, None)?, registry(loaded)?, policies(loaded)?, &signatures)?;
    Ok(Reviewed { authorizer: reviewed.authorizer.with_aliases(aliases), ..reviewed })
}

/// The registry of every kind. No URI may mean the resources of two upstreams, and no entry has more time than any call.
fn registry(loaded: &Loaded) -> Result<Registry, AssembleFault> {
    let registry = loaded.config.registry();
    let longest = loaded.config.limits.longest_call;
    for (key, entry) in Kinds::ALL.into_iter().flat_map(|kind| registry.entries(kind)) {
        let own = entry.timeout_s.map(|seconds| Duration::from_secs(seconds.into()));
        if let Some(scope) = &entry.scope
            && Scopes::of([scope.as_str()]).is_err()
        {
            let what =
                format!("`scope` of `{key}` is `{scope}`; expected one OAuth scope, such as `tools:write`");
            return Err(AssembleFault::Value { what });
        }
        if let Some(own) = own.filter(|own| *own > longest.0) {
            let told = humantime::format_duration;
            let what = format!(
                "`timeout_s` of `{key}` is `{}`; expected at most `limits.longest_call`, which is `{}`",
                told(own),
                told(longest.0)
            );
            return Err(AssembleFault::Value { what });
        }
    }
    let told: Vec<String> = overlaps(&registry)
        .iter()
        .map(|pair| format!("`{}` in `{}` and in `{}`", pair.example, pair.one, pair.other))
        .collect();
    if told.is_empty() {
        return Ok(registry);
    }
    let told = told.join(", ");
    let what = format!(
        "resources of two upstreams could be meant by one URI: {told}; remove one, or narrow its template"
    );
    Err(AssembleFault::Value { what })
}

impl Loaded {
    /// The folder of the store and of the gateway's own keys.
    pub(crate) fn state_dir(&self) -> PathBuf {
        self.path(&self.config.gateway.state_dir)
    }

    fn path(&self, path: &Path) -> PathBuf {
        match &self.folder {
            Some(folder) => folder.join(path),
            None => path.to_owned(),
        }
    }

    /// The text of an upstream's lock, where it can be read.
    pub(crate) fn lock_text(&self, upstream: &str, section: &UpstreamSection) -> Option<String> {
        match &self.folder {
            Some(_) => self.read(&section.lock).ok(),
            None => {
                let built_in = demo::LOCKS.iter().find(|(name, _)| *name == upstream);
                built_in.map(|(_, text)| (*text).to_owned())
            }
        }
    }

    pub(crate) fn read(&self, path: &Path) -> Result<String, AssembleFault> {
        let path = self.path(path);
        std::fs::read_to_string(&path).map_err(|source| AssembleFault::File { path, source })
    }
}

fn policies(loaded: &Loaded) -> Result<PolicySet, AssembleFault> {
    let sources = match &loaded.folder {
        None => vec![("policies.cedar".to_owned(), demo::POLICIES.to_owned())],
        Some(_) => loaded
            .config
            .policy
            .files
            .iter()
            .map(|path| Ok((path.display().to_string(), loaded.read(path)?)))
            .collect::<Result<_, AssembleFault>>()?,
    };
    PolicySet::parse(&sources).map_err(|fault| AssembleFault::Policy(Box::new(fault)))
}

fn upstreams(
    loaded: &Loaded,
    systems: Option<&FieldService>,
) -> Result<Vec<UpstreamSettings>, AssembleFault> {
    let all = tenants::all(&loaded.config);
    loaded
        .config
        .upstreams
        .iter()
        .map(|(name, section)| {
            tenants::check(name, section, &all)?;
            credential::check(name, section, &loaded.config)?;
            let mut settings = upstream_settings(name, section, systems)?;
            settings.pins = Pins::Locked(lock(loaded, name, section, &settings)?);
            Ok(settings)
        })
        .collect()
}

fn lock(
    loaded: &Loaded,
    name: &str,
    section: &UpstreamSection,
    settings: &UpstreamSettings,
) -> Result<Lock, AssembleFault> {
    let configured = endpoint(&settings.transport);
    let text = match &loaded.folder {
        Some(_) => loaded.read(&section.lock).map_err(|fault| match fault {
            AssembleFault::File { path, source } if source.kind() == std::io::ErrorKind::NotFound => {
                AssembleFault::NoLock { upstream: name.to_owned(), path }
            }
            other => other,
        })?,
        None => {
            let built_in = demo::LOCKS.iter().find(|(upstream, _)| *upstream == name).map(|(_, text)| *text);
            built_in.unwrap_or_default().to_owned()
        }
    };
    let mut lock = Lock::parse(&text)
        .map_err(|source| AssembleFault::Lock { upstream: name.to_owned(), source: Box::new(source) })?;
    if loaded.folder.is_none() {
        // The demonstration's servers listen wherever there is room; what they serve is pinned all the same.
        lock.upstream.endpoint.clone_from(&configured);
    }
    if lock.upstream.name != name {
        let pinned = lock.upstream.name;
        return Err(AssembleFault::OtherName { upstream: name.to_owned(), pinned });
    }
    if lock.upstream.endpoint != configured {
        let pinned = lock.upstream.endpoint;
        return Err(AssembleFault::Endpoint { upstream: name.to_owned(), pinned, configured });
    }
    Ok(lock)
}

fn endpoint(transport: &Transport) -> String {
    match transport {
        Transport::Http(uri) => uri.to_string(),
        Transport::InProcess(_, path) => format!("inproc:{path}"),
    }
}

/// One upstream without its lock and its credential.
pub(crate) fn upstream_settings(
    name: &str,
    section: &UpstreamSection,
    systems: Option<&FieldService>,
) -> Result<UpstreamSettings, AssembleFault> {
    let fault = |what: String| AssembleFault::Upstream { upstream: name.to_owned(), what };
    let odd = |letter: char| !letter.is_ascii_alphanumeric() && letter != '-' && letter != '_';
    if name.is_empty() || name.len() > 64 || name.contains(odd) {
        return Err(fault("its name must have 1 to 64 of `A-Z a-z 0-9 _ -`".to_owned()));
    }
    let transport = match (section.kind, &section.url, &section.system) {
        (Kind::Http, Some(url), None) => Transport::Http(
            url.parse()
                .map_err(|_| fault(format!("`{url}` is not a URL of the form `http://host:port/path`")))?,
        ),
        (Kind::Inproc, None, Some(system)) => {
            let server =
                system.strip_prefix("field-service/").and_then(|server| server.parse::<ServerName>().ok());
            let server = server.ok_or_else(|| {
                fault(format!("there is no system `{system}`; expected `field-service/tickets`, `field-service/parts` or `field-service/manuals`"))
            })?;
            let router = systems.map(FieldService::router_inside).unwrap_or_default();
            Transport::InProcess(router, format!("/{server}/mcp"))
        }
        (Kind::Http, _, _) => return Err(fault("`kind = \"http\"` takes `url`, and no `system`".to_owned())),
        (Kind::Inproc, _, _) => {
            return Err(fault("`kind = \"inproc\"` takes `system`, and no `url`".to_owned()));
        }
    };
    for origin in &section.ask_origins {
        let right = origin_of(origin);
        if right.as_ref() != Some(origin) {
            let right = right.map_or_else(
                || "`https://host` or `https://host:port`".to_owned(),
                |right| format!("`{right}`"),
            );
            return Err(fault(format!("`{origin}` in `ask_origins` is no origin; expected {right}")));
        }
    }
    if section.may_ask.contains(&Asking::Url) == section.ask_origins.is_empty() {
        return Err(fault("`may_ask` with `url` and `ask_origins` belong together".to_owned()));
    }
    Ok(UpstreamSettings {
        name: name.to_owned(),
        prefix: section.prefix.clone(),
        tenants: section.tenants.clone(),
        transport,
        credential: Credential::None,
        pins: Pins::FirstUse,
        may_ask: section.may_ask.iter().map(|kind| may_ask(*kind)).collect(),
        ask_origins: section.ask_origins.clone(),
        verify_every: lasting(
            &format!("upstreams.{name}.verify_every"),
            section.verify_every,
            SECOND,
            VERIFY_AT_LEAST,
        )?,
        on_drift: match section.on_drift {
            Drifting::Quarantine => OnDrift::Quarantine,
            Drifting::AllowCompatible => OnDrift::AllowCompatible,
            Drifting::Warn => OnDrift::Warn,
        },
    })
}

fn may_ask(kind: Asking) -> MayAsk {
    match kind {
        Asking::Form => MayAsk::Form,
        Asking::Url => MayAsk::Url,
        Asking::Sampling => MayAsk::Sampling,
        Asking::Roots => MayAsk::Roots,
    }
}

fn environment(name: &str, setting: &str) -> Result<String, AssembleFault> {
    match std::env::var(name) {
        Ok(value) if !value.is_empty() => Ok(value),
        _ => Err(AssembleFault::Environment { name: name.to_owned(), setting: setting.to_owned() }),
    }
}
