use super::{Decimal, is_exact};

fn equal(a: &str, b: &str) -> bool {
    Decimal::parse(a).unwrap() == Decimal::parse(b).unwrap()
}

#[test]
fn compares_values_and_not_spellings() {
    for (a, b) in [
        ("42", "42.0"),
        ("42", "4.2e1"),
        ("42", "420E-1"),
        ("-0", "0.000e7"),
        ("1e3", "1000"),
        ("0.001", "1e-3"),
    ] {
        assert!(equal(a, b), "{a} {b}");
    }
    for (a, b) in [("42", "-42"), ("42", "42.0000000000000000000001"), ("1", "10"), ("0.1", "0.01")] {
        assert!(!equal(a, b), "{a} {b}");
    }
}

#[test]
fn reads_nothing_but_numbers() {
    for text in
        ["", "-", ".5", "1.", "1e", "1e+", "+1", "0x1", "1_000", "١", " 1", "1 ", "--1", "1e1e1", "1.2.3"]
    {
        assert_eq!(Decimal::parse(text), None, "{text:?}");
    }
}

#[test]
fn gives_whole_values_as_digits() {
    let digits = |text| Decimal::parse(text).unwrap().integer(16);
    assert_eq!(digits("42.0").as_deref(), Some("42"));
    assert_eq!(digits("-4.2e3").as_deref(), Some("-4200"));
    assert_eq!(digits("-0").as_deref(), Some("0"));
    assert_eq!(digits("0.5"), None);
    assert_eq!(digits("1e15").as_deref(), Some("1000000000000000"));
    assert_eq!(digits("1e16"), None);
    assert_eq!(digits("1e9223372036854775807"), None);
}

#[test]
fn a_long_exponent_is_not_taken_for_a_short_one() {
    assert!(!equal("1e99999999999999999999", "1"));
    assert!(!is_exact("0.000001e99999999999999999999"));
}

/// The double is 1424953923781206.25, and both 17-digit neighbours name it.
#[test]
fn both_roundings_of_a_tie_pass() {
    assert!(is_exact("1424953923781206.2") && is_exact("1424953923781206.3"));
    assert!(is_exact("-5e-324") && is_exact("2.0e-3"));
    assert!(!is_exact("1424953923781206.1") && !is_exact("1424953923781206.4"));
    assert!(!is_exact("1424953923781206.25"));
    assert!(!is_exact("3e-324"), "as short as 5e-324 and the same double, but not as near");
}
