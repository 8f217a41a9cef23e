use std::time::Duration;

use tokio::net::TcpListener;

use super::{Echo, Load, LoadFault, Measured, Method, PassThrough};

async fn through_a_proxy(method: Method) -> Result<Measured, LoadFault> {
    let echo = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let proxy = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let upstream = echo.local_addr().unwrap().to_string().parse().unwrap();
    let url = format!("http://{}/mcp", proxy.local_addr().unwrap()).parse().unwrap();
    tokio::spawn(Echo::new(3, 10, 0).serve(echo));
    tokio::spawn(PassThrough::new(upstream).serve(proxy));
    let lasts = Duration::from_secs(60);
    Load { url, token: None, method, connections: 2, warm: 1, lasts, most: 20 }.run().await
}

#[tokio::test]
async fn a_load_ends_after_its_requests() {
    let measured = through_a_proxy(Method::Call("lookup_00002".to_owned(), 5)).await.unwrap();
    assert!((18..=22).contains(&measured.requests), "{measured:?}");
    assert_eq!(measured.sent, measured.requests + 2);
    through_a_proxy(Method::List(3)).await.unwrap();
}

#[tokio::test]
async fn an_answer_that_is_not_the_right_one_ends_a_load() {
    let fault = through_a_proxy(Method::List(4)).await.unwrap_err();
    assert!(matches!(fault, LoadFault::Wrong { id: 0, status: 200, .. }), "{fault}");
}
