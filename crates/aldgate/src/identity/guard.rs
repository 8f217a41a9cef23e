//! What can be refused of a request to the authorization server before any of it is worked on.

mod places;
#[cfg(test)]
mod tests;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use aldgate_identity::people::Source;
use aldgate_wire::head::{self, Doors};
use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request, State};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use http::{StatusCode, header};

use super::proxies::Proxies;
use places::Places;

/// Bytes of a request's body.
const MOST: usize = 64 << 10;
/// How long a body may take to come.
const WITHIN: Duration = Duration::from_secs(10);
/// Requests that are worked on at once.
const AT_ONCE: usize = 64;
/// Those of one source.
const OF_ONE: usize = 16;

struct Guard {
    doors: Doors,
    proxies: Proxies,
    places: Places,
    within: Duration,
}

/// Holds the requests to these routes to a host that the gateway is known by, a body that is small and comes in time, and so
/// many at once, of one source and of all. They come from anybody: nobody has signed in yet. Each goes on with its [`Source`].
pub(super) fn guarded(router: Router, doors: &Doors, proxies: &Proxies) -> Router {
    // A form is sent from a page of this server, and a token is asked for by pages of others: no origin is refused here.
    guarded_within(router, doors, proxies, WITHIN)
}

fn guarded_within(router: Router, doors: &Doors, proxies: &Proxies, within: Duration) -> Router {
    let places = Places::new(AT_ONCE, OF_ONE);
    let guard = Guard { doors: doors.clone(), proxies: proxies.clone(), places, within };
    router.layer(middleware::from_fn_with_state(Arc::new(guard), hold))
}

async fn hold(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let mut headers = parts.headers.clone();
    headers.remove(header::ORIGIN);
    if let Err(fault) = head::doorway(&guard.doors, &headers, &parts.uri) {
        return (StatusCode::FORBIDDEN, format!("{fault}\n")).into_response();
    }
    let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|peer| peer.0.ip());
    let source = peer.map_or(Source::UNKNOWN, |peer| guard.proxies.source(peer, &parts.headers));
    parts.extensions.insert(source);
    let Some(_place) = guard.places.take(source) else {
        let busy = "the authorization server works on as many requests as it may; try again later\n";
        return (StatusCode::SERVICE_UNAVAILABLE, [(header::RETRY_AFTER, "2")], busy).into_response();
    };
    match tokio::time::timeout(guard.within, axum::body::to_bytes(body, MOST)).await {
        Ok(Ok(body)) => next.run(Request::from_parts(parts, Body::from(body))).await,
        Ok(Err(_)) => {
            let told = "the body was cut off, or has more than 64 KiB\n";
            (StatusCode::PAYLOAD_TOO_LARGE, told).into_response()
        }
        Err(_) => (StatusCode::REQUEST_TIMEOUT, "the body did not come in time\n").into_response(),
    }
}
