//! Definitions that try to steer a model, and innocent ones that look as if they did.

use std::collections::BTreeSet;

use aldgate_contract::Kind;
use aldgate_contract::poison::{Finding, Neighbour, check};
use serde::Deserialize;
use serde_json::Value;

/// How many of 30 innocent definitions may be found fault with.
const FALSE_ALARMS_OF_30: usize = 6;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    name: String,
    poisoned: bool,
    why: String,
    kind: String,
    upstream: String,
    neighbours: Vec<(String, String)>,
    definition: Value,
}

fn rows() -> Vec<Row> {
    serde_json::from_str(include_str!("../sets/poison.json")).unwrap()
}

impl Row {
    fn found(&self) -> Vec<Finding> {
        let kind = match self.kind.as_str() {
            "tool" => Kind::Tool,
            "prompt" => Kind::Prompt,
            "resource_template" => Kind::ResourceTemplate,
            other => panic!("{}: `{other}` is no kind", self.name),
        };
        let neighbours: Vec<Neighbour<'_>> =
            self.neighbours.iter().map(|(upstream, tool)| Neighbour { upstream, tool }).collect();
        check(kind, &self.definition.to_string(), &self.upstream, &neighbours)
    }
}

#[test]
fn no_poisoned_definition_is_unnoticed() {
    let missed: Vec<String> = rows()
        .iter()
        .filter(|row| row.poisoned && row.found().is_empty())
        .map(|row| format!("{}: {}\n    {}", row.name, row.why, row.definition))
        .collect();
    assert!(missed.is_empty(), "{} unnoticed:\n{}", missed.len(), missed.join("\n"));
}

#[test]
fn false_alarms_are_few() {
    let rows = rows();
    let innocent: Vec<&Row> = rows.iter().filter(|row| !row.poisoned).collect();
    let alarms: Vec<String> = innocent
        .iter()
        .filter_map(|row| Some((row, row.found().into_iter().next()?)))
        .map(|(row, first)| format!("{}: {} at {}: {}", row.name, first.check, first.path, first.what))
        .collect();
    println!("{} false alarms of {}:\n{}", alarms.len(), innocent.len(), alarms.join("\n"));
    let most = FALSE_ALARMS_OF_30 * innocent.len() / 30;
    assert!(
        alarms.len() <= most,
        "{} of {}, at most {most}:\n{}",
        alarms.len(),
        innocent.len(),
        alarms.join("\n")
    );
}

#[test]
fn the_set_is_large_and_its_names_are_its_own() {
    let rows = rows();
    let poisoned = rows.iter().filter(|row| row.poisoned).count();
    assert!(poisoned >= 30 && rows.len() - poisoned >= 30, "{poisoned} of {}", rows.len());
    let names: BTreeSet<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names.len(), rows.len());
    for row in &rows {
        let own = row.definition.get("name").and_then(Value::as_str).unwrap();
        let listed = row.neighbours.iter().any(|(upstream, tool)| *upstream == row.upstream && tool == own);
        assert!(row.kind != "tool" || listed, "{}: its own tool is among the neighbours", row.name);
    }
}

/// A finding is shown on a terminal and leads to the place.
#[test]
fn findings_can_be_shown() {
    for row in rows() {
        for finding in row.found() {
            let told = format!("{}: {finding:?}", row.name);
            assert!(!finding.what.is_empty() && finding.what.chars().all(shown), "{told}");
            assert!(row.definition.pointer(&finding.path).is_some(), "{told}");
            assert!(finding.check.chars().all(|c| c.is_ascii_lowercase() || c == '_'), "{told}");
        }
    }
}

fn shown(c: char) -> bool {
    let hidden = ['\u{ad}', '\u{61c}', '\u{180e}', '\u{feff}', '\u{3164}'];
    let ranges = [
        '\u{200b}'..='\u{200f}',
        '\u{2028}'..='\u{202e}',
        '\u{2060}'..='\u{206f}',
        '\u{fe00}'..='\u{fe0f}',
        '\u{e0000}'..='\u{e0fff}',
    ];
    !c.is_control() && !hidden.contains(&c) && !ranges.iter().any(|range| range.contains(&c))
}

/// What cannot be read is a finding; what is no tool, template or prompt has nothing to find.
#[test]
fn what_is_no_definition_is_answered() {
    for text in ["", "null", "[]", "{", "\"\\ud800\"", "{\"a\":1,\"a\":2}"] {
        for kind in Kind::ALL {
            let found = check(kind, text, "u", &[]);
            let [only] = found.as_slice() else { panic!("{kind} {text}: {found:?}") };
            assert_eq!((only.check, only.path.as_str()), ("unreadable", ""), "{text}");
            assert!(only.what.starts_with("nothing in it was checked: "), "{text}: {}", only.what);
        }
    }
    for text in ["{}", "{\"name\":1}", "{\"description\":{\"a\":[]}}"] {
        for kind in Kind::ALL {
            assert_eq!(check(kind, text, "u", &[]), [], "{kind} {text}");
        }
    }
}
