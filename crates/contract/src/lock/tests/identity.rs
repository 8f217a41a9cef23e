use expect_test::{Expect, expect};

use super::upstream;
use crate::{Digest, UpstreamIdentity};

fn check(identity: &UpstreamIdentity, expected: Expect) {
    let mut told = format!("{}\n{}\n", identity.canonical().unwrap(), identity.digest().unwrap());
    for (member, digest) in identity.field_digests().unwrap() {
        told += &format!("{member} {digest}\n");
    }
    expected.assert_eq(&told);
}

#[test]
fn an_identity_has_a_canonical_form_and_digests() {
    check(
        &upstream(),
        expect![[r#"
        {"endpoint":"inproc:field-service/parts","name":"parts","server":"Parts"}
        sha256:0bf991e3542324b6b24d05d2079d2ac4d4397f7e6caa97facbe579db8db3d4e0
        endpoint sha256:86829ab017c1edb2b2815018c938c5ec8d8c8da69ade8048f8095002c0036946
        name sha256:6691ae277870be1ce8fba38b4aba38f3a526f1a8d7396171312e8d1963990c85
        server sha256:cef99ea7cc43a7e8aca784969d44156e0ea20c97ec98118ce7c5e2b1fd09970e
    "#]],
    );
    check(
        &UpstreamIdentity { server: None, ..upstream() },
        expect![[r#"
        {"endpoint":"inproc:field-service/parts","name":"parts"}
        sha256:ffa3c8e9ddbd604783ff272096bb7f9759e3da3dabecdb9d83afee8be7e0fcc8
        endpoint sha256:86829ab017c1edb2b2815018c938c5ec8d8c8da69ade8048f8095002c0036946
        name sha256:6691ae277870be1ce8fba38b4aba38f3a526f1a8d7396171312e8d1963990c85
    "#]],
    );
    let spelled = r#"{ "server": "P\u0061rts", "endpoint": "inproc:field-service/parts", "name": "parts" }"#;
    let read: UpstreamIdentity = serde_json::from_str(spelled).unwrap();
    assert_eq!(read.digest().unwrap(), upstream().digest().unwrap());
    assert_eq!(read.digest().unwrap(), Digest::of(crate::canonical(spelled).unwrap()));
}

#[test]
fn only_the_member_that_changed_has_another_digest() {
    let whole = upstream();
    let moved = UpstreamIdentity { endpoint: "https://parts.example/mcp".to_owned(), ..upstream() };
    assert_ne!(whole.digest().unwrap(), moved.digest().unwrap());
    let (before, after) = (whole.field_digests().unwrap(), moved.field_digests().unwrap());
    let changed: Vec<&String> = before.keys().filter(|key| before.get(*key) != after.get(*key)).collect();
    assert_eq!(changed, ["endpoint"]);
    // A name that is absent is not one that is empty.
    let unnamed = UpstreamIdentity { server: None, ..upstream() };
    let empty = UpstreamIdentity { server: Some(String::new()), ..upstream() };
    assert_ne!(unnamed.digest().unwrap(), empty.digest().unwrap());
}
