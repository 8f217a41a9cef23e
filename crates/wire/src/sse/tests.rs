use super::{Decoder, Event, SseFault};

fn decode(stream: &[u8]) -> Vec<(String, String)> {
    let mut decoder = Decoder::new(1024);
    let events = decoder.push(stream).unwrap();
    decoder.finish().unwrap();
    events.into_iter().map(|Event { kind, data }| (kind, String::from_utf8(data).unwrap())).collect()
}

fn data(stream: &str) -> Vec<String> {
    decode(stream.as_bytes()).into_iter().map(|(_, data)| data).collect()
}

#[test]
fn reads_every_line_ending() {
    for stream in ["data: a\n\ndata: b\n\n", "data: a\r\n\r\ndata: b\r\n\r\n", "data: a\r\rdata: b\r\r"] {
        assert_eq!(data(stream), ["a", "b"], "{stream:?}");
    }
    assert_eq!(data("data: a\r\n\rdata: b\n\r\n"), ["a", "b"]);
}

#[test]
fn follows_the_standards_examples() {
    assert_eq!(data("data: YHOO\ndata: +2\ndata: 10\n\n"), ["YHOO\n+2\n10"]);
    assert_eq!(
        data(": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n"),
        ["first event", "second event", " third event"]
    );
    assert_eq!(data("data\n\ndata\ndata\n\ndata:"), ["", "\n"]);
    assert_eq!(data("data:test\n\ndata: test\n\n"), ["test", "test"]);
}

#[test]
fn skips_comments_unknown_fields_and_empty_events() {
    assert_eq!(data(": keep-alive\n\n:\n\nretry: 5\nid: 1\nfoo: bar\n\nevent: x\n\ndata: a\n\n"), ["a"]);
    assert_eq!(data("Data: a\n\n data: a\n\ndata : a\n\n"), Vec::<String>::new());
}

#[test]
fn names_events() {
    let named = decode(b"event: tick\ndata: a\n\ndata: b\n\nevent: x\nevent:y\ndata: c:d\n\n");
    let expected = [("tick", "a"), ("message", "b"), ("y", "c:d")];
    assert_eq!(named, expected.map(|(kind, data)| (kind.to_owned(), data.to_owned())));
}

#[test]
fn drops_the_mark_at_the_start_alone() {
    assert_eq!(data("\u{feff}data: a\n\n"), ["a"]);
    assert_eq!(data("\u{feff}\u{feff}data: a\n\n"), Vec::<String>::new());
    assert_eq!(data("data: a\n\n\u{feff}data: b\n\n"), ["a"]);
}

#[test]
fn drops_an_unfinished_event() {
    assert_eq!(data("data: a\n\ndata: b"), ["a"]);
    assert_eq!(data("data: a\n\ndata: b\n"), ["a"]);
}

#[test]
fn keeps_bytes_that_are_not_utf8() {
    let events = Decoder::new(64).push(b"data: \xff\xfe\n\n").unwrap();
    assert_eq!(events, [Event { kind: "message".to_owned(), data: b"\xff\xfe".to_vec() }]);
}

#[test]
fn limits_lines_and_events() {
    let fault = SseFault::TooLarge { limit: 16 };
    let mut decoder = Decoder::new(16);
    assert_eq!(decoder.push(b"data: 0123456789\n\n").unwrap().len(), 1);
    assert_eq!(decoder.push(b"data: 01234567890"), Err(fault));
    assert_eq!(decoder.push(b"\n\ndata: a\n\n"), Err(fault), "a broken stream stays broken");
    assert_eq!(decoder.finish(), Err(fault));

    assert_eq!(Decoder::new(16).push(&[b':'; 17]), Err(fault), "comments count");
    assert_eq!(Decoder::new(16).push(b"data: 012345\ndata: 012345\n\n"), Err(fault), "lines add up");
    let mut decoder = Decoder::new(16);
    let many = b"data: 0123\n\n".repeat(1000);
    assert_eq!(decoder.push(&many).unwrap().len(), 1000, "a long stream of short events is fine");
}

#[test]
fn gives_the_events_before_a_fault_first() {
    let mut decoder = Decoder::new(16);
    assert_eq!(decoder.push(b"data: a\n\ndata: 0123456789012345\n\n").unwrap().len(), 1);
    assert_eq!(decoder.push(b""), Err(SseFault::TooLarge { limit: 16 }));
}
