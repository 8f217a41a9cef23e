//! What can be refused of a request to the authorization server before any of it is worked on.

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use aldgate_wire::head::{self, Doors};
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use http::{StatusCode, header};
use tokio::sync::Semaphore;

/// Bytes of a request's body.
const MOST: usize = 64 << 10;
/// How long a body may take to come.
const WITHIN: Duration = Duration::from_secs(10);
/// Requests that are worked on at once.
const AT_ONCE: usize = 64;

struct Guard {
    doors: Doors,
    places: Semaphore,
    within: Duration,
}

/// Holds the requests to these routes to a host that the gateway is known by, a body that is small and comes in time, and so
/// many at once. They come from anybody: nobody has signed in yet.
pub(super) fn guarded(router: Router, doors: &Doors) -> Router {
    // A form is sent from a page of this server, and a token is asked for by pages of others: no origin is refused here.
    guarded_within(router, doors, WITHIN)
}

fn guarded_within(router: Router, doors: &Doors, within: Duration) -> Router {
    let guard = Guard { doors: doors.clone(), places: Semaphore::new(AT_ONCE), within };
    router.layer(middleware::from_fn_with_state(Arc::new(guard), hold))
}

async fn hold(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let mut headers = parts.headers.clone();
    headers.remove(header::ORIGIN);
    if let Err(fault) = head::doorway(&guard.doors, &headers, &parts.uri) {
        return (StatusCode::FORBIDDEN, format!("{fault}\n")).into_response();
    }
    let Ok(_place) = guard.places.try_acquire() else {
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
