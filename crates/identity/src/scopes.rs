//! What a token may be used for (RFC 6749 §3.3).

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

/// Call what the registry calls read-only.
pub const TOOLS_READ: &str = "tools:read";
/// Call the rest.
pub const TOOLS_WRITE: &str = "tools:write";
/// Decide approvals. Never a default, refreshed or client-credentials scope.
pub const APPROVALS_DECIDE: &str = "approvals:decide";
/// Read evidence.
pub const EVIDENCE_READ: &str = "evidence:read";
/// Run the gateway: its status, traces, configuration and quarantine.
pub const ADMIN: &str = "admin";

/// Every scope that the gateway itself asks for.
pub const KNOWN: [&str; 5] = [TOOLS_READ, TOOLS_WRITE, APPROVALS_DECIDE, EVIDENCE_READ, ADMIN];

/// A set of scopes. Its `Display` is the wire form: sorted, one space between two.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Scopes(BTreeSet<Box<str>>);

/// A text that is no list of scopes.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{found}` is no scope; expected printable ASCII characters without quotation mark, backslash and space, 128 at most"
)]
pub struct ScopeFault {
    found: String,
}

impl Scopes {
    /// Reads scopes as they stand in requests and tokens.
    ///
    /// # Errors
    /// Where a character is not allowed, or a scope is too long.
    pub fn parse(text: &str) -> Result<Self, ScopeFault> {
        Self::of(text.split(' ').filter(|scope| !scope.is_empty()))
    }

    /// Reads single scopes.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn of<'a>(scopes: impl IntoIterator<Item = &'a str>) -> Result<Self, ScopeFault> {
        let good = |letter: char| letter.is_ascii_graphic() && !matches!(letter, '"' | '\\');
        let one = |scope: &str| {
            if !scope.is_empty() && scope.len() <= 128 && scope.chars().all(good) {
                return Ok(scope.into());
            }
            let found = scope.chars().filter(|letter| !letter.is_control()).take(64).collect();
            Err(ScopeFault { found })
        };
        scopes.into_iter().map(one).collect::<Result<_, _>>().map(Self)
    }

    /// All that the gateway knows.
    #[must_use]
    pub fn known() -> Self {
        Self(KNOWN.into_iter().map(Into::into).collect())
    }

    /// Whether `scope` is among them.
    #[must_use]
    pub fn has(&self, scope: &str) -> bool {
        self.0.contains(scope)
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether all of `other` are among them.
    #[must_use]
    pub fn cover(&self, other: &Self) -> bool {
        other.0.is_subset(&self.0)
    }

    /// Those of both.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        Self(self.0.union(&other.0).cloned().collect())
    }

    /// Those that are in both.
    #[must_use]
    pub fn within(&self, other: &Self) -> Self {
        Self(self.0.intersection(&other.0).cloned().collect())
    }

    /// Those that are not in `other`.
    #[must_use]
    pub fn without(&self, other: &Self) -> Self {
        Self(self.0.difference(&other.0).cloned().collect())
    }

    /// One after the other, sorted.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(AsRef::as_ref)
    }
}

impl std::fmt::Display for Scopes {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, scope) in self.0.iter().enumerate() {
            if index > 0 {
                out.write_str(" ")?;
            }
            out.write_str(scope)?;
        }
        Ok(())
    }
}
