//! Every function takes every input: nothing panics, whatever a peer sends.

use aldgate_wire::guard::Limits;
use aldgate_wire::request::{Incoming, Method, accept};
use aldgate_wire::{elicitation, list, response, tool};
use http::{HeaderMap, HeaderValue};
use proptest::prelude::*;
use serde_json::value::RawValue;

use crate::json;

/// The brace that begins an object; `prop_assert` would read it as a format.
const OPEN: char = '{';

fn envelope(members: &[(String, String)]) -> Vec<u8> {
    json::object(members).into_bytes()
}

/// Objects with the protocol's own keys among random ones, and random values under each.
fn near_messages() -> impl Strategy<Value = Vec<(String, String)>> {
    let key = prop_oneof![
        prop::sample::select(
            &[
                "jsonrpc",
                "id",
                "method",
                "params",
                "result",
                "error",
                "code",
                "message",
                "_meta",
                "name",
                "arguments",
                "tools",
                "resources",
                "resourceTemplates",
                "prompts",
                "uri",
                "uriTemplate",
                "resultType",
                "inputRequests",
                "isError",
                "inputSchema",
                "annotations",
                "mode",
                "action",
                "nextCursor",
                "ttlMs",
            ][..]
        )
        .prop_map(|key| format!("\"{key}\"")),
        json::string(),
    ];
    let value = prop_oneof![
        json::text(),
        prop::sample::select(
            &[
                "\"2.0\"", "7", "\"tools/call\"", "\"input_required\"", "{}", "[{\"name\":\"t\"}]",
                "[{\"name\":\"t\",\"uri\":\"a:b\",\"uriTemplate\":\"a:{b}\",\"arguments\":[{\"name\":\"x\"}]},7]",
                "{\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\",\"io.modelcontextprotocol/clientCapabilities\":{}}}",
            ][..]
        )
        .prop_map(str::to_owned),
    ];
    prop::collection::vec((key, value), 0..8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn requests(members in near_messages(), bytes in json::mutated()) {
        let mut headers = HeaderMap::new();
        headers.insert("mcp-protocol-version", HeaderValue::from_static("2026-07-28"));
        headers.insert("mcp-method", HeaderValue::from_static("tools/call"));
        for body in [envelope(&members), bytes] {
            match accept(&headers, &body, &Limits::default(), &Method::ALL, &["2026-07-28"]) {
                Ok(Incoming::Request(request)) => prop_assert_eq!(request.method, Method::CallTool),
                Ok(Incoming::Notification { method }) => prop_assert!(method.starts_with("notifications/")),
                Err(rejection) => {
                    let answer: serde_json::Value = serde_json::from_slice(&response::error_bytes(
                        rejection.id.as_ref(), rejection.code, &rejection.message, rejection.data.as_deref(),
                    ))
                    .unwrap();
                    prop_assert_eq!(&answer["error"]["data"]["code"], rejection.ag);
                }
            }
        }
    }

    #[test]
    fn answers_lists_tools_and_questions(members in near_messages(), bytes in json::mutated()) {
        for body in [envelope(&members), bytes] {
            if let Ok(response::Message::Answer(response::Answer::Result(view))) =
                response::read_message(&body, 7, &Limits::default())
            {
                prop_assert!(view.with_meta(&[], &[]).is_ok());
            }
            let text = String::from_utf8_lossy(&body);
            let Ok(raw) = serde_json::from_str::<&RawValue>(&text) else { continue };
            for kind in list::ListKind::ALL {
                if let Ok(page) = list::read(kind, raw) {
                    prop_assert!(page.items.iter().all(|item| !item.key.is_empty()));
                }
            }
            if let Ok(tool) = tool::view(raw) {
                prop_assert!(tool.input_schema.get().starts_with(OPEN));
            }
            if let Ok(asked) = elicitation::requests(raw) {
                prop_assert!(asked.iter().all(|(_, request)| request.raw.get().starts_with(OPEN)));
            }
            if let Ok(given) = elicitation::responses(raw) {
                prop_assert!(given.iter().all(|(_, response)| response.raw.get().starts_with(OPEN)));
            }
        }
    }
}
