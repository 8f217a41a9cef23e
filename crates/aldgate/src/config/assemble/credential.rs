//! What the gateway shows upstreams. It lasts over reloads, so that tokens that were fetched stay where nothing changed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use aldgate_gateway::settings::{Credential, UpstreamSettings};
use aldgate_identity::client::Http;
use aldgate_identity::client::upstream::{
    ConfiguredCredential, ConnectionStore, Connections, CredentialKind, Made, Making,
};
use url::Url;

use super::{AssembleFault, environment};
use crate::config::types::UpstreamSection;
use crate::config::{Config, Loaded};

/// What credentials are made with, and those that were made.
pub(crate) struct Credentials {
    http: Arc<Http>,
    public: Url,
    /// Where connections are kept, and the issuer of those who may have one.
    people: Option<(Arc<ConnectionStore>, String)>,
    made: Mutex<BTreeMap<Place, Known>>,
    /// Those of a configuration that may be refused yet.
    next: Mutex<BTreeMap<Place, Known>>,
}

/// The name of an upstream, and whether it is for the gateway's own requests.
type Place = (String, bool);

/// A credential, and what it was made of.
#[derive(Clone)]
struct Known {
    configured: ConfiguredCredential,
    url: Option<String>,
    secret: [u8; 32],
    made: Made,
    /// The tenants that the upstream serves; all, where it names none.
    tenants: Option<BTreeSet<String>>,
}

impl Credentials {
    /// For a gateway that is known under `public`.
    pub(crate) fn new(public: Url, people: Option<(Arc<ConnectionStore>, String)>) -> Self {
        Self { http: Arc::default(), public, people, made: Mutex::default(), next: Mutex::default() }
    }

    /// For a command that asks upstreams as the gateway itself does.
    pub(crate) fn of_the_host() -> Result<Self, AssembleFault> {
        let nowhere = Url::parse("http://127.0.0.1/");
        let nowhere = nowhere.map_err(|why| AssembleFault::Value { what: why.to_string() })?;
        Ok(Self::new(nowhere, None))
    }

    /// Gives every upstream its credential. What was made before stays where neither its section nor its secret changed. What is
    /// new is used by pages once the whole configuration is [accepted](Self::accepted).
    pub(crate) fn give(
        &self,
        loaded: &Loaded,
        upstreams: &mut [UpstreamSettings],
    ) -> Result<(), AssembleFault> {
        let mut next = BTreeMap::new();
        for one in upstreams {
            if let Some(section) = loaded.config.upstreams.get(&one.name) {
                one.credential = self.credential(&one.name, section, &mut next)?;
            }
        }
        *self.next.lock().unwrap_or_else(PoisonError::into_inner) = next;
        Ok(())
    }

    /// The configuration that was read last is in use.
    pub(crate) fn accepted(&self) {
        let next = std::mem::take(&mut *self.next.lock().unwrap_or_else(PoisonError::into_inner));
        *self.made.lock().unwrap_or_else(PoisonError::into_inner) = next;
    }

    /// What one upstream is shown with requests of the gateway's own.
    pub(crate) fn own(&self, name: &str, section: &UpstreamSection) -> Result<Credential, AssembleFault> {
        let mut made = BTreeMap::new();
        match (&section.credential, &section.own_credential) {
            (Some(configured), Some(own)) if configured.is_of_callers() => {
                self.one((name, true), own, section, &mut made)
            }
            (Some(configured), None) if configured.is_of_callers() => Ok(Credential::None),
            _ => self.credential(name, section, &mut made),
        }
    }

    /// The accounts of people of a tenant at an upstream, where it serves them and is used with such.
    pub(crate) fn connections(&self, tenant: &str, upstream: &str) -> Option<Arc<Connections>> {
        let served = |known: &Known| known.tenants.as_ref().is_none_or(|tenants| tenants.contains(tenant));
        self.known(upstream).filter(served)?.made.connections
    }

    /// The same, before it is known who asks: nothing of it may be told.
    pub(crate) fn of_any_tenant(&self, upstream: &str) -> Option<Arc<Connections>> {
        self.known(upstream)?.made.connections
    }

    fn known(&self, upstream: &str) -> Option<Known> {
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        made.get(&(upstream.to_owned(), false)).cloned()
    }

    /// What people have connected.
    pub(crate) fn kept(&self) -> Option<&Arc<ConnectionStore>> {
        self.people.as_ref().map(|(kept, _)| kept)
    }

    fn credential(
        &self,
        name: &str,
        section: &UpstreamSection,
        next: &mut BTreeMap<Place, Known>,
    ) -> Result<Credential, AssembleFault> {
        let Some(configured) = &section.credential else {
            let Some(variable) = &section.bearer_env else { return Ok(Credential::None) };
            return Ok(Credential::Bearer(environment(variable, &format!("upstreams.{name}.bearer_env"))?));
        };
        if !configured.is_of_callers() {
            return self.one((name, false), configured, section, next);
        }
        let own = match &section.own_credential {
            Some(own) => self.one((name, true), own, section, next)?,
            None => Credential::None,
        };
        match self.one((name, false), configured, section, next)? {
            Credential::Current(shown) => Ok(Credential::OfCallers { shown, own: Box::new(own) }),
            other => Ok(other),
        }
    }

    fn one(
        &self,
        (name, is_own): (&str, bool),
        configured: &ConfiguredCredential,
        section: &UpstreamSection,
        next: &mut BTreeMap<Place, Known>,
    ) -> Result<Credential, AssembleFault> {
        if configured.kind == CredentialKind::None {
            return Ok(Credential::None);
        }
        let place = (name.to_owned(), is_own);
        let making = Making {
            http: &self.http,
            env: &|variable| std::env::var(variable).ok().filter(|value| !value.is_empty()),
            base: Path::new(""),
            people: self.people.as_ref().map(|(kept, issuer)| (kept, issuer.as_str())),
            public: &self.public,
        };
        let secret = configured.print_of_secret(&making);
        let before = self.made.lock().unwrap_or_else(PoisonError::into_inner).get(&place).cloned();
        let same = before.filter(|known| {
            known.configured == *configured && known.url == section.url && known.secret == secret
        });
        let tenants = section.tenants.clone();
        let known = match same {
            Some(known) => Known { tenants, ..known },
            None => {
                let made = configured.make(name, section.url.as_deref(), &making);
                let made = made.map_err(|source| AssembleFault::Credential(Box::new(source)))?;
                Known { configured: configured.clone(), url: section.url.clone(), secret, made, tenants }
            }
        };
        let credential = Credential::Current(known.made.credential.clone());
        next.insert(place, known);
        Ok(credential)
    }
}

/// Checks what can be checked without a secret.
pub(super) fn check(name: &str, section: &UpstreamSection, config: &Config) -> Result<(), AssembleFault> {
    let fault = |what: &str| AssembleFault::Upstream { upstream: name.to_owned(), what: what.to_owned() };
    if section.bearer_env.is_some() && section.credential.is_some() {
        return Err(fault("`bearer_env` and `credential` stand together; expected one of them"));
    }
    for configured in section.credential.iter().chain(&section.own_credential) {
        configured.check(name).map_err(|source| AssembleFault::Credential(Box::new(source)))?;
    }
    let of_callers = section.credential.as_ref().filter(|configured| configured.is_of_callers());
    match (of_callers, &section.own_credential) {
        (None, Some(_)) => Err(fault(
            "`own_credential` belongs to a `credential` of each caller (`token_exchange`, `connection`); leave it out",
        )),
        (Some(_), Some(own)) if own.is_of_callers() => Err(fault(
            "`own_credential` is for requests that no caller makes; expected `none`, `header` or `client_credentials`",
        )),
        (Some(configured), _) if configured.kind == CredentialKind::Connection && !config.runs_a_server() => {
            Err(fault(
                "`kind = \"connection\"` needs people who sign in at the gateway's own authorization server, which does not run; \
                 see `identity.server.enabled`",
            ))
        }
        _ => Ok(()),
    }
}
