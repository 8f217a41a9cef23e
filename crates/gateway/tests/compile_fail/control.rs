//! What is allowed: one permit, passed on and used once. It shows that the other cases fail for their own reason.
use aldgate_gateway::{Gate, HostFetch, Line, Outcome, Permit, Trail};

pub async fn once(gate: &Gate, trail: &Trail, permit: Permit, line: Line) -> Outcome {
    gate.dispatch(trail, permit, line).await
}

pub fn pass_on(fetch: HostFetch) -> HostFetch {
    fetch
}
