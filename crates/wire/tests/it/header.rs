use aldgate_wire::header::{check_params, decode_value, encode_value, make_params, param_headers};
use http::{HeaderMap, HeaderValue};
use proptest::prelude::*;
use serde_json::value::RawValue;
use serde_json::{Value, json};

fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[ \t]{0,2}[ -~]{0,8}[ \t]{0,2}",
        "=\\?base64\\?[A-Za-z0-9+/=]{0,8}\\?=",
        "\\PC{0,8}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn values_round_trip_through_a_real_header(text in texts()) {
        let value = HeaderValue::try_from(encode_value(&text)).unwrap();
        prop_assert!(value.to_str().is_ok());
        prop_assert_eq!(decode_value(value.as_bytes()).unwrap(), text);
    }

    /// White space around a value is not part of it, so a plain value must not depend on it.
    #[test]
    fn values_survive_white_space_around_them(text in texts()) {
        let padded = format!(" \t{} ", encode_value(&text));
        prop_assert_eq!(decode_value(padded.as_bytes()).unwrap(), text);
    }

    #[test]
    fn decoding_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
        if let Ok(text) = decode_value(&bytes) {
            prop_assert_eq!(decode_value(encode_value(&text).as_bytes()).unwrap(), text);
        }
    }

    #[test]
    fn headers_made_from_arguments_agree_with_them(
        s in prop::option::of(texts()),
        i in prop::option::of(-9_007_199_254_740_991i64..=9_007_199_254_740_991),
        b in prop::option::of(any::<bool>()),
    ) {
        let schema = json!({"type": "object", "properties": {
            "s": {"type": "string", "x-mcp-header": "S"},
            "i": {"type": "integer", "x-mcp-header": "I"},
            "o": {"type": "object", "properties": {"b": {"type": "boolean", "x-mcp-header": "B"}}},
        }});
        let declared = param_headers(&schema).unwrap();
        let arguments = json!({"s": s, "i": i, "o": {"b": b}}).to_string();
        let arguments: &RawValue = serde_json::from_str(&arguments).unwrap();
        let made = HeaderMap::from_iter(make_params(&declared, Some(arguments)).unwrap());
        let expected = usize::from(s.is_some()) + usize::from(i.is_some()) + usize::from(b.is_some());
        prop_assert_eq!(made.len(), expected);
        prop_assert_eq!(check_params(&made, &declared, Some(arguments)), Ok(()));
    }

    #[test]
    fn annotations_are_read_from_any_json(text in crate::json::text()) {
        if let Ok(schema) = serde_json::from_str::<Value>(&text) {
            for param in param_headers(&schema).unwrap_or_default() {
                prop_assert!(!param.path.is_empty());
            }
        }
    }
}
