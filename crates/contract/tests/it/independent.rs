//! Signatures are checked by another implementation: the Python program that the README shows, run as it stands there.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use aldgate_contract::signature::{Keyring, SigningKey, Statement};
use aldgate_contract::{Digest, Kind, Live, Lock, UpstreamIdentity};
use serde_json::{Value, json};
use tempfile::TempDir;

const HEADING: &str = "## Check a contract's signature yourself\n";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The program in the README's section.
fn program() -> String {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let (_, section) = readme.split_once(HEADING).expect("the README's section");
    let (section, _) = section.split_once("\n## ").unwrap();
    let (_, program) = section.split_once("```python\n").expect("a Python program in the section");
    program.split_once("```\n").unwrap().0.to_owned()
}

fn check(lock: &Value, keys: &Value) -> Output {
    let python = root().join(".venv/bin/python");
    assert!(python.is_file(), "run `make test`, which installs the JOSE library first");
    let folder = TempDir::new().unwrap();
    let files = [("check.py", program()), ("lock.json", lock.to_string()), ("keys.json", keys.to_string())];
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    Command::new(python).args(["check.py", "lock.json", "keys.json"]).current_dir(&folder).output().unwrap()
}

fn reviewer() -> SigningKey {
    SigningKey::from_seed([11; 32], None).unwrap()
}

fn keys(of: &SigningKey) -> Value {
    Keyring::new([of.public().clone()], []).unwrap().jwks()
}

/// A lock of a tool, a template and a prompt, each with the reviewer's signature.
fn signed() -> Value {
    let tool = r#"{ "name": "bestelle_Öl", "description": "\u00d6l \u2028 \"frisch\" \ud83d\ude00",
        "inputSchema": {"type":"object","properties":{"menge":{"maximum":1e21,"minimum":0.10}}} }"#;
    let template = r#"{"uriTemplate":"page://{n}","name":"page"}"#;
    let live = Live::default()
        .with(Kind::Tool, [("bestelle_Öl", tool)])
        .with(Kind::ResourceTemplate, [("page://{n}", template)])
        .with(Kind::Prompt, [("ask", r#"{"name":"ask"}"#)]);
    let upstream = UpstreamIdentity { name: "parts".into(), endpoint: "inproc:parts".into(), server: None };
    let lock = Lock::pin(upstream, live, "2026-11-30T10:00:00Z").unwrap();
    let mut text: Value = serde_json::from_str(&lock.to_pretty_json()).unwrap();
    let members = ["tools", "resourceTemplates", "prompts"];
    for (kind, member) in Kind::ALL.into_iter().zip(members) {
        for (name, pin) in text[member].as_object_mut().unwrap() {
            let digest: Digest = pin["digest"].as_str().unwrap().parse().unwrap();
            let statement = Statement { upstream: "parts", kind, name, version: 1, digest };
            pin["signature"] = Value::from(reviewer().sign(&statement));
        }
    }
    text
}

#[test]
fn an_independent_library_finds_the_signatures_good() {
    let output = check(&signed(), &keys(&reviewer()));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let kid = reviewer().public().thumbprint();
    let expected = format!(
        "tool bestelle_Öl, version 1: signed by {kid}\n\
         resource_template page://{{n}}, version 1: signed by {kid}\n\
         prompt ask, version 1: signed by {kid}\n"
    );
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
}

#[test]
fn what_nobody_signed_is_said_to_be_unsigned() {
    let mut lock = signed();
    lock["tools"]["bestelle_Öl"].as_object_mut().unwrap().remove("signature");
    let output = check(&lock, &keys(&reviewer()));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(told.starts_with("tool bestelle_Öl, version 1: unsigned\nresource_template "), "{told}");
    assert_eq!(told.lines().filter(|line| line.contains("signed by")).count(), 2);
}

#[test]
fn an_independent_library_refuses_what_was_not_signed() {
    let altered = |pointer: &str, value: Value| {
        let mut lock = signed();
        *lock.pointer_mut(pointer).unwrap() = value;
        lock
    };
    let good = keys(&reviewer());
    let forged =
        SigningKey::from_seed([12; 32], Some(reviewer().public().kid())).map(|key| keys(&key)).unwrap();
    let other = SigningKey::from_seed([12; 32], None).map(|key| keys(&key)).unwrap();
    let cases = [
        (altered("/upstream/name", json!("tickets")), good.clone(), "InvalidSignatureError"),
        (altered("/tools/bestelle_Öl/version", json!(2)), good.clone(), "InvalidSignatureError"),
        (
            altered("/prompts/ask/definition", json!({ "name": "ask", "title": "a" })),
            good,
            "InvalidSignatureError",
        ),
        (signed(), forged, "InvalidSignatureError"),
        (signed(), other, "KeyError"),
    ];
    for (lock, keys, error) in cases {
        let output = check(&lock, &keys);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && stderr.contains(error), "{error}: {stderr}");
    }
}
