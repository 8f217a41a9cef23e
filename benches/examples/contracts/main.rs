//! What contracts cost, for `make bench`: `contracts ROUNDS TOOLS` prints it on standard output, as JSON.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a benchmark that cannot go on has nothing to report"
)]

mod comparison;
mod definitions;
mod lists;
mod spent;
mod steps;

use serde_json::json;

fn main() {
    let mut numbers =
        std::env::args().skip(1).map(|text| text.parse().expect("ROUNDS and TOOLS are numbers"));
    let (rounds, tools) = numbers.next().zip(numbers.next()).expect("the arguments are ROUNDS and TOOLS");
    let definitions = definitions::all();
    let bytes: usize = definitions.iter().map(|one| one.text.len()).sum();
    let found = json!({
        "definitions": definitions.len(),
        "definition_bytes": bytes / definitions.len(),
        "tools": tools,
        "list_bytes": definitions.iter().cycle().take(tools).map(|one| one.text.len()).sum::<usize>(),
        "steps_us": steps::measure(&definitions, rounds),
        "lists_ms": lists::measure(&definitions, rounds, tools),
        "comparison_ms": comparison::measure(rounds, tools),
    });
    println!("{found}");
}
