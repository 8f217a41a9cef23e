//! What a gateway's thread takes for one whole comparison: it asks the upstream, reads the list, compares, and settles what becomes
//! of what it finds. The upstream answers on the same thread.

use std::time::Duration;

use aldgate_benches::{Size, USUAL, World};
use aldgate_gateway::settings::OnDrift;
use serde_json::{Value, json};

use crate::spent::{Cost, spent};

const MILLISECOND: f64 = 1e6;
/// Comparisons in one round.
const COMPARISONS: usize = 3;

pub(crate) fn measure(rounds: usize, tools: usize) -> Value {
    let of = |drifted| {
        let every = Duration::from_secs(1);
        compared(Size { tools, drifted, on_drift: OnDrift::Warn, verify_every: every, ..USUAL }, rounds)
    };
    json!({"unchanged": of(0), "one": of(1), "all": of(tools)})
}

fn compared(size: Size, rounds: usize) -> Cost {
    let world = World::start(size);
    world.comparisons(1);
    let round = |_| {
        let begun = spent();
        world.comparisons(COMPARISONS);
        (spent() - begun) / COMPARISONS as f64
    };
    Cost::of((0..rounds).map(round).collect(), MILLISECOND)
}
