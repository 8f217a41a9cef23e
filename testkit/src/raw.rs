use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::body::Body;
use http::Request;
use http_body_util::BodyExt as _;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

use crate::upstream::Upstream;

/// What a [`RawUpstream`] does on a connection. After the last step it closes it.
#[derive(Clone, Debug)]
pub enum Step {
    /// Sends these bytes.
    Send(Vec<u8>),
    /// Sends these bytes one at a time.
    Trickle(Vec<u8>),
    /// Sends these bytes again and again, until the peer does not take them any more.
    Flood(Vec<u8>),
    /// Sends these bytes again and again, one at a time.
    TrickleOn(Vec<u8>),
    /// Sends nothing, until the peer closes the connection.
    Wait,
}

/// Makes of a call's id and its argument `text` what is done with it.
type Script = Arc<dyn Fn(&str, &str) -> Vec<Step> + Send + Sync>;

/// An MCP server that lists its tools as it should and answers calls with bytes that no HTTP library would send. It ends
/// when this is dropped.
pub struct RawUpstream {
    address: SocketAddr,
    called: watch::Receiver<usize>,
    task: JoinHandle<()>,
}

impl fmt::Debug for RawUpstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawUpstream").field("address", &self.address).finish_non_exhaustive()
    }
}

impl RawUpstream {
    /// Serves on a free port of the loopback interface. What is no call is answered as `listing` answers it.
    ///
    /// # Errors
    /// Where the port cannot be had.
    pub async fn start(
        listing: Upstream,
        script: impl Fn(&str, &str) -> Vec<Step> + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let (counted, called) = watch::channel(0);
        let (script, counted): (Script, _) = (Arc::new(script), Arc::new(counted));
        let task = tokio::spawn(async move {
            // Connections are aborted together with this task.
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(serve(stream, listing.clone(), script.clone(), counted.clone()));
                while connections.try_join_next().is_some() {}
            }
        });
        Ok(Self { address, called, task })
    }

    /// The URL of its endpoint.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Returns once so many calls came in.
    pub async fn was_called(&self, times: usize) {
        // The sender lives as long as the task.
        let _ = self.called.clone().wait_for(|called| *called >= times).await;
    }
}

impl Drop for RawUpstream {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Serves one connection; whatever goes wrong on it ends it.
async fn serve(mut stream: TcpStream, listing: Upstream, script: Script, counted: Arc<watch::Sender<usize>>) {
    let _ = stream.set_nodelay(true);
    let mut read = Vec::new();
    while let Some(body) = request(&mut stream, &mut read).await {
        let message: Value = serde_json::from_slice(&body).unwrap_or_default();
        if message.get("method").and_then(Value::as_str) == Some("tools/call") {
            counted.send_modify(|count| *count += 1);
            let text = message.pointer("/params/arguments/text").and_then(Value::as_str).unwrap_or_default();
            let id = message.get("id").map(Value::to_string).unwrap_or_default();
            for step in script(&id, text) {
                if take(&mut stream, step).await.is_err() {
                    break;
                }
            }
            return;
        }
        let Ok(response) = listing.answer(Request::new(Body::from(body))).await else { return };
        let Ok(body) = response.into_body().collect().await else { return };
        let body = body.to_bytes();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        if stream.write_all(&[head.as_bytes(), &body].concat()).await.is_err() {
            return;
        }
    }
}

async fn take(stream: &mut TcpStream, step: Step) -> std::io::Result<()> {
    match step {
        Step::Send(bytes) => stream.write_all(&bytes).await,
        Step::Trickle(bytes) => trickle(stream, &bytes).await,
        Step::Flood(bytes) => loop {
            stream.write_all(&bytes).await?;
        },
        Step::TrickleOn(bytes) => loop {
            trickle(stream, &bytes).await?;
        },
        Step::Wait => {
            let mut rest = [0; 1024];
            while stream.read(&mut rest).await? > 0 {}
            Ok(())
        }
    }
}

async fn trickle(stream: &mut TcpStream, bytes: &[u8]) -> std::io::Result<()> {
    for byte in bytes {
        stream.write_all(&[*byte]).await?;
        tokio::task::yield_now().await;
    }
    Ok(())
}

/// Reads one request and gives its body; `None` at the end of the connection.
async fn request(stream: &mut TcpStream, read: &mut Vec<u8>) -> Option<Vec<u8>> {
    const BLANK: &[u8] = b"\r\n\r\n";
    let head = loop {
        match read.windows(BLANK.len()).position(|window| window == BLANK) {
            Some(at) => break at + BLANK.len(),
            None => more(stream, read).await?,
        }
    };
    let rest = read.split_off(head);
    let head = String::from_utf8_lossy(&std::mem::replace(read, rest)).to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
    let length = length.and_then(|length| length.trim().parse().ok()).unwrap_or(0);
    while read.len() < length {
        more(stream, read).await?;
    }
    let rest = read.split_off(length);
    Some(std::mem::replace(read, rest))
}

async fn more(stream: &mut TcpStream, read: &mut Vec<u8>) -> Option<()> {
    let taken = stream.read_buf(read).await.ok()?;
    (taken > 0).then_some(())
}
