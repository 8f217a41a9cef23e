use serde_json::value::RawValue;

use super::ResultView;
use crate::json::Members;
use crate::outbound::Object;
use crate::quote::Quoted;

/// A `_meta` that cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpliceFault {
    /// One key is to be set twice.
    #[error("the `_meta` key {} is set twice", Quoted(.key))]
    SetTwice {
        /// The key.
        key: String,
    },
    /// The upstream's `_meta` repeats a key that is to be set.
    #[error("the upstream's `_meta` repeats the key {}", Quoted(.key))]
    Repeated {
        /// The key.
        key: String,
    },
}

impl ResultView {
    /// These members of the result, each as it came.
    ///
    /// # Errors
    /// A member that stands twice: two readers could see two values.
    pub fn members<const N: usize>(
        &self,
        names: [&str; N],
    ) -> Result<[Option<&RawValue>; N], super::AnswerFault> {
        let members = Members::read(self.raw.get()).ok_or(super::AnswerFault::NotJsonRpc)?;
        let mut found = [None; N];
        for (name, place) in names.into_iter().zip(&mut found) {
            *place = members.get(name)?;
        }
        Ok(found)
    }

    /// `_meta` as the upstream sent it, an object.
    pub fn meta(&self) -> Option<&str> {
        self.raw.get().get(self.meta.clone()?)
    }

    /// The result with a new `_meta`, every byte outside of it as it came. Keys in `set` replace the upstream's in their
    /// place, or follow at the end; the upstream's keys that begin with one of `drop_prefix` are left out.
    ///
    /// # Errors
    /// A key that is set twice, or that the upstream repeats.
    pub fn with_meta(&self, set: &[(&str, &RawValue)], drop_prefix: &[&str]) -> Result<Vec<u8>, SpliceFault> {
        for (index, (key, _)) in set.iter().enumerate() {
            if set.iter().skip(index + 1).any(|(other, _)| other == key) {
                return Err(SpliceFault::SetTwice { key: (*key).to_owned() });
            }
        }
        let members = self.meta().and_then(Members::read);
        let mut meta = Object::new(256 + self.meta().map_or(0, str::len));
        let mut placed: Vec<&str> = Vec::new();
        for (key, raw) in members.iter().flat_map(Members::iter) {
            match set.iter().find(|(name, _)| *name == key) {
                Some((name, _)) if placed.contains(name) => {
                    return Err(SpliceFault::Repeated { key: key.into_owned() });
                }
                Some((name, value)) => {
                    meta.raw(name, value.get());
                    placed.push(name);
                }
                None if drop_prefix.iter().any(|prefix| key.starts_with(prefix)) => {}
                None => meta.raw(&key, raw.get()),
            }
        }
        for (name, value) in set.iter().filter(|(name, _)| !placed.contains(name)) {
            meta.raw(name, value.get());
        }
        Ok(self.spliced(&meta.finish()))
    }

    fn spliced(&self, meta: &str) -> Vec<u8> {
        let text = self.raw.get();
        let mut out = Vec::with_capacity(text.len() + meta.len() + 16);
        if let Some(range) = &self.meta {
            out.extend_from_slice(text.get(..range.start).unwrap_or_default().as_bytes());
            out.extend_from_slice(meta.as_bytes());
            out.extend_from_slice(text.get(range.end..).unwrap_or_default().as_bytes());
            return out;
        }
        // An object's text ends with its brace; a raw value has no white space around it.
        let inner = text.strip_suffix('}').unwrap_or(text);
        let empty = inner.trim_start_matches('{').trim().is_empty();
        out.extend_from_slice(inner.as_bytes());
        out.extend_from_slice(if empty { b"\"_meta\":" } else { b",\"_meta\":" });
        out.extend_from_slice(meta.as_bytes());
        out.push(b'}');
        out
    }
}
