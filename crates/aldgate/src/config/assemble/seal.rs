//! The key that states and pending arguments are sealed with.

use std::path::Path;

use aldgate_approval::SealKey;

use super::{AssembleFault, environment};

/// The sealing key: from the environment where it is configured, else from a file of the gateway's own, made at need.
pub(super) fn seal_key(variable: Option<&str>, state_dir: &Path) -> Result<SealKey, AssembleFault> {
    if let Some(variable) = variable {
        let secret = environment(variable, "gateway.sealing_key_env")?;
        return Ok(SealKey::derive(secret.as_bytes())?);
    }
    let path = state_dir.join("seal.key");
    let fault = |source| AssembleFault::SealFile { path: path.clone(), source };
    match std::fs::read(&path) {
        Ok(secret) => Ok(SealKey::derive(&secret)?),
        Err(missing) if missing.kind() == std::io::ErrorKind::NotFound => {
            let secret: [u8; 32] =
                crate::random::bytes().map_err(|broken| fault(std::io::Error::other(broken)))?;
            std::fs::create_dir_all(state_dir)
                .map_err(|source| AssembleFault::StateDir { path: state_dir.to_owned(), source })?;
            write_private(&path, &secret).map_err(fault)?;
            Ok(SealKey::derive(&secret)?)
        }
        Err(other) => Err(fault(other)),
    }
}

/// Writes a file that only its owner can read, and that was not there before.
pub(super) fn write_private(path: &Path, content: &[u8]) -> std::io::Result<()> {
    use std::io::Write as _;
    use std::os::unix::fs::OpenOptionsExt as _;
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(content)?;
    file.sync_all()
}
