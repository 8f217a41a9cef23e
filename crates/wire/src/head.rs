//! What can be told of a request before a byte of its body is read (MCP 2026-07-28, basic/transports/streamable-http).

use http::header::{ACCEPT, AUTHORIZATION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HOST, ORIGIN};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};

/// Which `Host` and `Origin` headers are let in.
#[derive(Clone, Debug, Default)]
pub struct Doors {
    /// Host names beside loopback (`localhost`, `127.0.0.1`, `[::1]`, each with any port), without port.
    pub hosts: Vec<String>,
    /// Origins, such as `https://console.example.com`. A request without `Origin` does not come from a browser.
    pub origins: Vec<String>,
}

/// Why a request is refused by its head.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HeadFault {
    /// A host that is not served, or one that is named in two ways.
    #[error("the host `{found}` is not served here; add it to `hosts` if it should be")]
    Host {
        /// What it is addressed to, cut to what fits in a message.
        found: String,
    },
    /// A page of another origin, or of two.
    #[error("requests of this origin are not let in; add it to `origins` if they should be")]
    Origin,
    /// Another method than POST.
    #[error("this endpoint takes POST requests only")]
    Method,
    /// A header that steers a decision stands more than once: two readers may take different ones of two.
    #[error("the header `{name}` stands more than once; send it once")]
    Repeated {
        /// Its name.
        name: HeaderName,
    },
    /// A body that is not JSON.
    #[error("the body must be `application/json`, found `{found}`")]
    ContentType {
        /// The media type, cut to what fits in a message.
        found: String,
    },
    /// A compressed body.
    #[error("a body must not be compressed; leave `Content-Encoding` out")]
    Encoding,
    /// Answers of both forms are not accepted.
    #[error("`Accept` must name both `application/json` and `text/event-stream`")]
    Accept,
    /// A body that is announced to be too large.
    #[error("the body has {announced} bytes, at most {limit} are taken; send less")]
    Size {
        /// Bytes announced.
        announced: u64,
        /// Bytes that are taken.
        limit: usize,
    },
}

impl HeadFault {
    /// The HTTP status.
    #[must_use]
    pub const fn http(&self) -> u16 {
        match self {
            Self::Host { .. } | Self::Origin => 403,
            Self::Method => 405,
            Self::Repeated { .. } => 400,
            Self::ContentType { .. } | Self::Encoding => 415,
            Self::Accept => 406,
            Self::Size { .. } => 413,
        }
    }

    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Host { .. } => "AG-HEAD-HOST",
            Self::Origin => "AG-HEAD-ORIGIN",
            Self::Method => "AG-HEAD-METHOD",
            Self::Repeated { .. } => "AG-HEAD-REPEATED",
            Self::ContentType { .. } => "AG-HEAD-CONTENT-TYPE",
            Self::Encoding => "AG-HEAD-ENCODING",
            Self::Accept => "AG-HEAD-ACCEPT",
            Self::Size { .. } => "AG-HEAD-SIZE",
        }
    }
}

/// Checks `Host` and `Origin`. A request for an absolute URI names its host twice; both must be the same.
///
/// # Errors
/// A host or an origin that is not let in.
pub fn doorway(doors: &Doors, headers: &HeaderMap, uri: &Uri) -> Result<(), HeadFault> {
    let authority = text(headers, &HOST).or_else(|| uri.host()).unwrap_or_default();
    let host = host_of(authority).unwrap_or_default();
    let known = is_loopback(host) || doors.hosts.iter().any(|allowed| allowed.eq_ignore_ascii_case(host));
    let named_otherwise = uri.authority().is_some_and(|named| named.as_str() != authority);
    if headers.get_all(HOST).iter().count() > 1 || !known || named_otherwise {
        return Err(HeadFault::Host { found: shown(authority) });
    }
    let mut origins = headers.get_all(ORIGIN).iter();
    let allowed = match origins.next().map(HeaderValue::to_str) {
        None => true,
        Some(Ok(origin)) => doors.origins.iter().any(|allowed| allowed == origin),
        Some(Err(_)) => false,
    };
    if !allowed || origins.next().is_some() {
        return Err(HeadFault::Origin);
    }
    Ok(())
}

/// Checks the method, and that headers that steer a decision stand once.
///
/// # Errors
/// Another method than POST, or a header that stands more than once.
pub fn method(method: &Method, headers: &HeaderMap) -> Result<(), HeadFault> {
    if method != Method::POST {
        return Err(HeadFault::Method);
    }
    for name in headers.keys() {
        let steers = name == AUTHORIZATION
            || name == "dpop"
            || name == CONTENT_TYPE
            || name == CONTENT_LENGTH
            || name.as_str().starts_with("mcp-");
        if steers && headers.get_all(name).iter().count() > 1 {
            return Err(HeadFault::Repeated { name: name.clone() });
        }
    }
    Ok(())
}

/// Checks media types, encoding and the announced size, in bytes.
///
/// # Errors
/// What is not taken.
pub fn content(headers: &HeaderMap, limit: usize) -> Result<(), HeadFault> {
    let media = text(headers, &CONTENT_TYPE).unwrap_or_default();
    if !is_media_type(media, "application/json") {
        return Err(HeadFault::ContentType { found: shown(media) });
    }
    if headers.contains_key(CONTENT_ENCODING) {
        return Err(HeadFault::Encoding);
    }
    let accepted: Vec<&str> =
        headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok()).collect();
    if !["application/json", "text/event-stream"].iter().all(|wanted| accepts(&accepted, wanted)) {
        return Err(HeadFault::Accept);
    }
    let announced = text(headers, &CONTENT_LENGTH).and_then(|length| length.parse::<u64>().ok());
    let too_large = |announced: &u64| usize::try_from(*announced).map_or(true, |bytes| bytes > limit);
    match announced.filter(too_large) {
        Some(announced) => Err(HeadFault::Size { announced, limit }),
        None => Ok(()),
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

fn is_media_type(value: &str, wanted: &str) -> bool {
    value.split(';').next().is_some_and(|media| media.trim().eq_ignore_ascii_case(wanted))
}

fn accepts(values: &[&str], wanted: &str) -> bool {
    values.iter().flat_map(|value| value.split(',')).any(|range| is_media_type(range, wanted))
}

/// The host of `host[:port]`; `None` for anything else, such as a user before it.
fn host_of(authority: &str) -> Option<&str> {
    let end = match authority.strip_prefix('[') {
        Some(rest) => rest.find(']')? + 2,
        None => authority.find(':').unwrap_or(authority.len()),
    };
    let (host, port) = authority.split_at_checked(end)?;
    let is_port = |port: &str| port.len() <= 5 && port.bytes().all(|byte| byte.is_ascii_digit());
    let plain = !host.contains('@') && (port.is_empty() || port.strip_prefix(':').is_some_and(is_port));
    plain.then_some(host)
}

fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost") || host == "127.0.0.1" || host == "[::1]"
}

/// Peer-supplied text, cut to what fits in a message.
fn shown(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(100).collect()
}
