//! Two tenants: neither learns anything of the other, not even that there is something.

use std::sync::LazyLock;

use aldgate_evidence_server::Reader;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::world::{Answered, SECRET_A, SECRET_B, TOKEN_A, TOKEN_B, World, world};

/// Everything that a body says but for the names that were asked for.
fn neutral(answered: &Answered, name: &str) -> String {
    answered.body.to_string().replace(name, "NAME")
}

async fn all(world: &World, token: &str, name: &str) -> Vec<String> {
    let mut seen = Vec::new();
    for (tool, arguments) in [
        ("lookup_contract", json!({ "tool": name })),
        ("query_drift", json!({ "tool": name, "limit": 100 })),
        ("fetch_audit", json!({ "id": name })),
        ("simulate_repair", json!({ "tool": name, "args": { "id": "x", "code": 1 } })),
        ("coverage_report", json!({ "tools": [name] })),
    ] {
        seen.push(neutral(&world.call(token, tool, arguments).await, name));
    }
    seen
}

#[tokio::test]
async fn what_another_tenant_has_is_answered_like_what_nobody_has() {
    let world = world();
    let nobody = all(&world, TOKEN_A, "nobody-has-this").await;
    for name in ["open", "vault/open", "call_of_globex", "drift_of_globex", "vault/nothing", "nothing/open"] {
        assert_eq!(all(&world, TOKEN_A, name).await, nobody, "{name}");
    }
    for name in ["fs_get_ticket", "desk/get_ticket", "call_of_acme", "drift_of_acme"] {
        assert_eq!(all(&world, TOKEN_B, name).await, nobody, "{name}");
        assert_ne!(all(&world, TOKEN_A, name).await, nobody, "{name}");
    }
}

#[tokio::test]
async fn the_evidence_of_a_shared_tool_is_each_tenants_own() {
    let world = world();
    let of = async |token: &str| {
        let coverage = world.value(token, "coverage_report", json!({ "tools": ["clock"] })).await;
        let drift = world.value(token, "query_drift", json!({ "tool": "common/clock" })).await;
        (coverage["tools"][0]["observations"].clone(), drift[0]["diff"][0]["what"].clone())
    };
    assert_eq!(of(TOKEN_A).await, (json!(9), json!(SECRET_A)));
    assert_eq!(of(TOKEN_B).await, (json!(13), json!(SECRET_B)));
}

#[test]
fn a_reader_is_of_one_tenant() {
    assert_eq!(Reader::of_tenant("acme").tenant(), "acme");
}

fn names() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "fs_get_ticket",
        "desk/get_ticket",
        "open",
        "vault/open",
        "clock",
        "common/clock",
        "call_of_acme",
        "call_of_globex",
        "drift_of_acme",
        "drift_of_globex",
        "acme",
        "globex",
    ]);
    prop_oneof![4 => known.prop_map(str::to_owned), 1 => "[a-z_/%.]{1,12}"]
}

fn calls() -> impl Strategy<Value = (&'static str, Value)> {
    prop_oneof![
        names().prop_map(|name| ("lookup_contract", json!({ "tool": name }))),
        (names(), 1..=100_u32)
            .prop_map(|(name, limit)| ("query_drift", json!({ "tool": name, "limit": limit }))),
        names().prop_map(|id| ("fetch_audit", json!({ "id": id }))),
        names().prop_map(|name| ("simulate_repair", json!({ "tool": name, "args": { "id": "x" } }))),
        prop::collection::vec(names(), 1..5).prop_map(|tools| ("coverage_report", json!({ "tools": tools }))),
    ]
}

static WORLD: LazyLock<World> = LazyLock::new(world);

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_answer_holds_anything_of_another_tenant((tool, arguments) in calls()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            for (token, foreign) in [(TOKEN_A, SECRET_B), (TOKEN_B, SECRET_A)] {
                let answered = WORLD.call(token, tool, arguments.clone()).await;
                assert!(!answered.body.to_string().contains(foreign), "{}", answered.body);
            }
        });
    }
}
