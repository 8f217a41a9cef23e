//! A collector that does not take what it is sent.

use std::time::{Duration, Instant};

use aldgate_telemetry::{Destination, Settings, Telemetry};
use tokio::net::TcpListener;

use super::{TEXT, Watched, settings};
use crate::fake;
use crate::world::text;

async fn goes_on_with(endpoint: String) {
    let destination = Some(Destination { endpoint });
    let with = Settings { destination, ..settings(true) };
    let watched = Watched::start_with(fake::upstream(), with, |_| {}).await;
    let begun = Instant::now();
    for _ in 0..20 {
        assert_eq!(text(&watched.call("look", TEXT).await), "done");
    }
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert!(watched.spans().len() >= 60, "what is kept in memory is there all the same");
    let telemetry: Telemetry = watched.telemetry.clone();
    let begun = Instant::now();
    let ending = tokio::task::spawn_blocking(move || telemetry.shutdown(Duration::from_secs(1)));
    ending.await.unwrap();
    assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_go_on_and_the_end_comes_where_it_is_down() {
    goes_on_with("http://127.0.0.1:1".to_owned()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_go_on_and_the_end_comes_where_it_never_answers() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let taking = tokio::spawn(async move {
        let mut open = Vec::new();
        while let Ok((socket, _)) = listener.accept().await {
            open.push(socket);
        }
    });
    goes_on_with(endpoint).await;
    taking.abort();
}
