//! Checks on a tool's arguments that a JSON schema cannot express.

#[cfg(test)]
mod tests;

use serde_json::value::RawValue;

use crate::json::Members;
use crate::quote::{Quoted, shortened};

/// An argument that equals a declared one but for the case of its letters. Some servers fold case, and would read a
/// value that no policy saw under that name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the argument {} differs from `{declared}` only by case; spell it as the tool declares it", Quoted(.found))]
pub struct Miscased {
    /// The key that was sent.
    pub found: String,
    /// The property that the tool declares.
    pub declared: String,
}

/// Compares the keys of the arguments with the `properties` that the tool's input schema declares at its root.
///
/// # Errors
/// The first key that differs from a declared one only by the case of ASCII letters.
pub fn check_case(arguments: &RawValue, declared: &[&str]) -> Result<(), Miscased> {
    match Members::read(arguments.get()).and_then(|members| members.miscased(declared)) {
        Some((found, declared)) => Err(Miscased { found: shortened(&found), declared: declared.to_owned() }),
        None => Ok(()),
    }
}
