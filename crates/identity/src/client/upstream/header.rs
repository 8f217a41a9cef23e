//! A header whose value the operator gives.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use http::{HeaderName, HeaderValue};
use time::{Duration, OffsetDateTime};
use zeroize::Zeroizing;

use super::{Caller, CredentialFault, UpstreamCredential, UpstreamHeader};
use crate::client::secret::Secret;

/// How long a file is not looked at again.
const LOOK_AGAIN: Duration = Duration::SECOND;
/// The largest file that is read, in bytes.
const MOST: u64 = 64 * 1024;

/// Where the value of a header comes from.
#[derive(Clone, Debug)]
pub enum HeaderSource {
    /// The value itself, from an environment variable for example.
    Value(Secret),
    /// A file with one line. It is read again once it has changed.
    File(PathBuf),
}

/// A header whose value the operator gives. Replacing the file replaces the value, without a restart.
pub struct HeaderCredential {
    name: HeaderName,
    scheme: Option<String>,
    source: HeaderSource,
    read: Mutex<Option<Read>>,
}

/// What was read of a file, and when the file was last looked at.
struct Read {
    stamp: Stamp,
    value: HeaderValue,
    looked_at: OffsetDateTime,
}

/// What changes when a file does.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stamp([i64; 4], [u64; 3]);

impl std::fmt::Debug for HeaderCredential {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("HeaderCredential").field("name", &self.name).field("source", &self.source).finish()
    }
}

impl HeaderCredential {
    /// A header with this name and, before the value, this scheme and a space.
    ///
    /// # Errors
    /// Where the value cannot be sent, or the file cannot be read now.
    pub fn new(
        name: HeaderName,
        scheme: Option<String>,
        source: HeaderSource,
    ) -> Result<Self, CredentialFault> {
        let credential = Self { name, scheme, source, read: Mutex::new(None) };
        // Long ago, so that the first request looks again.
        credential.value(OffsetDateTime::UNIX_EPOCH)?;
        Ok(credential)
    }

    fn value(&self, now: OffsetDateTime) -> Result<HeaderValue, CredentialFault> {
        match &self.source {
            HeaderSource::Value(secret) => self
                .header(secret.expose())
                .ok_or_else(|| CredentialFault::Value { place: "the value".to_owned() }),
            HeaderSource::File(path) => self.of_file(path, now),
        }
    }

    /// A look at the file's state once a second at most; it is read only when that has changed.
    fn of_file(&self, path: &Path, now: OffsetDateTime) -> Result<HeaderValue, CredentialFault> {
        let fault = |source| CredentialFault::File { path: path.to_owned(), source: Arc::new(source) };
        let mut kept = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(read) = kept.as_ref().filter(|read| (now - read.looked_at).abs() < LOOK_AGAIN) {
            return Ok(read.value.clone());
        }
        let found = std::fs::metadata(path).map_err(fault)?;
        let stamp = Stamp(
            [found.mtime(), found.mtime_nsec(), found.ctime(), found.ctime_nsec()],
            [found.ino(), found.dev(), found.len()],
        );
        if let Some(read) = kept.as_mut().filter(|read| read.stamp == stamp) {
            read.looked_at = now;
            return Ok(read.value.clone());
        }
        *kept = None;
        let refused = || CredentialFault::Value { place: format!("the file `{}`", path.display()) };
        if found.len() > MOST {
            return Err(refused());
        }
        let text = Zeroizing::new(std::fs::read_to_string(path).map_err(fault)?);
        let value = self.header(text.trim_end_matches(['\r', '\n'])).ok_or_else(refused)?;
        *kept = Some(Read { stamp, value: value.clone(), looked_at: now });
        Ok(value)
    }

    fn header(&self, text: &str) -> Option<HeaderValue> {
        let is_good = text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ');
        if text.trim().is_empty() || !is_good {
            return None;
        }
        let whole = match &self.scheme {
            Some(scheme) => Zeroizing::new(format!("{scheme} {text}")),
            None => Zeroizing::new(text.to_owned()),
        };
        let mut value = HeaderValue::from_str(&whole).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

#[async_trait]
impl UpstreamCredential for HeaderCredential {
    async fn authorization(
        &self,
        _: Option<&Caller>,
        now: OffsetDateTime,
    ) -> Result<Option<UpstreamHeader>, CredentialFault> {
        Ok(Some(UpstreamHeader { name: self.name.clone(), value: self.value(now)? }))
    }

    fn refused(&self, _: Option<&Caller>, _: &UpstreamHeader) {
        *self.read.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
