mod accept;
mod file;
mod identity;
mod verify;

use super::{Live, Lock, PinFault, UpstreamIdentity};
use crate::{Kind, fingerprint};

const AT: &str = "2026-11-30T10:00:00Z";
const LATER: &str = "2026-12-01T10:00:00Z";

/// Odd numbers, escapes, key order, and an integer above 2^53.
const ODD: &str = r#"{"name":"odd","z":1.10,"a":[1E5,-0,9007199254740993,0.1],"s":"\u00e9\/é \"","inputSchema":{"type":"object"},"empty":{}}"#;
const PLAIN: &str = r#"{"name":"plain","inputSchema":{"type":"object"}}"#;
/// White space of its own.
const SPACED: &str = "{ \"name\": \"spaced\",\n  \"inputSchema\": {\"type\":\"object\"} }";

const TEMPLATE: &str = r#"{"uriTemplate":"ticket://{id}","name":"Ticket","size":1.0}"#;
const GONE: &str = r#"{"uriTemplate":"gone://{x}","name":"Gone"}"#;
const PROMPT: &str = r#"{"name":"diagnose","arguments":[{"name":"fault_code","required":true}]}"#;

fn upstream() -> UpstreamIdentity {
    UpstreamIdentity {
        name: "parts".to_owned(),
        endpoint: "inproc:field-service/parts".to_owned(),
        server: Some("Parts".to_owned()),
    }
}

fn lock() -> Lock {
    Lock::pin(upstream(), [("odd", ODD), ("plain", PLAIN), ("spaced", SPACED)], AT).unwrap()
}

/// A lock with contracts of every kind.
fn all() -> Lock {
    let live = Live::default()
        .with(Kind::Tool, [("plain", PLAIN)])
        .with(Kind::ResourceTemplate, [("ticket://{id}", TEMPLATE), ("gone://{x}", GONE)])
        .with(Kind::Prompt, [("diagnose", PROMPT)]);
    Lock::pin(upstream(), live, AT).unwrap()
}

#[test]
fn pins_the_bytes_and_their_digests() {
    let lock = lock();
    for (name, definition) in [("odd", ODD), ("plain", PLAIN), ("spaced", SPACED)] {
        let pin = &lock.tools[name];
        let expected = fingerprint(definition).unwrap();
        assert_eq!(pin.definition.get(), definition);
        assert_eq!((pin.digest, pin.raw_digest), (expected.jcs, expected.raw));
        assert_eq!((pin.version, pin.pinned_at.as_str(), pin.history.len()), (1, AT, 0));
        assert_eq!(pin.name, name);
    }
}

#[test]
fn repinning_keeps_what_did_not_change_and_counts_what_did() {
    let changed = PLAIN.replace("object\"}", "object\",\"x\":1}");
    let again = lock().repin([("odd", ODD), ("plain", changed.as_str())], LATER).unwrap();
    assert_eq!((again.tools["odd"].version, again.tools["odd"].pinned_at.as_str()), (1, AT));
    let plain = &again.tools["plain"];
    assert_eq!((plain.version, plain.pinned_at.as_str()), (2, LATER));
    let first = fingerprint(PLAIN).unwrap();
    let [past] = plain.history.as_slice() else { panic!("{:?}", plain.history) };
    assert_eq!((past.name.as_str(), past.version, past.pinned_at.as_str()), ("plain", 1, AT));
    assert_eq!((past.digest, past.raw_digest, past.definition.get()), (first.jcs, first.raw, PLAIN));
    assert!(!again.tools.contains_key("spaced"));
    assert_eq!(again.retired(Kind::Tool, "spaced").len(), 1);

    let back = again.repin([("plain", PLAIN), ("spaced", SPACED)], LATER).unwrap();
    assert_eq!(back.tools["plain"].version, 3, "the first definition again is a new version");
    let versions: Vec<u32> = back.tools["plain"].history.iter().map(|past| past.version).collect();
    assert_eq!(versions, [1, 2]);
    assert_eq!(back.tools["spaced"].version, 2, "a version is never used again");
    assert!(!back.retired(Kind::Tool, "odd").is_empty() && back.retired(Kind::Tool, "spaced").is_empty());
}

#[test]
fn a_change_of_bytes_alone_is_a_new_version_too() {
    let respelled = PLAIN.replace("\"name\":\"plain\",", "\"name\":\"pl\\u0061in\",");
    let again = lock().repin([("plain", respelled.as_str())], LATER).unwrap();
    assert_eq!(again.tools["plain"].version, 2);
    assert_eq!(again.tools["plain"].definition.get(), respelled);
}

#[test]
fn refuses_what_cannot_be_pinned() {
    let pin = |live: &[(&str, &str)]| Lock::pin(upstream(), live.iter().copied(), AT).unwrap_err();
    assert!(
        matches!(pin(&[("t", r#"{"name":"t","a":1,"a":2}"#)]), PinFault::Definition { item, .. } if item.name == "t")
    );
    assert!(matches!(pin(&[("t", r#"{"name":"u"}"#)]), PinFault::Name { item } if item.name == "t"));
    assert!(matches!(pin(&[("t", "{}")]), PinFault::Name { .. }));
    assert!(
        matches!(pin(&[("plain", PLAIN), ("plain", PLAIN)]), PinFault::Repeated { item } if item.name == "plain")
    );
}

#[test]
fn every_kind_has_versions_of_its_own() {
    let lock = all();
    let template = &lock.resource_templates["ticket://{id}"];
    assert_eq!(template.definition.get(), TEMPLATE);
    assert_eq!((template.kind, template.version), (Kind::ResourceTemplate, 1));
    assert_eq!(template.digest, fingerprint(TEMPLATE).unwrap().jcs);

    // A prompt may have the name of a tool.
    let other = r#"{"name":"plain"}"#;
    let live = Live::default().with(Kind::Prompt, [("plain", other)]).with(Kind::ResourceTemplate, []);
    let next = lock.repin(live, LATER).unwrap();
    assert_eq!((next.prompts["plain"].version, next.tools["plain"].version), (1, 1));
    assert_eq!(next.tools["plain"].definition.get(), PLAIN);
    assert_eq!(next.retired(Kind::Prompt, "diagnose").len(), 1);
    let back = next.repin(Live::default().with(Kind::Prompt, [("diagnose", PROMPT)]), LATER).unwrap();
    assert_eq!(back.prompts["diagnose"].version, 2, "a version is never used again");
    assert!(back.retired(Kind::Tool, "plain").is_empty());
}

#[test]
fn a_fault_names_the_kind() {
    let fault = |kind, name, definition| {
        Lock::pin(upstream(), Live::default().with(kind, [(name, definition)]), AT).unwrap_err().to_string()
    };
    assert_eq!(
        fault(Kind::ResourceTemplate, "a:{b}", TEMPLATE),
        "the definition of resource template `a:{b}` has another `uriTemplate`; pin the list as the upstream serves it"
    );
    assert_eq!(fault(Kind::Prompt, "p", "[]"), "the definition of prompt `p` cannot be pinned");
}
