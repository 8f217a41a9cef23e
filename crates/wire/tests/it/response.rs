use aldgate_wire::guard::Limits;
use aldgate_wire::response::{Answer, read};
use proptest::prelude::*;
use serde_json::value::RawValue;

use crate::json;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// The text before and after the value of `_meta` is the upstream's, whatever stands there.
    #[test]
    fn splicing_keeps_every_byte_outside_of_meta(
        before in json::members(json::text()),
        after in json::members(json::text()),
        meta in prop::option::of(json::members(json::text())),
    ) {
        let mut members = before;
        let place = members.len();
        if let Some(meta) = &meta {
            members.push(("\"_meta\"".to_owned(), json::object(meta)));
        }
        members.extend(after);
        let text = json::object(&members);
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{text}}}"#);
        // None of the random members is one that is read, so nothing but the result itself can be wrong.
        let Ok(Answer::Result(view)) = read(body.as_bytes(), 1, &Limits::default()) else {
            return Err(TestCaseError::fail(text));
        };
        prop_assert_eq!(view.raw().get(), &text);

        let value: &RawValue = serde_json::from_str("1.10").unwrap();
        let Ok(spliced) = view.with_meta(&[("io.github.aldgate/x", value)], &[]) else {
            return Err(TestCaseError::fail("no key is set twice"));
        };
        let spliced = String::from_utf8(spliced).unwrap();
        let mut without = members.clone();
        if meta.is_some() {
            without[place].1 = "\u{1}".to_owned();
            let template = json::object(&without);
            let (head, tail) = template.split_once('\u{1}').unwrap();
            prop_assert!(spliced.starts_with(head) && spliced.ends_with(tail), "{} {}", text, spliced);
        } else {
            prop_assert!(spliced.starts_with(text.strip_suffix('}').unwrap()), "{} {}", text, spliced);
        }
        let again = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{spliced}}}"#);
        // Read back, it is refused for our own key and for nothing else.
        let fault = read(again.as_bytes(), 1, &Limits::default()).unwrap_err();
        prop_assert!(fault.to_string().contains("io.github.aldgate/x"), "{}", fault);
    }
}
