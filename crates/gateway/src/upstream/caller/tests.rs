use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};

use super::subject;

#[test]
fn what_is_bound_to_a_key_stands_for_nobody_elsewhere() {
    let found = |value: &'static str| {
        let headers: HeaderMap = [(AUTHORIZATION, HeaderValue::from_static(value))].into_iter().collect();
        subject(&headers, None).map(|subject| subject.token.expose().to_owned())
    };
    assert_eq!(found("Bearer a-token").as_deref(), Some("a-token"));
    assert_eq!(found("bearer  a-token ").as_deref(), Some("a-token"));
    for other in ["DPoP a-token", "Basic YTpi", "a-token", ""] {
        assert_eq!(found(other), None, "{other}");
    }
    assert!(subject(&HeaderMap::new(), None).is_none());
}
