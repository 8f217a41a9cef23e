//! `aldgate contracts key`

use std::io::Write as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::ExitCode;

use aldgate_contract::signature::{KeyFault, PublicKey, SigningKey};
use serde_json::Value;

use crate::cli::KeyCommand;
use crate::coded::{Code, WithCode as _};
use crate::fault::CommandFault;
use crate::{out, random};

/// A key that cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KeyFileFault {
    /// The file holds no such key.
    #[error("`{path}` holds no key of a reviewer")]
    File {
        path: String,
        #[source]
        source: KeyFault,
    },
    /// What the key was to be called is no id.
    #[error("a key cannot have this id")]
    Id(#[source] KeyFault),
}

impl Code for KeyFileFault {
    fn code_of(&self) -> &str {
        "AG-CLI-KEY"
    }
}

pub(super) fn run(what: &KeyCommand) -> miette::Result<ExitCode> {
    match what {
        KeyCommand::New { out, kid, json } => {
            let key = SigningKey::from_seed(random::bytes::<32>()?, kid.as_deref());
            let key = key.map_err(KeyFileFault::Id).coded()?;
            let text = format!("{}\n", key.to_jwk().as_str());
            write_private(out, text.as_bytes()).map_err(CommandFault::file(out, "made"))?;
            if !json {
                note!("the private key is in `{}`: keep it off the machines that serve", out.display());
            }
            shown(key.public(), *json)?;
        }
        KeyCommand::Public { key, json } => shown(read(key)?.public(), *json)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// A reviewer's private key.
pub(super) fn read(path: &Path) -> miette::Result<SigningKey> {
    let text = std::fs::read_to_string(path).map_err(CommandFault::file(path, "read"))?;
    let key = SigningKey::from_jwk(&text)
        .map_err(|source| KeyFileFault::File { path: path.display().to_string(), source })
        .coded_with("`aldgate contracts key new` makes one")?;
    let mode = std::fs::metadata(path).map_err(CommandFault::file(path, "read"))?.permissions().mode();
    if mode & 0o077 != 0 {
        note!("others than its owner may read `{}`; `chmod 600` it", path.display());
    }
    Ok(key)
}

fn shown(key: &PublicKey, json: bool) -> miette::Result<()> {
    let jwk = key.to_jwk();
    if json {
        return out::json(&jwk);
    }
    out::json_line(&jwk)?;
    out::line(format!("\nin `aldgate.toml`:\n\n[contracts]\nkeys = [{}]", inline(&jwk)))
}

/// The key as an inline table of TOML, which has the same strings as JSON where they hold no control characters.
pub(super) fn inline(jwk: &Value) -> String {
    let members = jwk.as_object().into_iter().flatten().map(|(name, value)| format!("{name} = {value}"));
    format!("{{ {} }}", members.collect::<Vec<_>>().join(", "))
}

/// Writes a file that only its owner can read, and that was not there before.
fn write_private(path: &Path, content: &[u8]) -> std::io::Result<()> {
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(content)?;
    file.sync_all()
}
