//! The spans of what decides about a call.

use aldgate_telemetry::SpanRecord;
use aldgate_testkit::{Call, Reply};

use super::{TEXT, Watched};
use crate::fake;
use crate::world::{approval, code};

const ORDER: &str = r#"{"item":"bolts"}"#;

/// `span: guardrail: decision [state]` of the spans that decide.
fn decisions(spans: &[SpanRecord]) -> Vec<String> {
    let said = |span: &SpanRecord, name: &str| {
        span.attributes.get(name).and_then(|value| value.as_str().map(str::to_owned))
    };
    spans
        .iter()
        .filter(|span| span.kind == "internal" && span.name != "evidence")
        .map(|span| {
            assert_eq!(span.attributes["aldgate.tenant"], "default", "{span:?}");
            assert_eq!(span.error, None, "a decision is no failure");
            let state = said(span, "aldgate.approval.state").map(|state| format!(" [{state}]"));
            let [name, decision] =
                ["guardrail.name", "guardrail.decision"].map(|name| said(span, name).unwrap());
            format!("{}: {name}: {decision}{}", span.name, state.unwrap_or_default())
        })
        .collect()
}

/// What decided about the call that was sent last.
async fn decided(watched: &Watched, call: Call) -> (Reply, Vec<String>) {
    let before = watched.spans().len();
    let reply = watched.send(call).await;
    (reply, decisions(&watched.spans().split_off(before)))
}

#[tokio::test]
async fn an_automatic_call_is_allowed() {
    let watched = Watched::plain().await;
    let (_, seen) = decided(&watched, Call::tool("look", TEXT)).await;
    // The first call may have to wait for the comparison of contracts.
    assert_eq!(seen[0], "ruling: automatic: allow");
    assert!(seen.len() == 1 || seen[1..] == ["contract: contract: allow"], "{seen:?}");
    let (_, seen) = decided(&watched, Call::tool("look", TEXT)).await;
    assert_eq!(seen, ["ruling: automatic: allow"]);
}

#[tokio::test]
async fn a_prohibited_call_is_blocked() {
    let watched = Watched::plain().await;
    let (reply, seen) = decided(&watched, Call::tool("export", "{}")).await;
    assert_eq!(code(&reply), "AG-AUTHORITY-PROHIBITED");
    assert_eq!(seen, ["ruling: registry.prohibited: block"]);
    let server = watched.span("tools/call export", "server");
    assert_eq!(server.attributes["error.type"], "tool_error");
    assert_eq!(server.attributes["aldgate.refusal.code"], "AG-AUTHORITY-PROHIBITED");
}

#[tokio::test]
async fn a_policy_that_forbids_is_named() {
    let watched = Watched::start(|config| {
        config.policy.push_str(
            r#"@id("not-today") forbid (principal, action == Action::"call", resource == Tool::"up/look");"#,
        );
    })
    .await;
    let (_, seen) = decided(&watched, Call::tool("look", TEXT)).await;
    assert_eq!(seen.len(), 1);
    assert!(seen[0].starts_with("ruling: ") && seen[0].ends_with(": block"), "{seen:?}");
}

#[tokio::test]
async fn an_approval_requires_one_then_allows_or_blocks() {
    const RULING: &str = "ruling: registry.requires_approval: require_approval";
    let watched = Watched::plain().await;
    watched.world.call("look", TEXT).await;
    let order = || Call::tool("order", ORDER);
    let (pending, seen) = decided(&watched, order()).await;
    assert_eq!(seen, [RULING, "approval: approval: require_approval [pending]"]);
    watched.world.decide(&approval(&pending), "approve").await;
    let (_, seen) = decided(&watched, order()).await;
    assert_eq!(seen, [RULING, "approval: approval: allow [approved]"]);
    let shown: Vec<_> = watched
        .spans()
        .iter()
        .filter_map(|span| span.attributes.get("aldgate.approval.id").cloned())
        .collect();
    assert_eq!(shown, vec![approval(&pending); 2], "both name it");

    let (pending, _) = decided(&watched, order()).await;
    watched.world.decide(&approval(&pending), "deny").await;
    let (_, seen) = decided(&watched, order()).await;
    assert_eq!(seen, [RULING, "approval: approval: block [denied]"]);
}

#[tokio::test]
async fn a_quarantined_contract_is_blocked() {
    let mut watched = Watched::plain().await;
    let changed = fake::LOOK.replace("closely", "very closely");
    let others = fake::TOOLS.iter().filter(|(name, _)| *name != "look").map(|(_, text)| *text);
    watched.world.up.lists(&others.chain([changed.as_str()]).collect::<Vec<_>>()).unwrap();
    let telemetry = watched.telemetry.clone();
    watched.world.restart(|config| config.telemetry = telemetry).await;
    let (reply, seen) = decided(&watched, Call::tool("look", TEXT)).await;
    assert_eq!(code(&reply), "AG-CONTRACT-CHANGED");
    assert_eq!(seen, ["ruling: automatic: allow", "contract: contract: block"]);
    assert_eq!(watched.world.up.calls("look").len(), 0);
}

#[tokio::test]
async fn what_has_to_be_on_the_disk_before_and_after_a_call_has_spans() {
    let watched = Watched::plain().await;
    watched.send(Call::tool("look", TEXT)).await;
    watched.send(Call::tool("note", TEXT)).await;
    let spans = watched.spans();
    let evidence: Vec<_> = spans.iter().filter(|span| span.name == "evidence").collect();
    let server = spans.iter().find(|span| span.name == "tools/call note" && span.kind == "server").unwrap();
    let client = spans.iter().find(|span| span.name == "tools/call note" && span.kind == "client").unwrap();
    assert_eq!(evidence.len(), 2, "the rows of what changes nothing are written with others");
    assert!(evidence.iter().all(|span| span.parent_id.as_ref() == Some(&server.span_id)));
    assert!(evidence[0].start_unix_nano <= client.start_unix_nano, "{spans:?}");
    assert!(evidence[1].start_unix_nano >= client.start_unix_nano, "{spans:?}");
}
