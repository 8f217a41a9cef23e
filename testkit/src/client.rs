use std::convert::Infallible;
use std::future::Future;
use std::net::SocketAddr;

use bytes::Bytes;
use futures::{StreamExt as _, stream};
use http::header::CONTENT_LENGTH;
use http::{HeaderMap, HeaderValue, Request};
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::body::{Body, Frame};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::Call;

/// A client that sends what it is told to, one connection for each request.
#[derive(Clone, Debug)]
pub struct Client {
    pub(crate) address: SocketAddr,
    pub(crate) token: Option<String>,
}

/// Why there is no reply.
#[derive(Debug, thiserror::Error)]
pub enum ClientFault {
    /// The request cannot stand on the wire.
    #[error("the request cannot be made")]
    Request(#[source] http::Error),
    /// No connection.
    #[error("no connection")]
    Connect(#[source] std::io::Error),
    /// The connection broke.
    #[error("the connection broke")]
    Broken(#[source] hyper::Error),
    /// The reply came, though it should not have come yet.
    #[error("a reply came before the client could leave")]
    Answered,
    /// The reply is not what the test reads it as.
    #[error("the reply is not {expected}; status {status}, body `{body}`")]
    Unexpected {
        /// What it should have been.
        expected: &'static str,
        /// HTTP status.
        status: u16,
        /// Its body.
        body: String,
    },
}

/// What came back.
#[derive(Clone, Debug)]
pub struct Reply {
    /// HTTP status.
    pub status: u16,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Bytes,
}

impl Client {
    /// A client of the server at this address, with a bearer token.
    #[must_use]
    pub fn new(address: SocketAddr, token: Option<&str>) -> Self {
        Self { address, token: token.map(str::to_owned) }
    }

    /// Makes a call at `/mcp`.
    ///
    /// # Errors
    /// Where no reply comes.
    pub async fn send(&self, call: &Call) -> Result<Reply, ClientFault> {
        self.exchange(call.request("/mcp", &self.address.to_string(), self.token.as_deref())?).await
    }

    /// Makes a call of whose body the last byte never comes; the connection stays open.
    ///
    /// # Errors
    /// Where no reply comes.
    pub async fn send_all_but_a_byte(&self, call: &Call) -> Result<Reply, ClientFault> {
        let request = call.request("/mcp", &self.address.to_string(), self.token.as_deref())?;
        let (mut parts, body) = request.into_parts();
        parts.headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len() + 1));
        let pieces = stream::iter([Ok::<_, Infallible>(Frame::data(body))]).chain(stream::pending());
        self.exchange_any(Request::from_parts(parts, StreamBody::new(pieces))).await
    }

    /// Sends a call, and leaves when `until` is done, without having read a byte of the reply.
    ///
    /// # Errors
    /// Where the reply comes first.
    pub async fn send_and_leave(
        &self,
        call: &Call,
        until: impl Future<Output = ()>,
    ) -> Result<(), ClientFault> {
        let request = call.request("/mcp", &self.address.to_string(), self.token.as_deref())?;
        // When this returns, both are dropped, and with them the connection.
        tokio::select! {
            biased;
            () = until => Ok(()),
            reply = self.exchange(request) => reply.and(Err(ClientFault::Answered)),
        }
    }

    /// A GET of any path.
    ///
    /// # Errors
    /// Where no reply comes.
    pub async fn get(&self, path: &str) -> Result<Reply, ClientFault> {
        self.plain("GET", path, None).await
    }

    /// A POST of JSON to any path.
    ///
    /// # Errors
    /// Where no reply comes.
    pub async fn post(&self, path: &str, body: &Value) -> Result<Reply, ClientFault> {
        self.plain("POST", path, Some(body)).await
    }

    /// A call as it stands on the wire, with `Connection: close`.
    ///
    /// # Errors
    /// Where it cannot stand there.
    pub fn wire(&self, call: &Call) -> Result<Vec<u8>, ClientFault> {
        let request = call.request("/mcp", &self.address.to_string(), self.token.as_deref())?;
        let mut head = b"POST /mcp HTTP/1.1\r\nconnection: close\r\n".to_vec();
        for (name, value) in request.headers() {
            head.extend_from_slice(&[name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
        }
        Ok([&head, b"\r\n".as_slice(), request.body()].concat())
    }

    /// Sends these bytes on a connection of their own, and gives what comes back until the server closes it.
    ///
    /// # Errors
    /// Where there is no connection.
    pub async fn send_bytes(&self, bytes: &[u8]) -> Result<String, ClientFault> {
        let mut stream = self.open(bytes).await?;
        let mut back = Vec::new();
        // A server that refuses may close before it has read everything; what it said before counts.
        let _ = stream.read_to_end(&mut back).await;
        Ok(String::from_utf8_lossy(&back).into_owned())
    }

    /// Sends these bytes on a connection of their own, which stays open.
    ///
    /// # Errors
    /// Where there is no connection.
    pub async fn open(&self, bytes: &[u8]) -> Result<TcpStream, ClientFault> {
        let mut stream = TcpStream::connect(self.address).await.map_err(ClientFault::Connect)?;
        stream.set_nodelay(true).map_err(ClientFault::Connect)?;
        // A server that refuses may close before it has read everything.
        let _ = stream.write_all(bytes).await;
        Ok(stream)
    }

    async fn plain(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Reply, ClientFault> {
        let mut request =
            Request::builder().method(method).uri(path).header("host", self.address.to_string());
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        if body.is_some() {
            request = request.header("content-type", "application/json");
        }
        let body = body.map(Value::to_string).unwrap_or_default();
        self.exchange(request.body(Bytes::from(body)).map_err(ClientFault::Request)?).await
    }

    /// Sends any HTTP request, byte by byte as it is given.
    ///
    /// # Errors
    /// Where no reply comes.
    pub async fn exchange(&self, request: Request<Bytes>) -> Result<Reply, ClientFault> {
        self.exchange_any(request.map(Full::new)).await
    }

    async fn exchange_any<B>(&self, request: Request<B>) -> Result<Reply, ClientFault>
    where
        B: Body<Data = Bytes, Error = Infallible> + Send + 'static,
    {
        let stream = TcpStream::connect(self.address).await.map_err(ClientFault::Connect)?;
        stream.set_nodelay(true).map_err(ClientFault::Connect)?;
        let (mut sender, connection) =
            http1::handshake(TokioIo::new(stream)).await.map_err(ClientFault::Broken)?;
        let exchange = async {
            let response = sender.send_request(request).await.map_err(ClientFault::Broken)?;
            let (parts, body) = response.into_parts();
            let body = body.collect().await.map_err(ClientFault::Broken)?.to_bytes();
            Ok(Reply { status: parts.status.as_u16(), headers: parts.headers, body })
        };
        // The connection is driven here and not in a task of its own: a client that is dropped is gone at once.
        let (mut exchange, mut connection) = (std::pin::pin!(exchange), std::pin::pin!(connection));
        tokio::select! {
            reply = &mut exchange => reply,
            // What the connection has to say, the exchange says too: a reply that came before its end, or why there is none.
            _ = &mut connection => exchange.await,
        }
    }
}

impl Reply {
    /// The body as JSON.
    ///
    /// # Errors
    /// Where it is none.
    pub fn json(&self) -> Result<Value, ClientFault> {
        serde_json::from_slice(&self.body).map_err(|_| self.unexpected("JSON"))
    }

    /// The body as text.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The JSON-RPC result.
    ///
    /// # Errors
    /// Where it is an error or something else.
    pub fn result(&self) -> Result<Value, ClientFault> {
        let mut body = self.json()?;
        match body.get_mut("result") {
            Some(result) if self.status == 200 => Ok(result.take()),
            _ => Err(self.unexpected("a result")),
        }
    }

    /// The JSON-RPC error.
    ///
    /// # Errors
    /// Where it is a result or something else.
    pub fn error(&self) -> Result<Value, ClientFault> {
        let mut body = self.json()?;
        body.get_mut("error").map(Value::take).ok_or_else(|| self.unexpected("an error"))
    }

    /// A header's value, empty where it is missing or not text.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    fn unexpected(&self, expected: &'static str) -> ClientFault {
        ClientFault::Unexpected { expected, status: self.status, body: self.text() }
    }
}
