//! expect: E0382
use aldgate_gateway::{Gate, Permit, Trail};

pub async fn twice(gate: &Gate, trail: &Trail, permit: Permit) {
    gate.dispatch(trail, permit).await;
    gate.dispatch(trail, permit).await;
}
