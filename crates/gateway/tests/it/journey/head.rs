use aldgate_testkit::Call;
use bytes::Bytes;
use http::Request;

use crate::world::{World, code};

fn look() -> Call {
    Call::tool("look", r#"{"text":"t"}"#)
}

/// Every one of these is refused before its body is read, is not in the evidence and does not reach the upstream.
async fn check(world: &World, cases: &[(&str, Call, u16, &str)]) {
    for (what, call, status, ag) in cases {
        let reply = world.send(call).await;
        assert_eq!((reply.status, code(&reply).as_str()), (*status, *ag), "{what}: {}", reply.text());
    }
    assert_eq!(world.up.calls("look").len(), 0);
    assert_eq!(world.story().await, Vec::<String>::new());
}

#[tokio::test]
async fn only_post_is_served() {
    let world = World::plain().await;
    for method in ["GET", "DELETE", "PUT", "OPTIONS"] {
        let request = Request::builder().method(method).uri("/mcp").header("host", "localhost");
        let request = request.header("authorization", format!("Bearer {}", crate::world::token("agent")));
        let reply = world.client("agent").exchange(request.body(Bytes::new()).unwrap()).await.unwrap();
        assert_eq!((reply.status, reply.header("allow")), (405, "POST"), "{method}");
    }
}

#[tokio::test]
async fn media_types_and_encodings_are_checked() {
    let world = World::plain().await;
    let typed = |value: &str| look().without("content-type").header("content-type", value);
    let accepting = |value: &str| look().without("accept").header("accept", value);
    check(
        &world,
        &[
            ("another type", typed("text/plain"), 415, "AG-HEAD-CONTENT-TYPE"),
            ("no type", look().without("content-type"), 415, "AG-HEAD-CONTENT-TYPE"),
            ("compressed", look().header("content-encoding", "gzip"), 415, "AG-HEAD-ENCODING"),
            ("said to be plain", look().header("content-encoding", "identity"), 415, "AG-HEAD-ENCODING"),
            ("one type of answer", accepting("application/json"), 406, "AG-HEAD-ACCEPT"),
            ("the other", accepting("text/event-stream"), 406, "AG-HEAD-ACCEPT"),
            ("none", look().without("accept"), 406, "AG-HEAD-ACCEPT"),
        ],
    )
    .await;
    let both = look()
        .without("accept")
        .header("accept", "text/event-stream;q=0.5")
        .header("accept", "application/json; charset=utf-8");
    assert_eq!(world.send(&both).await.status, 200, "in two headers and with parameters");
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused_announced_or_not() {
    let world = World::start(|config| config.settings.bounds.body_bytes = 2000).await;
    let large = Call::tool("look", &format!(r#"{{"text":"{}"}}"#, "x".repeat(3000)));
    let chunked = large.clone().without("content-length").header("transfer-encoding", "chunked");
    let announced = world.send(&large).await;
    assert_eq!((announced.status, code(&announced).as_str()), (413, "AG-HEAD-SIZE"));
    let streamed = world.send(&chunked).await;
    assert_eq!((streamed.status, code(&streamed).as_str()), (413, "AG-HEAD-SIZE"));
    assert_eq!(world.up.calls("look").len(), 0);
    // Who streams is known when the limit is met, so that this one leaves a row.
    assert_eq!(world.story().await, ["refusal - - AG-HEAD-SIZE"]);
}

#[tokio::test]
async fn hosts_and_origins_must_be_let_in() {
    let world = World::start(|config| {
        config.settings.doors.hosts = vec!["gate.example".to_owned()];
        config.settings.doors.origins = vec!["https://console.example".to_owned()];
    })
    .await;
    let host = |value: &str| look().without("host").header("host", value);
    let origin = |value: &str| look().header("origin", value);
    check(
        &world,
        &[
            ("a rebound name", host("evil.example"), 403, "AG-HEAD-HOST"),
            ("a name that ends like one", host("evil-gate.example"), 403, "AG-HEAD-HOST"),
            ("no host", look().without("host"), 403, "AG-HEAD-HOST"),
            ("two hosts", look().header("host", "evil.example"), 403, "AG-HEAD-HOST"),
            ("a foreign page", origin("https://evil.example"), 403, "AG-HEAD-ORIGIN"),
            ("a sandboxed page", origin("null"), 403, "AG-HEAD-ORIGIN"),
            ("another scheme", origin("http://console.example"), 403, "AG-HEAD-ORIGIN"),
            (
                "two origins",
                origin("https://console.example").header("origin", "https://evil.example"),
                403,
                "AG-HEAD-ORIGIN",
            ),
        ],
    )
    .await;
    for known in ["localhost:1", "127.0.0.1", "[::1]:8080", "gate.example:443"] {
        assert_eq!(world.send(&host(known)).await.status, 200, "{known}");
    }
    assert_eq!(world.send(&origin("https://console.example")).await.status, 200);
    let admin = world.admin("approver");
    let request = Request::get("/v1/status").header("host", "evil.example").body(Bytes::new()).unwrap();
    assert_eq!(admin.exchange(request).await.unwrap().status, 403, "the admin API has the same door");
}

#[tokio::test]
async fn headers_that_steer_stand_once() {
    let world = World::plain().await;
    let twice = |name: &str, value: &str| look().header(name, value);
    check(
        &world,
        &[
            ("authorization", twice("authorization", "Bearer x"), 400, "AG-HEAD-REPEATED"),
            ("mcp-method", twice("mcp-method", "tools/call"), 400, "AG-HEAD-REPEATED"),
            ("mcp-name", twice("mcp-name", "look"), 400, "AG-HEAD-REPEATED"),
            ("mcp-protocol-version", twice("mcp-protocol-version", "2026-07-28"), 400, "AG-HEAD-REPEATED"),
            ("content-type", twice("content-type", "application/json"), 400, "AG-HEAD-REPEATED"),
            (
                "mcp-param",
                twice("mcp-param-zone", "a").header("mcp-param-zone", "b"),
                400,
                "AG-HEAD-REPEATED",
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn who_is_not_known_is_counted_and_not_recorded() {
    let world = World::plain().await;
    let with = |value: &str| look().header("authorization", value);
    let unknown = r#"Bearer error="invalid_token", error_description="the token is not known here""#;
    for (call, what, challenge) in [
        (look(), "nothing", "Bearer"),
        (with("Bearer wrong"), "an unknown token", unknown),
        (with("Basic YTpi"), "another scheme", "Bearer"),
        (with("Bearer"), "no token", "Bearer"),
        (with("Bearer secret-token-of-agent more"), "two tokens", "Bearer"),
    ] {
        let reply = world.nobody().send(&call).await.unwrap();
        let told = (reply.status, code(&reply), reply.header("www-authenticate").to_owned());
        assert_eq!(told, (401, "AG-IDENTITY".to_owned(), challenge.to_owned()), "{what}");
    }
    assert_eq!(world.look("/v1/status").await["counted"]["unauthenticated"], 5);
    assert_eq!(world.story().await, Vec::<String>::new());
    assert_eq!(world.up.calls("look").len(), 0);
}
