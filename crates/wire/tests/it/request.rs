use std::collections::HashMap;

use aldgate_wire::guard::{Limits, check};
use aldgate_wire::header::{self, encode_value};
use aldgate_wire::request::{Incoming, Method, Rejection, accept};
use http::{HeaderMap, HeaderValue};
use proptest::prelude::*;
use serde_json::value::RawValue;

use crate::json;

const VERSION: &str = "2026-07-28";
const META: &str = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

/// A call of the tool `t`, its members spelled in many ways and in any order, some of them odd.
fn calls() -> impl Strategy<Value = Vec<u8>> {
    let id = prop_oneof![
        4 => (-1000..1000i32).prop_map(|id| id.to_string()),
        4 => "[a-zé☃]{0,4}".prop_map(|id| format!("\"\\u0041{id}\"")),
        1 => json::text(),
    ];
    // Mostly plain, so that most of the calls are accepted.
    let value = || {
        let plain =
            prop::sample::select(&["1.50", "-0", "\"\\u0041 \u{2028}\"", "[ null ]", "{\"\":{}}", "1E5"][..]);
        prop_oneof![12 => plain.prop_map(str::to_owned), 1 => json::text()]
    };
    let key = || prop_oneof![12 => "[a-d]{3}".prop_map(|key| format!("\"x-{key}\"")), 1 => json::string()];
    let more = move || prop::collection::vec((key(), value()), 0..4);
    let arguments = prop_oneof![8 => more().prop_map(|members| json::object(&members)), 1 => json::text()];
    (id, arguments, more(), more(), any::<prop::sample::Index>()).prop_map(
        |(id, arguments, more, params, turn)| {
            let mut params = params;
            params.extend([("name", r#""t""#), ("arguments", &arguments), ("_meta", META)].map(quoted));
            let params = json::object(&params);
            let mut members = more;
            members.extend(
                [("id", &*id), ("jsonrpc", r#""2.0""#), ("method", r#""tools/call""#), ("params", &params)]
                    .map(quoted),
            );
            let place = turn.index(members.len());
            members.rotate_left(place);
            json::object(&members).into_bytes()
        },
    )
}

fn quoted((key, value): (&str, &str)) -> (String, String) {
    (format!("\"{key}\""), value.to_owned())
}

fn accepted(body: &[u8]) -> Result<Incoming, Rejection> {
    let mut headers = HeaderMap::new();
    headers.insert(header::PROTOCOL_VERSION, HeaderValue::from_static(VERSION));
    headers.insert(header::METHOD, HeaderValue::from_static("tools/call"));
    headers.insert(header::NAME, HeaderValue::try_from(encode_value("t")).unwrap());
    accept(&headers, body, &Limits::default(), &Method::ALL, &[VERSION])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// What is accepted has one reading, and what was read of it are its own bytes.
    #[test]
    fn what_is_accepted_stands_in_the_body(body in calls()) {
        match accepted(&body) {
            Ok(Incoming::Request(request)) => {
                prop_assert_eq!(check(&body, &Limits::default()), Ok(()));
                let members: HashMap<String, &RawValue> = serde_json::from_slice(&body).unwrap();
                prop_assert_eq!(members["id"].get(), request.id.as_raw().get());
                let params: HashMap<String, &RawValue> = serde_json::from_str(members["params"].get()).unwrap();
                let arguments = request.params.arguments.as_deref().map(RawValue::get);
                prop_assert_eq!(arguments, params.get("arguments").map(|raw| raw.get()));
                prop_assert_eq!(request.target(), Some("t"));
            }
            Ok(other) => return Err(TestCaseError::fail(format!("{other:?}"))),
            Err(rejection) => {
                // A refusal answers to the id of the body or to none.
                if let Some(id) = rejection.id {
                    let text = std::str::from_utf8(&body).unwrap();
                    prop_assert!(text.contains(id.as_raw().get()), "{:?}", id);
                }
            }
        }
    }

    #[test]
    fn no_id_comes_from_anywhere_else(body in json::mutated()) {
        if let Err(Rejection { id: Some(id), .. }) = accepted(&body) {
            prop_assert!(String::from_utf8_lossy(&body).contains(id.as_raw().get()));
        }
    }
}
