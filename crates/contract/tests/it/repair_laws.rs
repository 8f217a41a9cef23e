//! Laws of repaired arguments, for tools that evolve as tools do.

use std::collections::BTreeMap;
use std::ops::Range;

use aldgate_contract::Validator;
use aldgate_contract::rename::Confirmed;
use aldgate_contract::repair::{Change, Mode, Repair, Rule, simulate};
use serde_json::value::to_raw_value;
use serde_json::{Map, Value, json};

use crate::stories::{Story, story};

const CASES: u64 = 1500;

fn simulated(story: &Story, args: &Map<String, Value>, mode: Mode) -> Repair {
    simulate(&story.revisions(), args, mode)
}

fn valid(schema: &Value, args: &Map<String, Value>) -> bool {
    let raw = to_raw_value(schema).unwrap();
    Validator::compile(&raw).is_ok_and(|validator| validator.check(&Value::from(args.clone())).is_ok())
}

/// Makes the changes that are listed, one after the other; what was before must be so.
fn replayed(args: &Map<String, Value>, changes: &[Change]) -> Result<Value, String> {
    let mut whole = Value::from(args.clone());
    for change in changes {
        let there = whole.pointer(&change.path).cloned();
        if there != change.before {
            return Err(format!("{change:?}: {there:?} is there in {whole}"));
        }
        match change.rule {
            Rule::Rename => {
                let to = change.to.as_ref().ok_or_else(|| format!("{change:?} leads nowhere"))?;
                let value =
                    taken(&mut whole, &change.path).ok_or_else(|| format!("{change:?}: nothing there"))?;
                put(&mut whole, to, change.after.clone().unwrap_or(value))?;
            }
            Rule::Drop => {
                taken(&mut whole, &change.path).ok_or_else(|| format!("{change:?}: nothing there"))?;
            }
            Rule::Coerce | Rule::MapEnum | Rule::Default => {
                let after = change.after.clone().ok_or_else(|| format!("{change:?}: no value after"))?;
                put(&mut whole, &change.path, after)?;
            }
        }
    }
    Ok(whole)
}

fn split(pointer: &str) -> Option<(&str, String)> {
    let (parent, name) = pointer.rsplit_once('/')?;
    Some((parent, name.replace("~1", "/").replace("~0", "~")))
}

fn taken(whole: &mut Value, pointer: &str) -> Option<Value> {
    let (parent, name) = split(pointer)?;
    match whole.pointer_mut(parent)? {
        Value::Object(members) => members.shift_remove(&name),
        _ => None,
    }
}

fn put(whole: &mut Value, pointer: &str, value: Value) -> Result<(), String> {
    let (parent, name) = split(pointer).ok_or_else(|| format!("`{pointer}` is no place"))?;
    match whole.pointer_mut(parent) {
        Some(Value::Object(members)) => drop(members.insert(name, value)),
        Some(Value::Array(items)) => {
            let place = name.parse().ok().and_then(|place: usize| items.get_mut(place));
            *place.ok_or_else(|| format!("no item at `{pointer}`"))? = value;
        }
        _ => return Err(format!("nothing can be put at `{pointer}`")),
    }
    Ok(())
}

/// A value that can be got back from the other: the same text, but for how a number is written.
fn lossless(before: &Value, after: &Value) -> bool {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number
            .as_f64()
            .filter(|n| n.fract() == 0.0 && n.abs() < 9e15)
            .map_or(number.to_string(), |n| n.to_string()),
        other => other.to_string(),
    };
    let wrapped =
        |one: &Value, other: &Value| one.as_array().is_some_and(|items| items == std::slice::from_ref(other));
    text(before) == text(after) || wrapped(before, after) || wrapped(after, before)
}

fn well_told(repair: &Repair, told: &str) {
    assert!(!repair.reason.is_empty() && !repair.reason.ends_with('.'), "{told}\n{repair:#?}");
    for change in &repair.changes {
        assert!((0.0..=1.0).contains(&change.confidence), "{told}\n{change:?}");
        assert_eq!(change.to.is_some(), change.rule == Rule::Rename, "{told}\n{change:?}");
        if let (Rule::Coerce, Some(before), Some(after)) = (change.rule, &change.before, &change.after) {
            assert!(lossless(before, after), "{told}\n{change:?}");
        }
    }
}

fn holds(story: &Story, seed: u64, applied: &mut BTreeMap<Rule, u32>) -> bool {
    let args = &story.args;
    let told = format!(
        "seed {seed}\nargs {}\n{}",
        Value::from(args.clone()),
        story.told.iter().map(|(d, c)| format!("{} {c:?}", d["inputSchema"])).collect::<Vec<_>>().join("\n")
    );
    let [observed, repaired, strict] =
        [Mode::Observe, Mode::Repair, Mode::Strict].map(|mode| simulated(story, args, mode));
    for repair in [&observed, &repaired, &strict] {
        well_told(repair, &told);
        assert_eq!(repair.valid, valid(story.current(), &repair.args), "{told}\n{repair:#?}");
        let made =
            replayed(args, &repair.changes).unwrap_or_else(|fault| panic!("{told}\n{fault}\n{repair:#?}"));
        if repair.applied {
            assert!(valid(story.current(), &repair.args), "applied and not valid: {told}\n{repair:#?}");
            assert!(
                repair.args != *args && !repair.changes.is_empty(),
                "applied and not changed: {told}\n{repair:#?}"
            );
            assert_eq!(
                made,
                Value::from(repair.args.clone()),
                "not what the changes make: {told}\n{repair:#?}"
            );
        } else {
            assert_eq!(repair.args, *args, "not applied and changed: {told}\n{repair:#?}");
        }
    }
    assert!(!observed.applied, "observed and applied: {told}");
    assert_eq!(observed.changes, repaired.changes, "observed something else: {told}");
    for mode in [Mode::Repair, Mode::Strict] {
        let once = if mode == Mode::Repair { &repaired } else { &strict };
        if once.applied {
            let again = simulated(story, &once.args, mode);
            assert!(
                !again.applied && again.args == once.args,
                "repaired twice: {told}\n{once:#?}\n{again:#?}"
            );
            assert!(again.changes.is_empty(), "lists changes of what is repaired: {told}\n{again:#?}");
        }
    }
    for change in &strict.changes {
        assert!(matches!(change.rule, Rule::Rename | Rule::Coerce), "{told}\n{change:?}");
        let same = |other: &&Change| {
            (other.rule, &other.path, &other.to, &other.after)
                == (change.rule, &change.path, &change.to, &change.after)
        };
        assert!(
            repaired.changes.iter().any(|other| same(&other)),
            "strict alone: {told}\n{change:?}\n{repaired:#?}"
        );
        let sure = (change.confidence - 1.0).abs() < f64::EPSILON;
        assert!(change.rule == Rule::Coerce || sure, "{told}\n{change:?}");
    }
    assert!(
        !strict.applied || repaired.applied,
        "strict repairs what repair does not: {told}\n{strict:#?}\n{repaired:#?}"
    );
    for change in repaired.changes.iter().filter(|_| repaired.applied) {
        *applied.entry(change.rule).or_default() += 1;
    }
    repaired.applied
}

/// The seeds of the stories: the first ones, or those of `ALDGATE_REPAIR_SEEDS`, such as `100000..200000`.
fn seeds() -> Range<u64> {
    let Ok(seeds) = std::env::var("ALDGATE_REPAIR_SEEDS") else { return 0..CASES };
    let (from, to) = seeds.split_once("..").expect("two numbers");
    from.parse().expect("a number")..to.parse().expect("a number")
}

#[test]
fn the_laws_hold_for_tools_that_evolve() {
    let mut by_rule = BTreeMap::new();
    let cases = seeds().count();
    let applied = seeds().filter(|seed| holds(&story(*seed), *seed, &mut by_rule)).count();
    println!("{applied} of {cases} applied; changes by rule: {by_rule:?}");
    assert!(applied >= cases / 10, "only {applied} of {cases} were applied");
    for rule in [Rule::Rename, Rule::Coerce, Rule::MapEnum, Rule::Default, Rule::Drop] {
        assert!(by_rule.get(&rule).is_some_and(|count| *count >= 10), "{rule:?} is hardly used: {by_rule:?}");
    }
}

/// Nothing that is valid already, under a tool that never changed, is touched.
#[test]
fn a_tool_that_never_changed_needs_no_repair() {
    let mut asked = 0;
    for seed in 0..CASES {
        let mut story = story(seed);
        story.told.truncate(1);
        if valid(story.current(), &story.args) {
            asked += 1;
            let found = simulated(&story, &story.args, Mode::Repair);
            assert!(
                !found.applied && found.changes.is_empty() && found.args == story.args,
                "seed {seed}\n{found:#?}"
            );
        }
    }
    assert!(asked > 300, "{asked}");
}

#[test]
fn without_a_contract_nothing_is_changed() {
    for seed in 0..50 {
        let args = story(seed).args;
        for mode in [Mode::Observe, Mode::Repair, Mode::Strict] {
            let found = simulate(&[], &args, mode);
            assert!(
                !found.applied && found.changes.is_empty() && found.args == args && !found.reason.is_empty()
            );
        }
    }
}

/// Whatever a definition and arguments are, they are answered, and the first two laws hold.
#[test]
fn what_is_no_schema_is_answered() {
    let odd = [
        json!(null),
        json!([]),
        json!({"inputSchema": 5}),
        json!({"inputSchema": {"type": 5, "properties": [], "required": "a"}}),
        json!({"inputSchema": {"$ref": "#"}}),
        json!({"inputSchema": {"properties": {"a": {"$ref": "#/properties/a"}}}}),
        json!({"inputSchema": {"properties": {"a": {"$ref": "https://a.example/b"}}, "additionalProperties": false}}),
        json!({"inputSchema": {"properties": {"": {"properties": {"~/": {"type": "integer"}}}}}}),
        json!({"inputSchema": {"properties": {"a~b/c": {"type": "integer"}}, "additionalProperties": false}}),
        json!({"inputSchema": {"type": "object", "required": ["a"], "properties": {"a": {"default": {"a": []}}}}}),
        json!({"inputSchema": false}),
    ];
    let mut deep = json!("1");
    for _ in 0..60 {
        deep = json!({"a": [deep]});
    }
    let args = [
        json!({}),
        json!({"a": "1", "": {"~/": "2"}, "a~b/c": "3"}),
        json!({"a": deep, "b": null}),
        json!({"a": [[[]]], "inputSchema": {"a": 1e300}}),
    ];
    for before in &odd {
        for after in &odd {
            for args in &args {
                let told = vec![
                    (before.clone(), vec![Confirmed { from: "a".to_owned(), to: "a".to_owned() }]),
                    (after.clone(), vec![Confirmed { from: "a/*/b".to_owned(), to: String::new() }]),
                ];
                let args = args.as_object().unwrap();
                for mode in [Mode::Observe, Mode::Repair, Mode::Strict] {
                    let story = Story { told: told.clone(), args: args.clone() };
                    let found = simulated(&story, args, mode);
                    let told = format!("{before}\n{after}\n{}\n{found:#?}", Value::from(args.clone()));
                    match found.applied {
                        true => assert!(found.args != *args && valid(story.current(), &found.args), "{told}"),
                        false => assert_eq!(found.args, *args, "{told}"),
                    }
                }
            }
        }
    }
}
