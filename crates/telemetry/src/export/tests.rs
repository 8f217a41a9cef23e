use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use super::{BATCH, QUEUE};
use crate::{Describe, Destination, Ended, Kind, Settings, Telemetry};

const NAME: &str = "span-of-this-test";

/// A collector that answers nothing before its door opens, and counts what it takes from then on.
struct Collector {
    endpoint: String,
    door: Arc<(Mutex<bool>, Condvar)>,
    spans: Arc<AtomicUsize>,
}

impl Collector {
    fn start() -> Self {
        Self::answering("200 OK\r\ncontent-type: application/x-protobuf")
    }

    /// One that answers with this status and header.
    fn answering(head: &str) -> Self {
        let answer = format!("HTTP/1.1 {head}\r\ncontent-length: 0\r\n\r\n");
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let collector = Self { endpoint, door: Arc::default(), spans: Arc::default() };
        let (door, spans) = (collector.door.clone(), collector.spans.clone());
        std::thread::spawn(move || {
            for socket in listener.incoming().map_while(Result::ok) {
                let (door, spans, answer) = (door.clone(), spans.clone(), answer.clone());
                std::thread::spawn(move || while take(&socket, &door, &spans, &answer).is_some() {});
            }
        });
        collector
    }

    fn open(&self) {
        *self.door.0.lock().unwrap() = true;
        self.door.1.notify_all();
    }
}

fn take(
    mut socket: &TcpStream,
    door: &(Mutex<bool>, Condvar),
    spans: &AtomicUsize,
    answer: &str,
) -> Option<()> {
    let mut reader = BufReader::new(socket);
    let (mut line, mut length) = (String::new(), 0);
    while reader.read_line(&mut line).ok().filter(|read| *read > 2).is_some() {
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        line.clear();
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok().filter(|()| length > 0)?;
    let shut = door.1.wait_while(door.0.lock().ok()?, |open| !*open).ok()?;
    drop(shut);
    spans.fetch_add(
        body.windows(NAME.len()).filter(|part| *part == NAME.as_bytes()).count(),
        Ordering::SeqCst,
    );
    socket.write_all(answer.as_bytes()).ok()
}

fn telemetry(collector: &Collector) -> Telemetry {
    let destination = Some(Destination { endpoint: collector.endpoint.clone() });
    Telemetry::start(Settings { service: "test", destination, sample_ratio: 1.0, content: false, ring: None })
        .unwrap()
}

#[test]
fn all_that_waits_is_sent_at_the_end() {
    let collector = Collector::start();
    collector.open();
    let telemetry = telemetry(&collector);
    for _ in 0..700 {
        telemetry.span(Describe::new(NAME, Kind::Internal)).end(&Ended::Well);
    }
    telemetry.shutdown(Duration::from_secs(20));
    assert_eq!(collector.spans.load(Ordering::SeqCst), 700);
}

#[test]
fn what_a_stalled_collector_does_not_take_is_dropped_and_nobody_waits() {
    let collector = Collector::start();
    let telemetry = telemetry(&collector);
    let begun = Instant::now();
    for _ in 0..20_000 {
        telemetry.span(Describe::new(NAME, Kind::Internal)).end(&Ended::Well);
    }
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    collector.open();
    telemetry.shutdown(Duration::from_secs(20));
    let taken = collector.spans.load(Ordering::SeqCst);
    assert!((BATCH..=QUEUE + 2 * BATCH).contains(&taken), "{taken}");
}

#[test]
fn no_redirect_is_followed() {
    let elsewhere = Collector::start();
    elsewhere.open();
    let collector = Collector::answering(&format!(
        "307 Temporary Redirect\r\nlocation: {}/v1/traces",
        elsewhere.endpoint
    ));
    collector.open();
    let telemetry = telemetry(&collector);
    telemetry.span(Describe::new(NAME, Kind::Internal)).end(&Ended::Well);
    telemetry.shutdown(Duration::from_secs(20));
    assert!(collector.spans.load(Ordering::SeqCst) > 0);
    assert_eq!(elsewhere.spans.load(Ordering::SeqCst), 0);
}
