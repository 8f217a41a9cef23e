use std::time::Duration;

use super::Ring;
use crate::{Describe, Ended, Kind, Settings, Telemetry, TraceContext, names};

fn telemetry(most: usize, sample_ratio: f64) -> Telemetry {
    let settings = Settings {
        service: "test",
        destination: None,
        sample_ratio,
        content: false,
        ring: Some(Ring::new(most)),
    };
    Telemetry::start(settings).unwrap()
}

#[test]
fn the_oldest_spans_make_room() {
    let telemetry = telemetry(3, 1.0);
    for _ in 0..5 {
        telemetry.span(Describe::new("x", Kind::Internal)).end(&Ended::Well);
    }
    assert_eq!(telemetry.ring().unwrap().traces("", 100).len(), 3);
    assert_eq!(telemetry.ring().unwrap().traces("", 2).len(), 2);
}

#[test]
fn spans_of_another_tenant_are_not_shown() {
    let telemetry = telemetry(10, 1.0);
    let mut of_a = telemetry.span(Describe::new("a", Kind::Internal));
    of_a.set([crate::KeyValue::new(names::TENANT, "a")]);
    let trace = of_a.as_parent().trace_id();
    telemetry.span(Describe::new("nobody's", Kind::Internal).within(of_a.as_parent())).end(&Ended::Well);
    of_a.end(&Ended::Failed { kind: "timeout", message: "late".into() });
    let ring = telemetry.ring().unwrap();
    let names = |tenant| ring.trace(&trace, tenant).into_iter().map(|span| span.name).collect::<Vec<_>>();
    assert_eq!(names("a"), ["a", "nobody's"]);
    assert_eq!(names("b"), ["nobody's"]);
    assert_eq!(ring.traces("a", 10)[0].errors, 1);
    assert_eq!(ring.traces("b", 10)[0].errors, 0);
    assert_eq!(ring.trace("nonsense", "a"), []);
}

#[test]
fn a_trace_that_began_elsewhere_is_kept_where_its_beginning_was() {
    let serve = |telemetry: &Telemetry, parent: &str, around: Option<&str>| {
        let meta = TraceContext { parent: Some(parent), state: None };
        let headers = TraceContext { parent: around, state: None };
        telemetry.serve("tools/call", std::time::SystemTime::now() - Duration::from_millis(5), meta, headers)
    };
    let trace = "0af7651916cd43dd8448eb211c80319c";
    let of = |span: &str, flags: &str| format!("00-{trace}-{span}-{flags}");
    let telemetry = telemetry(10, 0.0);
    assert!(!telemetry.span(Describe::new("x", Kind::Internal)).is_recording());
    assert!(!serve(&telemetry, &of("b7ad6b7169203331", "00"), None).is_recording());
    let kept = serve(&telemetry, &of("b7ad6b7169203331", "01"), Some(&of("00000000000000aa", "01")));
    assert!(kept.is_recording());
    kept.end(&Ended::Well);
    serve(&telemetry, &of("b7ad6b7169203331", "01"), Some(&of("b7ad6b7169203331", "01"))).end(&Ended::Well);
    serve(&telemetry, "nonsense", Some(&of("00000000000000aa", "01"))).end(&Ended::Well);
    let spans = telemetry.ring().unwrap().trace(trace, "");
    let seen: Vec<_> = spans
        .iter()
        .map(|span| (span.parent_id.as_deref().unwrap(), span.links.len(), span.duration_us >= 5000))
        .collect();
    assert_eq!(
        seen,
        [("b7ad6b7169203331", 1, true), ("b7ad6b7169203331", 0, true), ("00000000000000aa", 0, true)]
    );
}
