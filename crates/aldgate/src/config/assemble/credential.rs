//! What the gateway shows an upstream.

use std::path::Path;
use std::sync::Arc;

use aldgate_approval::SealKey;
use aldgate_gateway::settings::Credential;
use aldgate_identity::client::Http;
use aldgate_identity::client::upstream::{CredentialKind, Making};
use url::Url;

use super::{AssembleFault, environment};
use crate::config::types::UpstreamSection;

/// The credential of one upstream. Without `secrets` nothing is read that may be elsewhere.
pub(super) fn credential(
    name: &str,
    section: &UpstreamSection,
    secrets: bool,
) -> Result<Credential, AssembleFault> {
    let fault = |what: String| AssembleFault::Upstream { upstream: name.to_owned(), what };
    let configured = match (&section.bearer_env, &section.credential) {
        (None, None) => return Ok(Credential::None),
        (Some(_), Some(_)) => {
            return Err(fault(
                "`bearer_env` and `credential` stand together; expected one of them".to_owned(),
            ));
        }
        (Some(variable), None) if secrets => {
            return Ok(Credential::Bearer(environment(variable, &format!("upstreams.{name}.bearer_env"))?));
        }
        (Some(_), None) => return Ok(Credential::None),
        (None, Some(configured)) => configured,
    };
    if matches!(configured.kind, CredentialKind::TokenExchange | CredentialKind::Connection) {
        let what = "credentials of each caller (`token_exchange`, `connection`) are not supported yet; expected \
            `none`, `header` or `client_credentials`";
        return Err(fault(what.to_owned()));
    }
    if !secrets {
        return Ok(Credential::None);
    }
    // What is for connections of users alone is not looked at.
    let seal = SealKey::derive(&[0; 32])?;
    let public = Url::parse("http://127.0.0.1/").map_err(|why| fault(why.to_string()))?;
    let making = Making {
        http: &Arc::new(Http::default()),
        env: &|variable| std::env::var(variable).ok().filter(|value| !value.is_empty()),
        base: Path::new(""),
        connections: Path::new(""),
        seal: &seal,
        public: &public,
    };
    let made = configured.make(name, section.url.as_deref(), &making);
    Ok(Credential::Current(made.map_err(|source| AssembleFault::Credential(Box::new(source)))?.credential))
}
