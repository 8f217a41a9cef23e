//! Parameters of queries and forms (RFC 6749 §3.1): each once, and an empty one counts as absent.

use std::collections::BTreeMap;

use http::{HeaderMap, header};

use super::refusal::{Code, Refusal, refuse};

/// More bytes than an honest query or form has.
pub(super) const LONGEST: usize = 16 * 1024;

/// The parameters of one request. `Debug` is left out: some of them are secrets.
pub(super) struct Params(BTreeMap<String, String>);

impl Params {
    /// Reads a query or a form.
    pub(super) fn read(text: &str) -> Result<Self, Refusal> {
        if text.len() > LONGEST {
            let sent = format!("{} bytes", text.len());
            return Err(refuse(Code::InvalidRequest, "size", sent, format!("{LONGEST} bytes at most")));
        }
        let mut all = BTreeMap::new();
        for (name, value) in url::form_urlencoded::parse(text.as_bytes()) {
            if all.insert(name.clone().into_owned(), value.into_owned()).is_some() {
                return Err(refuse(Code::InvalidRequest, "parameters", format!("{name} twice"), "each once"));
            }
        }
        Ok(Self(all))
    }

    /// Reads the body of a request that is a form.
    pub(super) async fn of_form(headers: &HeaderMap, body: axum::body::Body) -> Result<Self, Refusal> {
        let kind =
            headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let bare = kind.split(';').next().unwrap_or_default().trim();
        if !bare.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
            let expected = "application/x-www-form-urlencoded";
            return Err(refuse(Code::InvalidRequest, "content type", kind, expected));
        }
        let bytes = bytes(body).await?;
        let text = std::str::from_utf8(&bytes);
        Self::read(text.map_err(|_| refuse(Code::InvalidRequest, "body", "other bytes", "a form in UTF-8"))?)
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    pub(super) fn required(&self, name: &'static str) -> Result<&str, Refusal> {
        self.get(name).ok_or_else(|| refuse(Code::InvalidRequest, name, "nothing", "a value"))
    }

    /// The rest of the names of those that begin so.
    pub(super) fn after<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.keys().filter_map(move |name| name.strip_prefix(prefix))
    }
}

/// Reads a body up to the limit.
pub(super) async fn bytes(body: axum::body::Body) -> Result<bytes::Bytes, Refusal> {
    let expected = || format!("{LONGEST} bytes at most, all of them sent");
    axum::body::to_bytes(body, LONGEST)
        .await
        .map_err(|_| refuse(Code::InvalidRequest, "size", "more, or a broken body", expected()))
}
