//! What a configuration may say and hardly means, or what is missing where the check runs.

use aldgate_approval::SealKey;
use aldgate_authority::Kind;
use aldgate_contract::Lock;

use super::{Loaded, signatures};

/// What whoever reads a configuration should know of it. None of it keeps a gateway from being configured; a variable
/// that is not set keeps one from starting where it is not set.
pub(crate) fn warnings(loaded: &Loaded) -> Vec<String> {
    let config = &loaded.config;
    let mut found = Vec::new();
    let identity = &config.identity;
    if identity.server.enabled.is_none() && identity.issuers.is_empty() && !config.runs_a_server() {
        found.push(format!(
            "nobody can sign in here: `{}` is reached from other machines in the clear; set `gateway.public_url` to the `https` \
             URL of the proxy in front, or `identity.server.enabled = false`",
            config.gateway.listen
        ));
    }
    if config.principals.is_empty() && identity.issuers.is_empty() && !config.runs_a_server() {
        found.push(
            "there are no principals, so nobody can call; `aldgate token new NAME` makes one".to_owned(),
        );
    }
    if config.upstreams.is_empty() {
        found.push(
            "there are no upstreams, so there is nothing to call; add an `[upstreams.NAME]`".to_owned(),
        );
    }
    let registry = config.registry();
    if Kind::ALL.into_iter().all(|kind| registry.entries(kind).next().is_none()) {
        found.push(
            "the registry is empty, so nothing is offered; add a `[registry.\"UPSTREAM/TOOL\"]`".to_owned(),
        );
    }
    if loaded.folder.is_some() && config.policy.files.is_empty() {
        found.push(
            "there are no policies, so nothing is permitted; name Cedar files in `policy.files`".to_owned(),
        );
    }
    if config.telemetry.content {
        found.push(
            "`telemetry.content` is on: spans hold arguments and results of your users' calls".to_owned(),
        );
    }
    found.extend(unpinned(loaded));
    // What is wrong with a key is an error of its own.
    let signatures = signatures(loaded).ok();
    for name in signatures.iter().flat_map(|found| found.keyring.revoked_elsewhere()) {
        found.push(format!(
            "`contracts.revoked` names `{name}`, which is neither id nor thumbprint of a key in `contracts.keys`; that is \
             right where the key was taken out, else it revokes nothing"
        ));
    }
    if signatures.is_some_and(|found| found.required && found.keyring.kids().next().is_none()) {
        found.push(
            "`contracts.require_signature` is on and no key in `contracts.keys` counts, so nothing is served"
                .to_owned(),
        );
    }
    for (name, upstream) in &config.upstreams {
        if let Some(variable) = &upstream.bearer_env
            && secret(variable).is_none()
        {
            found.push(not_set(variable, &format!("upstreams.{name}.bearer_env")));
        }
    }
    if let Some(variable) = &config.gateway.sealing_key_env {
        match secret(variable) {
            None => found.push(not_set(variable, "gateway.sealing_key_env")),
            Some(secret) => {
                if let Err(fault) = SealKey::derive(secret.as_bytes()) {
                    found.push(format!("the environment variable `{variable}`: {fault}"));
                }
            }
        }
    }
    found
}

/// Templates of the registry that no lock holds: what is read under one is bound to no contract.
fn unpinned(loaded: &Loaded) -> Vec<String> {
    let registry = loaded.config.registry();
    let mut found = Vec::new();
    for (key, template) in registry.templates().filter(|(_, template)| !template.is_exact()) {
        let (upstream, name) = key.split_once('/').unwrap_or_default();
        // What is wrong with a lock is an error of its own.
        let lock =
            loaded.config.upstreams.get(upstream).and_then(|section| loaded.lock_text(upstream, section));
        let Some(lock) = lock.and_then(|text| Lock::parse(&text).ok()) else { continue };
        if lock.resource_templates.contains_key(template.as_str()) {
            continue;
        }
        let pinned: Vec<_> = lock.resource_templates.keys().map(|one| format!("`{one}`")).collect();
        let pinned = if pinned.is_empty() { "none".to_owned() } else { pinned.join(", ") };
        found.push(format!(
            "`{name}` is no template that the lock of `{upstream}` holds ({pinned}): what is read under it is bound to no \
             contract"
        ));
    }
    found
}

fn secret(variable: &str) -> Option<String> {
    std::env::var(variable).ok().filter(|value| !value.is_empty())
}

fn not_set(variable: &str, setting: &str) -> String {
    format!(
        "the environment variable `{variable}` is not set here, and the gateway does not start without it; `{setting}` \
         names it"
    )
}
