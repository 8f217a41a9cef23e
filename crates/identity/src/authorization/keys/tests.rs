use aldgate_approval::SealKey;
use aldgate_store::identity::IdentityStore;
use serde_json::{Value, json};
use time::{Duration, OffsetDateTime};

use super::{Keys, KeysFault, add};

const NOW: OffsetDateTime = time::macros::datetime!(2026-11-30 12:00 UTC);
const LIFE: Duration = Duration::minutes(10);

async fn store() -> (tempfile::TempDir, IdentityStore, SealKey) {
    let folder = tempfile::tempdir().expect("folder");
    let store = IdentityStore::open(folder.path()).await.expect("store");
    (folder, store, SealKey::derive(&[1; 32]).expect("key"))
}

#[tokio::test]
async fn the_key_is_made_once_and_found_again() {
    let (_folder, store, seal) = store().await;
    let one = Keys::load(&store, &seal, LIFE, NOW).await.expect("keys");
    let two = Keys::load(&store, &seal, LIFE, NOW).await.expect("keys");
    assert_eq!(one.kid, two.kid);
    let token = one.sign(&json!({"sub": "x"})).expect("signed");
    assert_eq!(two.verify::<Value>(&token), Some(json!({"sub": "x"})));
    let public = serde_json::to_value(&*one.public()).expect("json");
    assert_eq!(public["keys"][0]["use"], "sig");
    assert_eq!(public["keys"][0]["alg"], "ES256");
    assert!(public["keys"][0].get("d").is_none());
}

#[tokio::test]
async fn what_the_key_signed_as_something_else_is_no_access_token() {
    let (_folder, store, seal) = store().await;
    let keys = Keys::load(&store, &seal, LIFE, NOW).await.expect("keys");
    let mut header = jsonwebtoken::Header::new(jsonwebtoken::Algorithm::ES256);
    header.kid = Some(keys.kid.clone());
    let token = jsonwebtoken::encode(&header, &json!({"sub": "x"}), &keys.signing).expect("signed");
    assert!(keys.verify::<Value>(&token).is_none());
    header.typ = Some("at+jwt".to_owned());
    let token = jsonwebtoken::encode(&header, &json!({"sub": "x"}), &keys.signing).expect("signed");
    assert!(keys.verify::<Value>(&token).is_some());
}

#[tokio::test]
async fn a_retired_key_verifies_until_its_last_token_has_expired() {
    let (_folder, store, seal) = store().await;
    let old = Keys::load(&store, &seal, LIFE, NOW).await.expect("keys");
    let token = old.sign(&json!({"sub": "x"})).expect("signed");
    add(&store, &seal, LIFE, NOW, false).await.expect("rotated");
    assert!(!old.are_those_of(&store).await.expect("asked"));
    let new = Keys::load(&store, &seal, LIFE, NOW + LIFE).await.expect("keys");
    assert_ne!(new.kid, old.kid);
    assert!(new.verify::<Value>(&token).is_some());
    assert!(old.verify::<Value>(&new.sign(&json!({})).expect("signed")).is_none());
    let later = Keys::load(&store, &seal, LIFE, NOW + LIFE + Duration::minutes(2)).await.expect("keys");
    assert!(later.verify::<Value>(&token).is_none());
    assert_eq!(later.public().keys.len(), 1);
}

#[tokio::test]
async fn a_key_of_another_secret_is_no_reason_to_make_a_new_one() {
    let (_folder, store, seal) = store().await;
    Keys::load(&store, &seal, LIFE, NOW).await.expect("keys");
    let other = SealKey::derive(&[2; 32]).expect("key");
    let fault = Keys::load(&store, &other, LIFE, NOW).await.err();
    assert!(matches!(fault, Some(KeysFault::Sealed { .. })), "{fault:?}");
    assert_eq!(store.signing_keys().await.expect("keys").len(), 1);
}
