//! The keys that come of the gateway's one secret.

use std::path::Path;

use aldgate_approval::{SealFault, SealKey};
use aws_lc_rs::digest;

use super::{AssembleFault, environment};

/// Keys that come of the gateway's one secret.
pub(crate) struct Secrets {
    /// What states, pending arguments and signing keys are sealed with.
    pub(crate) seal: SealKey,
    /// What the cookies of people who sign in are signed with.
    pub(crate) cookies: [u8; 32],
}

impl Secrets {
    fn of(secret: &[u8]) -> Result<Self, AssembleFault> {
        let mut context = digest::Context::new(&digest::SHA256);
        context.update(b"aldgate cookies v1\0");
        context.update(secret);
        let cookies = context.finish().as_ref().try_into().map_err(|_| SealFault::Cipher)?;
        Ok(Self { seal: SealKey::derive(secret)?, cookies })
    }
}

/// The keys of the gateway: from the environment where a secret is configured, else from a file of the gateway's own, made
/// at need.
pub(crate) fn secrets(variable: Option<&str>, state_dir: &Path) -> Result<Secrets, AssembleFault> {
    if let Some(variable) = variable {
        let secret = environment(variable, "gateway.sealing_key_env")?;
        return Secrets::of(secret.as_bytes());
    }
    let path = state_dir.join("seal.key");
    let fault = |source| AssembleFault::SealFile { path: path.clone(), source };
    match std::fs::read(&path) {
        Ok(secret) => Secrets::of(&secret),
        Err(missing) if missing.kind() == std::io::ErrorKind::NotFound => {
            let secret: [u8; 32] =
                crate::random::bytes().map_err(|broken| fault(std::io::Error::other(broken)))?;
            std::fs::create_dir_all(state_dir)
                .map_err(|source| AssembleFault::StateDir { path: state_dir.to_owned(), source })?;
            write_private(&path, &secret).map_err(fault)?;
            Secrets::of(&secret)
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
