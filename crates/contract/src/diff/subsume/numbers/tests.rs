use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::{Bound, End, Num};

fn number(value: &Value) -> Num {
    Num::of_value(value).expect("a number")
}

/// Each row is two numbers; how they are ordered, and whether the first is shown to be a multiple of the second.
fn check(rows: &[(Value, Value)], expected: &Expect) {
    let row = |(a, b): &(Value, Value)| {
        let (x, y) = (number(a), number(b));
        assert_eq!(x.order(y), y.order(x).reverse());
        format!("{a} {b}: {:?}, {}\n", x.order(y), if x.multiple_of(y) { "multiple" } else { "not shown" })
    };
    expected.assert_eq(&rows.iter().map(row).collect::<String>());
}

#[test]
fn numbers_are_ordered_exactly() {
    check(
        &[
            (json!(1), json!(1.0)),
            (json!(1), json!(2)),
            (json!(1), json!(1.5)),
            (json!(2), json!(1.5)),
            (json!(-1), json!(-1.5)),
            (json!(-2), json!(-1.5)),
            (json!(0.5), json!(0.25)),
            (json!(9_007_199_254_740_993_i64), json!(9_007_199_254_740_992_i64)),
            (json!(u64::MAX), json!(18_446_744_073_709_551_616.0)),
            (json!(1e29), json!(1e30)),
            (json!(1), json!(1e31)),
            (json!(1), json!(-1e31)),
            (json!(1e31), json!(2e31)),
        ],
        &expect![[r#"
            1 1.0: Equal, multiple
            1 2: Less, not shown
            1 1.5: Less, not shown
            2 1.5: Greater, not shown
            -1 -1.5: Greater, not shown
            -2 -1.5: Less, not shown
            0.5 0.25: Greater, not shown
            9007199254740993 9007199254740992: Greater, not shown
            18446744073709551615 1.8446744073709552e+19: Less, not shown
            1e+29 1e+30: Less, not shown
            1 1e+31: Less, not shown
            1 -1e+31: Greater, not shown
            1e+31 2e+31: Less, not shown
        "#]],
    );
}

#[test]
fn multiples_are_those_that_the_validator_sees() {
    check(
        &[
            (json!(6), json!(3)),
            (json!(6), json!(4)),
            (json!(3), json!(6)),
            (json!(9_007_199_254_740_992_i64), json!(2)),
            (json!(9_007_199_254_740_994_i64), json!(2)),
            (json!(9_007_199_254_740_992_i64), json!(9_007_199_254_740_992_i64)),
            (json!(0.5), json!(0.25)),
            (json!(0.25), json!(0.5)),
            (json!(0.75), json!(0.5)),
            (json!(0.1), json!(0.1)),
            (json!(0.3), json!(0.1)),
            (json!(1.5), json!(1)),
            (json!(1), json!(0.5)),
            (json!(3), json!(1.5)),
            (json!(9_007_199_254_740_992_i64), json!(0.5)),
            (json!(9_007_199_254_740_994_i64), json!(0.5)),
            (json!(4_294_967_296.5), json!(0.5)),
            (json!(4_294_967_295.5), json!(0.5)),
            (json!(0.75), json!(0.000_002_861_022_949_218_75)),
            (json!(3), json!(0.75)),
            (json!(3), json!(0.000_000_953_674_316_406_25)),
            (json!(3), json!(0.000_000_476_837_158_203_125)),
            (json!(1e31), json!(1)),
            (json!(6), json!(0)),
            (json!(2), json!(9_007_199_254_740_994_i64)),
            (json!(18_014_398_509_481_984_i64), json!(9_007_199_254_740_992_i64)),
        ],
        &expect![[r#"
            6 3: Greater, multiple
            6 4: Greater, not shown
            3 6: Less, not shown
            9007199254740992 2: Greater, multiple
            9007199254740994 2: Greater, not shown
            9007199254740992 9007199254740992: Equal, multiple
            0.5 0.25: Greater, not shown
            0.25 0.5: Less, not shown
            0.75 0.5: Greater, not shown
            0.1 0.1: Equal, multiple
            0.3 0.1: Greater, not shown
            1.5 1: Greater, not shown
            1 0.5: Greater, multiple
            3 1.5: Greater, not shown
            9007199254740992 0.5: Greater, multiple
            9007199254740994 0.5: Greater, not shown
            4294967296.5 0.5: Greater, not shown
            4294967295.5 0.5: Greater, not shown
            0.75 2.86102294921875e-6: Greater, not shown
            3 0.75: Greater, not shown
            3 9.5367431640625e-7: Greater, multiple
            3 4.76837158203125e-7: Greater, not shown
            1e+31 1: Greater, not shown
            6 0: Greater, not shown
            2 9007199254740994: Less, not shown
            18014398509481984 9007199254740992: Greater, not shown
        "#]],
    );
}

#[test]
fn ends_of_ranges() {
    let ends = [
        json!({"minimum": 1}),
        json!({"exclusiveMinimum": 1}),
        json!({"minimum": 1, "exclusiveMinimum": 1}),
        json!({"minimum": 2, "exclusiveMinimum": 1}),
        json!({"minimum": 0.5}),
        json!({"exclusiveMinimum": 0.5}),
        json!({"minimum": 1e31}),
        json!({"minimum": -1e31}),
        json!({"minimum": "1"}),
        json!({}),
    ];
    let mut table = String::new();
    for schema in &ends {
        let turned = schema.to_string().replace("inimum", "aximum").replace("minimum", "maximum");
        let turned: Value = serde_json::from_str(&turned).expect("JSON");
        let low = Bound::of(schema, End::Low);
        let high = Bound::of(&turned, End::High);
        let whole = (low.map(|end| end.of_whole(End::Low)), high.map(|end| end.of_whole(End::High)));
        let show = |end: Option<Bound>| match end {
            Some(Bound { at, open }) => format!("{at:?}{}", if open { " open" } else { "" }),
            None => "-".to_owned(),
        };
        table += &format!(
            "{schema}: low {}, high {}; whole: low {}, high {}\n",
            show(low),
            show(high),
            show(whole.0),
            show(whole.1)
        );
    }
    expect![[r#"
        {"minimum":1}: low Whole(1), high Whole(1); whole: low Whole(1), high Whole(1)
        {"exclusiveMinimum":1}: low Whole(1) open, high Whole(1) open; whole: low Whole(2), high Whole(0)
        {"minimum":1,"exclusiveMinimum":1}: low Whole(1) open, high Whole(1) open; whole: low Whole(2), high Whole(0)
        {"minimum":2,"exclusiveMinimum":1}: low Whole(2), high Whole(1) open; whole: low Whole(2), high Whole(0)
        {"minimum":0.5}: low Real(0.5), high Real(0.5); whole: low Whole(1), high Whole(0)
        {"exclusiveMinimum":0.5}: low Real(0.5) open, high Real(0.5) open; whole: low Whole(1), high Whole(0)
        {"minimum":1e+31}: low Real(1e31), high Real(1e31); whole: low Real(1e31), high Real(1e31)
        {"minimum":-1e+31}: low Real(-1e31), high Real(-1e31); whole: low Real(-1e31), high Real(-1e31)
        {"minimum":"1"}: low -, high -; whole: low -, high -
        {}: low -, high -; whole: low -, high -
    "#]].assert_eq(&table);
}

#[test]
fn an_end_lies_within_another() {
    let end = |at: i64, open: bool| Bound { at: number(&json!(at)), open };
    let mut table = String::new();
    for (a, b) in [
        (end(1, false), end(1, true)),
        (end(1, true), end(1, true)),
        (end(2, false), end(1, true)),
        (end(1, false), end(1, false)),
    ] {
        table += &format!(
            "{}{} {}{}: low {} {}, high {} {}, empty {} {}\n",
            if a.open { "x" } else { "" },
            if let Num::Whole(at) = a.at { at } else { 0 },
            if b.open { "x" } else { "" },
            if let Num::Whole(at) = b.at { at } else { 0 },
            a.within(b, End::Low),
            b.within(a, End::Low),
            a.within(b, End::High),
            b.within(a, End::High),
            a.above(b),
            b.above(a),
        );
    }
    expect![[r#"
        1 x1: low false true, high false true, empty true true
        x1 x1: low true true, high true true, empty true true
        2 x1: low true false, high false true, empty true false
        1 1: low true true, high true true, empty false false
    "#]]
    .assert_eq(&table);
}

#[test]
fn an_end_at_2_to_the_100th_is_that_of_whole_numbers_too() {
    let beyond = 2f64.powi(100);
    for (at, end) in [(beyond, End::Low), (-beyond, End::High)] {
        let bound = Bound { at: Num::Real(at), open: true };
        assert_eq!(bound.of_whole(end), bound);
    }
}

/// What is shown holds for what the validator takes, however large.
#[test]
fn a_multiple_of_a_multiple_is_none_to_the_validator() {
    let fits = |divisor: f64, value: f64| {
        crate::Validator::of(&json!({"multipleOf": divisor})).expect("a schema").check(&json!(value)).is_ok()
    };
    let (large, small) = (0.75, 0.000_002_861_022_949_218_75);
    assert!(fits(large, 8.030_755_418_172_174e19) && !fits(small, 8.030_755_418_172_174e19));
    for power in 1..=20 {
        for value in [1.0, 3.0, 1e20, 8.030_755_418_172_174e19, 1e300, 1.7e308] {
            let part = 2f64.powi(-power);
            assert!(!fits(1.0, value) || fits(part, value), "{value} {part}");
        }
    }
}
