//! The key that the host signs its own tools' definitions with.

use std::path::Path;

use aldgate_contract::signature::SigningKey;

use super::AssembleFault;
use super::seal::write_private;

const FILE: &str = "host-key.jwk";

/// The host's key: from a file of the gateway's own, made at need.
pub(super) fn host_key(state_dir: &Path) -> Result<SigningKey, AssembleFault> {
    if let Some(key) = read_host_key(state_dir)? {
        return Ok(key);
    }
    let path = state_dir.join(FILE);
    let file = |source| AssembleFault::HostKeyFile { path: path.clone(), source };
    let seed = crate::random::bytes().map_err(|broken| file(std::io::Error::other(broken)))?;
    let made = SigningKey::from_seed(seed, None)
        .map_err(|source| AssembleFault::HostKey { path: path.clone(), source })?;
    std::fs::create_dir_all(state_dir)
        .map_err(|source| AssembleFault::StateDir { path: state_dir.to_owned(), source })?;
    write_private(&path, made.to_jwk().as_bytes()).map_err(file)?;
    Ok(made)
}

/// The host's key, where a gateway has made it.
pub(crate) fn read_host_key(state_dir: &Path) -> Result<Option<SigningKey>, AssembleFault> {
    let path = state_dir.join(FILE);
    match std::fs::read_to_string(&path) {
        Ok(text) => match SigningKey::from_jwk(&text) {
            Ok(key) => Ok(Some(key)),
            Err(source) => Err(AssembleFault::HostKey { path, source }),
        },
        Err(missing) if missing.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(AssembleFault::HostKeyFile { path, source }),
    }
}
