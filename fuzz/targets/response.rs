//! What is read of an upstream's message stands in it, and what is put into a result leaves every other byte.
#![no_main]

use std::collections::BTreeMap;

use aldgate_wire::guard::Limits;
use aldgate_wire::replace::{replaced, replaced_at};
use aldgate_wire::response::{Answer, Message, ResultView, read, read_message};
use aldgate_wire::{elicitation, list, tool};
use libfuzzer_sys::fuzz_target;
use serde_json::value::RawValue;

const ID: u64 = 7;
const LIMITS: Limits = Limits { max_bytes: 1 << 20, max_depth: 100 };
const SERVER: &str = "io.modelcontextprotocol/serverInfo";

fuzz_target!(|body: &[u8]| {
    let message = read_message(body, ID, &LIMITS);
    let text = String::from_utf8_lossy(body);
    match &message {
        Ok(Message::Answer(Answer::Result(view))) => {
            assert!(text.contains(view.raw().get()));
            signed(view);
        }
        Ok(Message::Answer(Answer::Error { raw, .. })) => assert!(text.contains(raw.get())),
        Ok(Message::Notification { params, .. }) => {
            assert!(params.as_ref().is_none_or(|params| text.contains(params.get())));
            assert!(read(body, ID, &LIMITS).is_err());
        }
        Err(fault) => assert!(!fault.to_string().is_empty()),
    }
    if let Ok(raw) = serde_json::from_slice::<&RawValue>(body) {
        parts(raw);
        replacing(raw);
    }
});

/// Our own `_meta` key is put in, and nothing else changes.
fn signed(view: &ResultView) {
    let raw = view.raw().get();
    let own: &RawValue = serde_json::from_str(r#"{"name":"n"}"#).unwrap();
    // Refused only where the upstream repeats the key.
    let Ok(signed) = view.with_meta(&[(SERVER, own)], &["io.github.aldgate/"]) else {
        assert!(view.meta().is_some());
        return;
    };
    let signed = String::from_utf8(signed).unwrap();
    match view.meta() {
        Some(meta) => {
            let start = meta.as_ptr() as usize - raw.as_ptr() as usize;
            assert!(signed.starts_with(&raw[..start]) && signed.ends_with(&raw[start + meta.len()..]));
        }
        None => {
            let inner = raw.strip_suffix('}').unwrap();
            assert!(signed.starts_with(inner));
            assert_eq!(replaced_at(view.raw(), &["_meta", SERVER], own).unwrap().get(), signed);
        }
    }
    let again = format!(r#"{{"jsonrpc":"2.0","id":{ID},"result":{signed}}}"#);
    let Ok(Answer::Result(again)) = read(again.as_bytes(), ID, &LIMITS) else {
        panic!("cannot be read: {signed}")
    };
    assert_eq!(again.kind, view.kind);
    assert_eq!(again.failed(), view.failed());
    assert_eq!(again.request_state, view.request_state);
}

/// Lists, definitions and questions.
fn parts(raw: &RawValue) {
    let text = raw.get();
    for kind in list::ListKind::ALL {
        let Ok(page) = list::read(kind, raw) else { continue };
        let mut keys: Vec<_> = page.items.iter().map(|item| item.key.as_str()).collect();
        assert!(page.items.iter().all(|item| !item.key.is_empty() && text.contains(item.raw.get())));
        keys.sort_unstable();
        assert!(keys.windows(2).all(|pair| pair[0] != pair[1]), "one key twice");
    }
    if let Ok(view) = tool::view(raw) {
        assert!(text.contains(view.input_schema.get()));
    }
    if let Ok(asked) = elicitation::requests(raw) {
        assert!(asked.iter().all(|(_, request)| text.contains(request.raw.get())));
    }
    if let Ok(given) = elicitation::responses(raw) {
        assert!(given.iter().all(|(_, response)| text.contains(response.raw.get())));
    }
}

/// A value that is replaced by itself changes nothing; one that is replaced by another is read as the other.
fn replacing(raw: &RawValue) {
    let Ok(members) = serde_json::from_str::<BTreeMap<String, &RawValue>>(raw.get()) else { return };
    let other: &RawValue = serde_json::from_str("[1.10]").unwrap();
    for (key, value) in &members {
        // Refused only where the key stands twice.
        let Ok(same) = replaced(raw, &[(key, value)]) else { continue };
        assert_eq!(same.get(), raw.get());
        let changed = replaced(raw, &[(key, other)]).unwrap();
        let changed: BTreeMap<String, &RawValue> = serde_json::from_str(changed.get()).unwrap();
        assert_eq!(changed.len(), members.len());
        for (name, value) in changed {
            assert_eq!(value.get(), if name == *key { other.get() } else { members[&name].get() });
        }
    }
}
