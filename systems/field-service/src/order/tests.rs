use std::collections::BTreeMap;
use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{Binding, Decision, Form, ORDER_FORM_KEY, ORDER_FORM_SCHEMA, Seal, read};

fn arguments(quantity: i64) -> Map<String, Value> {
    json!({ "part_no": "X", "quantity": quantity }).as_object().cloned().unwrap()
}

fn binding<'a>(arguments: &'a Map<String, Value>) -> Binding<'a> {
    Binding { principal: "p", tool: "raise_parts_order", arguments, terms: "100 ACC-1 2" }
}

#[test]
fn a_state_opens_for_its_own_binding_only() {
    let seal = Seal::new(&[1; 32]).unwrap();
    let (one, two) = (arguments(1), arguments(2));
    let sealed = seal.seal("n", &binding(&one)).unwrap();
    assert_eq!(seal.open(&sealed, &binding(&one)).unwrap(), "n");
    let others = [
        binding(&two),
        Binding { principal: "q", ..binding(&one) },
        Binding { tool: "other", ..binding(&one) },
        Binding { terms: "101 ACC-1 2", ..binding(&one) },
        // The same characters, cut elsewhere.
        Binding { principal: "pr", tool: "aise_parts_order", ..binding(&one) },
    ];
    for other in others {
        assert!(seal.open(&sealed, &other).is_err(), "{other:?}");
    }
    assert!(Seal::new(&[2; 32]).unwrap().open(&sealed, &binding(&one)).is_err(), "another key");
}

#[test]
fn the_order_of_arguments_does_not_matter() {
    let seal = Seal::new(&[1; 32]).unwrap();
    let forwards = json!({ "a": 1, "b": 2 }).as_object().cloned().unwrap();
    let backwards = json!({ "b": 2, "a": 1 }).as_object().cloned().unwrap();
    let sealed = seal.seal("n", &binding(&forwards)).unwrap();
    assert!(seal.open(&sealed, &binding(&backwards)).is_ok());
}

#[test]
fn an_expired_state_is_refused() {
    let seal = Seal::new(&[1; 32]).unwrap().with_lifetime(Duration::from_millis(1));
    let arguments = arguments(1);
    let sealed = seal.seal("n", &binding(&arguments)).unwrap();
    let start = std::time::Instant::now();
    while seal.open(&sealed, &binding(&arguments)).is_ok() {
        assert!(start.elapsed() < Duration::from_secs(60), "it never expires");
        std::thread::yield_now();
    }
}

proptest! {
    #[test]
    fn an_altered_state_is_refused(position in 0_usize..4096, flip in 1_u8..128) {
        let seal = Seal::new(&[1; 32]).unwrap();
        let arguments = arguments(1);
        let sealed = seal.seal("0123456789abcdef", &binding(&arguments)).unwrap();
        let mut bytes = sealed.clone().into_bytes();
        let position = position % bytes.len();
        bytes[position] ^= flip;
        let altered = String::from_utf8_lossy(&bytes).into_owned();
        prop_assume!(altered != sealed);
        prop_assert!(seal.open(&altered, &binding(&arguments)).is_err());
    }
}

fn answer(response: Value) -> Result<Form, String> {
    read(Some(&BTreeMap::from([(ORDER_FORM_KEY.to_owned(), response)])))
}

#[test]
fn forms_are_read() {
    let accept = |content: Value| answer(json!({ "action": "accept", "content": content }));
    let decided = |approved, note: &str| {
        Ok(Form::Decided(Decision { approved, approver: "R".to_owned(), note: note.to_owned() }))
    };
    assert_eq!(accept(json!({ "decision": "approve", "approver": " R " })), decided(true, ""));
    assert_eq!(accept(json!({ "decision": "deny", "approver": "R", "note": "no" })), decided(false, "no"));
    assert_eq!(accept(json!({ "decision": "deny", "approver": "" })), Ok(Form::Nameless));
    assert_eq!(accept(json!({ "decision": "approve" })), Ok(Form::Nameless));
    assert_eq!(answer(json!({ "action": "decline" })), Ok(Form::Declined));
    assert_eq!(answer(json!({ "action": "cancel" })), Ok(Form::Cancelled));
    assert_eq!(read(None), Ok(Form::Missing));
    let other = BTreeMap::from([("other".to_owned(), json!({ "action": "accept" }))]);
    assert_eq!(read(Some(&other)), Ok(Form::Missing), "unknown keys are ignored");
    assert!(accept(json!({ "decision": true, "approver": "R" })).is_err());
    assert!(accept(json!({ "decision": "approve", "approver": "R", "note": 1 })).is_err());
}

#[test]
fn the_forms_schema_is_flat_and_names_its_fields() {
    let schema: Value = serde_json::from_str(ORDER_FORM_SCHEMA).unwrap();
    let fields: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
    assert_eq!(fields, ["decision", "approver", "note"]);
    assert_eq!(schema["properties"]["decision"]["enum"], json!(["approve", "deny"]));
    assert_eq!(schema["required"], json!(["decision", "approver"]));
    // Compact and in this order: whoever hashes the text hashes what a canonical writer would write from it, but
    // for the order of members.
    assert_eq!(schema.to_string(), ORDER_FORM_SCHEMA);
}
