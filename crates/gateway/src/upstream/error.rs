//! An upstream's JSON-RPC error, as the caller gets it.
//!
//! **Invariant:** what an upstream says can neither be taken for the gateway's own word (`data.code` is always ours) nor
//! bring a code out that the protocol reserves.

use aldgate_wire::code;
use aldgate_wire::guard::{self, Limits};
use serde_json::Value;
use serde_json::value::RawValue;

use super::relay;
use crate::permit::Spent;
use crate::refusal::Refusal;
use crate::settings::MayAsk;

/// Characters of an upstream's message that are passed on.
const MESSAGE: usize = 2000;
/// Nesting of an upstream's data that is written anew.
const DATA_DEPTH: usize = 64;

/// What the caller is told of an upstream's error. Of a call that may have changed something only an error that says
/// that the request was not understood leaves it at that; every other one is an unknown outcome.
pub(super) fn told(spent: &Spent, number: i64, message: &str, data: Option<&RawValue>) -> Refusal {
    let message: String = message.chars().filter(|letter| !letter.is_control()).take(MESSAGE).collect();
    let upstream = spent.offer().source.upstream.name();
    if !spent.offer().read_only() && !is_about_the_request(number) {
        let text =
            format!("upstream `{upstream}` answered with the error {number}: {message}{}", spent.used_up());
        return Refusal::unknown(&text).with_data(members(number, data, true));
    }
    match number {
        code::MISSING_CLIENT_CAPABILITY if asked_in_vain(spent) => Refusal::upstream(
            "AG-UPSTREAM-ASKS",
            format!(
                "upstream `{upstream}` needs a capability of the client that the host does not let it use"
            ),
        ),
        // The client's own request stands; what the upstream complains of is the gateway's.
        code::HEADER_MISMATCH
        | code::UNSUPPORTED_PROTOCOL_VERSION
        | code::INVALID_REQUEST
        | code::PARSE_ERROR => {
            let text = format!("upstream `{upstream}` did not take the gateway's request: {message}");
            Refusal::upstream("AG-UPSTREAM-ANSWER", text).with_data(members(number, data, true))
        }
        _ => {
            let (passed, changed) = passed_code(number);
            let http = if passed == code::MISSING_CLIENT_CAPABILITY { 400 } else { 200 };
            Refusal::upstream_error(http, passed, message).with_data(members(number, data, changed))
        }
    }
}

/// Codes by which a server says that it did not begin: the request was malformed, or named nothing that it has.
fn is_about_the_request(number: i64) -> bool {
    matches!(
        number,
        code::PARSE_ERROR
            | code::INVALID_REQUEST
            | code::METHOD_NOT_FOUND
            | code::INVALID_PARAMS
            | code::HEADER_MISMATCH
            | code::MISSING_CLIENT_CAPABILITY
            | code::UNSUPPORTED_PROTOCOL_VERSION
    )
}

/// Whether the client declared a capability that the gateway did not declare on.
fn asked_in_vain(spent: &Spent) -> bool {
    let kinds = [MayAsk::Form, MayAsk::Url, MayAsk::Sampling, MayAsk::Roots];
    kinds.into_iter().any(|kind| relay::withholds(spent, kind)) || spent.meta.capabilities.tasks
}

/// The code that leaves, and whether it is another one than came: a code of the reserved range leaves only where the
/// protocol defines it (MCP 2026-07-28, basic/index#error-codes).
fn passed_code(number: i64) -> (i64, bool) {
    /// "Resource not found" of older revisions.
    const LEGACY_NOT_FOUND: i64 = -32002;
    match number {
        LEGACY_NOT_FOUND => (code::INVALID_PARAMS, true),
        code::INVALID_PARAMS
        | code::METHOD_NOT_FOUND
        | code::INTERNAL_ERROR
        | code::MISSING_CLIENT_CAPABILITY => (number, false),
        -32768..=-32000 => (code::INTERNAL_ERROR, true),
        _ => (number, false),
    }
}

/// The members of the upstream's `data`, but for those that are ours; where some cannot stand there, the whole of it as
/// `upstreamData`, and the code that came where another leaves. What would change its value when it is written anew goes as
/// its JSON text, `upstreamDataText`.
fn members(number: i64, data: Option<&RawValue>, code_differs: bool) -> Value {
    let mut members = serde_json::Map::new();
    if code_differs {
        members.insert("upstreamCode".to_owned(), number.into());
    }
    let limits = Limits { max_bytes: usize::MAX, max_depth: DATA_DEPTH };
    let exact = data.filter(|raw| guard::check(raw.get().as_bytes(), &limits).is_ok());
    if let (Some(raw), None) = (data, exact) {
        members.insert("upstreamDataText".to_owned(), raw.get().into());
    }
    match exact.and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok()) {
        Some(Value::Object(theirs)) if !["code", "call"].iter().any(|ours| theirs.contains_key(*ours)) => {
            members.extend(theirs);
        }
        Some(other) => {
            members.insert("upstreamData".to_owned(), other);
        }
        None => {}
    }
    Value::Object(members)
}
