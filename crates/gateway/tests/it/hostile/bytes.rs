//! Upstreams that stop at any byte, never stop, or take all the time there is.

use aldgate_testkit::{RawUpstream, Step};
use futures::future::join_all;

use super::{GOOD, HANG, MANY_CONNECTIONS, answer, beside, in_the_end, look, meanwhile};
use crate::world::{Config, World, code, text};

/// Calls that hang at once. Each takes four descriptors.
const AT_ONCE: usize = 120;
const LIMIT: usize = 100_000;

/// The answer with white space after it, so that it has the same length for every id.
fn padded(id: &str) -> String {
    format!("{:106}", answer(id))
}

fn json(id: &str) -> String {
    let body = padded(id);
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

fn stream(id: &str) -> String {
    let event = format!(":\nevent: message\ndata: {}\n\n", padded(id));
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    format!("{head}{:x}\r\n{event}\r\n0\r\n\r\n", event.len())
}

/// With little time and room for one answer.
fn impatient(config: &mut Config) {
    config.settings.bounds.response_bytes = LIMIT;
    config.settings.bounds.call_timeout = HANG;
}

/// Sends each beginning of an answer and then nothing; the answer is complete from `complete` bytes on.
async fn stops_at_every_byte(whole: fn(&str) -> String, complete: usize) {
    let script = move |id: &str, text: &str| {
        let bytes = whole(id).into_bytes();
        let sent: usize = text.parse().unwrap();
        // A whole answer would leave a connection that is used again, and on which nobody listens.
        let rest = if sent < bytes.len() { Some(Step::Wait) } else { None };
        [Step::Send(bytes[..sent].to_vec())].into_iter().chain(rest).collect()
    };
    let _many = MANY_CONNECTIONS.lock().await;
    let (world, bad) = beside(script, impatient).await;
    let places: Vec<usize> = (0..=whole("1").len()).collect();
    for (round, places) in places.chunks(AT_ONCE).enumerate() {
        let attacks = join_all(places.iter().map(|place| {
            let (world, tool) = (&world, ["bad_look", "bad_note"][place % 2]);
            async move { (*place, tool, world.call(tool, &format!(r#"{{"text":"{place}"}}"#)).await) }
        }));
        let served = async {
            bad.was_called(round * AT_ONCE + places.len()).await;
            look(&world).await
        };
        let (attacks, served) = in_the_end(futures::future::join(attacks, served)).await;
        assert_eq!(text(&served), GOOD, "others are not served: {}", served.text());
        for (place, tool, reply) in attacks {
            let expected = match tool {
                _ if place >= complete => "-",
                "bad_look" => "AG-UPSTREAM-TIMEOUT",
                _ => "AG-OUTCOME-UNKNOWN",
            };
            assert_eq!(code(&reply), expected, "after {place} bytes: {}", reply.text());
        }
    }
}

#[tokio::test]
async fn an_answer_that_stops_at_any_byte_stops_no_other() {
    stops_at_every_byte(json, json("1").len()).await;
}

#[tokio::test]
async fn a_stream_that_stops_at_any_byte_stops_no_other() {
    // The blank line that ends the event is what the answer needs; the end of the stream is not.
    let whole = stream("1");
    stops_at_every_byte(stream, whole.find("\n\n\r\n").unwrap() + 2).await;
}

/// What is sent once, and what is sent without an end.
fn floods() -> Vec<(&'static str, String, String)> {
    const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
    const CHUNKS: &str =
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";
    const EVENTS: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
    let notification =
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#;
    let flood = |what, once: String, again: &str| (what, once, again.to_owned());
    vec![
        flood("a status line", String::new(), "HTTP/1.1 "),
        flood("headers", HEAD.to_owned(), "x-more: and more\r\n"),
        flood("a header", format!("{HEAD}x-more: "), "and more "),
        flood("early hints", String::new(), "HTTP/1.1 103 Early Hints\r\nlink: </>\r\n\r\n"),
        flood("a body", format!("{HEAD}content-length: 1000000000000\r\n\r\n"), "[[[["),
        flood("white space", format!("{HEAD}\r\n{{"), " \n\t\r"),
        flood("a string", format!("{HEAD}\r\n{{\"a\":\""), "aaaa"),
        flood("chunks", CHUNKS.to_owned(), "4\r\n    \r\n"),
        flood("an extension of a chunk", format!("{CHUNKS}4;a="), "more"),
        flood("trailers", format!("{CHUNKS}0\r\n"), "x-more: and more\r\n"),
        flood("empty lines", EVENTS.to_owned(), "\n"),
        flood("comments", EVENTS.to_owned(), ": still here\n\n"),
        flood("a line", format!("{EVENTS}data: "), "more and more"),
        flood("an event", EVENTS.to_owned(), "data: {\n"),
        flood("other events", EVENTS.to_owned(), "event: ping\ndata: 1\n\n"),
        flood("empty events", EVENTS.to_owned(), "data\n\n"),
        flood("notifications", EVENTS.to_owned(), &format!("data: {notification}\n\n")),
        flood("white space in events", EVENTS.to_owned(), "data:  \n\n"),
    ]
}

/// Runs all of these at once; each ends with one of the codes.
async fn all_at_once(
    step: fn(Vec<u8>) -> Step,
    cases: Vec<(&'static str, String, String)>,
    change: fn(&mut Config),
    codes: &[&str],
) -> (World, RawUpstream) {
    let scripts = cases.clone();
    let script = move |_: &str, text: &str| {
        let (_, once, again) = &scripts[text.parse::<usize>().unwrap()];
        vec![Step::Send(once.clone().into_bytes()), step(again.repeat(64).into_bytes())]
    };
    let (world, bad) = beside(script, change).await;
    let attacks = join_all((0..cases.len()).map(|number| {
        let world = &world;
        async move { world.call("bad_look", &format!(r#"{{"text":"{number}"}}"#)).await }
    }));
    let served = async {
        bad.was_called(cases.len()).await;
        look(&world).await
    };
    let (attacks, served) = in_the_end(futures::future::join(attacks, served)).await;
    assert_eq!(text(&served), GOOD, "others are not served: {}", served.text());
    for ((what, _, _), reply) in cases.iter().zip(attacks) {
        assert!(codes.contains(&code(&reply).as_str()), "{what}: {}", reply.text());
    }
    (world, bad)
}

#[tokio::test]
async fn answers_without_an_end_are_given_up() {
    let codes = ["AG-UPSTREAM-ANSWER", "AG-UPSTREAM-TIMEOUT"];
    let (world, _bad) = all_at_once(Step::Flood, floods(), impatient, &codes).await;
    assert_eq!(world.look("/v1/status").await["counted"]["panics"], 0);
}

/// The time of a call counts from its beginning, not from the last byte.
#[tokio::test]
async fn answers_that_come_byte_by_byte_have_no_more_time() {
    let codes = ["AG-UPSTREAM-ANSWER", "AG-UPSTREAM-TIMEOUT"];
    all_at_once(Step::TrickleOn, floods(), |config| config.settings.bounds.call_timeout = HANG, &codes).await;
}

#[tokio::test]
async fn an_answer_that_comes_byte_by_byte_is_an_answer() {
    let script = |id: &str, text: &str| {
        let whole = if text == "json" { json(id) } else { stream(id) };
        vec![Step::Trickle(whole.into_bytes())]
    };
    let (world, _bad) = beside(script, |_| {}).await;
    for kind in [r#"{"text":"json"}"#, r#"{"text":"stream"}"#] {
        let reply = meanwhile(&world, world.call("bad_look", kind)).await;
        assert_eq!(text(&reply), GOOD, "{}", reply.text());
    }
}
