//! Tokens that are no JWT: their issuer is asked what they are (RFC 7662).

use serde_json::{Map, Value};
use tokio::sync::Semaphore;
use url::form_urlencoded::{Serializer, byte_serialize};
use zeroize::Zeroizing;

use super::fetch::{FetchFault, Http, PATIENCE};
use super::{Introspection, refused, unique};
use crate::Unauthenticated;

/// How many questions are asked at once. Whoever comes then is told to come again: an issuer is not to be flooded through us.
const AT_ONCE: usize = 32;

/// Asks one issuer.
pub(super) struct Asker {
    endpoint: String,
    /// Both as a form encodes them (RFC 6749 §2.3.1).
    client_id: String,
    secret: Zeroizing<String>,
    http: Http,
    turns: Semaphore,
}

impl Asker {
    pub(super) fn new(settings: &Introspection, http: Http) -> Self {
        let encoded = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
        Self {
            endpoint: settings.endpoint.clone(),
            client_id: encoded(&settings.client_id),
            secret: Zeroizing::new(encoded(&settings.secret)),
            http,
            turns: Semaphore::new(AT_ONCE),
        }
    }

    /// The claims of a token that is good at this moment. `iss` is `issuer`, where the answer leaves it out. Where nobody is
    /// named whom the client acts for, neither by `sub` nor by `username`, it acts for itself: `sub` is then its own id.
    pub(super) async fn ask(&self, token: &str, issuer: &str) -> Result<Map<String, Value>, Unauthenticated> {
        let _turn = self.turns.try_acquire().map_err(|_| Unauthenticated::Unavailable)?;
        let form = Serializer::new(String::new())
            .append_pair("token", token)
            .append_pair("token_type_hint", "access_token")
            .finish();
        let sent = self.http.post(&self.endpoint, (&self.client_id, &self.secret), form);
        let answered = tokio::time::timeout(PATIENCE, sent).await.unwrap_or(Err(FetchFault::Slow));
        let read = answered.and_then(|answer| unique::object(&answer.body).map_err(FetchFault::Json));
        let mut claims = match read {
            Ok(claims) if claims.get("active").is_some_and(Value::is_boolean) => claims,
            Ok(_) => return Err(unavailable(issuer, &FetchFault::Answer)),
            Err(fault) => return Err(unavailable(issuer, &fault)),
        };
        if claims.get("active") != Some(&Value::Bool(true)) {
            return Err(refused("its issuer says that it is not active"));
        }
        claims.entry("iss").or_insert_with(|| issuer.into());
        if !claims.contains_key("sub")
            && !claims.contains_key("username")
            && let Some(client) = claims.get("client_id").cloned()
        {
            claims.insert("sub".to_owned(), client);
        }
        Ok(claims)
    }
}

fn unavailable(issuer: &str, fault: &FetchFault) -> Unauthenticated {
    let reason = std::error::Error::source(fault).map(ToString::to_string).unwrap_or_default();
    tracing::warn!(issuer, %fault, reason, "an issuer could not be asked about a token");
    Unauthenticated::Unavailable
}
