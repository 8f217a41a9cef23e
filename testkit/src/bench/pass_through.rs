use http::uri::{Authority, InvalidUriParts, Scheme};
use http::{Request, Response, Uri};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpListener;

/// The least that a proxy of hyper does: the bytes of a request go to the upstream, those of its response back. Connections
/// are kept on both sides, and nothing is read or changed.
#[derive(Clone, Debug)]
pub struct PassThrough {
    upstream: Authority,
    client: Client<HttpConnector, Incoming>,
}

/// Why a request was not passed on.
#[derive(Debug, thiserror::Error)]
enum ForwardFault {
    #[error("the request's target is not a path")]
    Target(#[from] InvalidUriParts),
    #[error("the upstream does not answer")]
    Upstream(#[from] hyper_util::client::legacy::Error),
}

impl PassThrough {
    /// To this host and port.
    #[must_use]
    pub fn new(upstream: Authority) -> Self {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        Self { upstream, client: Client::builder(TokioExecutor::new()).build(connector) }
    }

    /// Serves the connections that come in, for ever.
    ///
    /// # Errors
    /// Where a connection cannot be accepted.
    pub async fn serve(self, listener: TcpListener) -> std::io::Result<()> {
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            let this = self.clone();
            let service = service_fn(move |request| {
                let this = this.clone();
                async move { this.forward(request).await }
            });
            tokio::spawn(async move {
                // Where the upstream fails, the connection ends, and the load generator tells of it.
                let _ = hyper::server::conn::http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), service)
                    .await;
            });
        }
    }

    async fn forward(&self, mut request: Request<Incoming>) -> Result<Response<Incoming>, ForwardFault> {
        let mut parts = std::mem::take(request.uri_mut()).into_parts();
        (parts.scheme, parts.authority) = (Some(Scheme::HTTP), Some(self.upstream.clone()));
        *request.uri_mut() = Uri::from_parts(parts)?;
        Ok(self.client.request(request).await?)
    }
}
