use axum::routing::post;
use futures::stream;
use tower::ServiceExt as _;

use super::*;

async fn status(request: http::Request<Body>) -> u16 {
    let router = Router::new().route("/oauth/token", post(|body: String| async move { body }));
    let guarded = guarded_within(router, &Doors::default(), Duration::from_millis(50));
    guarded.oneshot(request).await.unwrap().status().as_u16()
}

fn to(host: &str) -> http::request::Builder {
    http::Request::post("/oauth/token").header("host", host)
}

#[tokio::test]
async fn a_request_has_a_known_host_and_a_small_body_that_comes() {
    assert_eq!(status(to("127.0.0.1:1").body(Body::from("a=b")).unwrap()).await, 200);
    let of_a_page = to("127.0.0.1:1").header("origin", "https://elsewhere.example");
    assert_eq!(status(of_a_page.body(Body::from("a=b")).unwrap()).await, 200);
    assert_eq!(status(to("evil.example").body(Body::from("a=b")).unwrap()).await, 403);
    assert_eq!(status(to("127.0.0.1:1").body(Body::from(vec![b'a'; MOST + 1])).unwrap()).await, 413);
    let never = Body::from_stream(stream::pending::<Result<bytes::Bytes, std::io::Error>>());
    assert_eq!(status(to("127.0.0.1:1").body(never).unwrap()).await, 408);
}

#[tokio::test]
async fn so_many_are_worked_on_at_once() {
    let router = Router::new().route("/oauth/token", post(|| async { std::future::pending::<()>().await }));
    let guarded = guarded(router, &Doors::default());
    let send = || guarded.clone().oneshot(to("localhost").body(Body::empty()).unwrap());
    let mut held = tokio::task::JoinSet::new();
    for _ in 0..=AT_ONCE {
        held.spawn(send());
    }
    // All others wait for ever: the first that is answered found no place.
    let answered = tokio::time::timeout(Duration::from_secs(60), held.join_next()).await.expect("an answer");
    assert_eq!(answered.unwrap().unwrap().unwrap().status(), StatusCode::SERVICE_UNAVAILABLE);
}
