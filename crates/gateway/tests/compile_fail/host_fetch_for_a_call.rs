//! expect: E0308
use aldgate_gateway::{Gate, HostFetch, Line, Outcome, Trail};

pub async fn smuggle(gate: &Gate, trail: &Trail, fetch: HostFetch, line: Line) -> Outcome {
    gate.dispatch(trail, fetch, line).await
}
