//! expect: E0061
use aldgate_gateway::{Gate, Outcome, Trail};

pub async fn call(gate: &Gate, trail: &Trail) -> Outcome {
    gate.dispatch(trail).await
}
