//! The names that people sign in with.

#[cfg(test)]
mod tests;

use unicode_normalization::UnicodeNormalization as _;

/// A name in the one spelling that is kept and looked for: NFKC, lower case.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SignInName(String);

/// A text that is no name.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{found}` is no name to sign in with; expected 1 to 128 characters and no `/`, `#`, white space or control character"
)]
pub struct NameFault {
    found: String,
}

impl SignInName {
    /// Reads a name as a person types it. White space around it is left away.
    ///
    /// # Errors
    /// Where a character is not allowed, or it is empty or too long.
    pub fn parse(typed: &str) -> Result<Self, NameFault> {
        let fault =
            || NameFault { found: typed.chars().filter(|letter| !letter.is_control()).take(64).collect() };
        // Four bytes for each character at most, and folding can make three of one.
        if typed.len() > 1024 {
            return Err(fault());
        }
        let folded = fold(typed.trim());
        let odd = |letter: char| letter.is_whitespace() || letter.is_control() || matches!(letter, '/' | '#');
        let length = folded.chars().count();
        if length == 0 || length > 128 || folded.contains(odd) {
            return Err(fault());
        }
        Ok(Self(folded))
    }

    /// The folded name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for SignInName {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.0)
    }
}

fn fold(text: &str) -> String {
    let mut folded: String = text.nfkc().collect();
    // Lower case can have another normal form, and that another lower case: the end is reached after a few rounds.
    for _ in 0..4 {
        let next: String = folded.to_lowercase().nfkc().collect();
        if next == folded {
            break;
        }
        folded = next;
    }
    folded
}
