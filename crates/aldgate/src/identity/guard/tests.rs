use axum::routing::post;
use futures::stream;
use tower::ServiceExt as _;

use super::*;

async fn status(request: http::Request<Body>) -> u16 {
    let router = Router::new().route("/oauth/token", post(|body: String| async move { body }));
    let guarded = guarded_within(router, &Doors::default(), &Proxies::default(), Duration::from_millis(50));
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

/// So many requests that are never answered, each from the source that is next, until one finds no place. Returns how many did.
async fn held(sources: &[&str], most: usize) -> usize {
    let router = Router::new().route("/oauth/token", post(|| async { std::future::pending::<()>().await }));
    let trusted = Proxies::of(&["127.0.0.1".to_owned()]).unwrap();
    let guarded = guarded(router, &Doors::default(), &trusted);
    let mut waiting = Vec::new();
    for source in sources.iter().cycle().take(most) {
        let peer = ConnectInfo(SocketAddr::from(([127, 0, 0, 1], 1)));
        let request = to("localhost").header("x-forwarded-for", *source).extension(peer);
        let mut sent = Box::pin(guarded.clone().oneshot(request.body(Body::empty()).unwrap()));
        // What is not answered by now never is: nothing in it waits for anything else.
        match futures::poll!(&mut sent) {
            std::task::Poll::Pending => waiting.push(sent),
            std::task::Poll::Ready(answer) => {
                assert_eq!(answer.unwrap().status(), StatusCode::SERVICE_UNAVAILABLE);
                return waiting.len();
            }
        }
    }
    waiting.len()
}

#[tokio::test]
async fn so_many_are_worked_on_at_once() {
    let many = ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4", "192.0.2.5"];
    assert_eq!(held(&many, 100).await, AT_ONCE);
}

#[tokio::test]
async fn one_source_does_not_take_all_places() {
    assert_eq!(held(&["192.0.2.1"], 100).await, OF_ONE);
    // One subscriber has a whole network.
    assert_eq!(held(&["2001:db8::1", "2001:db8::2"], 100).await, OF_ONE);
}

#[test]
fn a_place_that_is_given_back_is_free() {
    let (places, one, other) = (Places::new(3, 2), source("192.0.2.1"), source("192.0.2.2"));
    let first = places.take(one).unwrap();
    let second = places.take(one).unwrap();
    assert!(places.take(one).is_none());
    let third = places.take(other).unwrap();
    assert!(places.take(other).is_none(), "all are taken");
    drop(first);
    assert!(places.take(one).is_some());
    drop((second, third));
    assert!(places.take(other).is_some());
}

fn source(text: &str) -> Source {
    Source(text.parse().unwrap())
}
