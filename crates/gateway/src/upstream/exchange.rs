//! One request and its one answer, over HTTP or inside the process.

use aldgate_identity::client::upstream::CredentialFault;
use aldgate_wire::guard::Limits;
use aldgate_wire::response::{Answer, AnswerFault, Message, read, read_message};
use aldgate_wire::sse::{Decoder, SseFault};
use axum::body::Body;
use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, Uri};
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tower::ServiceExt as _;

use super::hidden::Hidden;
use super::notices::Notices;
pub(super) use super::patience::Patience;
use super::shown::{Shown, Whose};
use crate::settings::{Credential, Transport};

/// Nesting of an upstream's answer.
pub(super) const MAX_DEPTH: usize = 128;
/// How long the words of a refusal are waited for.
const SHORT: std::time::Duration = std::time::Duration::from_secs(5);

/// Why an upstream cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum TransportFault {
    /// A URL of another form.
    #[error(
        "the upstream's URL `{url}` must be of the form `http://host:port/path`; `https:` is not supported yet"
    )]
    Url {
        /// The URL.
        url: String,
    },
    /// A credential that cannot stand in a header.
    #[error("the upstream's credential holds characters that cannot stand in a header")]
    Credential,
}

/// Why there is no answer. Whoever meets one asks whether the request was sent.
#[derive(Debug, thiserror::Error)]
pub enum ExchangeFault {
    /// No connection.
    #[error("no connection to the upstream")]
    Connect(#[source] hyper_util::client::legacy::Error),
    /// The connection broke after the request began to go out.
    #[error("the connection to the upstream broke")]
    Broken(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// No whole answer in time.
    #[error("the upstream did not answer within {seconds} s")]
    TimedOut {
        /// The limit.
        seconds: u64,
    },
    /// An HTTP status with no answer in it.
    #[error("the upstream answered with HTTP status {status}{}", after(.said))]
    Status {
        /// The status.
        status: StatusCode,
        /// The message of an error in its body, where there is one.
        said: Option<String>,
    },
    /// The upstream does not accept the credential, the gateway's or the caller's.
    #[error("the upstream does not accept the credential that it was shown (HTTP status {status})")]
    Credential {
        /// The status.
        status: StatusCode,
    },
    /// A redirect; none is followed.
    #[error("the upstream redirects (HTTP status {status}); configure the URL that it redirects to")]
    Redirect {
        /// The status.
        status: StatusCode,
    },
    /// Another media type.
    #[error(
        "the upstream answered with the content type `{found}`, expected `application/json` or `text/event-stream`"
    )]
    MediaType {
        /// The type.
        found: String,
    },
    /// A compressed answer, which was not asked for.
    #[error("the upstream compressed its answer, which was not asked for")]
    Encoded,
    /// A longer answer than is taken.
    #[error("the upstream's answer is longer than {limit} bytes")]
    TooLarge {
        /// The limit.
        limit: usize,
    },
    /// A stream of changes that does not begin as it must.
    #[error("the upstream did not acknowledge the subscription")]
    Unacknowledged,
    /// The stream ended before the answer.
    #[error("the upstream's stream ended without an answer")]
    NoAnswer,
    /// An answer that breaks the protocol.
    #[error("the upstream's answer breaks the protocol")]
    Answer(#[from] AnswerFault),
    /// A stream that breaks the protocol.
    #[error("the upstream's stream breaks the protocol")]
    Stream(#[from] SseFault),
    /// There is no credential to show.
    #[error("the gateway has no credential for the upstream now")]
    NoCredential(#[source] CredentialFault),
    /// The request could not be made.
    #[error("the request to the upstream could not be made")]
    Request(#[source] serde_json::Error),
    /// The same, for its head.
    #[error("the request to the upstream could not be made")]
    RequestHead(#[from] http::Error),
}

/// What an error says that is no answer to the request: an older server does not know how to name it.
fn said(body: &[u8]) -> Option<String> {
    let body: serde_json::Value = serde_json::from_slice(body).ok()?;
    let message = body.pointer("/error/message")?.as_str()?;
    Some(message.chars().filter(|letter| !letter.is_control()).take(300).collect())
}

fn after(said: &Option<String>) -> String {
    let said = said.as_deref().map(|said| format!(", saying `{said}`"));
    let said = said.unwrap_or_else(|| " and no JSON-RPC message".to_owned());
    format!("{said}; it must speak MCP {}", crate::receive::VERSIONS.join(", "))
}

impl ExchangeFault {
    /// Whether the upstream has answered, and said no.
    pub(crate) fn is_refusal(&self) -> bool {
        match self {
            Self::Status { status, .. } => status.is_client_error(),
            Self::Redirect { .. } | Self::MediaType { .. } | Self::Encoded | Self::Unacknowledged => true,
            Self::Answer(_) | Self::Stream(_) | Self::Credential { .. } | Self::TooLarge { .. } => true,
            Self::Connect(_) | Self::Broken(_) | Self::TimedOut { .. } | Self::NoAnswer => false,
            Self::Request(_) | Self::RequestHead(_) | Self::NoCredential(_) => false,
        }
    }

    /// What kind of failure it is, one of few words (`error.type`).
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Connect(_) => "connect",
            Self::Broken(_) | Self::NoAnswer => "connection_broken",
            Self::TimedOut { .. } => "timeout",
            Self::Status { .. } | Self::Redirect { .. } => "http_status",
            Self::Credential { .. } | Self::NoCredential(_) => "credential",
            Self::MediaType { .. } | Self::Encoded | Self::Unacknowledged => "invalid_answer",
            Self::TooLarge { .. } => "too_large",
            Self::Answer(_) | Self::Stream(_) => "invalid_answer",
            Self::Request(_) | Self::RequestHead(_) => "invalid_request",
        }
    }

    /// Whether the upstream may have seen the request, so that nobody knows whether it was executed.
    pub(crate) fn was_sent(&self) -> bool {
        !matches!(self, Self::Connect(_) | Self::Request(_) | Self::RequestHead(_) | Self::NoCredential(_))
    }
}

/// One request as it goes out.
pub(super) struct Outgoing<'a> {
    pub(super) body: Vec<u8>,
    pub(super) headers: HeaderMap,
    pub(super) id: u64,
    /// Whose it is.
    pub(super) whose: Whose<'a>,
}

/// The way to an upstream, with the credential that the gateway shows there.
pub(crate) struct Wire {
    path: Path,
    shown: Shown,
}

enum Path {
    Http { client: Client<HttpConnector, Full<Bytes>>, uri: Uri },
    InProcess { router: axum::Router, uri: Uri },
}

impl Wire {
    pub(super) fn new(transport: Transport, credential: &Credential) -> Result<Self, TransportFault> {
        let shown = Shown::new(credential)?;
        let path = match transport {
            Transport::Http(uri) => {
                if uri.scheme_str() != Some("http") || uri.host().is_none() {
                    return Err(TransportFault::Url { url: uri.to_string() });
                }
                let mut connector = HttpConnector::new();
                connector.set_nodelay(true);
                connector.set_connect_timeout(Some(std::time::Duration::from_secs(5)));
                // A stream of changes may be idle for long; a peer that is gone is found all the same.
                connector.set_keepalive(Some(std::time::Duration::from_secs(30)));
                let client = Client::builder(TokioExecutor::new())
                    .pool_timer(TokioTimer::new())
                    .pool_idle_timeout(std::time::Duration::from_secs(30))
                    .retry_canceled_requests(false)
                    .build(connector);
                Path::Http { client, uri }
            }
            Transport::InProcess(router, path) => {
                let uri = format!("http://localhost{path}");
                Path::InProcess { router, uri: uri.parse().map_err(|_| TransportFault::Url { url: uri })? }
            }
        };
        Ok(Self { path, shown })
    }

    /// What is shown to the upstream.
    pub(super) const fn shown(&self) -> &Shown {
        &self.shown
    }

    /// Sends one request and reads its one answer, of `most` bytes, while the patience lasts.
    pub(super) async fn exchange(
        &self,
        message: Outgoing<'_>,
        most: usize,
        patience: &mut Patience,
        notices: Option<&mut Notices>,
    ) -> Result<Answer, ExchangeFault> {
        let limits = Limits { max_bytes: most, max_depth: MAX_DEPTH };
        let id = message.id;
        patience.begin();
        let (response, hidden) = patience.wait(self.send(message)).await??;
        Receiving { id, limits, hidden }.answer(response, patience, notices).await
    }

    /// Sends one request and gives its stream of events, which may last, and what it must not repeat.
    pub(super) async fn open(&self, message: Outgoing<'_>) -> Result<(Body, Hidden), ExchangeFault> {
        let (response, hidden) = self.send(message).await?;
        let (status, media) = checked_head(&response, &hidden)?;
        if status.is_success() && media.eq_ignore_ascii_case("text/event-stream") {
            return Ok((response.into_body(), hidden));
        }
        if !status.is_success() {
            let whole = collect(response.into_body(), 64 << 10, &mut Patience::new(SHORT, SHORT)).await;
            let whole = hidden.taken_out(whole.unwrap_or_default());
            return Err(ExchangeFault::Status { status, said: said(&whole) });
        }
        Err(ExchangeFault::MediaType { found: media })
    }

    async fn send(&self, message: Outgoing<'_>) -> Result<(Response<Body>, Hidden), ExchangeFault> {
        let uri = match &self.path {
            Path::Http { uri, .. } | Path::InProcess { uri, .. } => uri,
        };
        let mut request = Request::post(uri.clone()).body(Bytes::from(message.body))?;
        *request.headers_mut() = message.headers;
        let shown = self.shown.show(request.headers_mut(), message.whose).await;
        let (hidden, lent) = shown.map_err(ExchangeFault::NoCredential)?;
        let response = self.carry(request).await?;
        if let Some(lent) = lent.filter(|_| response.status() == StatusCode::UNAUTHORIZED) {
            lent.refused();
        }
        Ok((response, hidden))
    }

    async fn carry(&self, mut request: Request<Bytes>) -> Result<Response<Body>, ExchangeFault> {
        match &self.path {
            Path::Http { client, .. } => match client.request(request.map(Full::new)).await {
                Ok(response) => Ok(response.map(Body::new)),
                Err(fault) if fault.is_connect() => Err(ExchangeFault::Connect(fault)),
                Err(fault) => Err(ExchangeFault::Broken(fault.into())),
            },
            Path::InProcess { router, uri } => {
                if let Some(host) = uri.authority().and_then(|host| HeaderValue::from_str(host.as_str()).ok())
                {
                    request.headers_mut().insert(http::header::HOST, host);
                }
                match router.clone().oneshot(request.map(Body::from)).await {
                    Ok(response) => Ok(response),
                    Err(never) => match never {},
                }
            }
        }
    }
}

/// The status, and the media type without its parameters, of an answer that may be read.
fn checked_head(response: &Response<Body>, hidden: &Hidden) -> Result<(StatusCode, String), ExchangeFault> {
    let status = response.status();
    if status.is_redirection() {
        return Err(ExchangeFault::Redirect { status });
    }
    if status == StatusCode::UNAUTHORIZED || status == StatusCode::FORBIDDEN {
        return Err(ExchangeFault::Credential { status });
    }
    let headers = response.headers();
    if headers.contains_key(CONTENT_ENCODING) {
        return Err(ExchangeFault::Encoded);
    }
    let media = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
    let media = hidden.out_of(media);
    let media = std::str::from_utf8(&media).unwrap_or_default();
    let media = media.split(';').next().unwrap_or_default().trim();
    Ok((status, media.chars().filter(|letter| !letter.is_control()).take(100).collect()))
}

/// What the answer to one request has to be like.
struct Receiving {
    id: u64,
    limits: Limits,
    hidden: Hidden,
}

async fn collect(mut body: Body, limit: usize, patience: &mut Patience) -> Result<Vec<u8>, ExchangeFault> {
    let mut whole = Vec::new();
    while let Some(frame) = patience.wait(body.frame()).await? {
        let frame = frame.map_err(|fault| ExchangeFault::Broken(fault.into()))?;
        if let Some(piece) = frame.data_ref() {
            if whole.len() + piece.len() > limit {
                return Err(ExchangeFault::TooLarge { limit });
            }
            whole.extend_from_slice(piece);
        }
    }
    Ok(whole)
}

impl Receiving {
    async fn answer(
        &self,
        response: Response<Body>,
        patience: &mut Patience,
        notices: Option<&mut Notices>,
    ) -> Result<Answer, ExchangeFault> {
        let (status, media) = checked_head(&response, &self.hidden)?;
        let body = response.into_body();
        if media.eq_ignore_ascii_case("application/json") {
            let whole = collect(body, self.limits.max_bytes, patience).await?;
            let whole = self.hidden.taken_out(whole);
            return match read(&whole, self.id, &self.limits) {
                Ok(answer) => Ok(answer),
                // An error status with a body that is no message: the status says more.
                Err(_) if !status.is_success() => Err(ExchangeFault::Status { status, said: said(&whole) }),
                Err(fault) => Err(fault.into()),
            };
        }
        if !status.is_success() {
            return Err(ExchangeFault::Status { status, said: None });
        }
        if media.eq_ignore_ascii_case("text/event-stream") {
            return self.stream(body, patience, notices).await;
        }
        Err(ExchangeFault::MediaType { found: media })
    }

    /// Reads a stream up to the answer; notifications on the way are passed on.
    async fn stream(
        &self,
        mut body: Body,
        patience: &mut Patience,
        mut notices: Option<&mut Notices>,
    ) -> Result<Answer, ExchangeFault> {
        let limits = &self.limits;
        let mut decoder = Decoder::new(limits.max_bytes);
        let mut seen = 0_usize;
        while let Some(frame) = patience.wait(body.frame()).await? {
            let frame = frame.map_err(|fault| ExchangeFault::Broken(fault.into()))?;
            let Some(piece) = frame.data_ref() else { continue };
            seen = seen.saturating_add(piece.len());
            if seen > limits.max_bytes {
                return Err(ExchangeFault::TooLarge { limit: limits.max_bytes });
            }
            for event in decoder.push(piece)? {
                // An event of another type, or with nothing in it, is no message.
                if event.kind != "message" || event.data.iter().all(u8::is_ascii_whitespace) {
                    continue;
                }
                match read_message(&self.hidden.out_of(&event.data), self.id, limits)? {
                    Message::Answer(answer) => return Ok(answer),
                    Message::Notification { method, params } => {
                        if let Some(notices) = &mut notices
                            && patience.wait(notices.pass(&method, params.as_deref())).await?
                        {
                            patience.renew();
                        }
                    }
                }
            }
        }
        Err(ExchangeFault::NoAnswer)
    }
}
