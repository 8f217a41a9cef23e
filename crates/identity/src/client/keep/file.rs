//! Files with secrets: readable for their owner alone, replaced as a whole, locked by one process at a time.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use zeroize::Zeroizing;

use super::KeepFault;
use crate::client::proof_key::random_text;

/// The largest file that is read.
const MOST: u64 = 256 * 1024;
/// How long a lock is waited for: longer than a refresh may take.
const WAIT: Duration = Duration::from_secs(60);
/// How often a held lock is tried again.
const AGAIN: Duration = Duration::from_millis(50);

fn fault(path: &Path) -> impl Fn(std::io::Error) -> KeepFault {
    let path = path.to_owned();
    move |source| KeepFault::Path { path: path.clone(), source }
}

pub(in crate::client) fn path(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.json"))
}

/// Makes the folder, or checks that no one else may use the one that is there.
pub(in crate::client) fn make_folder(folder: &Path) -> Result<(), KeepFault> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(fault(folder))?;
    check_rights(folder, &std::fs::metadata(folder).map_err(fault(folder))?, 0o700)
}

fn check_rights(path: &Path, found: &std::fs::Metadata, expected: u32) -> Result<(), KeepFault> {
    let mode = found.permissions().mode() & 0o7777;
    if mode & 0o077 == 0 { Ok(()) } else { Err(KeepFault::Open { path: path.to_owned(), mode, expected }) }
}

/// Replaces a file as a whole: whoever reads it, and whatever happens, finds the old one or the new one.
pub(in crate::client) fn replace(
    folder: &Path,
    name: &str,
    content: &impl Serialize,
) -> Result<(), KeepFault> {
    let path = path(folder, name);
    let bytes = serde_json::to_vec(content).map_err(|_| KeepFault::Content { path: path.clone() })?;
    let bytes = Zeroizing::new(bytes);
    let beside = folder.join(format!(".{name}.{}", random_text()?.expose()));
    let written = write_new(&beside, &bytes).and_then(|()| std::fs::rename(&beside, &path));
    if written.is_err() {
        // What was written in part holds secrets, and nobody would look for it.
        let _ = std::fs::remove_file(&beside);
    }
    written.and_then(|()| File::open(folder)?.sync_all()).map_err(fault(&path))
}

fn write_new(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Reads a file; none where there is none.
pub(in crate::client) fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, KeepFault> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(source) if source.kind() == ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(fault(path)(source)),
    };
    check_rights(path, &file.metadata().map_err(fault(path))?, 0o600)?;
    let mut bytes = Zeroizing::new(Vec::new());
    file.take(MOST).read_to_end(&mut bytes).map_err(fault(path))?;
    // The text of the error may hold what is kept.
    serde_json::from_slice(&bytes).map(Some).map_err(|_| KeepFault::Content { path: path.to_owned() })
}

/// The files whose name begins like this.
pub(super) fn list(folder: &Path, begin: &str) -> Result<Vec<PathBuf>, KeepFault> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(fault(folder))? {
        let path = entry.map_err(fault(folder))?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name.starts_with(begin) && name.ends_with(".json") {
            found.push(path);
        }
    }
    Ok(found)
}

pub(in crate::client) fn remove(folder: &Path, name: &str) -> Result<(), KeepFault> {
    let path = path(folder, name);
    match std::fs::remove_file(&path) {
        Err(source) if source.kind() != ErrorKind::NotFound => Err(fault(&path)(source)),
        _ => File::open(folder).and_then(|folder| folder.sync_all()).map_err(fault(folder)),
    }
}

/// A lock that one process holds at a time; the system frees it when the process ends.
pub(in crate::client) struct Lock {
    _file: File,
}

impl Lock {
    /// Waits for the lock.
    pub(in crate::client) async fn take(folder: &Path, name: &str) -> Result<Self, KeepFault> {
        let path = folder.join(format!("{name}.lock"));
        let opened = OpenOptions::new().create(true).append(true).mode(0o600).open(&path);
        let file = opened.map_err(fault(&path))?;
        let taken = async {
            loop {
                match file.try_lock() {
                    Ok(()) => return Ok(()),
                    Err(TryLockError::WouldBlock) => tokio::time::sleep(AGAIN).await,
                    Err(TryLockError::Error(source)) => return Err(fault(&path)(source)),
                }
            }
        };
        let held = || KeepFault::Held { path: path.clone() };
        tokio::time::timeout(WAIT, taken).await.map_err(|_| held())??;
        Ok(Self { _file: file })
    }
}
