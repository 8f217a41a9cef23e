//! What is accepted stands in the body and in the headers, and every answer to what is not can be read. The input is
//! three lines, the values of `MCP-Protocol-Version`, `Mcp-Method` and `Mcp-Name`, and a body.
#![no_main]

use std::collections::HashMap;

use aldgate_wire::guard::{Limits, check};
use aldgate_wire::header::{self, decode_value};
use aldgate_wire::request::{Incoming, Method, accept};
use aldgate_wire::response::error_bytes;
use http::{HeaderMap, HeaderValue};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use serde_json::value::RawValue;

const VERSIONS: &[&str] = &["2026-07-28"];

fuzz_target!(|data: &[u8]| {
    let lines: Vec<&[u8]> = data.splitn(4, |byte| *byte == b'\n').collect();
    let [version, method, name, body] = lines.as_slice() else { return };
    let mut headers = HeaderMap::new();
    for (header, value) in
        [(header::PROTOCOL_VERSION, version), (header::METHOD, method), (header::NAME, name)]
    {
        // An empty line is a header that is missing.
        if let (false, Ok(value)) = (value.is_empty(), HeaderValue::from_bytes(value)) {
            headers.insert(header, value);
        }
    }
    let limits = Limits::default();
    let found = accept(&headers, body, &limits, &Method::ALL, VERSIONS);
    let members = || serde_json::from_slice::<HashMap<String, &RawValue>>(body);
    match &found {
        Ok(Incoming::Request(request)) => {
            assert_eq!(check(body, &limits), Ok(()));
            let members = members().unwrap();
            assert_eq!(members["id"].get(), request.id.as_raw().get());
            let said: String = serde_json::from_str(members["method"].get()).unwrap();
            assert_eq!(said, request.method.as_str());
            assert_eq!(headers[header::METHOD].as_bytes().trim_ascii(), said.as_bytes());
            let params: HashMap<String, &RawValue> = serde_json::from_str(members["params"].get()).unwrap();
            assert_eq!(
                params.get("arguments").map(|raw| raw.get()).filter(|_| request.params.arguments.is_some()),
                request.params.arguments.as_deref().map(RawValue::get)
            );
            if let Some(target) = request.target() {
                assert_eq!(decode_value(headers[header::NAME].as_bytes()).unwrap(), target);
            }
            anew(&headers, body, request.id.as_raw());
        }
        Ok(Incoming::Notification { method }) => {
            assert!(method.starts_with("notifications/"));
            assert!(!members().unwrap().contains_key("id"));
        }
        Err(rejection) => {
            assert!([200, 400, 404, 413].contains(&rejection.http) && !rejection.message.is_empty());
            if let Some(id) = &rejection.id {
                let text = std::str::from_utf8(body).unwrap();
                assert!(text.contains(id.as_raw().get()), "an id that is not in the body");
            }
            let bytes = error_bytes(
                rejection.id.as_ref(),
                rejection.code,
                &rejection.message,
                rejection.data.as_deref(),
            );
            let answer: Value = serde_json::from_slice(&bytes).unwrap();
            assert_eq!(answer["error"]["data"]["code"], rejection.ag);
            assert_eq!(answer["error"]["code"], rejection.code);
        }
    }
    let again = accept(&headers, body, &limits, &Method::ALL, VERSIONS);
    assert_eq!(format!("{found:?}"), format!("{again:?}"));
});

/// What was accepted is accepted when it is written anew.
fn anew(headers: &HeaderMap, body: &[u8], id: &RawValue) {
    // A reader of numbers makes a double of it, which is no id.
    if id.get() == "-0" {
        return;
    }
    let value: Value = serde_json::from_slice(body).unwrap();
    // Integers beyond 64 bits are ids, and become doubles too.
    if value["id"].is_f64() {
        return;
    }
    let again = serde_json::to_vec(&value).unwrap();
    let found = accept(headers, &again, &Limits::default(), &Method::ALL, VERSIONS);
    assert!(matches!(found, Ok(Incoming::Request(_))), "{found:?}");
}
