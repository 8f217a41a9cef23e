use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{Gauges, UpstreamHealth};
use crate::{Settings, Telemetry};

#[test]
fn what_can_be_read_no_more_is_not_said_to_be_0() {
    let telemetry = Telemetry::start(Settings {
        service: "test",
        destination: None,
        sample_ratio: 1.0,
        content: false,
        ring: None,
    })
    .unwrap();
    let there = Arc::new(AtomicBool::new(true));
    let seen = there.clone();
    telemetry.instruments().observe(move || {
        let upstreams = vec![UpstreamHealth { name: "up".to_owned(), up: true, changed: 2 }];
        seen.load(Ordering::SeqCst).then(|| Gauges { upstreams, unauthenticated: 3, ..Gauges::default() })
    });
    let now = telemetry.prometheus().unwrap();
    for line in [
        "aldgate_unauthenticated_total 3",
        r#"aldgate_upstream_up{aldgate_upstream="up"} 1"#,
        r#"aldgate_upstream_changed{aldgate_upstream="up"} 2"#,
    ] {
        assert!(now.lines().any(|found| found == line), "{line}: {now}");
    }
    there.store(false, Ordering::SeqCst);
    let later = telemetry.prometheus().unwrap();
    assert!(!later.contains("aldgate_unauthenticated_total 0"), "{later}");
}
