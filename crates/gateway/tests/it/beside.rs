//! A server beside the gateway on the agents' listener.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use aldgate_gateway::{Beside, Gateway};
use axum::Router;
use axum::body::Body;
use axum::routing::get;
use http::Request;
use tower::ServiceExt as _;

use crate::world::{World, parts};

#[tokio::test]
async fn its_paths_are_served_and_a_panic_in_it_is_answered_and_counted() {
    let world = World::plain().await;
    let folder = tempfile::tempdir().unwrap();
    let (gateway, _) = Gateway::start(parts(world.config(), folder.path()).await).await.unwrap();
    let router = Router::new()
        .route("/evidence/mcp", get(|| async { "here" }))
        .route("/broken", get(async || -> &'static str { panic!("a test") }));
    gateway.beside(Beside { router, reloaded: Box::new(|| {}) });
    let status = async |path: &str| {
        let request = Request::get(path).body(Body::empty()).unwrap();
        gateway.router().oneshot(request).await.unwrap().status().as_u16()
    };
    assert_eq!((status("/evidence/mcp").await, status("/nothing").await), (200, 404));
    assert_eq!(status("/broken").await, 500);
    let admin = Request::get("/v1/status")
        .header("host", "127.0.0.1")
        .header("authorization", format!("Bearer {}", crate::world::token("approver")))
        .body(Body::empty())
        .unwrap();
    let told = gateway.admin_router().oneshot(admin).await.unwrap().into_body();
    let told = axum::body::to_bytes(told, 1 << 20).await.unwrap();
    let told: serde_json::Value = serde_json::from_slice(&told).unwrap();
    assert_eq!(told["counted"]["panics"], 1, "{told}");
}

#[tokio::test]
async fn it_is_told_of_a_reload_that_was_made_and_of_no_other() {
    let world = World::plain().await;
    let told = Arc::new(AtomicUsize::new(0));
    let seen = told.clone();
    let folder = tempfile::tempdir().unwrap();
    let (gateway, _) = Gateway::start(parts(world.config(), folder.path()).await).await.unwrap();
    let reloaded = move || {
        seen.fetch_add(1, Ordering::Relaxed);
    };
    gateway.beside(Beside { router: Router::new(), reloaded: Box::new(reloaded) });
    let next = world.next_for(&gateway);
    assert!(gateway.reloader().reload().await.is_err());
    assert_eq!(told.load(Ordering::Relaxed), 0);
    next();
    gateway.reloader().reload().await.unwrap();
    assert_eq!(told.load(Ordering::Relaxed), 1);
}
