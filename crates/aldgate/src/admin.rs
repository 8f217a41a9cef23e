//! A client of the admin API.

use std::fmt::Display;
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use miette::Diagnostic;
use serde_json::Value;

use crate::cli::AdminTarget;
use crate::signed_in::Account;

/// Bytes of an answer that are read.
const MOST: usize = 16 << 20;

/// Why the API did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AdminFault {
    #[error("no gateway answers at `{url}`")]
    Unreachable {
        url: String,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error("`{url}` is not an address of the form `http://host:port`")]
    Address { url: String },
    #[error("{message}")]
    Refused { code: Option<String>, message: String, status: u16 },
    #[error("`{url}` answered with something that is not the admin API's JSON")]
    Answer { url: String },
}

/// The code of a refusal is the API's own.
impl Diagnostic for AdminFault {
    fn code<'a>(&'a self) -> Option<Box<dyn Display + 'a>> {
        Some(Box::new(match self {
            Self::Unreachable { .. } => "AG-CLI-UNREACHABLE",
            Self::Address { .. } => "AG-CLI-ADDRESS",
            Self::Refused { code, .. } => code.as_deref().unwrap_or("AG-CLI-REFUSED"),
            Self::Answer { .. } => "AG-CLI-ANSWER",
        }))
    }

    fn help<'a>(&'a self) -> Option<Box<dyn Display + 'a>> {
        match self {
            Self::Unreachable { .. } => Some(Box::new(
                "start one with `aldgate demo` or `aldgate serve gateway`, or give another address with `--admin`",
            )),
            Self::Refused { status: 401 | 403, .. } => {
                Some(Box::new("`--token` or ALDGATE_TOKEN says who asks, or `aldgate login --admin`"))
            }
            _ => None,
        }
    }
}

/// A connection to the admin API of one gateway, as one principal.
pub(crate) struct Admin {
    client: Client<HttpConnector, Full<Bytes>>,
    base: String,
    token: Option<String>,
}

impl Admin {
    /// A client for `target`, as who was named or has signed in.
    pub(crate) async fn of(target: &AdminTarget) -> miette::Result<Self> {
        let token = match &target.token {
            Some(token) => Some(token.clone()),
            None => Account::admin(&target.admin)?.token().await?,
        };
        Ok(Self::at(&target.admin, token))
    }

    /// A client for the API at `base`.
    pub(crate) fn at(base: &str, token: Option<String>) -> Self {
        Self {
            client: Client::builder(TokioExecutor::new()).build(HttpConnector::new()),
            base: base.trim_end_matches('/').to_owned(),
            token,
        }
    }

    /// Reads a path.
    pub(crate) async fn get(&self, path: &str) -> Result<Value, AdminFault> {
        self.send(Method::GET, path, None).await
    }

    /// Sends JSON to a path.
    pub(crate) async fn post(&self, path: &str, body: &Value) -> Result<Value, AdminFault> {
        self.send(Method::POST, path, Some(body)).await
    }

    /// The fault of an answer of another form.
    pub(crate) fn no_answer(&self) -> AdminFault {
        AdminFault::Answer { url: self.base.clone() }
    }

    async fn send(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, AdminFault> {
        let url = format!("{}{path}", self.base);
        let unreachable = |source| AdminFault::Unreachable { url: url.clone(), source };
        let mut request = Request::builder().method(method).uri(&url);
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        if body.is_some() {
            request = request.header("content-type", "application/json");
        }
        let bytes = body.map(|body| Bytes::from(body.to_string())).unwrap_or_default();
        let request =
            request.body(Full::new(bytes)).map_err(|_| AdminFault::Address { url: self.base.clone() })?;
        let exchange = async {
            let response = self.client.request(request).await.map_err(|fault| unreachable(fault.into()))?;
            let status = response.status().as_u16();
            let body = Limited::new(response.into_body(), MOST).collect().await.map_err(unreachable)?;
            Ok((status, body.to_bytes()))
        };
        let (status, body) = tokio::time::timeout(Duration::from_secs(30), exchange)
            .await
            .map_err(|_| unreachable("no answer within 30 s".into()))??;
        let value: Value = serde_json::from_slice(&body).map_err(|_| self.no_answer())?;
        if (200..300).contains(&status) {
            return Ok(value);
        }
        let said = |member: &str| {
            value.pointer(&format!("/error/{member}")).and_then(Value::as_str).map(crate::out::plain)
        };
        let code = said("code").filter(|code| code.starts_with("AG-"));
        let message = said("message")
            .unwrap_or_else(|| format!("`{url}` answered with HTTP status {status} and no reason"));
        Err(AdminFault::Refused { code, message, status })
    }
}
