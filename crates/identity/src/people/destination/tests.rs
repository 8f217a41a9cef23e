use proptest::prelude::*;

use super::*;

#[test]
fn only_pages_of_this_server_that_somebody_signs_in_for_are_known() {
    let read = |asked| Destination::read(asked).0;
    for known in ["/oauth/authorize/continue?request=abc", "/oauth/authorize/continue?a=%2F%2Fevil&b=%0d%0a"]
    {
        assert_eq!(read(known), known);
        assert!(Destination::read(known).is_elsewhere());
    }
    for known in [
        "/approvals",
        "/approvals/ap_0a",
        "/approvals?more=1",
        "/approvals/ap_0a?x=//y",
        "/connections",
        "/connections/parts?a=b",
    ] {
        assert_eq!(read(known), known);
        assert_eq!(Destination::read(known).is_elsewhere(), known.starts_with("/connections"));
        assert_eq!(Destination::read(known).sealed(), None);
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
        "/approvalsevil",
        "/approvals/",
        "/approvals?key=a",
        "/approvals/ap_1?a=b&k%65y=a",
        "/oauth/authorize/continue?request=abc&key=a",
        "/approvals//evil.example",
        "/approvals/../oauth/sign-out",
        "/approvals/./x",
        "/approvals/%2e%2e/x",
        "/approvals/@evil",
        "/connectionsevil",
        "/connections/",
        "/connections/../evil",
        &long,
    ] {
        assert_eq!(read(other), "/account", "{other}");
    }
    let next = Destination::read("/oauth/authorize/continue?a=b&c").after("/oauth/sign-in");
    assert_eq!(next, "/oauth/sign-in?continue=%2Foauth%2Fauthorize%2Fcontinue%3Fa%3Db%26c");
}

proptest! {
    #[test]
    fn whatever_is_asked_for_stays_on_this_server(asked in ".{0,40}", prefix in prop::sample::select(vec!["", AUTHORIZE, "/account", "/", "//", "/approvals", "/approvals/", "/connections/"])) {
        let base = url::Url::parse("https://gate.example/oauth/sign-in").unwrap();
        let path = Destination::read(&format!("{prefix}{asked}")).0;
        let joined = base.join(&path).unwrap();
        prop_assert_eq!(joined.origin(), base.origin());
        let path_there = joined.path();
        let known = matches!(path_there, "/account" | "/oauth/authorize/continue" | "/approvals")
            || path_there.starts_with("/approvals/")
            || path_there.starts_with("/connections/");
        prop_assert!(known, "{}", path_there);
        prop_assert!(http::HeaderValue::from_str(&path).is_ok());
    }
}
