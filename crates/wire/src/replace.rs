//! Objects with some of their values replaced, every other byte as it came.

#[cfg(test)]
mod tests;

use serde_json::value::RawValue;

use crate::json::{Members, Repeated};
use crate::outbound::quoted;
use crate::quote::Quoted;

/// An object in which nothing can be replaced.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReplaceFault {
    /// The value is no object.
    #[error("expected an object")]
    NotObject,
    /// A member that is to be replaced occurs twice.
    #[error("the member {} occurs twice", Quoted(.member))]
    Repeated {
        /// The member.
        member: String,
    },
}

impl From<Repeated> for ReplaceFault {
    fn from(Repeated(member): Repeated) -> Self {
        Self::Repeated { member }
    }
}

/// The object with these values in the place of its own; members that it lacks follow at its end, in the order of `set`.
/// Keys, white space and all other values keep their bytes.
///
/// # Errors
/// A value that is no object, or a member of `set` that occurs twice in it.
pub fn replaced(object: &RawValue, set: &[(&str, &RawValue)]) -> Result<Box<RawValue>, ReplaceFault> {
    let text = object.get();
    let members = Members::read(text).ok_or(ReplaceFault::NotObject)?;
    let mut places = Vec::with_capacity(set.len());
    let mut missing = Vec::new();
    for (key, value) in set {
        match members.get(key)? {
            // The old value borrows from `object`, so the distance of their beginnings is its offset.
            Some(old) => {
                let start = (old.get().as_ptr() as usize).wrapping_sub(text.as_ptr() as usize);
                places.push((start, old.get().len(), value.get()));
            }
            None => missing.push(format!("{}:{}", quoted(key), value.get())),
        }
    }
    places.sort_unstable();
    let mut out =
        String::with_capacity(text.len() + set.iter().map(|(_, value)| value.get().len()).sum::<usize>());
    let mut copied = 0;
    for (start, length, value) in places {
        out.push_str(text.get(copied..start).unwrap_or_default());
        out.push_str(value);
        copied = start.wrapping_add(length);
    }
    let rest = text.get(copied..).unwrap_or_default();
    if missing.is_empty() {
        out.push_str(rest);
    } else {
        // A raw value has no white space around it, so that an object ends with its brace.
        out.push_str(rest.strip_suffix('}').unwrap_or(rest));
        if !members.is_empty() {
            out.push(',');
        }
        out.push_str(&missing.join(","));
        out.push('}');
    }
    RawValue::from_string(out).map_err(|_| ReplaceFault::NotObject)
}

/// The same for one value at the end of a path of members; objects that are missing on the way are made.
///
/// # Errors
/// As [`replaced`], for every object on the way.
pub fn replaced_at(
    object: &RawValue,
    path: &[&str],
    value: &RawValue,
) -> Result<Box<RawValue>, ReplaceFault> {
    let Some((key, rest)) = path.split_first() else { return Ok(value.to_owned()) };
    let inner = match Members::read(object.get()).ok_or(ReplaceFault::NotObject)?.get(key)? {
        Some(inner) => replaced_at(inner, rest, value)?,
        None => rest.iter().rev().try_fold(value.to_owned(), |inner, key| {
            RawValue::from_string(format!("{{{}:{}}}", quoted(key), inner.get()))
                .map_err(|_| ReplaceFault::NotObject)
        })?,
    };
    replaced(object, &[(key, &inner)])
}
