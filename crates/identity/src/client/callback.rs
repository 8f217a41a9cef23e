//! What the browser brings back from a sign-in (RFC 6749 §4.1.2, RFC 9207).

#[cfg(test)]
mod tests;

use super::address::shown;
use super::secret::Secret;

/// What an answer has to be like.
pub(super) struct Expected {
    pub(super) state: Secret,
    pub(super) issuer: String,
    /// Whether the server promised to say who it is.
    pub(super) promised: bool,
}

/// Why a sign-in came to nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallbackFault {
    /// Another server answered. What it says of errors is not told: it may be what an attacker wants to be read.
    #[error(
        "the answer to the sign-in is refused: its `iss` is {found}, expected `{expected}` to the last letter (RFC 9207); \
         another authorization server may have answered"
    )]
    OtherIssuer {
        /// What it says, or that it says nothing.
        found: String,
        /// Who was asked.
        expected: String,
    },
    /// The server refused (RFC 6749 §4.1.2.1).
    #[error("the authorization server refused the sign-in: `{code}`{description}")]
    Refused {
        /// The error code.
        code: String,
        /// What it says besides, with a separator before it.
        description: String,
    },
    /// Neither code nor error.
    #[error("the answer to the sign-in has neither `code` nor `error`")]
    Empty,
}

/// Reads the query of a request to the redirect. None where it is not the answer that is waited for: then another one may
/// still come, and a page that guesses the port cannot end a sign-in.
pub(super) fn read(query: &str, expected: &Expected) -> Option<Result<Secret, CallbackFault>> {
    let pairs: Vec<_> = url::form_urlencoded::parse(query.as_bytes()).collect();
    // A parameter that stands twice is none (RFC 6749 §3.1).
    let one = |name: &str| {
        let mut found = pairs.iter().filter(|(one, _)| one == name).map(|(_, value)| value.as_ref());
        let first = found.next();
        if found.next().is_some() { Err(()) } else { Ok(first) }
    };
    let read = [one("state"), one("iss"), one("code"), one("error"), one("error_description")];
    let [Ok(state), Ok(iss), Ok(code), Ok(error), Ok(description)] = read else { return None };
    let is_ours = |state: &str| {
        aws_lc_rs::constant_time::verify_slices_are_equal(
            state.as_bytes(),
            expected.state.expose().as_bytes(),
        )
        .is_ok()
    };
    if !state.is_some_and(is_ours) {
        return None;
    }
    let is_right = match iss {
        Some(iss) => iss == expected.issuer,
        None => !expected.promised,
    };
    if !is_right {
        let found = iss.map_or_else(|| "missing".to_owned(), |iss| format!("`{}`", shown(iss)));
        return Some(Err(CallbackFault::OtherIssuer { found, expected: shown(&expected.issuer) }));
    }
    Some(match (error, code.filter(|code| !code.is_empty())) {
        (Some(code), _) => {
            let description = description.filter(|text| !text.is_empty());
            let description = description.map(|text| format!(": `{}`", shown(text))).unwrap_or_default();
            Err(CallbackFault::Refused { code: shown(code), description })
        }
        (None, Some(code)) => Ok(Secret::new(code.to_owned())),
        (None, None) => Err(CallbackFault::Empty),
    })
}
