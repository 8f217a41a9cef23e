use std::time::Duration;

use super::{BOLTS, approved, order, retry};
use crate::world::{World, approval, code, eventually, rpc, state};

async fn runs_out(world: &World, id: &str) {
    eventually("the approval running out", async || (world.state_of(id).await == "expired").then_some(()))
        .await;
}

#[tokio::test]
async fn a_pending_approval_runs_out() {
    let world = World::start(|config| config.settings.approvals.pending_for = Duration::from_secs(3)).await;
    let notice = world.send(&order()).await;
    let id = approval(&notice);
    runs_out(&world, &id).await;
    let late = world.decide_as("approver", &id, "approve").await;
    assert_eq!((late.status, code(&late).as_str()), (409, "AG-ADMIN-DECIDED"));
    let replay = world.send(&retry(&notice)).await;
    assert_eq!((rpc(&replay), code(&replay).as_str()), (-32602, "AG-STATE"), "{}", replay.text());
    let anew = world.send(&order()).await;
    assert_ne!(approval(&anew), id, "the call itself asks anew");
    assert!(!state(&anew).is_empty());
    assert_eq!(world.up.calls("order").len(), 0);
}

#[tokio::test]
async fn an_approved_one_runs_out_when_nobody_redeems_it() {
    let world =
        World::start(|config| config.settings.approvals.redeem_within = Duration::from_millis(1)).await;
    let (notice, id) = approved(&world).await;
    runs_out(&world, &id).await;
    let replay = world.send(&retry(&notice)).await;
    assert_eq!((rpc(&replay), code(&replay).as_str()), (-32602, "AG-STATE"), "{}", replay.text());
    let anew = world.call("order", BOLTS).await;
    assert_eq!(code(&anew), "AG-APPROVAL-PENDING");
    assert_ne!(approval(&anew), id);
    assert_eq!(world.up.calls("order").len(), 0);
}
