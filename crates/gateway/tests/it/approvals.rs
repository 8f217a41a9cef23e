//! A person's decision: asked for, taken, redeemed once.

mod answering;
mod asking;
mod binding;
mod deciding;
mod denial;
mod expiry;
mod pages;
mod redeeming;
mod state;
mod waiting;

use aldgate_testkit::{Call, Reply};
use serde_json::json;

use crate::world::{World, approval, state};

/// What is ordered in these tests.
pub(crate) const BOLTS: &str = r#"{"item":"bolts","count":12}"#;

/// An order by a client that can show forms.
pub(crate) fn order() -> Call {
    Call::tool("order", BOLTS).with_forms()
}

/// The retry of an order with the state of an earlier answer, under a new id.
pub(crate) fn retry(earlier: &Reply) -> Call {
    order().id("2").state(&state(earlier)).answering(json!({"approval": {"action": "accept", "content": {}}}))
}

/// An order that a person approved, with the notice that it was told by.
pub(crate) async fn approved(world: &World) -> (Reply, String) {
    let notice = world.send(&order()).await;
    let id = approval(&notice);
    world.decide(&id, "approve").await;
    (notice, id)
}
