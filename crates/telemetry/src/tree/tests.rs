use std::collections::BTreeMap;

use expect_test::expect;

use super::tree;
use crate::ring::SpanRecord;

fn span(id: &str, parent: Option<&str>, name: &str, start: u64) -> SpanRecord {
    SpanRecord {
        trace_id: "t".to_owned(),
        span_id: id.to_owned(),
        parent_id: parent.map(str::to_owned),
        name: name.to_owned(),
        kind: "internal".to_owned(),
        service: "aldgate".to_owned(),
        start_unix_nano: start,
        duration_us: start * 700,
        error: None,
        attributes: BTreeMap::new(),
        links: Vec::new(),
    }
}

#[test]
fn children_stand_below_their_parents_in_the_order_of_time() {
    let mut ruled = span("4", Some("2"), "ruling", 3);
    ruled.attributes.insert("guardrail.name".to_owned(), "registry".into());
    ruled.attributes.insert("guardrail.decision".to_owned(), "block".into());
    let mut refused = span("2", Some("1"), "tools/call x", 2);
    refused.kind = "server".to_owned();
    refused.error = Some("no".to_owned());
    refused.attributes.insert("error.type".to_owned(), "tool_error".into());
    refused.attributes.insert("aldgate.refusal.code".to_owned(), "AG-PROHIBITED".into());
    let spans = [
        ruled,
        span("3", Some("1"), "tools/list", 2000),
        refused,
        span("1", Some("gone"), "invoke_agent a", 1),
    ];
    expect![[r#"
        invoke_agent a  700 µs  [aldgate]
        ├─ tools/call x  1.4 ms  server  [aldgate]  ! tool_error AG-PROHIBITED
        │  └─ ruling  2.1 ms  [aldgate]  registry: block
        └─ tools/list  1.4 s  [aldgate]
    "#]]
    .assert_eq(&(tree(&spans).join("\n") + "\n"));
}

#[test]
fn ids_that_lead_in_a_circle_end() {
    let spans = [span("1", None, "a", 1), span("1", Some("1"), "b", 2), span("2", Some("2"), "c", 3)];
    assert_eq!(tree(&spans).len(), 3);
    // Two that are parts of each other have no beginning, and are not shown.
    assert_eq!(tree(&[span("1", Some("2"), "a", 1), span("2", Some("1"), "b", 2)]).len(), 0);
}
