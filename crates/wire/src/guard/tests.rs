use expect_test::{Expect, expect};

use super::{GuardFault, Limits, check, check_shape};

fn strict(text: impl AsRef<[u8]>) -> Result<(), GuardFault> {
    check(text.as_ref(), &Limits::default())
}

fn refuses(text: impl AsRef<[u8]>, expected: Expect) {
    expected.assert_eq(&strict(text).unwrap_err().to_string());
}

#[test]
fn takes_json_as_rfc_8259_defines_it() {
    for text in [
        "null",
        " [ ] ",
        "{}",
        "\t{\"a\" :\r\n1}",
        r#"{"a":{"a":{"a":[{"a":1},{"a":2}]}}}"#,
        r#""\"\\\/\b\f\n\r\t\u00e9\uD834\uDD1E""#,
        "\"\u{7f}\u{feff}𝄞\"",
        "[0,-0,-1,1.5e-3,1E+2,0.0,true,false,null]",
        r#"{"":1,"\u0000":2," ":3}"#,
    ] {
        assert_eq!(strict(text), Ok(()), "{text}");
    }
}

#[test]
fn refuses_what_is_not_json() {
    for (text, at) in [
        ("", 0),
        (" ", 1),
        ("nul", 0),
        ("True", 0),
        ("NaN", 0),
        ("'a'", 0),
        ("[1,]", 3),
        ("[,1]", 1),
        ("[1 2]", 3),
        ("[1", 2),
        ("]", 0),
        ("[1}", 2),
        ("{\"a\":1]", 6),
        ("{\"a\"}", 4),
        ("{\"a\":}", 5),
        ("{\"a\":1,}", 7),
        ("{a:1}", 1),
        ("{1:1}", 1),
        ("+1", 0),
        (".5", 0),
        ("-", 1),
        ("1.", 2),
        ("1.e1", 2),
        ("1e", 2),
        ("1e+", 3),
        ("\"a", 2),
        ("\"a\\", 3),
        ("\"\\x\"", 2),
        ("\"\\u12\"", 3),
        ("\"\\u12g4\"", 3),
        ("\"\\u+123\"", 3),
        ("\"\\uD834\\u12", 9),
        ("\"tab\there\"", 4),
        ("\"line\nfeed\"", 5),
        ("// no\n1", 0),
    ] {
        let found = strict(text).unwrap_err();
        assert!(matches!(found, GuardFault::Syntax { .. }), "{text:?}: {found:?}");
        assert_eq!(found.at(), Some(at), "{text:?}: {found}");
    }
    for (text, at) in [("1 1", 2), ("{}{}", 2), ("01", 1), ("-01", 2), ("1x", 1), ("null\0", 4)] {
        assert_eq!(strict(text), Err(GuardFault::TrailingData { at }), "{text:?}");
    }
}

#[test]
fn says_where_and_what_to_do() {
    refuses("{\"a\":1 \"b\":2}", expect!["not JSON: expected `,` or `}` at byte 7"]);
    refuses("{} {}", expect!["expected nothing more at byte 3; send one JSON value"]);
    refuses(b"\"\xff\"", expect!["the JSON is not UTF-8 at byte 1; encode it as UTF-8"]);
    refuses(
        "\u{feff}{}",
        expect!["the JSON begins with a byte order mark, which JSON does not allow; leave it out"],
    );
    refuses(
        "{\"amount\":12345678901234567890123}",
        expect![
            "the number `12345678901234567890123` at byte 10 is not exact in 64 bits; send it as a string, or with fewer digits"
        ],
    );
    refuses(
        r#"{"a":1,"\u0061":2}"#,
        expect!["the key `a` at byte 7 repeats one of the same object; send each key once"],
    );
    refuses(
        r#""\ud800""#,
        expect!["the escape at byte 1 is half of a surrogate pair; send both halves or the character itself"],
    );
}

#[test]
fn refuses_bytes_that_are_not_utf8() {
    for bytes in [&b"\"\xc3\""[..], b"\"\xed\xa0\x80\"", b"\"\xc0\x80\"", b"\"\xf5\x80\x80\x80\""] {
        assert!(matches!(strict(bytes), Err(GuardFault::NotUtf8 { at: 1 })), "{bytes:?}");
    }
    assert_eq!(strict(b"\xEF\xBB\xBF{}"), Err(GuardFault::ByteOrderMark));
    assert!(strict(b"\xFF\xFE{\0}\0").is_err());
}

#[test]
fn finds_keys_that_are_equal_after_unescaping() {
    for text in [
        r#"{"a":1,"a":1}"#,
        r#"{"a":1,"b":2,"\u0061":3}"#,
        r#"{"\u0061":1,"a":3}"#,
        r#"{"é":1,"\u00e9":1}"#,
        r#"{"\uD834\uDD1E":1,"𝄞":1}"#,
        r#"{"\/":1,"/":1}"#,
        r#"{"":1,"":1}"#,
        r#"[[{"x":{"a":1,"a":{}}}]]"#,
        r#"{"x":{"a":1},"y":2,"x":3}"#,
    ] {
        assert!(matches!(strict(text), Err(GuardFault::DuplicateKey { .. })), "{text}");
    }
    for text in [r#"{"a":1,"A":2}"#, r#"{"a":{"a":1},"b":{"a":1}}"#, r#"{"e\u0301":1,"\u00e9":2}"#] {
        assert_eq!(strict(text), Ok(()), "{text}");
    }
    // The earliest repetition is named, not the alphabetically first.
    let fault = strict(r#"{"z":1,"z":2,"a":3,"a":4}"#);
    assert_eq!(fault, Err(GuardFault::DuplicateKey { key: "z".to_owned(), at: 7 }));
}

#[test]
fn finds_half_surrogate_pairs_in_keys_and_values() {
    for text in [
        r#""\uD800""#,
        r#""\uDC00""#,
        r#""\uDC00\uD800""#,
        r#""\uD800\uD800""#,
        r#""\uD800x""#,
        r#""\uD800\n""#,
        r#""\uD800\u0041""#,
        r#"{"\udfff":1}"#,
        r#"[{"a":["\uDBFF"]}]"#,
    ] {
        assert!(matches!(strict(text), Err(GuardFault::LoneSurrogate { .. })), "{text}");
    }
    assert_eq!(strict(r#""\uDBFF\uDFFF""#), Ok(()));
}

#[test]
fn takes_only_numbers_that_every_reader_reads_alike() {
    for text in [
        "0",
        "-0",
        "-0.0",
        "0e999999999999999999999",
        "0.1",
        "1.10",
        "1E5",
        "100.00e-2",
        "9007199254740993",
        "9223372036854775807",
        "-9223372036854775808",
        "18446744073709551615",
        "1e23",
        "1.7976931348623157e308",
        "5e-324",
        "2.2250738585072014e-308",
        "123456789012345680000",
    ] {
        assert_eq!(strict(text), Ok(()), "{text}");
    }
    for text in [
        "12345678901234567890123",
        "18446744073709551616",
        "-9223372036854775809",
        "9007199254740993.0",
        "9007199254740993e0",
        "0.1000000000000000055511151231257827",
        "1e400",
        "-1e400",
        "1e-400",
        "1e99999999999999999999",
        "1e-99999999999999999999",
        "1.7976931348623159e308",
        "4.9e-324",
    ] {
        assert!(matches!(strict(text), Err(GuardFault::InexactNumber { at: 0, .. })), "{text}");
    }
}

#[test]
fn counts_depth_and_size_exactly() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert_eq!(strict(nested(64)), Ok(()));
    assert_eq!(strict(nested(65)), Err(GuardFault::TooDeep { at: 64, limit: 64 }));
    let objects = |depth: usize| format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
    assert_eq!(strict(objects(64)), Ok(()));
    assert_eq!(strict(objects(65)), Err(GuardFault::TooDeep { at: 320, limit: 64 }));
    // Depth is nesting, not the number of containers.
    assert_eq!(strict(format!("[{}[]]", "[],".repeat(5000))), Ok(()));

    let limits = Limits { max_bytes: 4, max_depth: 1 };
    assert_eq!(check(b"null", &limits), Ok(()));
    assert_eq!(check(b" null", &limits), Err(GuardFault::TooLarge { found: 5, limit: 4 }));
    assert_eq!(check(b"1", &Limits { max_bytes: 1, max_depth: 0 }), Ok(()));
    assert!(matches!(check(b"[]", &Limits { max_bytes: 9, max_depth: 0 }), Err(GuardFault::TooDeep { .. })));
}

#[test]
fn a_million_brackets_do_not_exhaust_the_stack() {
    let limits = Limits { max_bytes: 1 << 22, max_depth: usize::MAX };
    let text = format!("{}{}", "[".repeat(1 << 20), "]".repeat(1 << 20));
    assert_eq!(check(text.as_bytes(), &limits), Ok(()));
}

/// Linear search among keys would need some 10^10 comparisons here.
#[test]
fn many_keys_stay_cheap() {
    let members: Vec<String> = (0..80_000).map(|n| format!("\"{n:x}\":1")).collect();
    assert_eq!(strict(format!("{{{}}}", members.join(","))), Ok(()));
    let fault = strict(format!("{{{},\"0\":1}}", members.join(",")));
    assert!(matches!(fault, Err(GuardFault::DuplicateKey { key, .. }) if key == "0"));
}

#[test]
fn the_shape_check_passes_what_only_passes_through() {
    let limits = Limits { max_bytes: 1 << 10, max_depth: 2 };
    for text in [r#"{"a":1,"a":2}"#, r#""\uD800""#, r#""\uDC00\uDC00""#, "1e400", "12345678901234567890123"] {
        assert_eq!(check_shape(text.as_bytes(), &limits), Ok(()), "{text}");
    }
    for text in ["[[[]]]", "[1,]", "\"\\u12\"", "\"\\uD800\\u1\""] {
        assert!(check_shape(text.as_bytes(), &limits).is_err(), "{text}");
    }
    assert!(check_shape(b"\"\xff\"", &limits).is_err());
    assert!(check_shape(&[b' '; 1025], &limits).is_err());
}

#[test]
fn long_foreign_text_is_cut_in_faults() {
    let digits = "9".repeat(5000);
    let shown = strict(&digits).unwrap_err().to_string();
    assert!(shown.len() < 250 && shown.contains('…'), "{shown}");
    let key = "k".repeat(5000);
    let shown = strict(format!("{{\"{key}\":1,\"{key}\":1}}")).unwrap_err().to_string();
    assert!(shown.len() < 250 && shown.contains('…'), "{shown}");
    let shown = strict("{\"a\\u001b[31m\":1,\"a\\u001b[31m\":1}").unwrap_err().to_string();
    assert!(!shown.contains('\u{1b}'), "{shown}");
}
