//! The admin API's traces and metrics.

use std::collections::{BTreeMap, BTreeSet};

use aldgate_testkit::Call;
use expect_test::expect;
use serde_json::{Value, json};

use super::{TEXT, TRACE, Watched};
use crate::world::{World, approval};

#[tokio::test]
async fn both_need_leave_to_operate() {
    let watched = Watched::plain().await;
    watched.call("look", TEXT).await;
    for path in ["/metrics", "/v1/traces", &format!("/v1/traces/{TRACE}")] {
        let status = async |who: &str| watched.world.admin(who).get(path).await.unwrap().status;
        assert_eq!((status("approver").await, status("agent").await), (200, 403), "{path}");
        let nobody = aldgate_testkit::Client::new(watched.world.admin_address(), None);
        assert_eq!(nobody.get(path).await.unwrap().status, 401, "{path}");
        let agents =
            aldgate_testkit::Client::new(watched.world.agents(), Some(&crate::world::token("approver")));
        assert_eq!(agents.get(path).await.unwrap().status, 404, "{path}: not on the listener for agents");
    }
}

#[tokio::test]
async fn traces_are_listed_and_shown() {
    let watched = Watched::plain().await;
    watched.world.call("look", TEXT).await;
    watched.call("export", "{}").await;
    let listed = watched.world.look("/v1/traces?limit=1").await;
    assert_eq!(listed["sample_ratio"], 1.0);
    let traces = listed["traces"].as_array().unwrap();
    assert_eq!(traces.len(), 1);
    assert_eq!((&traces[0]["trace_id"], &traces[0]["name"]), (&json!(TRACE), &json!("… tools/call export")));
    assert_eq!((&traces[0]["spans"], &traces[0]["errors"]), (&json!(2), &json!(1)));
    assert_eq!(watched.world.look("/v1/traces").await["traces"].as_array().unwrap().len(), 2);
    let shown = watched.world.look(&format!("/v1/traces/{TRACE}")).await;
    let names: Vec<&Value> = shown["spans"].as_array().unwrap().iter().map(|span| &span["name"]).collect();
    assert_eq!(names, ["tools/call export", "ruling"]);
    for (path, status, code) in [
        ("/v1/traces/0af7651916cd43dd8448eb211c80319d", 404, "AG-ADMIN-NO-TRACE"),
        ("/v1/traces/%1b%5b31m", 404, "AG-ADMIN-NO-TRACE"),
        ("/v1/traces?limit=x", 400, "AG-ADMIN-REQUEST"),
    ] {
        let reply = watched.world.admin("approver").get(path).await.unwrap();
        assert_eq!(
            (reply.status, reply.json().unwrap()["error"]["code"].as_str()),
            (status, Some(code)),
            "{path}"
        );
        assert!(!reply.text().contains('\u{1b}'), "{}", reply.text());
    }
}

#[tokio::test]
async fn traces_of_another_tenant_do_not_exist() {
    let watched = Watched::start(|config| {
        config.policy.push_str(r#"@id("strangers") permit (principal is Person in Role::"approver", action == Action::"operate", resource == Gateway::"aldgate");"#);
    })
    .await;
    let theirs = super::traced(Call::tool("look", TEXT));
    assert_eq!(watched.world.client("stranger").send(&theirs).await.unwrap().status, 200);
    let reply = watched.world.admin("approver").get(&format!("/v1/traces/{TRACE}")).await.unwrap();
    assert_eq!((reply.status, reply.text().contains("look")), (404, false), "{}", reply.text());
    assert_eq!(watched.world.look("/v1/traces").await["traces"], json!([]));
    // A trace id that is another tenant's, too, shows everyone their own part.
    watched.call("note", TEXT).await;
    let shown = watched.world.look(&format!("/v1/traces/{TRACE}")).await.to_string();
    assert!(shown.contains("tools/call note") && !shown.contains("look"), "{shown}");
}

/// `name` of each line of metrics without its labels' values, and the value.
fn samples(text: &str) -> Vec<(String, BTreeMap<String, String>, f64)> {
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    lines
        .map(|line| {
            let (series, value) = line.rsplit_once(' ').unwrap();
            let (name, labels) = series.split_once('{').unwrap_or((series, "}"));
            let labels = labels.trim_end_matches('}').split("\",").filter(|label| !label.is_empty());
            let labels = labels.map(|label| {
                let (key, value) = label.split_once("=\"").unwrap();
                (key.to_owned(), value.trim_end_matches('"').to_owned())
            });
            (name.to_owned(), labels.collect(), value.parse().unwrap())
        })
        .collect()
}

async fn metrics(world: &World) -> String {
    let reply = world.admin("approver").get("/metrics").await.unwrap();
    assert_eq!(reply.status, 200);
    assert!(reply.header("content-type").starts_with("text/plain; version=0.0.4"));
    reply.text()
}

/// Something of everything that is counted.
async fn everything(watched: &Watched) {
    let order = || Call::tool("order", r#"{"item":"bolts"}"#);
    watched.world.send(&Call::method("tools/list")).await;
    for _ in 0..3 {
        watched.world.call("look", TEXT).await;
    }
    let pending = watched.world.send(&order()).await;
    watched.world.decide(&approval(&pending), "approve").await;
    watched.world.send(&order()).await;
    let pending = watched.world.send(&order()).await;
    watched.world.decide(&approval(&pending), "deny").await;
    watched.world.call("export", "{}").await;
    watched.world.call("no_such_tool", "{}").await;
    watched.world.nobody().send(&Call::method("tools/list")).await.unwrap();
}

#[tokio::test]
async fn metrics_have_these_names_and_labels_and_no_others() {
    let watched = Watched::plain().await;
    everything(&watched).await;
    let text = metrics(&watched.world).await;
    let seen: BTreeSet<String> = samples(&text)
        .into_iter()
        .map(|(name, labels, _)| format!("{name} {}", labels.into_keys().collect::<Vec<_>>().join(",")))
        .collect();
    expect![[r#"
        aldgate_approvals_total aldgate_approval_state
        aldgate_evidence_unrecorded_total 
        aldgate_panics_total 
        aldgate_refusals_total aldgate_refusal_code
        aldgate_requests_in_flight 
        aldgate_rulings_total guardrail_decision,mcp_method_name
        aldgate_subscriptions 
        aldgate_unauthenticated_total 
        aldgate_upstream_changed aldgate_upstream
        aldgate_upstream_up aldgate_upstream
        mcp_client_operation_duration_seconds_bucket aldgate_upstream,gen_ai_operation_name,gen_ai_tool_name,le,mcp_method_name,network_transport
        mcp_client_operation_duration_seconds_count aldgate_upstream,gen_ai_operation_name,gen_ai_tool_name,mcp_method_name,network_transport
        mcp_client_operation_duration_seconds_sum aldgate_upstream,gen_ai_operation_name,gen_ai_tool_name,mcp_method_name,network_transport
        mcp_server_operation_duration_seconds_bucket error_type,gen_ai_operation_name,gen_ai_tool_name,le,mcp_method_name,network_transport
        mcp_server_operation_duration_seconds_bucket gen_ai_operation_name,gen_ai_tool_name,le,mcp_method_name,network_transport
        mcp_server_operation_duration_seconds_bucket gen_ai_operation_name,le,mcp_method_name,network_transport,rpc_response_status_code
        mcp_server_operation_duration_seconds_bucket le,mcp_method_name,network_transport
        mcp_server_operation_duration_seconds_count error_type,gen_ai_operation_name,gen_ai_tool_name,mcp_method_name,network_transport
        mcp_server_operation_duration_seconds_count gen_ai_operation_name,gen_ai_tool_name,mcp_method_name,network_transport
        mcp_server_operation_duration_seconds_count gen_ai_operation_name,mcp_method_name,network_transport,rpc_response_status_code
        mcp_server_operation_duration_seconds_count mcp_method_name,network_transport
        mcp_server_operation_duration_seconds_sum error_type,gen_ai_operation_name,gen_ai_tool_name,mcp_method_name,network_transport
        mcp_server_operation_duration_seconds_sum gen_ai_operation_name,gen_ai_tool_name,mcp_method_name,network_transport
        mcp_server_operation_duration_seconds_sum gen_ai_operation_name,mcp_method_name,network_transport,rpc_response_status_code
        mcp_server_operation_duration_seconds_sum mcp_method_name,network_transport"#]].assert_eq(&seen.into_iter().collect::<Vec<_>>().join("\n"));
    let types: Vec<&str> = text.lines().filter(|line| line.starts_with("# TYPE")).collect();
    expect![[r#"
        # TYPE aldgate_approvals_total counter
        # TYPE aldgate_evidence_unrecorded_total counter
        # TYPE aldgate_panics_total counter
        # TYPE aldgate_refusals_total counter
        # TYPE aldgate_requests_in_flight gauge
        # TYPE aldgate_rulings_total counter
        # TYPE aldgate_subscriptions gauge
        # TYPE aldgate_unauthenticated_total counter
        # TYPE aldgate_upstream_changed gauge
        # TYPE aldgate_upstream_up gauge
        # TYPE mcp_client_operation_duration_seconds histogram
        # TYPE mcp_server_operation_duration_seconds histogram"#]]
    .assert_eq(&types.join("\n"));
}

#[tokio::test]
async fn metrics_count_what_happened() {
    let watched = Watched::plain().await;
    everything(&watched).await;
    let samples = samples(&metrics(&watched.world).await);
    let sum = |name: &str, wanted: &[(&str, &str)]| -> f64 {
        let fits = |labels: &BTreeMap<String, String>| {
            wanted.iter().all(|(key, value)| labels.get(*key).is_some_and(|found| found == value))
        };
        samples
            .iter()
            .filter(|(found, labels, _)| found == name && fits(labels))
            .map(|(_, _, value)| value)
            .sum()
    };
    let server = "mcp_server_operation_duration_seconds";
    let look = [("gen_ai_tool_name", "look"), ("mcp_method_name", "tools/call")];
    assert_eq!(sum(&format!("{server}_count"), &look), 3.0);
    let all = [look[0], look[1], ("le", "+Inf")];
    assert_eq!(sum(&format!("{server}_bucket"), &all), 3.0);
    assert!(sum(&format!("{server}_sum"), &look) > 0.0);
    assert_eq!(
        sum("mcp_client_operation_duration_seconds_count", &[("aldgate_upstream", "up"), look[0]]),
        3.0
    );
    assert_eq!(
        sum(&format!("{server}_count"), &[("error_type", "tool_error"), ("gen_ai_tool_name", "export")]),
        1.0
    );
    for (decision, count) in [("allow", 3.0), ("require_approval", 3.0), ("block", 1.0)] {
        assert_eq!(sum("aldgate_rulings_total", &[("guardrail_decision", decision)]), count, "{decision}");
    }
    for (state, count) in [("asked", 2.0), ("approved", 1.0), ("denied", 1.0), ("redeemed", 1.0)] {
        assert_eq!(sum("aldgate_approvals_total", &[("aldgate_approval_state", state)]), count, "{state}");
    }
    for (code, count) in [
        ("AG-APPROVAL-PENDING", 2.0),
        ("AG-AUTHORITY-PROHIBITED", 1.0),
        ("AG-TOOL-UNKNOWN", 1.0),
        ("AG-IDENTITY", 1.0),
    ] {
        assert_eq!(sum("aldgate_refusals_total", &[("aldgate_refusal_code", code)]), count, "{code}");
    }
    assert_eq!(sum("aldgate_unauthenticated_total", &[]), 1.0);
    assert_eq!(sum("aldgate_upstream_up", &[("aldgate_upstream", "up")]), 1.0);
    assert_eq!(sum("aldgate_upstream_changed", &[("aldgate_upstream", "up")]), 0.0);
    assert_eq!(sum("aldgate_requests_in_flight", &[]), 0.0);
}

/// What stands between two marks, separated by commas.
fn listed<'a>(text: &'a str, open: &str, close: char) -> Vec<&'a str> {
    let parts = text.split(open).skip(1).filter_map(|part| part.split(close).next());
    parts.flat_map(|part| part.split(',')).map(str::trim).collect()
}

#[tokio::test]
async fn the_dashboard_asks_for_what_there_is_and_for_all_of_it() {
    let watched = Watched::plain().await;
    everything(&watched).await;
    // An upstream that is gone, for the errors of the gateway as a client.
    watched.world.serving.end().await;
    watched.world.call("look", TEXT).await;
    let samples = samples(&metrics(&watched.world).await);
    let dashboard = include_str!("../../../../../docs/dashboards/aldgate.json");
    let dashboard: Value = serde_json::from_str(dashboard).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    assert!(panels.len() >= 10);
    let mut used = BTreeSet::new();
    for target in panels.iter().flat_map(|panel| panel["targets"].as_array().unwrap()) {
        let asked = target["expr"].as_str().unwrap();
        // A metric stands before its labels in braces.
        let names = asked.split('{').rev().skip(1).map(|before| {
            before.rsplit(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_')).next().unwrap()
        });
        for name in names {
            let of_it: Vec<_> = samples.iter().filter(|(known, _, _)| known == name).collect();
            assert!(!of_it.is_empty(), "`{name}` of `{asked}` is no metric of the gateway");
            used.insert(name);
            let wanted =
                listed(asked, "{", '}').into_iter().map(|label| label.split(['=', '!']).next().unwrap());
            // Prometheus itself says which instance it asked.
            for label in wanted.filter(|label| *label != "instance").chain(listed(asked, "by (", ')')) {
                let known = of_it.iter().any(|(_, labels, _)| labels.contains_key(label));
                assert!(known, "`{label}` of `{asked}` is no label of `{name}`");
            }
        }
    }
    let all: BTreeSet<&str> = samples.iter().map(|(name, _, _)| name.as_str()).collect();
    let missing: Vec<_> = all.difference(&used).filter(|name| !name.ends_with("_sum")).collect();
    assert_eq!(missing, Vec::<&&str>::new(), "the dashboard shows every metric");
}
