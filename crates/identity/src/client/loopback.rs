//! Waits on this machine for the browser to come back (RFC 8252 §7.3).

#[cfg(test)]
mod tests;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use super::callback::{self, CallbackFault, Expected};
use super::secret::Secret;

/// A listener that only this machine reaches. Bound before the browser starts: nobody else can be at the redirect.
pub(super) struct Loopback {
    listener: TcpListener,
    port: u16,
}

type Answer = Result<Secret, CallbackFault>;

struct Waiting {
    expected: Expected,
    host: String,
    answer: Mutex<Option<oneshot::Sender<Answer>>>,
}

impl Loopback {
    /// Listens at this port, or at any free one where it is 0.
    pub(super) async fn bind(port: u16) -> std::io::Result<Self> {
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await?;
        let port = listener.local_addr()?.port();
        Ok(Self { listener, port })
    }

    pub(super) const fn port(&self) -> u16 {
        self.port
    }

    /// Waits for the answer with the right state; none where it does not come in time.
    pub(super) async fn answer(self, expected: Expected, wait: Duration) -> Option<Answer> {
        let (sender, mut receiver) = oneshot::channel();
        let host = format!("127.0.0.1:{}", self.port);
        let waiting = Arc::new(Waiting { expected, host, answer: Mutex::new(Some(sender)) });
        let router = Router::new()
            .route("/callback", get(called_back).head(|| async { page(StatusCode::NOT_FOUND, NOTHING) }))
            .fallback(|| async { page(StatusCode::NOT_FOUND, NOTHING) })
            .with_state(waiting);
        let (stop, stopped) = oneshot::channel::<()>();
        let serving = axum::serve(self.listener, router).with_graceful_shutdown(async move {
            let _ = stopped.await;
        });
        let serving = tokio::spawn(serving.into_future());
        let answer = tokio::time::timeout(wait, &mut receiver).await.ok().and_then(Result::ok);
        drop(stop);
        // The browser is still to be told; one that does not listen is not waited for.
        let abort = serving.abort_handle();
        let _ = tokio::time::timeout(Duration::from_secs(2), serving).await;
        abort.abort();
        answer
    }
}

async fn called_back(
    State(waiting): State<Arc<Waiting>>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Response {
    let host = headers.get(header::HOST).map(HeaderValue::as_bytes);
    // A page elsewhere whose name leads here has another host.
    let is_here = host == Some(waiting.host.as_bytes());
    let read = query.filter(|_| is_here).and_then(|query| callback::read(&query, &waiting.expected));
    let Some(answer) = read else {
        return page(StatusCode::BAD_REQUEST, NOT_ASKED);
    };
    let Some(sender) = waiting.answer.lock().unwrap_or_else(PoisonError::into_inner).take() else {
        return page(StatusCode::BAD_REQUEST, NOT_ASKED);
    };
    let told = match &answer {
        Ok(_) => page(StatusCode::OK, DONE),
        Err(_) => page(StatusCode::BAD_REQUEST, REFUSED),
    };
    let _ = sender.send(answer);
    told
}

const DONE: &str = "The sign-in was taken. You can close this page and go back to the terminal.";
const REFUSED: &str = "The sign-in came to nothing. The terminal says why.";
const NOT_ASKED: &str = "Nobody waits for this answer.";
const NOTHING: &str = "There is nothing here.";

/// A page that never holds anything of the request: no script, no frame, nothing from elsewhere.
fn page(status: StatusCode, text: &str) -> Response {
    let body = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Aldgate</title></head>\
         <body><main><p>{text}</p></main></body></html>"
    );
    let mut response = (status, body).into_response();
    for (name, value) in [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CACHE_CONTROL, "no-store"),
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
        ),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::CONNECTION, "close"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}
