use super::*;

fn read(values: &[&'static str]) -> Option<String> {
    let mut headers = HeaderMap::new();
    for value in values {
        headers.append(header::COOKIE, HeaderValue::from_static(value));
    }
    Cookie::Session.read(&headers, false).map(str::to_owned)
}

#[test]
fn a_cookie_is_read_by_its_whole_name() {
    assert_eq!(read(&["a=b; aldgate=one;c=d"]).as_deref(), Some("one"));
    assert_eq!(read(&["a=b", "aldgate=one"]).as_deref(), Some("one"));
    assert_eq!(read(&["aldgate=a=b"]).as_deref(), Some("a=b"));
    for none in [
        &[][..],
        &["aldgate"],
        &["aldgate="],
        &["xaldgate=one"],
        &["aldgate-form=one"],
        &["Aldgate=one"],
        &["__Host-aldgate=one"],
    ] {
        assert_eq!(read(none), None, "{none:?}");
    }
    assert_eq!(read(&["aldgate=one; aldgate=two"]), None);
    assert_eq!(read(&["aldgate=one", "aldgate=one"]), None);
}

#[test]
fn nothing_ends_a_value() {
    assert_eq!(Cookie::Form.set("a\r\nb", None, true), None);
    let long = "x".repeat(300);
    let headers = HeaderMap::from_iter([(header::COOKIE, format!("aldgate={long}").parse().unwrap())]);
    assert_eq!(Cookie::Session.read(&headers, false), None);
}
