use proptest::prelude::*;

use super::*;

#[test]
fn one_name_has_one_spelling() {
    let read = |typed: &str| SignInName::parse(typed).map(|name| name.0).map_err(|fault| fault.to_string());
    for (typed, kept) in [
        ("Maya", "maya"),
        (" maya\t", "maya"),
        ("ＭＡＹＡ", "maya"),
        ("maya@Example.COM", "maya@example.com"),
        ("Zoe\u{308}", "zo\u{eb}"),
        ("ﬁona", "fiona"),
    ] {
        assert_eq!(read(typed).as_deref(), Ok(kept), "{typed}");
    }
    for bad in [
        "",
        "  ",
        "a b",
        "a/b",
        "a#b",
        "a\u{0}b",
        "a\nb",
        "a\u{a0}b",
        "a\u{2028}b",
        "℀",
        &"x".repeat(129),
        &"x".repeat(5000),
    ] {
        assert!(read(bad).is_err(), "{bad:?}");
    }
    assert!(read(&"ä".repeat(128)).is_ok());
    assert_eq!(
        read("a\n/").unwrap_err(),
        "`a/` is no name to sign in with; expected 1 to 128 characters and no `/`, `#`, white space or control character"
    );
}

proptest! {
    #[test]
    fn a_folded_name_folds_to_itself(typed in ".{1,40}") {
        if let Ok(name) = SignInName::parse(&typed) {
            prop_assert_eq!(SignInName::parse(name.as_str()).unwrap(), name.clone());
        }
    }
}
