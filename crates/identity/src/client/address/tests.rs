use expect_test::expect;

use super::*;

#[test]
fn a_resource_elsewhere_sends_nobody_to_this_machine_or_to_plain_http() {
    let told: String = [
        "https://as.example/token",
        "https://10.1.2.3/token",
        "http://as.example/token",
        "http://127.0.0.1:9/token",
        "https://127.0.0.1:9/token",
        "https://localhost/token",
        "https://a.localhost./token",
        "https://169.254.169.254/latest",
        "https://[::1]/token",
        "https://[::ffff:127.0.0.1]/token",
        "https://[fe80::1]/token",
        "https://0.0.0.0/token",
        "https://2130706433/token",
        "https://user:canary@as.example/token",
        "https://as.example/token#canary",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "data:text/html,x",
        "/token",
    ]
    .iter()
    .map(|text| match Reach::Elsewhere.address(text) {
        Ok(url) => format!("{url}: asked\n"),
        Err(fault) => format!("{fault}\n"),
    })
    .collect();
    expect![[r#"
        https://as.example/token: asked
        https://10.1.2.3/token: asked
        `http://as.example/token` is not `https`; `http` is used only for a resource on this machine, at 127.0.0.1 or localhost
        `http://127.0.0.1:9/token` is not `https`; `http` is used only for a resource on this machine, at 127.0.0.1 or localhost
        `https://127.0.0.1:9/token` is an address of this machine or its own link, which a resource elsewhere may not name
        `https://localhost/token` is an address of this machine or its own link, which a resource elsewhere may not name
        `https://a.localhost./token` is an address of this machine or its own link, which a resource elsewhere may not name
        `https://169.254.169.254/latest` is an address of this machine or its own link, which a resource elsewhere may not name
        `https://[::1]/token` is an address of this machine or its own link, which a resource elsewhere may not name
        `https://[::ffff:7f00:1]/token` is an address of this machine or its own link, which a resource elsewhere may not name
        `https://[fe80::1]/token` is an address of this machine or its own link, which a resource elsewhere may not name
        `https://0.0.0.0/token` is an address of this machine or its own link, which a resource elsewhere may not name
        `https://127.0.0.1/token` is an address of this machine or its own link, which a resource elsewhere may not name
        `https://as.example/token` holds a user, a password or a fragment, and no such URL is used
        `https://as.example/token` holds a user, a password or a fragment, and no such URL is used
        `javascript:alert(1)` is no absolute `https` URL
        `file:///etc/passwd` is no absolute `https` URL
        `data:text/html,x` is no absolute `https` URL
        `/token` is no absolute `https` URL
    "#]].assert_eq(&told);
    assert!(!told.contains("canary"));
}

#[test]
fn a_resource_on_this_machine_may_name_what_is_on_it() {
    for resource in
        ["http://localhost:7300/mcp", "http://127.0.0.1/mcp", "http://[::1]:1/mcp", "https://127.0.0.2/"]
    {
        let reach = Reach::of(&Url::parse(resource).unwrap());
        assert_eq!(reach, Reach::ThisMachine, "{resource}");
        assert!(reach.address("http://127.0.0.1:1/token").is_ok());
        assert!(reach.address("https://as.example/token").is_ok());
        assert!(reach.address("http://as.example/token").is_err());
        assert!(reach.address("http://169.254.169.254/token").is_err());
        assert!(reach.address("http://localhost.evil.example/token").is_err());
    }
    for resource in ["https://localhost.example/mcp", "https://10.0.0.1/mcp", "https://127.0.0.1.example/"] {
        assert_eq!(Reach::of(&Url::parse(resource).unwrap()), Reach::Elsewhere, "{resource}");
    }
}
