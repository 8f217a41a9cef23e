use std::borrow::Cow;
use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::net::TcpListener;
use tokio::sync::Notify;

/// The server's own words about itself, in every result.
const META: &str = r#""_meta":{"io.modelcontextprotocol/serverInfo":{"name":"echo","version":"1"}}"#;

/// A stateless MCP server that answers at once: each of its tools gives back the key that it was called with.
#[derive(Clone, Debug)]
pub struct Echo(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// Name and definition of each tool.
    tools: Vec<(String, String)>,
    /// The result of `tools/list`: all tools on one page.
    list: String,
    /// A JSON string that each result of a call carries.
    pad: String,
    /// The list was asked for.
    listed: Notify,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Cow<'a, str>,
    #[serde(borrow, default)]
    params: Params<'a>,
}

#[derive(Default, Deserialize)]
struct Params<'a> {
    #[serde(borrow)]
    arguments: Option<Arguments<'a>>,
}

#[derive(Deserialize)]
struct Arguments<'a> {
    #[serde(borrow)]
    key: &'a RawValue,
}

impl Echo {
    /// A server with so many tools. The results of calls carry so many bytes beside the key, the list so many beside the tools.
    #[must_use]
    pub fn new(tools: usize, result_bytes: usize, list_bytes: usize) -> Self {
        let tools: Vec<_> = (0..tools).map(tool).collect();
        let all = tools.iter().map(|(_, definition)| definition.as_str()).collect::<Vec<_>>().join(",");
        let more = "x".repeat(list_bytes);
        let list = format!(
            r#"{{"resultType":"complete","tools":[{all}],"ttlMs":0,"cacheScope":"public","more":"{more}",{META}}}"#
        );
        let pad = format!("\"{}\"", "x".repeat(result_bytes));
        Self(Arc::new(Inner { tools, list, pad, listed: Notify::new() }))
    }

    /// Name and definition of each tool.
    #[must_use]
    pub fn tools(&self) -> &[(String, String)] {
        &self.0.tools
    }

    /// Until the list is asked for the next time.
    pub async fn listed(&self) {
        self.0.listed.notified().await;
    }

    /// Serves the connections that come in, for ever.
    ///
    /// # Errors
    /// Where a connection cannot be accepted.
    pub async fn serve(self, listener: TcpListener) -> std::io::Result<()> {
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            let echo = self.clone();
            let service = service_fn(move |request: Request<hyper::body::Incoming>| {
                let echo = echo.clone();
                async move {
                    // Of a body that broke off nothing is left to answer.
                    let body = request.into_body().collect().await?.to_bytes();
                    Ok::<_, hyper::Error>(echo.answer(&body).map(Full::new))
                }
            });
            tokio::spawn(async move {
                // A client that leaves ends its connection; the load generator tells of answers that did not come.
                let _ = hyper::server::conn::http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), service)
                    .await;
            });
        }
    }

    /// The same server without a port.
    pub fn router(&self) -> Router {
        let echo = self.clone();
        Router::new().fallback_service(tower::service_fn(move |request: Request<Body>| {
            let echo = echo.clone();
            async move {
                let body = request.into_body().collect().await.map(http_body_util::Collected::to_bytes);
                Ok::<_, Infallible>(echo.answer(&body.unwrap_or_default()).map(Body::from))
            }
        }))
    }

    fn answer(&self, body: &[u8]) -> Response<Bytes> {
        let Ok(Message { id, method, params }) = serde_json::from_slice(body) else {
            return made(StatusCode::BAD_REQUEST, String::new());
        };
        let Some(id) = id else { return made(StatusCode::ACCEPTED, String::new()) };
        match &*method {
            "tools/call" => {
                let key = params.arguments.map_or("null", |arguments| arguments.key.get());
                let pad = &self.0.pad;
                let content = format!(r#"[{{"type":"text","text":{key}}}]"#);
                let structured = format!(r#"{{"key":{key},"found":true,"pad":{pad}}}"#);
                response(
                    id,
                    &format!(
                        r#"{{"resultType":"complete","content":{content},"structuredContent":{structured},{META}}}"#
                    ),
                )
            }
            "tools/list" => {
                self.0.listed.notify_waiters();
                response(id, &self.0.list)
            }
            "server/discover" => {
                let able = r#""supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}"#;
                response(
                    id,
                    &format!(r#"{{"resultType":"complete",{able},"ttlMs":0,"cacheScope":"public",{META}}}"#),
                )
            }
            _ => {
                let error = r#"{"code":-32601,"message":"there is no such method"}"#;
                made(StatusCode::NOT_FOUND, format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#))
            }
        }
    }
}

fn tool(number: usize) -> (String, String) {
    let name = format!("lookup_{number:05}");
    let definition = json!({
        "name": name,
        "title": format!("Lookup {number}"),
        "description": "Looks something up by its key and says what it found.",
        "inputSchema": {
            "type": "object",
            "properties": {"key": {"type": "string"}, "limit": {"type": "integer", "minimum": 1}},
            "required": ["key"],
            "additionalProperties": false,
        },
        "outputSchema": {
            "type": "object",
            "properties": {"key": {"type": "string"}, "found": {"type": "boolean"}, "pad": {"type": "string"}},
            "required": ["key", "found"],
        },
        "annotations": {"readOnlyHint": true, "openWorldHint": false},
    });
    (name, definition.to_string())
}

fn response(id: &RawValue, result: &str) -> Response<Bytes> {
    made(StatusCode::OK, format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#))
}

fn made(status: StatusCode, body: String) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
