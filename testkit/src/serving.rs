use std::net::SocketAddr;

use axum::body::Body;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::task::{JoinHandle, JoinSet};

use crate::upstream::Upstream;

/// An [`Upstream`] on a port. It ends when this is dropped.
#[derive(Debug)]
pub struct Serving {
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl Serving {
    pub(crate) async fn start(upstream: Upstream) -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        Ok(Self { address, task: tokio::spawn(accept(listener, upstream)) })
    }

    /// The URL of its endpoint.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Ends it: when this returns, no connection is open and none is taken.
    pub async fn stop(mut self) {
        self.task.abort();
        // Aborted above; that is how it ends.
        let _ = (&mut self.task).await;
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(listener: TcpListener, upstream: Upstream) {
    // Connections are aborted together with this task.
    let mut connections = JoinSet::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else { return };
        if stream.set_nodelay(true).is_err() {
            continue;
        }
        let upstream = upstream.clone();
        let answer = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
            let upstream = upstream.clone();
            async move { upstream.answer(request.map(Body::new)).await }
        });
        connections.spawn(async move {
            let serving =
                hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), answer);
            // A connection that is ended on purpose ends with an error.
            let _ = serving.await;
        });
        while connections.try_join_next().is_some() {}
    }
}
