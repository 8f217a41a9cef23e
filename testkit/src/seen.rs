use http::HeaderMap;
use serde_json::Value;

/// One request as it came in, whatever was answered.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The JSON-RPC method.
    pub method: String,
    /// `params.name`, where there is one.
    pub name: Option<String>,
    /// The whole body, byte by byte.
    pub body: String,
    /// `params`, for reading.
    pub params: Value,
    /// The headers.
    pub headers: HeaderMap,
}

impl Seen {
    /// A header's value, empty where it is missing or not text.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// The bearer token that it shows, empty where there is none.
    #[must_use]
    pub fn bearer(&self) -> &str {
        self.header("authorization").strip_prefix("Bearer ").unwrap_or_default()
    }

    /// A member of `params._meta`.
    #[must_use]
    pub fn meta(&self, key: &str) -> Option<&Value> {
        self.params.get("_meta")?.get(key)
    }

    /// Whether `text` stands anywhere in the request, head or body.
    #[must_use]
    pub fn mentions(&self, text: &str) -> bool {
        let in_header = |name: &http::HeaderName, value: &http::HeaderValue| {
            name.as_str().contains(text) || String::from_utf8_lossy(value.as_bytes()).contains(text)
        };
        self.body.contains(text) || self.headers.iter().any(|(name, value)| in_header(name, value))
    }
}
