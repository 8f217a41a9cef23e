//! What replies and rows say.

use aldgate_testkit::Reply;
use serde_json::Value;

/// The stable code of a refusal, wherever it stands; `-` where nothing was refused.
pub(crate) fn code(reply: &Reply) -> String {
    let body = reply.json().unwrap();
    let places = ["/result/_meta/io.github.aldgate~1refusal/code", "/error/data/code", "/error/code"];
    let found = places.iter().find_map(|place| body.pointer(place)?.as_str());
    found.unwrap_or("-").to_owned()
}

/// The JSON-RPC error code; 0 where it is none.
pub(crate) fn rpc(reply: &Reply) -> i64 {
    reply.json().unwrap()["error"]["code"].as_i64().unwrap_or(0)
}

/// The id of the call that a reply belongs to.
pub(crate) fn call_id(reply: &Reply) -> String {
    let body = reply.json().unwrap();
    let places = [
        "/result/_meta/io.github.aldgate~1call",
        "/result/_meta/io.github.aldgate~1refusal/call",
        "/error/data/call",
    ];
    let found = places.iter().find_map(|place| body.pointer(place)?.as_str());
    found.unwrap_or_else(|| panic!("no call id in {body}")).to_owned()
}

/// The id of the approval that a reply names.
pub(crate) fn approval(reply: &Reply) -> String {
    let body = reply.json().unwrap();
    let place = "/result/_meta/io.github.aldgate~1refusal/approval";
    body.pointer(place).and_then(Value::as_str).unwrap_or_else(|| panic!("no approval in {body}")).to_owned()
}

/// The text of a result's first content, or an error's message.
pub(crate) fn text(reply: &Reply) -> String {
    let body = reply.json().unwrap();
    let places = ["/result/content/0/text", "/error/message"];
    let found = places.iter().find_map(|place| body.pointer(place)?.as_str());
    found.unwrap_or_else(|| panic!("no text in {body}")).to_owned()
}

/// The state that a reply asks to bring back.
pub(crate) fn state(reply: &Reply) -> String {
    let result = reply.result().unwrap();
    assert_eq!(result["resultType"], "input_required", "{result}");
    result["requestState"].as_str().unwrap().to_owned()
}

/// One row as `kind ruling outcome code`, `-` for what it does not say.
pub(crate) fn told(row: &Value) -> String {
    let members = ["kind", "ruling", "outcome", "code"].map(|key| row[key].as_str().unwrap_or("-"));
    members.join(" ")
}
