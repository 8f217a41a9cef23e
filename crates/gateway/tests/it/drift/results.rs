//! Results that do not fit, and what calls are observed to do.

use std::time::Duration;

use aldgate_gateway::settings::{OnDrift, Violations};
use aldgate_testkit::{Behaviour, Call};
use serde_json::json;

use super::{LOOK, events, status};
use crate::world::{Config, World, code};

#[tokio::test]
async fn so_many_results_that_do_not_fit_quarantine_their_tool_and_one_fewer_do_not() {
    let few = |config: &mut Config| {
        config.settings.violations = Violations { count: 3, window: Duration::from_secs(3600) };
    };
    let mut world = World::start(few).await;
    world.up.does("measure", Behaviour::structured(&json!({"celsius": "warm"})));
    for _ in 0..2 {
        assert_eq!(code(&world.call("measure", "{}").await), "AG-UPSTREAM-ANSWER");
    }
    assert!(status(&world, "quarantined").await.is_empty(), "two are one too few");
    world.restart(few).await;
    assert_eq!(
        code(&world.call("measure", "{}").await),
        "AG-UPSTREAM-ANSWER",
        "the third is not refused yet"
    );
    let found = status(&world, "quarantined").await;
    assert_eq!(
        (&found[0]["name"], &found[0]["reason"]),
        (&json!("measure"), &json!("violations")),
        "{found:?}"
    );
    assert_eq!(found[0]["command"], "aldgate contracts release up/measure");
    let refused = world.call("measure", "{}").await;
    assert_eq!(code(&refused), "AG-CONTRACT-CHANGED");
    assert!(!world.send(&Call::method("tools/list")).await.text().contains("measure"));
    assert_eq!(events(&world).await, ["quarantined breaking 1"]);
    // Released, it begins anew.
    let release = json!({"upstream": "up", "kind": "tool", "name": "measure"});
    assert_eq!(world.admin("approver").post("/v1/quarantine/release", &release).await.unwrap().status, 200);
    assert_eq!(code(&world.call("measure", "{}").await), "AG-UPSTREAM-ANSWER");
    assert!(status(&world, "quarantined").await.is_empty());
}

#[tokio::test]
async fn what_fails_otherwise_is_no_violation_and_where_drift_is_only_told_of_nothing_is_quarantined() {
    let one = |on_drift| {
        move |config: &mut Config| {
            config.settings.violations = Violations { count: 1, window: Duration::from_secs(60) };
            config.up().on_drift = on_drift;
        }
    };
    let mut world = World::start(one(OnDrift::AllowCompatible)).await;
    world.up.does("measure", Behaviour::BreakOff);
    assert_eq!(code(&world.call("measure", "{}").await), "AG-UPSTREAM-ANSWER");
    assert!(status(&world, "quarantined").await.is_empty());
    world.up.does("measure", Behaviour::structured(&json!({"celsius": "warm"})));
    world.restart(one(OnDrift::Warn)).await;
    for _ in 0..2 {
        assert_eq!(code(&world.call("measure", "{}").await), "AG-UPSTREAM-ANSWER");
    }
    assert!(status(&world, "quarantined").await.is_empty());
}

#[tokio::test]
async fn calls_are_observed_by_tenant_tool_and_version() {
    let mut world = World::plain().await;
    for _ in 0..3 {
        world.call("look", LOOK).await;
    }
    world.up.does("measure", Behaviour::structured(&json!({"celsius": "warm"})));
    world.call("measure", "{}").await;
    world.stop().await;
    let store = aldgate_store::Store::open(world.folder()).await.unwrap();
    let look = store.observations("default", "up/look").await.unwrap();
    assert_eq!((look[0].version, look[0].calls, look[0].failures), (1, 3, 0), "{look:?}");
    assert_eq!(look[0].latencies.iter().sum::<u64>(), 3);
    let measure = store.observations("default", "up/measure").await.unwrap();
    assert_eq!((measure[0].calls, measure[0].failures, measure[0].violations), (1, 1, 1));
    assert!(store.observations("elsewhere", "up/look").await.unwrap().is_empty());
}
