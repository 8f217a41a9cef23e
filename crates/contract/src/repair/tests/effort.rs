//! How much is looked at before nothing is applied.

use serde_json::{Map, Value, json};

use super::super::Mode;
use super::{Tool, open};

const TOO_MUCH: &str = "making them valid under version 1 takes more than 256 changes, or too much work";

/// Whether a slip beside so much else is mended, or there is too much to look at.
fn is_mended(schema: &Value, args: &Value) -> bool {
    let tool = Tool::of(&[json!({"properties": {"slip": {"type": "integer"}, "much": schema}})]);
    let repair = tool.simulate(&json!({"slip": "1", "much": args}), Mode::Repair);
    assert!(repair.applied || repair.reason == TOO_MUCH, "{}", repair.reason);
    repair.applied
}

fn members(count: usize) -> Value {
    Value::Object((0..count).map(|at| (format!("m{at}"), json!(true))).collect::<Map<_, _>>())
}

#[test]
fn what_each_part_is_looked_at_for_is_counted() {
    let all = |count: usize, one: Value| json!({"allOf": vec![one; count]});
    let listed = |count: usize| json!({"items": {"enum": (0..count).collect::<Vec<_>>()}});
    let known = |count: usize, names: usize| {
        let mut branches = vec![json!({"minProperties": 1}); count];
        branches.push(json!({"properties": members(names)}));
        json!({"anyOf": branches, "unevaluatedProperties": false})
    };
    let referring = |count: usize| {
        let one = |at| (format!("m{at}"), json!({"allOf": [{}]}));
        json!({"properties": (0..count).map(one).collect::<Map<_, _>>()})
    };
    let patterns = |count: usize| {
        let mut all: Map<String, Value> = (1..count).map(|at| (format!("^x{at}$"), json!({}))).collect();
        all.insert("^m".to_owned(), json!({}));
        json!({"patternProperties": all, "additionalProperties": false})
    };
    for (little, much, args) in [
        // Each schema for each item.
        (all(20, json!({"minItems": 1})), all(150, json!({"minItems": 1})), json!(vec![0; 4000])),
        // Each schema for each member.
        (all(20, json!({"minProperties": 1})), all(150, json!({"minProperties": 1})), members(4000)),
        // Each member of an enumeration for each value.
        (listed(100), listed(6000), json!(vec![5.0; 100])),
        // Each alternative that may know a member, and a look at eight keywords of it.
        (known(12, 4000), known(63, 4000), members(4000)),
        // The schemas in place of one, once for each.
        (referring(2000), referring(4000), members(4000)),
        // Each pattern once, and for each member.
        (patterns(100), patterns(1100), json!({"m0": 0})),
        (patterns(20), patterns(130), members(2000)),
    ] {
        assert!(is_mended(&little, &args), "{little}");
        assert!(!is_mended(&much, &args), "{much}");
    }
}

/// What is looked at are the members of an object, the renames, and what is copied: not one for each of the other.
#[test]
fn a_rename_takes_as_much_as_what_it_moves() {
    let version = |letter: char| {
        let names = (0..300).map(|at| (format!("{letter}{at}"), json!({})));
        json!({"properties": names.collect::<Map<_, _>>()})
    };
    let tool = Tool::of(&[version('a'), version('b')]);
    let tool = (0..300).fold(tool, |tool, at| tool.confirm(2, &format!("a{at}"), &format!("b{at}")));
    let mut args = members(1500);
    args["a0"] = json!(vec![0; 2000]);
    let repair = tool.simulate(&args, Mode::Strict);
    assert!(repair.applied && repair.changes.len() == 1, "{}", repair.reason);
}

/// The bound is reached when it is looked whether there is more to do.
#[test]
fn nothing_is_applied_where_not_all_was_looked_at() {
    let listed = json!({"items": {"enum": (0..6000).collect::<Vec<_>>()}});
    assert!(!is_mended(&listed, &json!(vec![5.0; 50])));
    assert!(is_mended(&listed, &json!(vec![5.0; 10])));
}

/// Each rename makes the arguments look as if they were written for a version before.
#[test]
fn nothing_is_applied_where_too_many_plans_would_follow() {
    let from = ["alpha", "bravo", "charlie", "delta", "echo"];
    let to = ["red", "seven", "up", "spoon", "zebra"];
    let version = |names: &[&str]| {
        open(names.iter().map(|name| ((*name).to_owned(), json!({}))).collect::<Map<_, _>>().into())
    };
    let renamed = |count: usize| {
        // What the arguments hold after so many renames.
        let names = |done: usize| [&to[..done], &from[done..count], &["kept"]].concat();
        let before = (1..count).rev().flat_map(|done| [version(&names(done)), version(&[to[done]])]);
        let tool = Tool::of(&before.chain([version(&names(0)), version(&to)]).collect::<Vec<_>>());
        let tool = (0..count).fold(tool, |tool, at| tool.confirm(2 * (count - at), from[at], to[at]));
        let args: Map<String, Value> = names(0).iter().map(|name| ((*name).to_owned(), json!(1))).collect();
        tool.simulate(&args.into(), Mode::Repair).changes.len()
    };
    assert_eq!([renamed(3), renamed(4), renamed(5)], [3, 4, 0]);
}
