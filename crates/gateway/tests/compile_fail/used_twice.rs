//! expect: E0382
use aldgate_gateway::{Gate, Line, Permit, Trail};

pub async fn twice(gate: &Gate, trail: &Trail, permit: Permit, line: Line, other: Line) {
    gate.dispatch(trail, permit, line).await;
    gate.dispatch(trail, permit, other).await;
}
