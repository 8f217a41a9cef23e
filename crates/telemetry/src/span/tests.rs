use super::{Describe, Kind, TEXT_BYTES, cut};
use crate::{Ended, KeyValue, Ring, Settings, Span, SpanRecord, Telemetry, names};

fn telemetry() -> Telemetry {
    Telemetry::start(Settings {
        service: "test",
        destination: None,
        sample_ratio: 1.0,
        content: false,
        ring: Some(Ring::new(10)),
    })
    .unwrap()
}

fn kept(kind: Kind, work: impl FnOnce(Span)) -> SpanRecord {
    let telemetry = telemetry();
    let span = telemetry.span(Describe::new("x", kind));
    let trace = span.as_parent().trace_id();
    work(span);
    telemetry.ring().unwrap().trace(&trace, "").remove(0)
}

#[test]
fn a_name_that_is_set_twice_has_the_later_value_and_stands_once() {
    let telemetry = telemetry();
    let mut span = telemetry.span(Describe::new("x", Kind::Internal));
    span.set([KeyValue::new("a", "1"), KeyValue::new("b", "2")]);
    span.set([KeyValue::new("a", "3")]);
    let set: Vec<_> = span.attributes.iter().map(|one| format!("{}={}", one.key, one.value)).collect();
    assert_eq!(set, ["a=3", "b=2"]);
    span.end(&Ended::Well);
}

#[test]
fn a_span_that_is_dropped_was_given_up_and_keeps_what_was_set() {
    let seen = kept(Kind::Client, |mut span| span.set([KeyValue::new("a", "1")]));
    assert_eq!(seen.error.as_deref(), Some("cancelled"));
    assert_eq!(seen.attributes[names::ERROR_TYPE], "cancelled");
    assert_eq!(seen.attributes["a"], "1");
}

#[test]
fn a_clients_fault_is_no_error_of_the_server() {
    let fault = Ended::Rpc { code: -32602, message: "no such tool".into() };
    let server = kept(Kind::Server, |span| span.end(&fault));
    assert_eq!((server.error.as_deref(), server.attributes.contains_key(names::ERROR_TYPE)), (None, false));
    assert_eq!(server.attributes[names::STATUS_CODE], "-32602");
    let client = kept(Kind::Client, |span| span.end(&fault));
    assert_eq!(client.error.as_deref(), Some("-32602"), "what was said is content");
    assert_eq!(client.attributes[names::ERROR_TYPE], "-32602");
}

#[test]
fn a_long_text_is_cut_between_letters_and_says_how_long_it_was() {
    assert_eq!(cut("short"), "short");
    let long = "é".repeat(TEXT_BYTES);
    let shown = cut(&long);
    assert!(shown.len() < TEXT_BYTES + 40, "{}", shown.len());
    assert!(shown.ends_with(&format!("é… ({} bytes in all)", long.len())));
}
