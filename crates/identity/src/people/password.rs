//! Passwords: which are taken, and how they are hashed.

mod hasher;
#[cfg(test)]
mod tests;

pub(super) use hasher::{Hasher, hash};
use serde::Deserialize;
use unicode_normalization::UnicodeNormalization as _;
use zeroize::{Zeroize as _, Zeroizing};

use super::names::SignInName;

/// What a password has to have at least, in characters.
pub(super) const SHORTEST: usize = 12;
/// What a password may have at most, in bytes.
pub(super) const LONGEST: usize = 256;

/// A password as it was typed, in normal form C so that it is the same from every keyboard (RFC 8265 §4). It is shown
/// nowhere and wiped from memory.
#[derive(Clone, Default, Deserialize)]
#[serde(from = "String")]
pub(super) struct Password(Zeroizing<String>);

/// Why a password is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Weak {
    #[error("A password has at least {SHORTEST} characters.")]
    Short,
    #[error("A password has at most {LONGEST} bytes.")]
    Long,
    #[error("A password is not the name that you sign in with.")]
    Name,
    #[error("The new password is another one than now.")]
    Same,
    #[error(
        "This password is too easy to guess. Some words that have nothing to do with each other are a good one."
    )]
    Guessable,
}

impl From<String> for Password {
    fn from(mut typed: String) -> Self {
        let normal = Self(Zeroizing::new(typed.nfc().collect()));
        typed.zeroize();
        normal
    }
}

impl std::fmt::Debug for Password {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Password(…)")
    }
}

impl Password {
    pub(super) fn bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        super::keys::same(&self.0, &other.0)
    }

    /// Whether it may become the password of this account. `zxcvbn` knows the common ones and their variations; what it
    /// expects to be found within 10⁸ tries is refused.
    pub(super) fn check(&self, name: &SignInName, display_name: &str) -> Result<(), Weak> {
        if self.0.chars().count() < SHORTEST {
            return Err(Weak::Short);
        }
        if self.0.len() > LONGEST {
            return Err(Weak::Long);
        }
        if SignInName::parse(&self.0).is_ok_and(|typed| typed == *name) {
            return Err(Weak::Name);
        }
        let strength = zxcvbn::zxcvbn(&self.0, &[name.as_str(), display_name, "aldgate"]);
        if strength.score() < zxcvbn::Score::Three { Err(Weak::Guessable) } else { Ok(()) }
    }
}
