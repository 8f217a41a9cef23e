//! More scopes for an operation that lacks them (MCP 2026-07-28, authorization#step-up-authorization-flow).

#[cfg(test)]
mod tests;

use super::challenge::Challenge;
use crate::Scopes;

/// How often one operation may lead to a sign-in.
const MOST: u8 = 3;

/// The sign-ins that one operation has led to.
#[derive(Clone, Debug, Default)]
pub struct StepUp {
    asked: Scopes,
    tries: u8,
}

/// Why nobody is asked to sign in again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StepUpFault {
    /// Signing in does not help.
    #[error(
        "the operation is still refused after {MOST} sign-ins, with `{scopes}` asked for; the account may not have what it \
         needs"
    )]
    Often {
        /// All that was asked for.
        scopes: Scopes,
    },
    /// The refusal is about something else.
    #[error("the operation is refused, and not for want of scopes; signing in again would not help")]
    Other,
}

impl StepUp {
    /// For an operation by somebody who has signed in with these scopes before.
    #[must_use]
    pub fn with(asked: Option<&Scopes>) -> Self {
        Self { asked: asked.cloned().unwrap_or_default(), tries: 0 }
    }

    /// Counts a sign-in that the operation began with, and what it asked for.
    ///
    /// # Errors
    /// Where it has led to too many.
    pub fn signed_in(&mut self, asked: Option<&Scopes>) -> Result<(), StepUpFault> {
        if self.tries >= MOST {
            return Err(StepUpFault::Often { scopes: self.asked.clone() });
        }
        self.tries = self.tries.saturating_add(1);
        if let Some(asked) = asked {
            self.asked = self.asked.and(asked);
        }
        Ok(())
    }

    /// What to ask for after a refusal: all that was asked for before and all that the challenge names. Asking for less
    /// would lose what other operations need.
    ///
    /// # Errors
    /// Where the challenge is about something else, or the operation has led to too many sign-ins.
    pub fn next(&mut self, challenge: &Challenge) -> Result<Scopes, StepUpFault> {
        if !challenge.is_insufficient_scope() {
            return Err(StepUpFault::Other);
        }
        self.signed_in(challenge.scope().as_ref())?;
        Ok(self.asked.clone())
    }
}
