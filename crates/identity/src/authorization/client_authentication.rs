//! Who the client is that sends a request to the token or revocation endpoint (RFC 6749 §2.3, RFC 7523).

use aws_lc_rs::constant_time::verify_slices_are_equal;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, header};
use jsonwebtoken::jwk::JwkSet;
use sha2::{Digest as _, Sha256};
use time::OffsetDateTime;

use super::client::{Client, ClientMethod};
use super::params::Params;
use super::refusal::{Code, Refusal, refuse};
use super::{AuthorizationServer, assertion, millis};

const ASSERTION_TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// What a client shows.
enum Shown<'a> {
    Nothing,
    Secret(String),
    Assertion(&'a str),
}

impl AuthorizationServer {
    /// The client of a request, after it proved what it has to prove.
    pub(super) async fn authenticate(
        &self,
        headers: &HeaderMap,
        params: &Params,
        now: OffsetDateTime,
    ) -> Result<Client, Refusal> {
        let (id, shown) = shown(headers, params)?;
        let unknown = || refuse(Code::InvalidClient, "client_id", &id, "a client that is known here");
        let client = self.client(&id, now).await?.ok_or_else(unknown)?;
        match (client.record.method, shown) {
            (ClientMethod::Public, Shown::Nothing) => {}
            (ClientMethod::Secret, Shown::Secret(secret)) => {
                let hash = Sha256::digest(secret.as_bytes());
                let kept = client.secret.as_deref().unwrap_or_default();
                verify_slices_are_equal(&hash, kept).map_err(|_| {
                    refuse(Code::InvalidClient, "client secret", "another secret", "the secret of the client")
                })?;
            }
            (ClientMethod::Assertion, Shown::Assertion(text)) => {
                let none = JwkSet { keys: Vec::new() };
                let keys = client.record.jwks.as_ref().unwrap_or(&none);
                let endpoint = self.settings.url("/oauth/token");
                let audiences = [self.settings.issuer.as_str(), &endpoint];
                let asserted = assertion::check(text, &client.id, keys, &audiences, now).map_err(
                    |assertion::Unproven(sent, expected)| {
                        refuse(Code::InvalidClient, "client_assertion", sent, expected)
                    },
                )?;
                let first = self.store.use_assertion(&asserted.id, millis(asserted.until)).await;
                if !first.map_err(|fault| Refusal::ours("client_assertion", &fault))? {
                    let sent = "a jti that was used before";
                    return Err(refuse(Code::InvalidClient, "client_assertion", sent, "each assertion once"));
                }
            }
            (method, shown) => {
                let sent = match shown {
                    Shown::Nothing => "none",
                    Shown::Secret(_) => "a client secret",
                    Shown::Assertion(_) => "a client assertion",
                };
                let expected = match method {
                    ClientMethod::Public => "none: the client is a public one",
                    ClientMethod::Secret => "client_secret_basic or client_secret_post",
                    ClientMethod::Assertion => "private_key_jwt",
                };
                return Err(refuse(Code::InvalidClient, "client authentication", sent, expected));
            }
        }
        Ok(client)
    }
}

/// Which client it is said to be, and what it shows for it. Two proofs in one request are refused (RFC 6749 §2.3).
fn shown<'a>(headers: &HeaderMap, params: &'a Params) -> Result<(String, Shown<'a>), Refusal> {
    let named = params.get("client_id");
    let in_header = basic(headers)?;
    let in_form = params.get("client_secret");
    let asserted = params.get("client_assertion");
    let kind = params.get("client_assertion_type");
    let several = "at most one way to prove who the client is";
    let invalid =
        |sent: &str, expected: &str| refuse(Code::InvalidRequest, "client authentication", sent, expected);
    let (id, shown) = match (in_header, in_form, asserted) {
        (None, None, None) => (None, Shown::Nothing),
        (Some((id, secret)), None, None) => (Some(id), Shown::Secret(secret)),
        (None, Some(secret), None) => (None, Shown::Secret(secret.to_owned())),
        (None, None, Some(text)) => {
            if kind != Some(ASSERTION_TYPE) {
                return Err(invalid(kind.unwrap_or("no client_assertion_type"), ASSERTION_TYPE));
            }
            let claimed = assertion::claimed_client(text);
            let claimed = claimed.ok_or_else(|| {
                refuse(Code::InvalidClient, "client_assertion", "no JWT with a sub", "a signed JWT")
            })?;
            (Some(claimed), Shown::Assertion(text))
        }
        _ => return Err(invalid("several", several)),
    };
    match (id, named) {
        (Some(id), Some(named)) if id != named => {
            Err(refuse(Code::InvalidClient, "client_id", named, "the client that is authenticated"))
        }
        (Some(id), _) => Ok((id, shown)),
        (None, Some(named)) => Ok((named.to_owned(), shown)),
        (None, None) => Err(refuse(Code::InvalidClient, "client_id", "nothing", "the id of a client")),
    }
}

/// Id and secret of a `Basic` header (RFC 6749 §2.3.1: both are form-encoded first).
fn basic(headers: &HeaderMap) -> Result<Option<(String, String)>, Refusal> {
    let malformed = || {
        let expected = "one header `Basic <base64 of id:secret>`, both form-encoded";
        refuse(Code::InvalidClient, "Authorization header", "another form", expected)
    };
    let mut all = headers.get_all(header::AUTHORIZATION).iter();
    let Some(value) = all.next() else { return Ok(None) };
    if all.next().is_some() {
        return Err(malformed());
    }
    let text = value.to_str().map_err(|_| malformed())?;
    let (scheme, encoded) = text.split_once(' ').ok_or_else(malformed)?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return Err(malformed());
    }
    let bytes = STANDARD.decode(encoded.trim()).map_err(|_| malformed())?;
    let pair = String::from_utf8(bytes).map_err(|_| malformed())?;
    let (id, secret) = pair.split_once(':').ok_or_else(malformed)?;
    let plain = |part: &str| {
        let form = format!("v={part}");
        // A `&` in it would begin another parameter: it is no form-encoded value.
        let mut values = url::form_urlencoded::parse(form.as_bytes());
        let value = values.next().map(|(_, value)| value.into_owned());
        if values.next().is_some() { None } else { value }
    };
    Ok(Some((plain(id).ok_or_else(malformed)?, plain(secret).ok_or_else(malformed)?)))
}
