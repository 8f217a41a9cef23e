use proptest::prelude::*;

use super::{Place, is_of_a_program, place, same, with};

#[test]
fn a_client_may_have_sites_its_own_computer_and_its_own_scheme() {
    assert_eq!(place("https://app.example.com/cb?x=1"), Ok(Place::Site("app.example.com".into())));
    for uri in ["http://127.0.0.1/cb", "http://[::1]:8080", "http://localhost:1/cb?x=1"] {
        assert_eq!(place(uri), Ok(Place::Computer), "{uri}");
    }
    assert_eq!(place("cursor://anysphere.mcp/cb"), Ok(Place::Scheme("cursor".into())));
    assert_eq!(place("com.example.app:/cb"), Ok(Place::Scheme("com.example.app".into())));
    for uri in [
        "http://app.example.com/cb",
        "http://127.0.0.2/cb",
        "http://localhost.evil.example/cb",
        "http://127.0.0.1@evil.example/cb",
        "https://user@app.example.com/cb",
        "https://app.example.com/cb#",
        "javascript:alert(1)",
        "JavaScript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "/cb",
        "",
        "https://app.example.com/c b",
        "https://app.example.com\\@evil.example/",
        "https://app.example.com/\u{e9}",
    ] {
        assert!(place(uri).is_err(), "{uri}");
    }
}

#[test]
fn a_scheme_of_a_stranger_is_a_domain_in_reverse_or_a_known_program() {
    for good in
        ["com.example.app", "org.example", "cursor", "vscode", "vscode-insiders", "windsurf", "claude"]
    {
        assert!(is_of_a_program(good), "{good}");
    }
    for bad in ["app", "slack", "tool", "com.", "com..app", "cursor-x", "ms-settings"] {
        assert!(!is_of_a_program(bad), "{bad}");
    }
}

#[test]
fn only_the_port_of_a_loopback_address_may_differ() {
    assert!(same("http://127.0.0.1/cb", "http://127.0.0.1:49152/cb"));
    assert!(same("http://[::1]:1/cb", "http://[::1]:49152/cb"));
    assert!(same("http://localhost:3000/cb", "http://localhost/cb"));
    for (registered, sent) in [
        ("https://app.example.com/cb", "https://app.example.com:8443/cb"),
        ("https://app.example.com/cb", "https://app.example.com/cb/"),
        ("https://app.example.com/cb", "https://app.example.com/cbx"),
        ("https://app.example.com/cb", "https://app.example.com/cb?x=1"),
        ("https://app.example.com/cb", "https://APP.example.com/cb"),
        ("https://app.example.com/cb", "HTTPS://app.example.com/cb"),
        ("https://app.example.com/cb", "https://app.example.com/x/../cb"),
        ("https://app.example.com/cb", "https://app.example.com@evil.example/cb"),
        ("http://127.0.0.1/cb", "http://127.0.0.1:80@evil.example/cb"),
        ("http://127.0.0.1/cb", "http://127.0.0.1.evil.example/cb"),
        ("http://127.0.0.1/cb", "http://localhost/cb"),
        ("http://127.0.0.1/cb", "https://127.0.0.1:5/cb"),
        ("http://127.0.0.1/cb", "http://127.0.0.1:5/cb#x"),
        ("http://127.0.0.1/cb", "http://127.0.0.1:5/other"),
        ("http://127.0.0.1/cb", "http://127.0.0.1:/cb"),
        ("http://127.0.0.1/cb", "http://127.0.0.1:99999/cb"),
        ("http://127.0.0.1/cb", "HTTP://127.0.0.1/cb"),
        ("com.example.app:/cb", "com.example.app:/cb2"),
    ] {
        assert!(!same(registered, sent), "{registered} {sent}");
    }
}

#[test]
fn an_answer_keeps_the_query_of_the_redirect_uri() {
    let parameters = [("code", Some("a b")), ("state", None), ("iss", Some("https://x"))];
    assert_eq!(with("https://a/cb?x=1", &parameters), "https://a/cb?x=1&code=a+b&iss=https%3A%2F%2Fx");
    assert_eq!(with("app:/cb", &parameters), "app:/cb?code=a+b&iss=https%3A%2F%2Fx");
}

proptest! {
    #[test]
    fn what_goes_to_another_port_stays_on_this_computer(sent in "http://(127\\.0\\.0\\.1|\\[::1\\]|localhost)[:@/.0-9a-z?#]{0,20}") {
        if same("http://127.0.0.1/cb", &sent) {
            let url = url::Url::parse(&sent).expect("url");
            prop_assert_eq!(url.host_str(), Some("127.0.0.1"));
            prop_assert_eq!(url.path(), "/cb");
        }
    }
}
