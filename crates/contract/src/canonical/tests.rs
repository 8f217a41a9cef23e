use serde_json::Value;

use super::{CanonicalFault, canonical, fingerprint, form, same_value, whole};

macro_rules! vector {
    ($name:literal) => {
        (
            $name,
            include_str!(concat!("../../tests/vectors/input/", $name, ".json")),
            include_str!(concat!("../../tests/vectors/output/", $name, ".json")),
        )
    };
}

#[test]
fn official_vectors() {
    for (name, input, output) in [
        vector!("arrays"),
        vector!("french"),
        vector!("structures"),
        vector!("unicode"),
        vector!("values"),
        vector!("weird"),
    ] {
        let value: Value = serde_json::from_str(input).unwrap();
        assert_eq!(form(&value).unwrap(), output, "{name}");
    }
}

/// RFC 8785 §3.2.2 and §3.2.3. The first holds a number that is not the shortest for its double, so it has a canonical
/// form, but a contract may not hold it.
#[test]
fn examples_of_the_rfc() {
    let example = r#"{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}"#;
    let expected = r#"{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}"#;
    assert_eq!(form(&serde_json::from_str::<Value>(example).unwrap()).unwrap(), expected);
    assert!(matches!(canonical(example), Err(CanonicalFault::Ambiguous(_))));

    let sorting = r#"{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One","\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}"#;
    let canonical = canonical(sorting).unwrap();
    let places: Vec<usize> = ["Carriage", "One", "Control", "Latin", "Euro", "Emoji", "Hebrew"]
        .iter()
        .map(|word| canonical.find(word).unwrap())
        .collect();
    assert!(places.is_sorted(), "sorted by UTF-16 code units: {canonical}");
}

/// RFC 8785, appendix B.
#[test]
fn number_table_of_the_rfc() {
    for (bits, expected) in [
        (0x0000_0000_0000_0000, "0"),
        (0x8000_0000_0000_0000, "0"),
        (0x0000_0000_0000_0001, "5e-324"),
        (0x8000_0000_0000_0001, "-5e-324"),
        (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
        (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
        (0x4340_0000_0000_0000, "9007199254740992"),
        (0xc340_0000_0000_0000, "-9007199254740992"),
        (0x4430_0000_0000_0000, "295147905179352830000"),
        (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
        (0x44b5_2d02_c7e1_4af6, "1e+23"),
        (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
        (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
        (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
        (0x444b_1ae4_d6e2_ef50, "1e+21"),
        (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
        (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
        (0x41b3_de43_5555_5553, "333333333.3333332"),
        (0x41b3_de43_5555_5554, "333333333.33333325"),
        (0x41b3_de43_5555_5555, "333333333.3333333"),
        (0x41b3_de43_5555_5556, "333333333.3333334"),
        (0x41b3_de43_5555_5557, "333333333.33333343"),
        (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
        (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
    ] {
        let number = f64::from_bits(bits);
        assert_eq!(form(&Value::from(number)).unwrap(), expected);
        // The shortest spelling of a double always passes the guard.
        assert_eq!(canonical(&format!("{{\"n\":{number:e}}}")).unwrap(), format!("{{\"n\":{expected}}}"));
        assert_eq!(canonical(&format!("{{\"n\":{expected}}}")).unwrap(), format!("{{\"n\":{expected}}}"));
    }
}

#[test]
fn spelling_changes_the_raw_digest_alone() {
    let one = fingerprint(r#"{"name":"t","n":1.0,"s":"\u00e9"}"#).unwrap();
    for other in [r#"{"n":1,"name":"t","s":"é"}"#, r#"{ "name" : "t", "n":1e0, "s":"é" }"#] {
        let other = fingerprint(other).unwrap();
        assert_eq!(one.jcs, other.jcs);
        assert_ne!(one.raw, other.raw);
    }
}

/// The reason for the raw digest.
#[test]
fn integers_above_2_to_the_53rd_merge_in_the_canonical_form() {
    let (a, b) = (r#"{"n":9007199254740992}"#, r#"{"n":9007199254740993}"#);
    let (one, other) = (fingerprint(a).unwrap(), fingerprint(b).unwrap());
    assert_eq!(one.jcs, other.jcs);
    assert_ne!(one.raw, other.raw);
}

#[test]
fn the_raw_digest_tells_where_the_canonical_form_may_not() {
    for (text, is_told) in [
        (r#"{"n":9007199254740992}"#, true),
        (r#"{"n":-9007199254740992.0,"a":[0.5,1e300,"9007199254740993",null,true]}"#, true),
        (r#"{"n":9007199254740993}"#, false),
        (r#"{"n":-9007199254740993}"#, false),
        (r#"{"n":1e16}"#, false),
        (r#"{"a":[{"b":1},[9007199254740993]]}"#, false),
        (r#"{"a":{"b":{"n":18446744073709551615}}}"#, false),
    ] {
        let found = fingerprint(text).unwrap();
        assert_eq!(found.telling, if is_told { found.jcs } else { found.raw }, "{text}");
    }
}

#[test]
fn whole_numbers_below_2_to_the_100th_are_exact_however_they_are_spelled() {
    for (text, expected) in [
        ("3", Some(3)),
        ("3.0", Some(3)),
        ("-3e2", Some(-300)),
        ("18446744073709551615", Some(18_446_744_073_709_551_615)),
        ("6.338253001141147e29", Some(1_i128 << 99)),
        ("1.2676506002282294e30", None),
        ("-1.2676506002282294e30", None),
        ("0.5", None),
    ] {
        let value: Value = serde_json::from_str(text).unwrap();
        assert_eq!(whole(value.as_number().unwrap()), expected, "{text}");
    }
}

#[test]
fn refuses_what_two_readers_could_read_differently() {
    for text in [
        r#"{"a":1,"\u0061":2}"#,
        r#"{"a":"\ud800"}"#,
        r#"{"a":12345678901234567890123}"#,
        r#"{"a":1e400}"#,
        "{",
        "",
    ] {
        assert!(matches!(canonical(text), Err(CanonicalFault::Ambiguous(_))), "{text}");
    }
    for text in ["[]", "null", "1", "\"a\""] {
        assert!(matches!(canonical(text), Err(CanonicalFault::NotObject)), "{text}");
    }
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(64), "]".repeat(64));
    assert!(matches!(fingerprint(&deep), Err(CanonicalFault::Ambiguous(_))));
}

#[test]
fn values_are_the_same_by_meaning() {
    let same =
        |a: &str, b: &str| same_value(&serde_json::from_str(a).unwrap(), &serde_json::from_str(b).unwrap());
    for (a, b) in [
        ("1", "1.0"),
        ("-0", "0"),
        ("0.1", "1e-1"),
        (r#"{"a":1,"b":[2]}"#, r#"{"b":[2.0],"a":1}"#),
        ("9007199254740992", "9007199254740992.0"),
        ("18446744073709551615", "18446744073709551615"),
        ("1e300", "10e299"),
    ] {
        assert!(same(a, b), "{a} {b}");
    }
    for (a, b) in [
        ("9007199254740992", "9007199254740993"),
        ("9007199254740993", "9007199254740992.0"),
        ("18446744073709551615", "18446744073709551614"),
        ("[1,2]", "[2,1]"),
        ("[1]", "[1,1]"),
        (r#"{"a":1}"#, r#"{"a":1,"b":null}"#),
        (r#"{"a":null}"#, r#"{"b":null}"#),
        ("1", "\"1\""),
        ("0.1", "0.2"),
        ("1e300", "1.1e300"),
        ("true", "1"),
    ] {
        assert!(!same(a, b), "{a} {b}");
    }
}
