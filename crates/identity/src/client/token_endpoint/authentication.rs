//! How a client proves who it is at the token endpoint (RFC 6749 §2.3, RFC 7523 §2.2).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use http::{HeaderMap, header};
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use serde_json::json;
use time::OffsetDateTime;
use url::form_urlencoded::{Serializer, byte_serialize};

use super::TokenFault;
use crate::client::proof_key::random_text;
use crate::client::secret::Secret;
use crate::client::token;

/// How long an assertion is good, in seconds.
const ASSERTION: i64 = 60;

/// How a client proves who it is. Its `Debug` shows no secret.
#[derive(Clone, Debug)]
pub enum ClientAuthentication {
    /// `none`: a public client only says who it is.
    None,
    /// `client_secret_basic`.
    Basic(Secret),
    /// `client_secret_post`.
    Post(Secret),
    /// `private_key_jwt`.
    Signed(SigningKey),
}

/// A private key that a client signs with.
#[derive(Clone)]
pub struct SigningKey {
    key: EncodingKey,
    algorithm: Algorithm,
    id: Option<String>,
}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "SigningKey({:?})", self.algorithm)
    }
}

impl SigningKey {
    /// Reads a private key (PKCS #8, PEM) for an algorithm: `ES256`, `ES384`, `EdDSA`, `RS256` and its kin. `id` is the
    /// `kid` that the server knows it by.
    #[must_use]
    pub fn from_pem(pem: &Secret, algorithm: &str, id: Option<String>) -> Option<Self> {
        let algorithm: Algorithm = algorithm.parse().ok()?;
        let bytes = pem.expose().as_bytes();
        let key = match algorithm {
            Algorithm::ES256 | Algorithm::ES384 => EncodingKey::from_ec_pem(bytes),
            Algorithm::EdDSA => EncodingKey::from_ed_pem(bytes),
            Algorithm::RS256 | Algorithm::RS384 | Algorithm::RS512 => EncodingKey::from_rsa_pem(bytes),
            Algorithm::PS256 | Algorithm::PS384 | Algorithm::PS512 => EncodingKey::from_rsa_pem(bytes),
            _ => return None,
        };
        Some(Self { key: key.ok()?, algorithm, id })
    }

    fn assertion(&self, client_id: &str, issuer: &str, now: OffsetDateTime) -> Result<String, TokenFault> {
        let mut header = Header::new(self.algorithm);
        header.kid.clone_from(&self.id);
        let from = now.unix_timestamp();
        let claims = json!({
            "iss": client_id, "sub": client_id, "aud": issuer, "jti": random_text()?.expose(),
            "iat": from, "exp": from.saturating_add(ASSERTION),
        });
        encode(&header, &claims, &self.key).map_err(|_| TokenFault::Signature)
    }
}

impl ClientAuthentication {
    /// The method as metadata name it.
    #[must_use]
    pub const fn method(&self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Basic(_) => "client_secret_basic",
            Self::Post(_) => "client_secret_post",
            Self::Signed(_) => "private_key_jwt",
        }
    }

    /// What would be told of it by a server that repeats it.
    pub(super) fn secret(&self) -> Option<&str> {
        match self {
            Self::Basic(secret) | Self::Post(secret) => Some(secret.expose()),
            Self::None | Self::Signed(_) => None,
        }
    }

    /// Adds what proves it to a request.
    pub(super) fn add(
        &self,
        client_id: &str,
        issuer: &str,
        now: OffsetDateTime,
        headers: &mut HeaderMap,
        body: &mut Serializer<'_, String>,
    ) -> Result<(), TokenFault> {
        match self {
            Self::None => {
                body.append_pair("client_id", client_id);
            }
            Self::Basic(secret) => {
                // Each is form-encoded before they are joined (RFC 6749 §2.3.1).
                let encoded = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
                let joined =
                    zeroize::Zeroizing::new(format!("{}:{}", encoded(client_id), encoded(secret.expose())));
                let value = token::header("Basic", &BASE64.encode(joined.as_bytes()));
                headers.extend(value.map(|value| (header::AUTHORIZATION, value)));
            }
            Self::Post(secret) => {
                body.append_pair("client_id", client_id).append_pair("client_secret", secret.expose());
            }
            Self::Signed(key) => {
                let kind = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
                body.append_pair("client_id", client_id)
                    .append_pair("client_assertion_type", kind)
                    .append_pair("client_assertion", &key.assertion(client_id, issuer, now)?);
            }
        }
        Ok(())
    }
}
