//! What holds for any history of a contract and any arguments.

use std::collections::HashSet;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use super::super::{Change, Mode, Rule};
use super::Tool;
use super::histories::history;
use crate::Validator;
use crate::rename::of_properties;

/// Makes changes one after the other, as somebody would who has the list alone.
fn replay(args: &Value, changes: &[Change]) -> Value {
    let mut args = args.clone();
    for change in changes {
        let split = |path: &str| {
            let (around, name) = path.rsplit_once('/').expect("a member");
            (around.to_owned(), name.replace("~1", "/").replace("~0", "~"))
        };
        assert_eq!(args.pointer(&change.path), change.before.as_ref(), "{change:?} of {args}");
        match change.rule {
            Rule::Coerce | Rule::MapEnum => {
                *args.pointer_mut(&change.path).expect("there") = change.after.clone().expect("a value");
            }
            Rule::Drop | Rule::Rename => {
                let (around, name) = split(&change.path);
                args.pointer_mut(&around)
                    .expect("there")
                    .as_object_mut()
                    .expect("an object")
                    .shift_remove(&name);
            }
            Rule::Default => {}
        }
        let target = match change.rule {
            Rule::Rename => change.to.clone(),
            Rule::Default => Some(change.path.clone()),
            _ => None,
        };
        if let Some(target) = target {
            assert_eq!(args.pointer(&target), None, "nothing is overwritten by {change:?}");
            let mut at = &mut args;
            let (around, name) = split(&target);
            for step in around.split('/').skip(1) {
                let step = step.replace("~1", "/").replace("~0", "~");
                at = match at {
                    Value::Array(items) => &mut items[step.parse::<usize>().expect("an index")],
                    other => {
                        other.as_object_mut().expect("an object").entry(step).or_insert_with(|| json!({}))
                    }
                };
            }
            at.as_object_mut().expect("an object").insert(name, change.after.clone().expect("a value"));
        }
    }
    args
}

fn is_valid(tool: &Tool, args: &Value) -> bool {
    let schema = &tool.definitions.last().expect("one")["inputSchema"];
    Validator::of(schema).is_ok_and(|validator| validator.check(args).is_ok())
}

fn kinds(changes: &[Change]) -> HashSet<(Rule, String)> {
    changes.iter().map(|change| (change.rule, change.path.clone())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_repair_is_valid_told_in_full_and_final((tool, args) in history()) {
        for mode in [Mode::Repair, Mode::Strict] {
            let repair = tool.simulate(&args, mode);
            let result = Value::Object(repair.args.clone());
            let changed = replay(&args, &repair.changes);
            if repair.applied {
                prop_assert!(is_valid(&tool, &result), "{}", repair.reason);
                prop_assert_ne!(&result.to_string(), &args.to_string());
                prop_assert_eq!(&changed, &result);
                let again = tool.simulate(&result, mode);
                prop_assert!(!again.applied && again.changes.is_empty(), "{}: {:?}", again.reason, again.changes);
            } else {
                prop_assert_eq!(&result, &args);
                prop_assert!(repair.changes.is_empty() || !is_valid(&tool, &changed), "{}", repair.reason);
            }
            prop_assert!(!repair.reason.is_empty() && !repair.reason.ends_with('.'));
        }
    }

    #[test]
    fn strict_changes_nothing_that_a_repair_does_not((tool, args) in history()) {
        let (repair, strict) = (tool.simulate(&args, Mode::Repair), tool.simulate(&args, Mode::Strict));
        prop_assert!(kinds(&strict.changes).is_subset(&kinds(&repair.changes)));
        let plain = strict.changes.iter().all(|one| one.rule == Rule::Coerce || (one.rule == Rule::Rename && one.confidence >= 1.0));
        prop_assert!(plain, "{:?}", strict.changes);
    }

    #[test]
    fn observing_lists_what_a_repair_changes((tool, args) in history()) {
        let (repair, observed) = (tool.simulate(&args, Mode::Repair), tool.simulate(&args, Mode::Observe));
        prop_assert_eq!(observed.changes, repair.changes);
        prop_assert!(!observed.applied);
        prop_assert_eq!(Value::Object(observed.args), args);
    }

    #[test]
    fn candidates_are_one_to_one_and_never_certain((tool, _args) in history()) {
        let schema = |at: usize| &tool.definitions[at.min(tool.definitions.len() - 1)]["inputSchema"];
        let found = of_properties(schema(0), schema(9), &tool.confirmed.concat());
        let from: HashSet<&str> = found.iter().map(|one| one.from.as_str()).collect();
        let to: HashSet<&str> = found.iter().map(|one| one.to.as_str()).collect();
        prop_assert!(from.len() == found.len() && to.len() == found.len());
        prop_assert!(found.is_sorted_by(|a, b| a.confidence >= b.confidence));
        for one in found {
            prop_assert_eq!(one.identity_confirmed, one.confidence >= 1.0);
            prop_assert!((0.0..=1.0).contains(&one.confidence));
        }
    }
}

#[test]
fn the_laws_are_about_something() {
    let mut runner = TestRunner::deterministic();
    let mut applied = [0; 2];
    let mut rules = HashSet::new();
    for _ in 0..200 {
        let (tool, args) = history().new_tree(&mut runner).expect("a history").current();
        for (at, mode) in [Mode::Repair, Mode::Strict].into_iter().enumerate() {
            let repair = tool.simulate(&args, mode);
            if repair.applied {
                applied[at] += 1;
                rules.extend(repair.changes.iter().map(|change| change.rule));
            }
        }
    }
    assert!(applied[0] >= 40 && applied[1] >= 10 && rules.len() == 5, "{applied:?} {rules:?}");
}
