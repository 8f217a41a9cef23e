use serde_json::{Value, json};

use super::{Shape, holds_words, pairs};

/// Pairs as `old-new`, nothing where one has no other.
fn paired(old: &[Value], new: &[Value], in_order: bool) -> String {
    let (old, new): (Vec<&Value>, Vec<&Value>) = (old.iter().collect(), new.iter().collect());
    let shown = |value: Option<&Value>| value.map_or_else(String::new, Value::to_string);
    let one = |(old, new): &(Option<&Value>, Option<&Value>)| format!("{}-{}", shown(*old), shown(*new));
    pairs(&old, &new, in_order).iter().map(one).collect::<Vec<_>>().join(" ")
}

#[test]
fn equal_values_are_pairs_and_the_others_in_order() {
    let list = |values: &[u32]| values.iter().map(|value| json!(value)).collect::<Vec<_>>();
    for (old, new, in_order, expected) in [
        (list(&[]), list(&[]), false, ""),
        (list(&[1]), list(&[1]), false, "1-1"),
        (list(&[1]), list(&[2]), false, "1-2"),
        (list(&[1]), list(&[]), false, "1-"),
        (list(&[]), list(&[2]), false, "-2"),
        (list(&[1]), list(&[2, 1]), false, "-2 1-1"),
        (list(&[1, 2]), list(&[2]), false, "1- 2-2"),
        (list(&[1, 2, 3]), list(&[3, 4, 1]), false, "2-4 1-1 3-3"),
        (list(&[1, 2, 3]), list(&[3, 4, 1]), true, "1-3 2-4 3-1"),
        (list(&[1, 1]), list(&[1]), false, "1- 1-1"),
    ] {
        assert_eq!(paired(&old, &new, in_order), expected, "{old:?} {new:?}");
    }
}

#[test]
fn of_many_values_no_equal_ones_are_looked_for() {
    let up: Vec<Value> = (0..65).map(Value::from).collect();
    let down = |count: usize| up.iter().take(count).rev().cloned().collect::<Vec<_>>();
    assert!(paired(&up[..64], &down(64), false).starts_with("0-0 1-1 "));
    assert!(paired(&up[..64], &down(65), false).starts_with("0-64 1-63 "));
}

#[test]
fn words_are_found_wherever_a_keyword_holds_schemas() {
    let (words, none) = (json!({"description": "d"}), json!({"type": "string", "$anchor": "a"}));
    for (shape, value, expected) in [
        (Shape::Schema, words.clone(), true),
        (Shape::Schema, none.clone(), false),
        (Shape::Schema, json!({"items": words}), true),
        (Shape::Schema, json!({"properties": {"description": none}}), false),
        (Shape::Named, json!({"a": none, "b": words}), true),
        (Shape::Mixed, json!({"a": ["description"], "b": words}), true),
        (Shape::Mixed, json!({"a": ["description"]}), false),
        (Shape::List, json!([none, words]), true),
        (Shape::List, json!([none]), false),
        (Shape::Data, words, false),
    ] {
        assert_eq!(holds_words(shape, &value), expected, "{value}");
    }
}
