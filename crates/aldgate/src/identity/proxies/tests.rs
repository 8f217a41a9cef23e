use http::HeaderValue;

use super::*;

fn proxies(listed: &[&str]) -> Proxies {
    Proxies::of(&listed.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>()).unwrap()
}

fn check(trusted: &[&str], peer: &str, forwarded: &[&str], expected: &str) {
    let mut headers = HeaderMap::new();
    for value in forwarded {
        headers.append(FORWARDED_FOR, HeaderValue::from_bytes(value.as_bytes()).unwrap());
    }
    let found = proxies(trusted).source(peer.parse().unwrap(), &headers);
    assert_eq!(found, Source(expected.parse().unwrap()), "{peer} {forwarded:?}");
}

#[test]
fn whom_nobody_trusts_is_the_source_whatever_it_says() {
    check(&[], "192.0.2.1", &["198.51.100.7"], "192.0.2.1");
    check(&["10.0.0.0/8"], "192.0.2.1", &["198.51.100.7"], "192.0.2.1");
}

#[test]
fn a_proxy_is_believed_and_no_more_than_it_wrote() {
    let trusted = ["10.0.0.0/8", "2001:db8::1"];
    check(&trusted, "10.1.2.3", &[], "10.1.2.3");
    check(&trusted, "10.1.2.3", &["198.51.100.7"], "198.51.100.7");
    check(&trusted, "2001:db8::1", &["2001:db8:5::9"], "2001:db8:5::9");
    check(&trusted, "::ffff:10.1.2.3", &["::ffff:198.51.100.7"], "198.51.100.7");
    // The client wrote the first one itself, to be taken for somebody else.
    check(&trusted, "10.1.2.3", &["203.0.113.9, 198.51.100.7"], "198.51.100.7");
    check(&trusted, "10.1.2.3", &["203.0.113.9", "198.51.100.7"], "198.51.100.7");
    // Two proxies in a row.
    check(&trusted, "10.1.2.3", &["203.0.113.9, 198.51.100.7 , 10.9.9.9"], "198.51.100.7");
    check(&trusted, "10.1.2.3", &["203.0.113.9, 198.51.100.7", "10.9.9.9"], "198.51.100.7");
    check(&trusted, "10.1.2.3", &["10.3.3.3,10.9.9.9"], "10.3.3.3");
}

#[test]
fn an_address_may_have_a_port() {
    check(&["10.0.0.1"], "10.0.0.1", &["198.51.100.7:4711"], "198.51.100.7");
    check(&["10.0.0.1"], "10.0.0.1", &["[2001:db8::7]:4711"], "2001:db8::7");
    check(&["10.0.0.1"], "10.0.0.1", &["[2001:db8::7]"], "2001:db8::7");
}

#[test]
fn what_cannot_be_read_comes_from_whoever_sent_it() {
    for bad in [
        "",
        "unknown",
        "198.51.100.7, ",
        "198.51.100.7, _hidden",
        "198.51.100.7, 1.2.3",
        "198.51.100.7, \u{e9}",
    ] {
        check(&["10.0.0.1"], "10.0.0.1", &[bad], "10.0.0.1");
    }
}

#[test]
fn nonsense_and_everybody_are_refused() {
    for bad in ["", "proxy.example", "10.0.0.0/33", "0.0.0.0/0", "::/0", "10.0.0.1:80"] {
        let refused = Proxies::of(&[bad.to_owned()]).unwrap_err().to_string();
        assert!(refused.contains("gateway.trusted_proxies") && refused.contains(bad), "{refused}");
    }
}
