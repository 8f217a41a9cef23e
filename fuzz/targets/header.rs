//! Values of headers come back as they went, and headers made of arguments agree with them and with no others.
//! The input is three parts, divided by zero bytes: a schema, arguments, and a header's value.
#![no_main]

use aldgate_wire::header::{check_params, decode_value, encode_value, make_params, param_headers};
use http::{HeaderMap, HeaderValue};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use serde_json::value::RawValue;

fuzz_target!(|data: &[u8]| {
    let mut parts = data.splitn(3, |byte| *byte == 0);
    let (schema, arguments, value) = (parts.next(), parts.next(), parts.next());
    for part in [schema, arguments, value].into_iter().flatten() {
        round(part);
    }
    let (Some(schema), Some(arguments)) = (schema, arguments) else { return };
    let Ok(schema) = serde_json::from_slice::<Value>(schema) else { return };
    let Ok(declared) = param_headers(&schema) else { return };
    let Ok(arguments) = serde_json::from_slice::<&RawValue>(arguments) else { return };
    let sent = value.and_then(|value| HeaderValue::from_bytes(value).ok());
    for param in &declared {
        assert!(!param.path.is_empty());
        let headers = sent.iter().map(|value| (param.header.clone(), value.clone()));
        // Whatever it says, it says the same twice.
        let headers = HeaderMap::from_iter(headers);
        assert_eq!(
            check_params(&headers, &declared, Some(arguments)),
            check_params(&headers, &declared, Some(arguments))
        );
    }
    let Ok(made) = make_params(&declared, Some(arguments)) else { return };
    let made = HeaderMap::from_iter(made);
    assert_eq!(check_params(&made, &declared, Some(arguments)), Ok(()));
    for (name, value) in &made {
        let mut without = made.clone();
        without.remove(name);
        assert!(check_params(&without, &declared, Some(arguments)).is_err(), "{name} may be missing");
        let mut twice = made.clone();
        twice.append(name, value.clone());
        assert!(check_params(&twice, &declared, Some(arguments)).is_err(), "{name} may stand twice");
        let text = decode_value(value.as_bytes()).unwrap();
        let mut other = made.clone();
        other.insert(name, HeaderValue::try_from(encode_value(&format!("{text}~"))).unwrap());
        assert!(check_params(&other, &declared, Some(arguments)).is_err(), "{name} may differ");
    }
});

fn round(bytes: &[u8]) {
    if let Ok(text) = decode_value(bytes) {
        assert_eq!(decode_value(encode_value(&text).as_bytes()), Ok(text));
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let value = HeaderValue::try_from(encode_value(text)).unwrap();
    assert_eq!(decode_value(value.as_bytes()).as_deref(), Ok(text));
    let padded = format!(" \t{} ", encode_value(text));
    assert_eq!(decode_value(padded.as_bytes()).as_deref(), Ok(text));
}
