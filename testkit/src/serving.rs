use std::net::SocketAddr;
use std::sync::Arc;

use axum::body::Body;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{Notify, watch};
use tokio::task::{JoinHandle, JoinSet};

use crate::latch::Latch;
use crate::upstream::Upstream;

/// An [`Upstream`] on a port. It ends when this is dropped.
#[derive(Debug)]
pub struct Serving {
    address: SocketAddr,
    phase: watch::Sender<Phase>,
    refusing: Latch,
    ended: Latch,
    cut: Arc<Notify>,
    task: JoinHandle<()>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Open,
    Refusing,
    Ended,
}

impl Serving {
    pub(crate) async fn start(upstream: Upstream) -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let (phase, seen) = watch::channel(Phase::Open);
        let (refusing, ended, cut) = (Latch::new(), Latch::new(), Arc::new(Notify::new()));
        let task = tokio::spawn(run(listener, upstream, seen, refusing.clone(), ended.clone(), cut.clone()));
        Ok(Self { address, phase, refusing, ended, cut, task })
    }

    /// The URL of its endpoint.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Ends the connections that are open; new ones are taken.
    pub fn cut(&self) {
        self.cut.notify_one();
    }

    /// Refuses new connections from now on; those that are open stay.
    pub async fn refuse(&self) {
        self.phase.send_replace(Phase::Refusing);
        self.refusing.opened().await;
    }

    /// Ends all connections and refuses new ones. Nobody else gets the port until this is dropped.
    pub async fn end(&self) {
        self.phase.send_replace(Phase::Ended);
        self.ended.opened().await;
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn run(
    listener: TcpListener,
    upstream: Upstream,
    mut phase: watch::Receiver<Phase>,
    refusing: Latch,
    ended: Latch,
    cut: Arc<Notify>,
) {
    // Connections are aborted together with this task.
    let mut connections = JoinSet::new();
    let address = listener.local_addr();
    loop {
        tokio::select! {
            biased;
            _ = phase.wait_for(|phase| *phase >= Phase::Refusing) => break,
            () = cut.notified() => connections.abort_all(),
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => { connections.spawn(serve(stream, upstream.clone())); }
                Err(_) => break,
            },
        }
        while connections.try_join_next().is_some() {}
    }
    drop(listener);
    let _held = address.and_then(hold);
    refusing.open();
    let _ = phase.wait_for(|phase| *phase == Phase::Ended).await;
    connections.shutdown().await;
    ended.open();
    std::future::pending::<()>().await;
}

/// A socket on the port that does not listen: connections are refused.
fn hold(address: SocketAddr) -> std::io::Result<TcpSocket> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    Ok(socket)
}

async fn serve(stream: TcpStream, upstream: Upstream) {
    // A connection that is ended on purpose ends with an error, and one without TCP_NODELAY is only slower.
    let _ = stream.set_nodelay(true);
    let answer = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
        let upstream = upstream.clone();
        async move { upstream.answer(request.map(Body::new)).await }
    });
    let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), answer).await;
}
