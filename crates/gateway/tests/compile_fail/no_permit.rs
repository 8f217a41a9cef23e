//! expect: E0061
use aldgate_gateway::{Gate, Line, Outcome, Trail};

pub async fn call(gate: &Gate, trail: &Trail, line: Line) -> Outcome {
    gate.dispatch(trail, line).await
}
