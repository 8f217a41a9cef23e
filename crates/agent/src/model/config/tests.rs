use super::*;

#[test]
fn a_key_goes_over_tls_or_stays_on_this_machine() {
    for (url, local, tls) in [
        ("https://api.anthropic.com", false, true),
        ("https://models.example.org/v1/", false, true),
        ("http://127.0.0.1:8080/v1", true, false),
        ("http://localhost:11434/v1", true, false),
        ("http://[::1]:9/v1", true, false),
        ("https://127.0.0.1:8443", true, true),
    ] {
        let base = Base::read(url).unwrap();
        assert_eq!((base.is_local, base.is_tls), (local, tls), "{url}");
        assert!(!base.url.ends_with('/'), "{base:?}");
    }
    for (url, found) in [
        ("http://models.example.org/v1", "another machine"),
        ("http://192.168.1.5:11434/v1", "another machine"),
        ("http://127.0.0.1.example.org/v1", "another machine"),
        ("http://localhost.example.org", "another machine"),
        ("ftp://127.0.0.1", "scheme"),
        ("127.0.0.1:80", "no scheme"),
        ("https://user:hunter2@example.org", "user or password"),
        ("https://example.org/?key=hunter2", "a query"),
        ("https://", ""),
    ] {
        let fault = Base::read(url).unwrap_err();
        assert_eq!(fault.code(), "AG-MODEL-ADDRESS");
        let text = fault.to_string();
        assert!(text.contains(found) && !text.contains("hunter2"), "{url}: {text}");
    }
}

#[test]
fn only_the_service_of_openai_is_taken_for_it() {
    let is = |url: &str| Base::read(url).unwrap().is_openai();
    assert!(is("https://api.openai.com/v1") && is("https://mine.openai.azure.com/openai/v1"));
    assert!(
        !is("https://notopenai.com/v1")
            && !is("https://openai.com.example.org")
            && !is("http://127.0.0.1/v1")
    );
}

#[test]
fn a_key_is_shown_nowhere() {
    let key = Key::new(" sk-secret\n").unwrap();
    assert_eq!(key.reveal(), "sk-secret");
    assert!(!format!("{key:?}").contains("secret"));
    assert_eq!(Key::new("  "), None);
}

#[test]
fn pauses_double_up_to_a_bound() {
    let limits = ModelLimits::default();
    let at = |attempt| limits.pause_after(attempt, 1.0).as_secs();
    assert_eq!([at(1), at(2), at(3), at(6), at(usize::MAX)], [1, 2, 4, 30, 30]);
    assert_eq!(limits.pause_after(1, 0.0), Duration::from_millis(500));
}
