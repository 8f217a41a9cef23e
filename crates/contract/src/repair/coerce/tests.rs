use serde_json::{Value, json};

use super::{fits_alone, is_of, lossless};
use crate::rename::{ARRAY, BOOLEAN, INTEGER, NUMBER, STRING};

#[test]
fn the_same_value_in_another_type() {
    for (value, types, expected) in [
        (json!("true"), BOOLEAN, Some(json!(true))),
        (json!("false"), BOOLEAN, Some(json!(false))),
        (json!("False"), BOOLEAN, None),
        (json!(true), STRING, Some(json!("true"))),
        (json!("12"), INTEGER, Some(json!(12))),
        (json!("12"), INTEGER | NUMBER, Some(json!(12))),
        (json!("-12"), INTEGER, Some(json!(-12))),
        (json!("+12"), INTEGER, None),
        (json!("012"), INTEGER, None),
        (json!("18446744073709551615"), INTEGER, Some(json!(18_446_744_073_709_551_615_u64))),
        (json!("18446744073709551616"), INTEGER, None),
        (json!("1.5"), NUMBER, Some(json!(1.5))),
        (json!("1.5"), INTEGER, None),
        (json!("1.50"), NUMBER, None),
        (json!("1e3"), NUMBER, None),
        (json!(12), STRING, Some(json!("12"))),
        (json!(1.5), STRING, Some(json!("1.5"))),
        (json!(1e15 + 0.5), STRING, None),
        (json!(3.0), INTEGER, Some(json!(3))),
        (json!(3.5), INTEGER, None),
        (json!(-0.0), INTEGER, None),
        (json!(9_007_199_254_740_992.0), INTEGER, Some(json!(9_007_199_254_740_992_i64))),
        (json!(9_007_199_254_740_994.0), INTEGER, None),
        (json!("true"), BOOLEAN | INTEGER, Some(json!(true))),
        (json!(3.0), INTEGER | STRING, Some(json!(3))),
        (json!("3"), INTEGER | NUMBER, Some(json!(3))),
        (json!(1.5), STRING | BOOLEAN, Some(json!("1.5"))),
        (json!(null), STRING, None),
        (json!("a"), 0, None),
    ] {
        assert_eq!(lossless(&value, types), expected, "{value} as {types}");
    }
}

#[test]
fn an_integer_is_a_number_and_not_the_other_way_round() {
    assert!(is_of(&json!(3), NUMBER) && is_of(&json!(3), INTEGER) && is_of(&json!(3.5), NUMBER));
    assert!(!is_of(&json!(3.0), INTEGER) && !is_of(&json!("3"), NUMBER) && !is_of(&json!(3), STRING));
}

#[test]
fn what_may_become_the_only_item_of_an_array() {
    let fits: [(Value, Option<_>, bool); 10] = [
        (json!(1), None, true),
        (json!({"a": 1}), None, true),
        (json!(null), None, false),
        (json!([1]), None, false),
        (json!(1), Some(INTEGER), true),
        (json!("1"), Some(INTEGER), true),
        (json!("a"), Some(INTEGER), false),
        (json!(1), Some(INTEGER | ARRAY), false),
        (json!("a"), Some(ARRAY), false),
        (json!([1]), Some(INTEGER), false),
    ];
    for (value, items, expected) in fits {
        assert_eq!(fits_alone(&value, items), expected, "{value} among {items:?}");
    }
}
