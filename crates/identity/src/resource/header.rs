//! The `Authorization` header (RFC 6750 §2.1, RFC 9449 §7.1).

use crate::Unauthenticated;

/// The longest token that is looked at, in bytes.
pub(super) const LONGEST: usize = 16 * 1024;

/// How a token was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scheme {
    Bearer,
    Dpop,
}

/// A token as it was sent.
#[derive(Clone, Copy)]
pub(super) struct Sent<'a> {
    pub(super) scheme: Scheme,
    pub(super) token: &'a str,
}

impl<'a> Sent<'a> {
    pub(super) fn read(authorization: Option<&'a [u8]>) -> Result<Self, Unauthenticated> {
        let value = authorization.ok_or(Unauthenticated::Missing)?;
        let text = std::str::from_utf8(value).map_err(|_| Unauthenticated::Malformed)?;
        let (scheme, token) = text.split_once(' ').ok_or(Unauthenticated::Malformed)?;
        let scheme = match scheme {
            bearer if bearer.eq_ignore_ascii_case("bearer") => Scheme::Bearer,
            dpop if dpop.eq_ignore_ascii_case("dpop") => Scheme::Dpop,
            _ => return Err(Unauthenticated::Malformed),
        };
        let token = token.trim_matches(' ');
        if token.len() > LONGEST {
            let length = token.len();
            return Err(super::refused(format!("it has {length} bytes; expected {LONGEST} at most")));
        }
        if !is_token68(token) {
            return Err(Unauthenticated::Malformed);
        }
        Ok(Self { scheme, token })
    }
}

/// `1*( ALPHA / DIGIT / "-" / "." / "_" / "~" / "+" / "/" ) *"="`
fn is_token68(token: &str) -> bool {
    let body = token.trim_end_matches('=');
    let good = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/".contains(&byte);
    !body.is_empty() && body.bytes().all(good)
}
