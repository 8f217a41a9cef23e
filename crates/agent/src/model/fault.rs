use std::time::Duration;

use thiserror::Error;

/// Why a model gave nothing that can be used. What a service said is in the messages, cut to a bound; keys never are.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ModelFault {
    /// The base URL is of no use.
    #[error("`{url}` is no base URL of a model's service: found {found}, expected {expected}")]
    Address {
        /// What was given, without what may be a secret.
        url: String,
        /// What is wrong with it.
        found: String,
        /// What it should have been.
        expected: &'static str,
    },
    /// The HTTP client could not be set up.
    #[error("the HTTP client for the model's service could not be set up")]
    Client(#[source] reqwest::Error),
    /// There is no key.
    #[error("no key for `{url}`: set {variable}")]
    NoKey {
        /// The base URL.
        url: String,
        /// The environment variable.
        variable: &'static str,
    },
    /// The key cannot be sent.
    #[error(
        "the key in {variable} holds characters that no header may hold, and was not sent; set a valid one"
    )]
    NoHeader {
        /// The environment variable.
        variable: &'static str,
    },
    /// The service did not accept the key (401, 403).
    #[error("`{url}` did not accept the key (HTTP {status}): {said}; set a valid one in {variable}")]
    Key {
        /// The address.
        url: String,
        /// The status.
        status: u16,
        /// What the service said.
        said: String,
        /// The environment variable.
        variable: &'static str,
    },
    /// The service did not take the request (400, 404 and the like). It is not sent again.
    #[error("`{url}` did not take the request (HTTP {status}): {said}; {what}")]
    Refused {
        /// The address.
        url: String,
        /// The status.
        status: u16,
        /// What the service said.
        said: String,
        /// What to do.
        what: &'static str,
    },
    /// The service could not be reached, or has no room, for as long as it was tried.
    #[error("`{url}` gave no answer in {attempts} attempts: {said}; {what}")]
    Unavailable {
        /// The address.
        url: String,
        /// How often it was tried.
        attempts: usize,
        /// What failed last.
        said: String,
        /// What to do.
        what: String,
    },
    /// The answer broke off, or is none.
    #[error("the model's answer cannot be used: {what}; nothing that it began to ask for was done")]
    Stream {
        /// What was found and what was expected.
        what: String,
    },
    /// The answer is larger than what is read of one.
    #[error("the model's answer has more than {limit} {of}; nothing of it was done")]
    Bound {
        /// What there is too much of.
        of: &'static str,
        /// The bound.
        limit: usize,
    },
    /// The answer was cut by a limit on tokens.
    #[error("the model's answer was cut (`{reason}`), and nothing that it asked for was done; {what}")]
    Cut {
        /// The service's word.
        reason: String,
        /// What to do.
        what: &'static str,
    },
    /// The model, or a filter of its service, declined.
    #[error("the model declined (`{reason}`){said}; word the task in another way or choose another model")]
    Declined {
        /// The service's word.
        reason: String,
        /// What was said, after a colon; may be empty.
        said: String,
    },
    /// The answer ended in a way that says neither what to do nor what came of the task.
    #[error("the model's answer ended with `{reason}` and {found}; try again or choose another model")]
    Stop {
        /// The service's word.
        reason: String,
        /// What was found.
        found: &'static str,
    },
    /// There are more tools than the API takes.
    #[error(
        "the endpoint lists {listed} tools, and this API takes {limit} at most; use a principal that sees fewer"
    )]
    Tools {
        /// How many.
        listed: usize,
        /// The bound.
        limit: usize,
    },
}

impl ModelFault {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Address { .. } => "AG-MODEL-ADDRESS",
            Self::Client(_) => "AG-MODEL-HTTP",
            Self::NoKey { .. } | Self::NoHeader { .. } | Self::Key { .. } => "AG-MODEL-KEY",
            Self::Refused { .. } => "AG-MODEL-REFUSED",
            Self::Unavailable { .. } => "AG-MODEL-UNAVAILABLE",
            Self::Stream { .. } => "AG-MODEL-STREAM",
            Self::Bound { .. } => "AG-MODEL-BOUND",
            Self::Cut { .. } => "AG-MODEL-CUT",
            Self::Declined { .. } => "AG-MODEL-DECLINED",
            Self::Stop { .. } => "AG-MODEL-STOP",
            Self::Tools { .. } => "AG-MODEL-TOOLS",
        }
    }

    pub(super) fn stream(what: impl Into<String>) -> Self {
        Self::Stream { what: what.into() }
    }

    pub(super) fn too_slow(after: Duration) -> Self {
        Self::stream(format!("it did not end within {} s", after.as_secs_f64()))
    }

    pub(super) fn stalled(after: Duration) -> Self {
        Self::stream(format!("nothing came for {} s", after.as_secs_f64()))
    }
}
