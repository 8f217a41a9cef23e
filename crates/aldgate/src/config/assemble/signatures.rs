//! Whose signatures of contracts count.

use aldgate_contract::signature::{Keyring, PublicKey};
use aldgate_gateway::settings::Signatures;

use super::AssembleFault;
use crate::config::Loaded;
use crate::config::types::ReviewerKey;

/// The reviewers' keys that the configuration names.
pub(crate) fn signatures(loaded: &Loaded) -> Result<Signatures, AssembleFault> {
    let section = &loaded.config.contracts;
    let read = |(at, key): (usize, &ReviewerKey)| {
        let (which, text) = match key {
            ReviewerKey::File(path) => (format!("the file `{}`", path.display()), loaded.read(path)?),
            // What was read from TOML has a JSON form.
            ReviewerKey::Key(members) => {
                (format!("the key number {}", at + 1), serde_json::to_string(members).unwrap_or_default())
            }
        };
        PublicKey::from_jwk(&text).map_err(|source| AssembleFault::Key { which, source })
    };
    let keys: Vec<_> = section.keys.iter().enumerate().map(read).collect::<Result<_, _>>()?;
    let keyring = Keyring::new(keys, section.revoked.iter().cloned())?;
    Ok(Signatures { keyring, required: section.require_signature })
}
