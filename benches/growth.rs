//! Instructions of calls and lists as a gateway grows, for `make bench`.
#![expect(missing_docs, reason = "the macros make items without")]

use aldgate_benches::{Size, USUAL, World};
use aldgate_gateway::settings::OnDrift;
use gungraun::{Callgrind, LibraryBenchmarkConfig, library_benchmark, library_benchmark_group, main};

/// Calls in one count.
const CALLS: usize = 20;
/// Lists in one count.
const LISTS: usize = 5;

/// As with 1,000 tools, whose contracts changed four times. The last tool is called: it is among those that are noted, and the
/// only one that is not quarantined.
const REVIEWED: Size = Size { tools: 1000, versions: 5, ..USUAL };

#[library_benchmark]
#[bench::tools_10(args = (USUAL), setup = World::start)]
#[bench::tools_1000(args = (Size { tools: 1000, ..USUAL }), setup = World::start)]
#[bench::tools_10000(args = (Size { tools: 10_000, ..USUAL }), setup = World::start)]
#[bench::policies_1(args = (Size { policies: 1, ..USUAL }), setup = World::start)]
#[bench::policies_50(args = (Size { policies: 50, ..USUAL }), setup = World::start)]
#[bench::policies_500(args = (Size { policies: 500, ..USUAL }), setup = World::start)]
#[bench::upstreams_1(args = (USUAL), setup = World::start)]
#[bench::upstreams_10(args = (Size { upstreams: 10, ..USUAL }), setup = World::start)]
#[bench::drift_history(args = (REVIEWED), setup = World::start)]
#[bench::drift_noted(args = (Size { drifted: 1000, on_drift: OnDrift::Warn, ..REVIEWED }), setup = World::start)]
#[bench::drift_quarantined(args = (Size { drifted: 999, ..REVIEWED }), setup = World::start)]
fn call(world: World) -> World {
    world.calls(CALLS);
    world
}

#[library_benchmark]
#[bench::tools_10(args = (USUAL), setup = World::start)]
#[bench::tools_1000(args = (Size { tools: 1000, ..USUAL }), setup = World::start)]
#[bench::tools_10000(args = (Size { tools: 10_000, ..USUAL }), setup = World::start)]
fn list(world: World) -> World {
    world.lists(LISTS);
    world
}

library_benchmark_group!(name = growth, benchmarks = [call, list]);
main!(
    config = LibraryBenchmarkConfig::default().tool(Callgrind::with_args(["--cache-sim=no"])),
    library_benchmark_groups = [growth]
);
