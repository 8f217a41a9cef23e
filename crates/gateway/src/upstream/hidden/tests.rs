use http::HeaderValue;

use super::Hidden;

fn check(value: &'static str, said: &str, expected: &str) {
    let hidden = Hidden::of(&HeaderValue::from_static(value));
    assert_eq!(String::from_utf8(hidden.taken_out(said.as_bytes().to_vec())).unwrap(), expected);
}

#[test]
fn a_credential_is_taken_out_wherever_it_stands() {
    check("Bearer secret-token", r#"{"a":"secret-token"}"#, r#"{"a":"[credential]"}"#);
    check("secret-token", "secret-tokensecret-token!", "[credential][credential]!");
    check("Bearer secret-token", "Bearer secret-toke", "Bearer secret-toke");
    check("Bearer secret-token", "", "");
}

#[test]
fn the_spellings_of_json_are_known() {
    check("Bearer ab/cd/ef==", r#"{"a":"ab\/cd\/ef== ab/cd/ef=="}"#, r#"{"a":"[credential] [credential]"}"#);
    check(
        r#"ab"cd\ef/gh"#,
        r#"{"a":"ab\"cd\\ef/gh ab\"cd\\ef\/gh"}"#,
        r#"{"a":"[credential] [credential]"}"#,
    );
}

#[test]
fn what_is_short_stands_for_nothing() {
    check("Bearer 1234567", r#"{"a":1234567}"#, r#"{"a":1234567}"#);
    check("Bearer 12345678", r#"{"a":"12345678"}"#, r#"{"a":"[credential]"}"#);
}

#[test]
fn nothing_is_copied_where_nothing_is_found() {
    let hidden = Hidden::of(&HeaderValue::from_static("Bearer secret-token"));
    let (said, clean) = (b"much".as_slice(), hidden.out_of(b"much"));
    assert!(matches!(clean, std::borrow::Cow::Borrowed(found) if found == said));
}

#[test]
fn the_log_has_one_word_about_each_exchange() {
    let kept = Hidden::of(&HeaderValue::from_static("Bearer secret-token"));
    for _ in 0..2 {
        let exchange = kept.anew();
        assert!(!exchange.told.load(std::sync::atomic::Ordering::Relaxed));
        exchange.out_of(b"secret-token");
        assert!(!exchange.is_news(), "told once");
    }
    let exchange = kept.anew();
    exchange.out_of(b"nothing");
    assert!(exchange.is_news());
}
