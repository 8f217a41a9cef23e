use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures::stream::BoxStream;
use http::{HeaderName, HeaderValue};
use rmcp::model::{ClientJsonRpcMessage, GetMeta as _, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
    StreamableHttpResponseLimits,
};
use sse_stream::Sse;

use crate::endpoint::Renewal;

/// W3C trace context.
const TRACE_PARENT: HeaderName = HeaderName::from_static("traceparent");
const TRACE_STATE: HeaderName = HeaderName::from_static("tracestate");

type Fault = StreamableHttpError<reqwest::Error>;

/// The HTTP client of a connection.
///
/// An error without an id answers the request that it came back for: an endpoint that refuses a request before it reads
/// it cannot know the id. The client library would wait until its time is up for an answer that has the id.
///
/// Where tokens are renewed, each request carries one that is good when it is sent. One that is refused all the same was not acted
/// upon (401): the request goes out once more with another token, and no oftener.
#[derive(Clone)]
pub(crate) struct HttpClient {
    http: reqwest::Client,
    renewal: Option<Arc<dyn Renewal>>,
}

impl HttpClient {
    /// No redirects, which would carry the token on; no proxy, which would see it.
    pub(crate) fn new(renewal: Option<Arc<dyn Renewal>>) -> Result<Self, reqwest::Error> {
        let http = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            // Only `http` is spoken here: a machine without certificates can use it too.
            .tls_certs_only(std::iter::empty())
            .connect_timeout(Duration::from_secs(10))
            .pool_max_idle_per_host(0)
            .build()?;
        Ok(Self { http, renewal })
    }

    /// The token to send now.
    async fn token(&self, configured: Option<String>) -> Option<String> {
        match &self.renewal {
            Some(renewal) => renewal.current().await.or(configured),
            None => configured,
        }
    }
}

impl StreamableHttpClient for HttpClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Fault> {
        let limits = StreamableHttpResponseLimits::default();
        self.post_message_with_response_limits(uri, message, session_id, auth_header, custom_headers, limits)
            .await
    }

    async fn post_message_with_response_limits(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        mut custom_headers: HashMap<HeaderName, HeaderValue>,
        limits: StreamableHttpResponseLimits,
    ) -> Result<StreamableHttpPostResponse, Fault> {
        let asked = match &message {
            ClientJsonRpcMessage::Request(request) => {
                // For proxies on the way that do not read bodies.
                let meta = request.request.get_meta();
                for (name, value) in
                    [(TRACE_PARENT, meta.get_traceparent()), (TRACE_STATE, meta.get_tracestate())]
                {
                    if let Some(Ok(value)) = value.map(HeaderValue::from_str) {
                        custom_headers.insert(name, value);
                    }
                }
                Some(request.id.clone())
            }
            _ => None,
        };
        let token = self.token(auth_header).await;
        let send = |token: Option<String>| {
            let (uri, session_id, headers) = (uri.clone(), session_id.clone(), custom_headers.clone());
            self.http.post_message_with_response_limits(
                uri,
                message.clone(),
                session_id,
                token,
                headers,
                limits,
            )
        };
        let mut answer = send(token.clone()).await;
        if let (Err(StreamableHttpError::AuthRequired(_)), Some(renewal), Some(refused)) =
            (&answer, &self.renewal, &token)
            && let Some(another) = renewal.another(refused).await
        {
            answer = send(Some(another)).await;
        }
        let answer = answer?;
        Ok(match answer {
            StreamableHttpPostResponse::Json(ServerJsonRpcMessage::Error(mut error), session)
                if error.id.is_none() =>
            {
                error.id = asked;
                StreamableHttpPostResponse::Json(ServerJsonRpcMessage::Error(error), session)
            }
            other => other,
        })
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Fault> {
        self.http.delete_session(uri, session_id, auth_header, custom_headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Fault> {
        self.http.get_stream(uri, session_id, last_event_id, auth_header, custom_headers).await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
        max_sse_event_size: usize,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Fault> {
        let open = self.http.get_stream_with_max_sse_event_size(
            uri,
            session_id,
            last_event_id,
            auth_header,
            custom_headers,
            max_sse_event_size,
        );
        open.await
    }
}
