//! The claims of a token, checked (RFC 9068 §2.2 and §4, RFC 7519 §4.1).

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use time::{Duration, OffsetDateTime};

use super::{mapping, refused, shown};
use crate::{Scopes, Unauthenticated};

/// The claim that names the grant that a token came from, of our own authorization server.
pub(super) const GRANT: &str = "grant";

/// What the claims have to fit.
pub(super) struct Expected<'a> {
    pub(super) issuer: &'a str,
    /// `aud` holds one of them.
    pub(super) audiences: &'a BTreeSet<String>,
    pub(super) leeway: Duration,
    pub(super) now: OffsetDateTime,
    /// Whether `iat` has to be there: in a JWT, not in an answer about a token.
    pub(super) issued_at: bool,
}

/// What the claims say.
pub(super) struct Checked {
    pub(super) subject: String,
    pub(super) client: String,
    pub(super) scopes: Scopes,
    pub(super) expires_at: OffsetDateTime,
    /// The key that the token is bound to: its thumbprint (RFC 9449 §6.1).
    pub(super) bound: Option<String>,
    pub(super) grant: Option<String>,
    /// Who acts for the subject, the last one first; without a name, an empty one.
    pub(super) actors: Vec<String>,
}

/// The members of an object, read by their types.
#[derive(Clone, Copy)]
pub(super) struct Claims<'a>(pub(super) &'a Map<String, Value>);

impl<'a> Claims<'a> {
    pub(super) fn check(self, expected: &Expected<'_>) -> Result<Checked, Unauthenticated> {
        let issuer = self.required("iss")?;
        if issuer != expected.issuer {
            return Err(refused(format!("its `iss` is `{}`; expected `{}`", shown(issuer), expected.issuer)));
        }
        self.check_audience(expected.audiences)?;
        let expires_at = self.check_times(expected)?;
        let subject = self.name("sub", 255)?;
        Ok(Checked {
            subject: subject.ok_or_else(|| missing("sub"))?.to_owned(),
            client: self.client()?.to_owned(),
            scopes: self.scopes()?,
            expires_at,
            bound: self.bound()?.map(str::to_owned),
            grant: self.name(GRANT, 255)?.map(str::to_owned),
            actors: self.actors(),
        })
    }

    pub(super) fn text(self, name: &str) -> Result<Option<&'a str>, Unauthenticated> {
        match self.0.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(refused(format!("its `{}` is {}; expected a text", shown(name), kind(other)))),
        }
    }

    fn required(self, name: &str) -> Result<&'a str, Unauthenticated> {
        self.text(name)?.ok_or_else(|| missing(name))
    }

    fn name(self, name: &str, longest: usize) -> Result<Option<&'a str>, Unauthenticated> {
        let found = self.text(name)?;
        if found.is_some_and(|text| !mapping::is_name(text, longest)) {
            return Err(refused(format!(
                "its `{name}` has no 1 to {longest} bytes, or control characters among them"
            )));
        }
        Ok(found)
    }

    fn check_audience(self, audiences: &BTreeSet<String>) -> Result<(), Unauthenticated> {
        let listed: Vec<&str> = match self.0.get("aud") {
            None => return Err(missing("aud")),
            Some(Value::String(one)) => vec![one],
            Some(Value::Array(many)) => {
                let texts: Option<Vec<_>> = many.iter().map(Value::as_str).collect();
                texts.ok_or_else(|| refused("its `aud` lists what is no text"))?
            }
            Some(other) => {
                return Err(refused(format!("its `aud` is {}; expected a text or a list", kind(other))));
            }
        };
        if listed.iter().any(|audience| audiences.contains(*audience)) {
            return Ok(());
        }
        let found = shown(&listed.join(" "));
        let expected: Vec<_> = audiences.iter().map(String::as_str).collect();
        Err(refused(format!("its `aud` is `{found}`; expected `{}`", expected.join("` or `"))))
    }

    fn check_times(self, expected: &Expected<'_>) -> Result<OffsetDateTime, Unauthenticated> {
        let expires_at = self.date("exp")?.ok_or_else(|| missing("exp"))?;
        let not_before = self.date("nbf")?;
        let issued_at = self.date("iat")?;
        let (now, leeway) = (expected.now, expected.leeway);
        if now - expires_at >= leeway {
            return Err(Unauthenticated::Expired);
        }
        if issued_at.is_none() && expected.issued_at {
            return Err(missing("iat"));
        }
        for (name, date) in [("nbf", not_before), ("iat", issued_at)] {
            if let Some(date) = date.filter(|date| *date - now > leeway) {
                let (date, now) = (date.unix_timestamp(), now.unix_timestamp());
                return Err(refused(format!("its `{name}` is {date}, and the time here is {now}")));
            }
        }
        Ok(expires_at)
    }

    fn date(self, name: &str) -> Result<Option<OffsetDateTime>, Unauthenticated> {
        let Some(found) = self.0.get(name) else { return Ok(None) };
        let date = found.as_i64().and_then(|date| OffsetDateTime::from_unix_timestamp(date).ok());
        let told = || refused(format!("its `{name}` is no whole number of seconds since 1970"));
        date.map(Some).ok_or_else(told)
    }

    /// `act`, from the outermost inwards (RFC 8693 §4.1).
    fn actors(self) -> Vec<String> {
        let each = std::iter::successors(self.0.get("act"), |act| act.get("act"));
        each.map(|act| act.get("sub").and_then(Value::as_str).unwrap_or_default().to_owned()).collect()
    }

    /// `client_id` (RFC 8693 §4.3), or `azp` of older servers; both only where they are equal.
    fn client(self) -> Result<&'a str, Unauthenticated> {
        match (self.name("client_id", 2048)?, self.name("azp", 2048)?) {
            (Some(client), Some(party)) if client != party => {
                let told = format!("its `client_id` is `{}`, its `azp` `{}`", shown(client), shown(party));
                Err(refused(told))
            }
            (Some(client), _) | (None, Some(client)) => Ok(client),
            (None, None) => Err(missing("client_id")),
        }
    }

    fn scopes(self) -> Result<Scopes, Unauthenticated> {
        let name = if self.0.contains_key("scope") { "scope" } else { "scp" };
        let read = match self.0.get(name) {
            None => return Ok(Scopes::default()),
            Some(Value::String(text)) => Scopes::parse(text),
            Some(Value::Array(many)) if name == "scp" => {
                let texts: Option<Vec<_>> = many.iter().map(Value::as_str).collect();
                Scopes::of(texts.ok_or_else(|| refused("its `scp` lists what is no text"))?)
            }
            Some(other) => return Err(refused(format!("its `{name}` is {}; expected a text", kind(other)))),
        };
        read.map_err(|fault| refused(format!("its `{name}` cannot be used: {fault}")))
    }

    /// `cnf` (RFC 7800 §3.1). A confirmation that is not understood cannot be checked, so the token is refused.
    fn bound(self) -> Result<Option<&'a str>, Unauthenticated> {
        let told =
            || refused("its `cnf` is no object with a `jkt` and nothing else, which is what is checked here");
        let members = match self.0.get("cnf") {
            None => return Ok(None),
            Some(Value::Object(members)) => members,
            Some(_) => return Err(told()),
        };
        match members.get("jkt") {
            Some(Value::String(thumbprint)) if members.len() == 1 && thumbprint.len() == 43 => {
                Ok(Some(thumbprint))
            }
            _ => Err(told()),
        }
    }
}

fn missing(name: &str) -> Unauthenticated {
    refused(format!("it has no `{name}`"))
}

/// What a value is, in JSON's words.
pub(super) const fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
