mod places;
mod tools;

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{Rename, THRESHOLD, of_properties};

/// The schema that lines of an evolution describe, one property a line: `name[!] type [{more}] [description]`, `!` where it
/// is required.
fn schema(lines: &[&str]) -> Value {
    let (mut properties, mut required) = (serde_json::Map::new(), Vec::new());
    for line in lines {
        let (name, rest) = line.split_once(' ').expect("a name and a type");
        let (kind, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        let end = if rest.starts_with('{') { rest.rfind('}').expect("closed") + 1 } else { 0 };
        let (more, description) = rest.split_at(end);
        let mut property = json!({"type": kind});
        if !more.is_empty() {
            let more: serde_json::Map<String, Value> = serde_json::from_str(more).expect("JSON");
            property.as_object_mut().expect("an object").extend(more);
        }
        if !description.trim().is_empty() {
            property["description"] = description.trim().into();
        }
        if let Some(name) = name.strip_suffix('!') {
            required.push(name);
        }
        properties.insert(name.trim_end_matches('!').to_owned(), property);
    }
    json!({"type": "object", "properties": properties, "required": required})
}

fn lines(renames: &[Rename]) -> String {
    let mut text = String::new();
    for Rename { from, to, confidence, identity_confirmed } in renames {
        let sure = if *identity_confirmed { " confirmed" } else { "" };
        writeln!(text, "{from}={to} {confidence}{sure}").expect("written");
    }
    text
}

/// Right, wrong and missed renames of evolutions at the threshold, and what went wrong. Of each, `#` is before what
/// happened, `-` before properties of the old schema, `+` of the new one, `=` before a rename that a careful person sees.
fn judge(evolutions: &str) -> (usize, usize, usize, String) {
    let (mut right, mut wrong, mut missed, mut told) = (0, 0, 0, String::new());
    for evolution in evolutions.split("\n\n") {
        let marked = |mark: &str| -> Vec<&str> {
            evolution.lines().filter_map(|line| line.strip_prefix(mark)?.strip_prefix(' ')).collect()
        };
        let found = of_properties(&schema(&marked("-")), &schema(&marked("+")), &[]);
        let expected = marked("=");
        let sure = found.iter().filter(|one| one.confidence >= THRESHOLD);
        let taken: Vec<String> = sure.map(|one| format!("{}={}", one.from, one.to)).collect();
        let hits = taken.iter().filter(|pair| expected.contains(&pair.as_str())).count();
        right += hits;
        wrong += taken.len() - hits;
        missed += expected.len() - hits;
        if taken.len() != hits || expected.len() != hits {
            writeln!(told, "{}: {}", marked("#").concat(), lines(&found).replace('\n', "; "))
                .expect("written");
        }
    }
    (right, wrong, missed, told)
}

#[test]
fn renames_are_found() {
    let (right, wrong, missed, told) = judge(include_str!("tests/evolutions/renamed.txt"));
    assert_eq!((right, wrong, missed, told.as_str()), (48, 0, 0, ""));
}

#[test]
fn what_is_no_rename_stays_below_the_threshold() {
    let (right, wrong, missed, told) = judge(include_str!("tests/evolutions/unrelated.txt"));
    assert_eq!((right, wrong, missed, told.as_str()), (0, 0, 0, ""));
}

#[test]
fn further_renames_are_found_or_missed_but_not_wrong() {
    let (right, wrong, missed, told) = judge(include_str!("tests/evolutions/further.txt"));
    assert_eq!((right, wrong, missed), (106, 0, 21), "{told}");
}
