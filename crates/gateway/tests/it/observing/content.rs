//! What callers say and tools answer is in no span unless that is switched on.

use aldgate_testkit::{Behaviour, Call};
use serde_json::json;

use super::{Watched, settings};
use crate::fake;
use crate::world::approval;

const MARK: &str = "m4rk-of-content";

async fn calls(content: bool) -> Watched {
    let watched = Watched::start_with(fake::library(), settings(content), crate::library::shelves).await;
    let text = json!({"text": format!("{MARK}{}", "é".repeat(10_000))}).to_string();
    watched.world.up.does("look", Behaviour::text(&format!("answer {MARK}")));
    watched.call("look", &text).await;
    watched.world.up.does("look", Behaviour::failure(&format!("failure {MARK}")));
    watched.call("look", &text).await;
    for wrong in [
        json!({"no_such": MARK}),
        json!({"text": "t", "n": MARK}),
        json!({"text": "t", MARK: 1}),
        json!(MARK),
    ] {
        watched.call("look", &wrong.to_string()).await;
    }
    watched.send(Call::tool("region", &json!({"region": MARK}).to_string())).await;
    watched.world.up.does("measure", Behaviour::structured(&json!({"celsius": MARK})));
    watched.call("measure", "{}").await;
    watched.world.up.does("look", Behaviour::error(-32603, &format!("cannot work on {MARK}")));
    watched.call("look", &text).await;
    watched.world.up.does("look", Behaviour::status(503));
    watched.call("look", &text).await;
    watched.send(Call::resource(&format!("note://{MARK}/{MARK}"))).await;
    watched.send(Call::resource(&format!("note://{MARK}"))).await;
    let order = || Call::tool("order", &json!({"item": MARK}).to_string());
    let pending = watched.send(order()).await;
    watched.world.decide(&approval(&pending), "approve").await;
    watched.send(order()).await;
    watched.call("export", &json!({"to": MARK}).to_string()).await;
    watched.send(Call::prompt("greet", &json!({"who": MARK}))).await;
    watched
}

#[tokio::test]
async fn with_content_off_no_span_and_no_metric_has_any() {
    let watched = calls(false).await;
    let spans = serde_json::to_string(&watched.spans()).unwrap();
    assert!(spans.contains("tools/call look"), "{spans}");
    let metrics = watched.world.admin("approver").get("/metrics").await.unwrap().text();
    assert!(!spans.contains(MARK) && !metrics.contains(MARK), "{spans}\n{metrics}");
    assert!(!spans.contains("gen_ai.tool.call.arguments") && !spans.contains("gen_ai.tool.call.result"));
}

#[tokio::test]
async fn with_content_on_both_are_there_and_cut() {
    let watched = calls(true).await;
    let spans = watched.spans();
    let first = spans.iter().find(|span| span.name == "tools/call look" && span.kind == "server").unwrap();
    let said = |name: &str| first.attributes[name].as_str().unwrap();
    let arguments = said("gen_ai.tool.call.arguments");
    assert!(arguments.starts_with(&format!(r#"{{"text":"{MARK}éé"#)), "{arguments}");
    assert!((8000..8300).contains(&arguments.len()), "{}", arguments.len());
    assert!(arguments.ends_with(" bytes in all)"), "it says how much there was");
    assert!(said("gen_ai.tool.call.result").contains(&format!("answer {MARK}")));
    let uri = format!("note://{MARK}");
    let reads = spans.iter().filter(|span| span.attributes.get("mcp.resource.uri") == Some(&json!(uri)));
    assert_eq!(reads.filter(|span| span.kind == "client").count(), 1);
    let words = format!("cannot work on {MARK}");
    assert!(spans.iter().any(|span| span.kind == "client" && span.error.as_ref() == Some(&words)));
    let metrics = watched.world.admin("approver").get("/metrics").await.unwrap().text();
    assert!(!metrics.contains(MARK), "never in metrics");
}
