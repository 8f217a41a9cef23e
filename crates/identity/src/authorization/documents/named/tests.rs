use url::Url;

use super::{MetadataHosts, MetadataHostsFault};

#[test]
fn a_host_is_named_at_one_port() {
    let hosts = MetadataHosts::new(["clients.example.com", "tools.example.com:8443"], None).expect("hosts");
    let names = |url: &str| hosts.name(&Url::parse(url).expect("URL"));
    for url in ["https://clients.example.com/a", "https://tools.example.com:8443/b"] {
        assert!(names(url), "{url}");
    }
    for url in [
        "https://clients.example.com:8443/a",
        "https://tools.example.com/b",
        "https://example.com/a",
        "https://a.clients.example.com/a",
        "https://10.0.0.1/a",
    ] {
        assert!(!names(url), "{url}");
    }
}

#[test]
fn what_is_no_host_is_refused() {
    for found in [
        "",
        "*",
        "*.example.com",
        "https://clients.example.com",
        "clients.example.com/path",
        "Clients.example.com",
        "clients.example.com.",
        "clients.example.com:443",
        "clients.example.com:0443",
        "clients.example.com:",
        "someone@clients.example.com",
        "10.0.0.1",
        "10.1",
        "[::1]",
        "0x7f.1:8443",
        "clients example.com",
        "clients.example.com?a",
        "bücher.example",
    ] {
        let fault = MetadataHosts::new([found], None).expect_err("refused");
        assert_eq!(fault, MetadataHostsFault::Host { found: found.to_owned() });
    }
    let many: Vec<_> = (0..101).map(|number| format!("h{number}.example.com")).collect();
    let fault = MetadataHosts::new(many.iter().map(String::as_str), None).expect_err("too many");
    assert_eq!(fault, MetadataHostsFault::Many { found: 101 });
}

#[test]
fn certificates_are_certificates_and_for_hosts() {
    let refused = |hosts: &[&str], pem: &str| {
        MetadataHosts::new(hosts.iter().copied(), Some(pem.as_bytes())).expect_err("refused")
    };
    let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    for pem in ["", "no certificate", broken] {
        assert_eq!(refused(&["clients.example.com"], pem), MetadataHostsFault::Certificates, "{pem}");
    }
    assert_eq!(refused(&[], broken), MetadataHostsFault::NoHost);
}
