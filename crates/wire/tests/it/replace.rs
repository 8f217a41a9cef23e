use aldgate_wire::replace::{replaced, replaced_at};
use proptest::prelude::*;
use serde_json::value::RawValue;

use crate::json;

fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// The text around the value of a member is what it was, whatever stands there.
    #[test]
    fn replacing_keeps_every_other_byte(
        before in json::members(json::text()),
        after in json::members(json::text()),
        old in json::text(),
        new in json::text(),
    ) {
        let named = |value: &str| {
            let member = [("\"a member of ours\"".to_owned(), value.to_owned())];
            json::object(&[before.clone(), member.to_vec(), after.clone()].concat())
        };
        let set = [("a member of ours", &*raw(&new))];
        let made = replaced(&raw(&named(&old)), &set).unwrap();
        // A raw value has no white space around it, wherever it came from.
        prop_assert_eq!(made.get(), named(raw(&new).get()));
    }

    #[test]
    fn what_is_missing_is_put_at_the_end(members in json::members(json::text()), new in json::text()) {
        let text = json::object(&members);
        let value = raw(&new);
        let made = replaced_at(&raw(&text), &["a member of ours", "b"], &value).unwrap();
        let comma = if members.is_empty() { "" } else { "," };
        let inner = text.strip_suffix('}').unwrap();
        prop_assert_eq!(made.get(), format!("{inner}{comma}\"a member of ours\":{{\"b\":{}}}}}", value.get()));
    }
}
