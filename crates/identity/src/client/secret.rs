//! A text that is shown nowhere.

#[cfg(test)]
mod tests;

use serde::{Deserialize, Deserializer};
use zeroize::Zeroizing;

/// A text that its `Debug` does not show and that memory forgets when it is dropped. It has no `Display` and cannot be
/// serialised: whoever writes it down has to say so with [`Self::expose`].
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Takes a text.
    #[must_use]
    pub fn new(text: String) -> Self {
        Self(Zeroizing::new(text))
    }

    /// The text, for the one place where it has to be sent or kept.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Secret")
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from).map(Self::new)
    }
}
