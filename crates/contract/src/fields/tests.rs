use expect_test::{Expect, expect};

use super::field_digests;
use crate::{CanonicalFault, Digest};

fn check(definition: &str, expected: &Expect) {
    let found = match field_digests(definition) {
        Ok(digests) => digests.iter().map(|(name, digest)| format!("{name} {digest}\n")).collect(),
        Err(fault) => format!("{fault}\n"),
    };
    expected.assert_eq(&found);
}

#[test]
fn each_member_has_the_digest_of_its_canonical_form() {
    check(
        r#"{"name": "t", "inputSchema": {"type": "object", "maxProperties": 1e1}}"#,
        &expect![[r#"
            inputSchema sha256:75d9179680a5f43df386482be11783c79324b23dafd9ef3f3416076b209c4539
            name sha256:8ca5d81566f88badd698137ac629cbf93ccc107c0cd967b7964f7d82088f6ebf
        "#]],
    );
    let digests = field_digests(r#"{"b": {"z": 1.0, "a": []}}"#).unwrap();
    assert_eq!(digests.get("b"), Some(&Digest::of(r#"{"a":[],"z":1}"#)));
}

#[test]
fn only_what_changed_has_another_digest() {
    let before =
        field_digests(r#"{"name": "t", "title": "A", "inputSchema": {"type": "object", "x": 1}}"#).unwrap();
    let after =
        field_digests(r#"{"inputSchema": {"x": 1.0, "type": "object"}, "title": "B", "name": "t"}"#).unwrap();
    let changed: Vec<&String> = before.keys().filter(|key| before.get(*key) != after.get(*key)).collect();
    assert_eq!(changed, ["title"]);
}

#[test]
fn what_has_no_canonical_form_has_no_digests() {
    assert!(matches!(field_digests(r#"{"a": 1, "a": 2}"#), Err(CanonicalFault::Ambiguous(_))));
    assert!(matches!(field_digests("[]"), Err(CanonicalFault::NotObject)));
    assert_eq!(field_digests("{}").unwrap().len(), 0);
}
