use proptest::prelude::*;

use super::*;

#[test]
fn only_the_way_on_at_the_authorization_server_is_known() {
    let read = |asked| Destination::read(asked).0;
    for known in ["/oauth/authorize/continue?request=abc", "/oauth/authorize/continue?a=%2F%2Fevil&b=%0d%0a"]
    {
        assert_eq!(read(known), known);
        assert!(Destination::read(known).is_elsewhere());
    }
    let long = format!("{AUTHORIZE}{}", "x".repeat(2048));
    for other in [
        "",
        "/account",
        "/oauth/authorize/continue",
        "/oauth/authorize",
        "/OAUTH/authorize/continue?",
        "/oauth/authorize/continue?a#b",
        "/oauth/authorize/continue?ä",
        &long,
    ] {
        assert_eq!(read(other), "/account", "{other}");
    }
    let next = Destination::read("/oauth/authorize/continue?a=b&c").after("/oauth/sign-in");
    assert_eq!(next, "/oauth/sign-in?continue=%2Foauth%2Fauthorize%2Fcontinue%3Fa%3Db%26c");
}

proptest! {
    #[test]
    fn whatever_is_asked_for_stays_on_this_server(asked in ".{0,40}", prefix in prop::sample::select(vec!["", AUTHORIZE, "/account", "/", "//"])) {
        let base = url::Url::parse("https://gate.example/oauth/sign-in").unwrap();
        let path = Destination::read(&format!("{prefix}{asked}")).0;
        let joined = base.join(&path).unwrap();
        prop_assert_eq!(joined.origin(), base.origin());
        prop_assert!(matches!(joined.path(), "/account" | "/oauth/authorize/continue"));
        prop_assert!(http::HeaderValue::from_str(&path).is_ok());
    }
}
