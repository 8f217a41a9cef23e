//! A client that reads an answer as a stream, message by message.

use bytes::Bytes;
use futures::{StreamExt as _, stream};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

use crate::Call;
use crate::client::{Client, ClientFault};

/// A stream of events that is being read.
pub struct Events {
    body: std::pin::Pin<Box<dyn futures::Stream<Item = Bytes> + Send>>,
    /// HTTP status.
    pub status: u16,
    read: String,
}

impl Events {
    /// The next message of the stream, comments skipped; `None` at its end, or when it broke.
    pub async fn next(&mut self) -> Option<Value> {
        loop {
            while let Some((event, rest)) = self.read.split_once("\n\n") {
                let data: Vec<_> = event.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
                let message = serde_json::from_str(&data.join("\n")).ok();
                self.read = rest.to_owned();
                if message.is_some() {
                    return message;
                }
            }
            let piece = self.body.next().await?;
            self.read.push_str(&String::from_utf8_lossy(&piece));
        }
    }

    /// What was read and is no event, such as the body of a refusal, with all that comes after it.
    pub async fn rest(mut self) -> String {
        while let Some(piece) = self.body.next().await {
            self.read.push_str(&String::from_utf8_lossy(&piece));
        }
        self.read
    }
}

impl Client {
    /// Sends a request and reads its answer as a stream. The connection ends with what this gives.
    ///
    /// # Errors
    /// Where no head of an answer comes.
    pub async fn listen(&self, call: &Call) -> Result<Events, ClientFault> {
        let stream = TcpStream::connect(self.address).await.map_err(ClientFault::Connect)?;
        stream.set_nodelay(true).map_err(ClientFault::Connect)?;
        let (mut sender, connection) =
            http1::handshake(TokioIo::new(stream)).await.map_err(ClientFault::Broken)?;
        let driven = tokio::spawn(connection).abort_handle();
        let host = self.address.to_string();
        let request = call.request("/mcp", &host, self.token.as_deref())?.map(Full::new);
        let response = sender.send_request(request).await.map_err(ClientFault::Broken)?;
        let status = response.status().as_u16();
        // The sender and the connection live as long as the body is read, and no longer.
        let held = (sender, Driven(driven));
        let pieces = stream::unfold((response.into_body(), held), |(mut body, held)| async move {
            loop {
                let frame = body.frame().await?.ok()?;
                if let Ok(piece) = frame.into_data() {
                    return Some((piece, (body, held)));
                }
            }
        });
        Ok(Events { body: Box::pin(pieces), status, read: String::new() })
    }
}

/// A connection that is given up with whoever reads from it.
struct Driven(tokio::task::AbortHandle);

impl Drop for Driven {
    fn drop(&mut self) {
        self.0.abort();
    }
}
