//! The body of a request that is refused without it.

use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use http::header::{CONNECTION, EXPECT};
use http::{HeaderValue, Request};
use http_body_util::BodyExt as _;
use hyper::body::Body as _;

/// What is taken of it at most, in bytes.
const MOST: u64 = 64 << 10;
/// How long it is waited for.
const WITHIN: Duration = Duration::from_secs(1);

/// A body that nobody reads.
pub(crate) enum Unread {
    /// It is under way.
    Comes(Body),
    /// It comes once it is asked for, and is not (RFC 9110 §10.1.1).
    Waits,
}

impl Unread {
    /// That of this request.
    pub(crate) fn of(request: Request<Body>) -> Self {
        if request.headers().contains_key(EXPECT) { Self::Waits } else { Self::Comes(request.into_body()) }
    }

    /// Takes the body before the response leaves. Many clients send head and body apart; without this the connection would end
    /// between the two, and their next request on it would be lost. Where the body does not come soon, the response says that
    /// the connection ends (RFC 9112 §9.6).
    pub(crate) async fn past(self, mut response: Response) -> Response {
        let taken = match self {
            Self::Comes(body) => tokio::time::timeout(WITHIN, is_taken(body)).await.unwrap_or_default(),
            Self::Waits => false,
        };
        if !taken {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}

/// Whether the body came as a whole and is no longer than it may be. Nothing of it is kept.
async fn is_taken(mut body: Body) -> bool {
    if body.size_hint().lower() > MOST {
        return false;
    }
    let mut taken: u64 = 0;
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return false };
        let bytes = frame.data_ref().map_or(0, |data| data.len());
        taken = taken.saturating_add(u64::try_from(bytes).unwrap_or(u64::MAX));
        if taken > MOST {
            return false;
        }
    }
    true
}
