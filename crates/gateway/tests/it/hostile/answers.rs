//! Upstreams that lie about what they send, or send what is no answer.

use aldgate_testkit::Step;

use super::{GOOD, ID, answer, beside, meanwhile};
use crate::fake;
use crate::world::{code, text};

const LIMIT: usize = 100_000;
const ANSWER: &str = "AG-UPSTREAM-ANSWER";
/// The answer is taken for what it is.
const TAKEN: &str = "-";

/// One answer as bytes: `%LEN%` in the head becomes the length of the body, U+FFFD in the body a byte that no text has.
struct Case {
    what: &'static str,
    head: String,
    body: String,
    code: &'static str,
}

impl Case {
    fn steps(&self, id: &str) -> Vec<Step> {
        let body = self.body.replace(ID, id).into_bytes();
        let mut filled = Vec::new();
        for byte in split(&body, "\u{fffd}".as_bytes()) {
            filled.extend_from_slice(&byte);
        }
        let head = self.head.replace("%LEN%", &filled.len().to_string());
        vec![Step::Send([head.as_bytes(), &filled].concat())]
    }
}

/// The pieces between the marks, with the byte 0xFF after each but the last.
fn split(text: &[u8], mark: &[u8]) -> Vec<Vec<u8>> {
    let mut pieces = vec![Vec::new()];
    let mut at = 0;
    while at < text.len() {
        if text[at..].starts_with(mark) {
            pieces.last_mut().unwrap().push(0xFF);
            pieces.push(Vec::new());
            at += mark.len();
        } else {
            pieces.last_mut().unwrap().push(text[at]);
            at += 1;
        }
    }
    pieces
}

fn case(what: &'static str, head: &str, body: &str, code: &'static str) -> Case {
    Case { what, head: head.to_owned(), body: body.to_owned(), code }
}

/// With a status line and these headers.
fn http(what: &'static str, headers: &str, body: &str, code: &'static str) -> Case {
    let headers: String = headers.split('|').map(|header| format!("{header}\r\n")).collect();
    case(what, &format!("HTTP/1.1 200 OK\r\n{headers}\r\n"), body, code)
}

/// JSON of the length that is announced.
fn json(what: &'static str, body: &str, code: &'static str) -> Case {
    http(what, "content-type: application/json|content-length: %LEN%", body, code)
}

/// A stream of these messages.
fn stream(what: &'static str, messages: &[&str], code: &'static str) -> Case {
    let body: String = messages.iter().map(|message| format!("data: {message}\n\n")).collect();
    http(what, "content-type: text/event-stream|content-length: %LEN%", &body, code)
}

/// Heads that do not tell what follows.
fn lies() -> Vec<Case> {
    let good = &answer(ID);
    let event = &format!("data: {good}\n\n");
    let chunk = format!("{:x}\r\n{}\r\n0\r\n\r\n", answer("1").len(), answer("1"));
    let json_and = |headers: &str| format!("content-type: application/json|{headers}");
    let status =
        |line: &str| format!("{line}\r\ncontent-type: application/json\r\ncontent-length: %LEN%\r\n\r\n");
    vec![
        http("a page", "content-type: text/html|content-length: %LEN%", good, ANSWER),
        http("no type", "content-length: %LEN%", good, ANSWER),
        http("a type of bytes", "content-type: \u{1f600}|content-length: %LEN%", good, ANSWER),
        http("a stream that is none", "content-type: text/event-stream|content-length: %LEN%", good, ANSWER),
        json("an event that is called JSON", event, ANSWER),
        http("a length that is too short", &json_and("content-length: 20"), good, ANSWER),
        http("a length that is too long", &json_and("content-length: 9000"), good, ANSWER),
        http("a length of zero", &json_and("content-length: 0"), good, ANSWER),
        http("a negative length", &json_and("content-length: -1"), good, ANSWER),
        http("no number", &json_and("content-length: many"), good, ANSWER),
        http("a length beyond 64 bits", &json_and("content-length: 18446744073709551616"), good, ANSWER),
        http("the longest length", &json_and("content-length: 18446744073709551613"), good, ANSWER),
        http("two lengths", &json_and("content-length: %LEN%|content-length: 20"), good, ANSWER),
        http("chunks that are none", &json_and("transfer-encoding: chunked"), good, ANSWER),
        http(
            "a chunk beyond 64 bits",
            &json_and("transfer-encoding: chunked"),
            "fffffffffffffffff\r\n{}",
            ANSWER,
        ),
        http(
            "chunks that break off",
            &json_and("transfer-encoding: chunked"),
            chunk.trim_end_matches("0\r\n\r\n"),
            ANSWER,
        ),
        http("folded", &json_and("x-folded: a\r\n b|content-length: %LEN%"), good, ANSWER),
        http("NUL", &json_and("x-nul: a\0b|content-length: %LEN%"), good, ANSWER),
        http("a space before the colon", &json_and("content-length : %LEN%"), good, ANSWER),
        case("no head", "", good, ANSWER),
        case("another protocol", "SSH-2.0-OpenSSH_9.2\r\n", "", ANSWER),
        case("a request", "POST /mcp HTTP/1.1\r\nhost: localhost\r\n\r\n", "", ANSWER),
        case("another version", &status("HTTP/3.0 200 OK"), good, ANSWER),
        case("no status", &status("HTTP/1.1 OK"), good, ANSWER),
        case("a status of four digits", &status("HTTP/1.1 2000 OK"), good, ANSWER),
        case(
            "another protocol from here on",
            "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: mcp\r\n\r\n",
            good,
            ANSWER,
        ),
        case("nothing, with something in it", &status("HTTP/1.1 204 No Content"), good, ANSWER),
        case("an error with a good answer", &status("HTTP/1.1 500 Oh"), good, TAKEN),
        case(
            "HTTP/1.0 without a length",
            "HTTP/1.0 200 OK\r\ncontent-type: application/json\r\n\r\n",
            good,
            TAKEN,
        ),
    ]
}

/// What a client would follow or unpack.
fn detours(elsewhere: &str) -> Vec<Case> {
    let good = &answer(ID);
    let mut all = Vec::new();
    for status in ["300", "301", "302", "303", "305", "307", "308"] {
        let head = format!(
            "HTTP/1.1 {status} There\r\nlocation: {elsewhere}\r\ncontent-type: application/json\r\ncontent-length: %LEN%\r\n\r\n"
        );
        all.push(case("a redirect", &head, good, ANSWER));
    }
    for coding in ["gzip", "br", "deflate", "zstd", "identity", ""] {
        let headers =
            format!("content-type: application/json|content-encoding: {coding}|content-length: %LEN%");
        all.push(http("compressed", &headers, good, ANSWER));
        let headers =
            format!("content-type: text/event-stream|content-encoding: {coding}|content-length: %LEN%");
        all.push(http("a compressed stream", &headers, &format!("data: {good}\n\n"), ANSWER));
    }
    all
}

/// Messages that are no answer to the request.
fn messages() -> Vec<Case> {
    let good = &answer(ID);
    let other = &answer("123456789");
    let late = &answer(ID).replace("done", "late");
    let result = r#"{"resultType":"complete","content":[]}"#;
    let deep =
        format!(r#"{{"jsonrpc":"2.0","id":%ID%,"result":{}{}}}"#, "[".repeat(50_000), "]".repeat(50_000));
    let open = "{\"a\":".repeat(20_000);
    vec![
        json("malformed", good.trim_end_matches('}'), ANSWER),
        json("nothing", "", ANSWER),
        json("not UTF-8", &good.replace("done", "\u{fffd}"), ANSWER),
        json("a mark of byte order", &format!("\u{feff}{good}"), ANSWER),
        json("too large", &good.replace("done", &"x".repeat(LIMIT)), ANSWER),
        json("too deep", &deep, ANSWER),
        json("deep and open", &open, ANSWER),
        json("the id twice", &good.replace("\"id\"", "\"id\":1,\"id\""), ANSWER),
        json(
            "the result twice",
            &format!(r#"{{"jsonrpc":"2.0","id":%ID%,"result":{result},"result":{result}}}"#),
            ANSWER,
        ),
        json("the type twice", &good.replace("\"content\"", "\"resultType\":\"task\",\"content\""), ANSWER),
        json("another id", other, ANSWER),
        json("an id of null", &answer("null"), ANSWER),
        json("an id as text", &answer("\"%ID%\""), ANSWER),
        json("an id with a fraction", &answer("%ID%.0"), ANSWER),
        json("no id", &format!(r#"{{"jsonrpc":"2.0","result":{result}}}"#), ANSWER),
        json("a batch", &format!("[{good}]"), ANSWER),
        json("two answers", &format!("{good}{good}"), ANSWER),
        stream("another id in a stream", &[other, good], ANSWER),
        stream("a request in a stream", &[r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, good], ANSWER),
        stream("malformed in a stream", &["{", good], ANSWER),
        stream("deep in a stream", &[&open, good], ANSWER),
        stream("no answer", &[r#"{"jsonrpc":"2.0","method":"notifications/message"}"#], ANSWER),
        // The first answer ends the exchange; what comes after it is not read.
        stream("a second answer", &[good, late], TAKEN),
        stream(
            "a notification after the end",
            &[good, r#"{"jsonrpc":"2.0","method":"notifications/message"}"#],
            TAKEN,
        ),
    ]
}

#[tokio::test]
async fn what_is_no_answer_is_refused_and_others_are_served() {
    let elsewhere = fake::upstream();
    let serving = elsewhere.serve().await.unwrap();
    let cases = std::sync::Arc::new(
        [lies(), detours(&serving.url()), messages()].into_iter().flatten().collect::<Vec<_>>(),
    );
    let scripts = cases.clone();
    let script = move |id: &str, text: &str| scripts[text.parse::<usize>().unwrap()].steps(id);
    let (world, _bad) = beside(script, |config| config.settings.bounds.response_bytes = LIMIT).await;
    for (number, case) in cases.iter().enumerate() {
        let arguments = format!(r#"{{"text":"{number}"}}"#);
        let reply = meanwhile(&world, world.call("bad_look", &arguments)).await;
        assert_eq!(code(&reply), case.code, "{}: {}", case.what, reply.text());
        if case.code == TAKEN {
            assert_eq!(text(&reply), GOOD, "{}", case.what);
        }
    }
    assert_eq!(elsewhere.seen().len(), 0, "no redirect is followed");
    assert_eq!(world.look("/v1/status").await["counted"]["panics"], 0);
}

#[tokio::test]
async fn what_follows_an_answer_on_its_connection_answers_nobody() {
    // The bytes after the answer are an answer to each of the next calls.
    let script = |id: &str, _: &str| {
        let whole = |id: &str, text: &str| {
            let body = answer(id).replace("done", text);
            format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            )
        };
        let number: u64 = id.parse().unwrap();
        let forged: String = (1..=4).map(|more| whole(&(number + more).to_string(), "forged")).collect();
        vec![Step::Send(format!("{}{forged}", whole(id, "done")).into_bytes()), Step::Wait]
    };
    let (world, _bad) = beside(script, |_| {}).await;
    for _ in 0..20 {
        let reply = meanwhile(&world, world.call("bad_look", r#"{"text":"t"}"#)).await;
        assert!(!reply.text().contains("forged"), "{}", reply.text());
        assert_eq!(text(&reply), GOOD, "{}", reply.text());
    }
}
