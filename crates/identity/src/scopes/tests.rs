use proptest::prelude::*;

use super::*;

#[test]
fn scopes_have_one_spelling() {
    let read = |text| Scopes::parse(text).map(|scopes| scopes.to_string()).map_err(|fault| fault.to_string());
    assert_eq!(read("tools:write  tools:read tools:read"), Ok("tools:read tools:write".to_owned()));
    assert_eq!(read(""), Ok(String::new()));
    for bad in ["a\"b", "a\\b", "ä", "a\tb", "a\nb"] {
        assert!(read(bad).is_err(), "{bad:?}");
    }
    assert!(Scopes::parse(&"a".repeat(128)).is_ok());
    assert!(Scopes::parse(&"a".repeat(129)).is_err());
}

proptest! {
    #[test]
    fn a_set_is_made_of_what_is_within_and_without(one in "[a-d ]{0,12}", other in "[a-d ]{0,12}") {
        let (one, other) = (Scopes::parse(&one).unwrap(), Scopes::parse(&other).unwrap());
        prop_assert_eq!(one.within(&other).and(&one.without(&other)), one.clone());
        prop_assert!(one.and(&other).cover(&one) && one.cover(&one.within(&other)));
        prop_assert_eq!(one.cover(&other), other.without(&one).is_empty());
        prop_assert_eq!(Scopes::parse(&one.to_string()).unwrap(), one);
    }
}
