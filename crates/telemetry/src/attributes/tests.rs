use std::collections::BTreeMap;

use opentelemetry::KeyValue;

use super::{About, ID_BYTES, Request, Way, conversation, skill};

fn of(attributes: impl IntoIterator<Item = KeyValue>) -> BTreeMap<String, String> {
    attributes.into_iter().map(|one| (one.key.to_string(), one.value.as_str().into_owned())).collect()
}

fn id(json: &str) -> String {
    let request = Request {
        method: "tools/call",
        id: Some(json),
        version: "2026-07-28",
        way: Way::Http,
        conversation: None,
    };
    let attributes = of(request.attributes());
    assert_eq!(attributes["jsonrpc.request.id"], attributes["mcp.request.id"]);
    attributes["mcp.request.id"].clone()
}

#[test]
fn an_id_is_shown_as_its_text() {
    assert_eq!(id("7"), "7");
    assert_eq!(id(r#""seven""#), "seven");
    assert_eq!(id(r#""\"7\"""#), r#""7""#, "its own quotes belong to it");
    assert_eq!(id(r#""a\u00e9""#), "aé");
    assert_eq!(id(&format!("\"{}\"", "é".repeat(ID_BYTES))).len(), ID_BYTES);
}

#[test]
fn a_skill_has_a_name_a_version_and_who_chose_it() {
    let expected = [
        ("skill.invocation_source", "model"),
        ("skill.name", "diagnose-compressor"),
        ("skill.version", "1.2.0"),
    ];
    let expected: BTreeMap<String, String> =
        expected.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    assert_eq!(of(skill("diagnose-compressor", "1.2.0", "model")), expected);
}

#[test]
fn what_cannot_be_the_id_of_a_run_is_left_out() {
    assert_eq!(conversation("run-1"), Some("run-1"));
    for bad in ["", "a\nb", "a\u{1b}[31m", "a\u{0}", &"x".repeat(ID_BYTES + 1)] {
        assert_eq!(conversation(bad), None, "{bad:?}");
    }
}

#[test]
fn each_way_names_its_transport() {
    for (way, said, network) in
        [(Way::Http, "http", Some("tcp")), (Way::Inproc, "inproc", None), (Way::Stdio, "stdio", Some("pipe"))]
    {
        let request =
            Request { method: "tools/list", id: Some("1"), version: "2026-07-28", way, conversation: None };
        let attributes = of(request.attributes());
        assert_eq!(attributes["atlas.mcp.transport"], said);
        assert_eq!(attributes.get("network.transport").map(String::as_str), network);
        assert_eq!(attributes.contains_key("network.protocol.name"), way == Way::Http);
    }
}

#[test]
fn a_span_is_named_by_the_method_and_what_has_few_names() {
    assert_eq!(About::Tool("look").span_name("tools/call"), "tools/call look");
    assert_eq!(About::Prompt("greet").span_name("prompts/get"), "prompts/get greet");
    assert_eq!(About::Resource("note://a").span_name("resources/read"), "resources/read");
}
