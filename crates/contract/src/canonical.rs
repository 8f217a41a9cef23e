#[cfg(test)]
mod tests;

use aldgate_wire::guard::{self, GuardFault, Limits};
use serde::Serialize;
use serde_json::{Map, Number, Value};

use crate::digest::Digest;

/// How a definition is recognised.
///
/// RFC 8785 reads every number as an `f64`, so two definitions that differ only in integers above 2^53 may have one
/// canonical form; the digest of the raw bytes tells them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint {
    /// Of the canonical form (RFC 8785): the same for every order of keys, white space, and spelling of values.
    pub jcs: Digest,
    /// Of the bytes as they are.
    pub raw: Digest,
    /// What tells it from every other definition: `jcs`, or `raw` where it holds an integer above 2^53.
    pub telling: Digest,
}

/// A definition that has no canonical form.
#[derive(Debug, thiserror::Error)]
pub enum CanonicalFault {
    /// Two readers could see two definitions in the text: see [`guard::check`].
    #[error("the definition cannot be read without doubt")]
    Ambiguous(#[source] GuardFault),
    /// The text is no object.
    #[error("a definition must be a JSON object")]
    NotObject,
    /// The canonical form cannot be made.
    #[error("the definition has no canonical form")]
    NoForm(#[source] serde_json::Error),
}

/// The most bytes and depth of one definition.
pub(crate) const LIMITS: Limits = Limits { max_bytes: 1 << 20, max_depth: 64 };

/// The canonical form of a whole definition, RFC 8785.
///
/// # Errors
/// A text that is not one JSON object, that repeats a key, holds half a surrogate pair or a number that is not exact in
/// 64 bits, or is larger than 1 MiB or deeper than 64.
pub fn canonical(definition: &str) -> Result<String, CanonicalFault> {
    form(&parse(definition)?)
}

/// The digests of a whole definition.
///
/// # Errors
/// As [`canonical`].
pub fn fingerprint(definition: &str) -> Result<Fingerprint, CanonicalFault> {
    Fingerprint::of(definition, &parse(definition)?)
}

impl Fingerprint {
    /// Of a definition that was read: `members` are those of `text`.
    pub(crate) fn of(text: &str, members: &Map<String, Value>) -> Result<Self, CanonicalFault> {
        let (jcs, raw) = (Digest::of(form(members)?), Digest::of(text));
        let telling = if members.values().all(is_told) { jcs } else { raw };
        Ok(Self { jcs, raw, telling })
    }
}

/// The members of a definition, once the guard has let it pass.
pub(crate) fn parse(definition: &str) -> Result<Map<String, Value>, CanonicalFault> {
    guard::check(definition.as_bytes(), &LIMITS).map_err(CanonicalFault::Ambiguous)?;
    match serde_json::from_str(definition) {
        Ok(Value::Object(members)) => Ok(members),
        Ok(_) => Err(CanonicalFault::NotObject),
        Err(e) => Err(CanonicalFault::NoForm(e)),
    }
}

pub(crate) fn form(value: &impl Serialize) -> Result<String, CanonicalFault> {
    serde_json_canonicalizer::to_string(value).map_err(CanonicalFault::NoForm)
}

/// Whether the canonical form tells each number of a value from every other. The guard bounds the depth.
fn is_told(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().all(is_told),
        Value::Object(members) => members.values().all(is_told),
        Value::Number(number) => whole(number).is_none_or(|whole| whole.unsigned_abs() <= 1 << 53),
        Value::Null | Value::Bool(_) | Value::String(_) => true,
    }
}

/// Whether two values mean the same, integers above 2^53 told apart. The guard bounds the depth.
pub(crate) fn same_value(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(key, value)| b.get(key).is_some_and(|other| same_value(value, other)))
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_value(a, b))
        }
        (Value::Number(a), Value::Number(b)) => match (whole(a), whole(b)) {
            (None, None) => a.as_f64() == b.as_f64(),
            (a, b) => a == b,
        },
        _ => a == b,
    }
}

/// The exact value of a whole number below 2^100, however it is spelled.
pub(crate) fn whole(number: &Number) -> Option<i128> {
    if let Some(value) = number.as_i128() {
        return Some(value);
    }
    let value = number.as_f64()?;
    #[expect(clippy::cast_possible_truncation, reason = "the value is whole and below 2^100")]
    (value.fract() == 0.0 && value.abs() < 2f64.powi(100)).then_some(value as i128)
}
