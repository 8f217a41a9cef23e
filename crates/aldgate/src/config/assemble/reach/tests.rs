use super::*;

#[test]
fn a_gateway_is_known_where_it_listens_or_as_configured() {
    let known = |text: &str| {
        let config: Config = toml::from_str(text).unwrap();
        reach(&config).map(|reach| (base(&reach).to_owned(), reach.doors.decisions.clone()))
    };
    let both = |public: &str, admin: &str| (public.to_owned(), format!("{admin}/v1/approvals"));
    assert_eq!(known("").unwrap(), both("http://127.0.0.1:7300", "http://127.0.0.1:7301"));
    let everywhere = "[gateway]\nlisten = \"[::]:80\"\n[admin]\nlisten = \"[::1]:81\"";
    assert_eq!(known(everywhere).unwrap(), both("http://127.0.0.1:80", "http://[::1]:81"));
    let configured =
        "[gateway]\npublic_url = \"https://g.example\"\n[admin]\npublic_url = \"https://a.example:8443/\"";
    assert_eq!(known(configured).unwrap(), both("https://g.example", "https://a.example:8443"));
}

#[test]
fn tokens_go_in_the_clear_to_no_other_machine() {
    for good in ["http://localhost:1", "http://127.8.0.1", "http://[::1]:9", "https://10.0.0.1"] {
        assert_eq!(origin("x", good).unwrap(), good);
    }
    for bad in [
        "http://g.example",
        "http://127.0.0.1.evil.example",
        "http://[::2]",
        "https://g.example/a",
        "https://g.example?x",
        "https://me@g.example",
        "https://G.example",
        "https://g.example:443",
        "ftp://g.example",
        "",
    ] {
        assert!(origin("x", bad).is_err(), "{bad}");
    }
}
