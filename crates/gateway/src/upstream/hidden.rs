//! The credential that an upstream was shown, taken out of what it answers.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http::HeaderValue;
use memchr::memmem::Finder;

/// Shorter ones are found in answers that have nothing to do with them.
const LEAST: usize = 8;
/// What stands in the place of a credential.
const TAKEN_OUT: &[u8] = b"[credential]";

/// What an answer must not repeat: nobody behind the gateway may see what it shows an upstream.
///
/// It is found as it was sent, and as JSON writes it with as few or as many escapes as are usual. An upstream that spells it
/// otherwise passes it on all the same: it knows it.
#[derive(Default)]
pub(super) struct Hidden {
    spelled: Option<Arc<[Finder<'static>]>>,
    /// Whether the log has a word about it: an upstream decides how often it repeats it.
    told: AtomicBool,
}

impl Hidden {
    /// The credential in a header's value, without its scheme.
    pub(super) fn of(value: &HeaderValue) -> Self {
        let whole = value.as_bytes();
        let secret = match whole.iter().position(|byte| *byte == b' ') {
            Some(space) => whole.get(space + 1..).unwrap_or_default(),
            None => whole,
        };
        if secret.len() < LEAST {
            return Self::default();
        }
        let mut spelled = vec![secret.to_vec()];
        for escaped in [&b"\"\\"[..], b"\"\\/"] {
            let other = escaped_at(secret, escaped);
            if !spelled.contains(&other) {
                spelled.push(other);
            }
        }
        let spelled = spelled.iter().map(|secret| Finder::new(secret).into_owned()).collect();
        Self { spelled: Some(spelled), told: AtomicBool::default() }
    }

    /// The same for another exchange.
    pub(super) fn anew(&self) -> Self {
        Self { spelled: self.spelled.clone(), told: AtomicBool::default() }
    }

    /// Whether the log has no word yet about this exchange.
    fn is_news(&self) -> bool {
        !self.told.swap(true, Ordering::Relaxed)
    }

    /// The same without the credential, and one word in the log where it was there.
    pub(super) fn out_of<'a>(&self, said: &'a [u8]) -> Cow<'a, [u8]> {
        let mut said = Cow::Borrowed(said);
        for secret in self.spelled.iter().flat_map(|secrets| secrets.iter()) {
            if let Some(first) = secret.find(&said) {
                if self.is_news() {
                    tracing::warn!("an upstream repeated the credential that it was shown; it was taken out");
                }
                said = Cow::Owned(without(&said, secret, first));
            }
        }
        said
    }

    /// As [`Self::out_of`], for what is owned already.
    pub(super) fn taken_out(&self, said: Vec<u8>) -> Vec<u8> {
        match self.out_of(&said) {
            Cow::Borrowed(_) => said,
            Cow::Owned(clean) => clean,
        }
    }
}

fn escaped_at(secret: &[u8], letters: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(secret.len());
    for byte in secret {
        if letters.contains(byte) {
            out.push(b'\\');
        }
        out.push(*byte);
    }
    out
}

fn without(said: &[u8], secret: &Finder<'_>, first: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(said.len());
    let (mut rest, mut next) = (said, Some(first));
    while let Some((before, found)) = next.and_then(|at| rest.split_at_checked(at)) {
        out.extend_from_slice(before);
        out.extend_from_slice(TAKEN_OUT);
        rest = found.get(secret.needle().len()..).unwrap_or_default();
        next = secret.find(rest);
    }
    out.extend_from_slice(rest);
    out
}
