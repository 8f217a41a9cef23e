use super::*;

#[test]
fn only_pages_of_the_web_are_opened() {
    for url in ["javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "vbscript:x", "x-own:--flag"]
    {
        assert!(!open(&Url::parse(url).unwrap()), "{url}");
    }
}
