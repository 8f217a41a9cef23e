//! The example of `docs/repair.md` is what comes out.

use serde_json::Value;

use super::super::Mode;
use super::Tool;

/// The JSON blocks of the document, in order.
fn blocks() -> Vec<Value> {
    let document = include_str!("../../../../../docs/repair.md");
    let texts = document.split("```json\n").skip(1).map(|rest| rest.split("```").next().expect("closed"));
    texts.map(|text| serde_json::from_str(text).expect("JSON")).collect()
}

#[test]
fn the_worked_example_is_real() {
    let [first, second, args, repaired, strict] = blocks().try_into().expect("five blocks");
    let tool = Tool::of(&[first, second]);
    for (mode, expected) in [(Mode::Repair, repaired), (Mode::Strict, strict)] {
        let found = serde_json::to_value(tool.simulate(&args, mode)).expect("JSON");
        assert_eq!(found, expected, "{found:#}");
    }
}
