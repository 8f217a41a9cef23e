//! What is kept of tokens, and what is asked at each use.

use time::Duration;

use super::*;

fn bed() -> (Signer, Arc<InMemory>, Verifier) {
    let signer = Signer::new(Algorithm::ES256, "one");
    let held = InMemory::of(&[&signer]);
    let of = Verifier::new(super::settings(KeySource::Held(held.clone()))).unwrap();
    (signer, held, of)
}

#[tokio::test]
async fn revoked_grant_ends_a_kept_token() {
    let (signer, held, of) = bed();
    let token = signer.token(&with(&json!({"grant": "family-1"})));
    let [first, again] = [bearer(&of, &token, NOW).await.unwrap(), bearer(&of, &token, NOW).await.unwrap()];
    assert!(Arc::ptr_eq(&first.principal, &again.principal), "kept");
    held.revoked.lock().unwrap().insert("family-1".to_owned());
    assert_eq!(why(bearer(&of, &token, NOW).await), "the token was refused: it was revoked");
    let other = signer.token(&with(&json!({"grant": "family-2"})));
    assert!(bearer(&of, &other, NOW).await.is_ok());
    held.revoked.lock().unwrap().insert("alice".to_owned());
    assert!(bearer(&of, &other, NOW).await.is_err());
}

#[tokio::test]
async fn kept_token_expires() {
    let (signer, _, of) = bed();
    let token = signer.token(&good());
    assert!(bearer(&of, &token, NOW).await.is_ok());
    assert!(bearer(&of, &token, NOW + Duration::seconds(304)).await.is_ok());
    assert_eq!(bearer(&of, &token, NOW + Duration::seconds(305)).await, Err(Unauthenticated::Expired));
}

#[tokio::test]
async fn kept_token_of_one_door_does_not_open_another() {
    let (signer, _, of) = bed();
    let value = format!("Bearer {}", signer.token(&good()));
    let mcp = request(&value, None);
    assert!(of.authenticate(&mcp, NOW).await.is_ok());
    for door in [Door::Evidence, Door::Admin, Door::Decisions] {
        let told = why(of.authenticate(&Presented { door, ..mcp }, NOW).await);
        assert!(told.contains("its `aud` is `https://gateway.example.com/mcp`"), "{told}");
    }
}

#[tokio::test]
async fn withdrawn_key_ends_kept_tokens() {
    let (signer, held, of) = bed();
    let token = signer.token(&good());
    assert!(bearer(&of, &token, NOW).await.is_ok());
    let next = Signer::new(Algorithm::ES256, "two");
    // At rotation both are there.
    held.keys.store(Arc::new(JwkSet { keys: vec![next.jwk.clone(), signer.jwk.clone()] }));
    assert!(bearer(&of, &token, NOW).await.is_ok());
    assert!(bearer(&of, &next.token(&good()), NOW).await.is_ok());
    held.keys.store(Arc::new(JwkSet { keys: vec![next.jwk.clone()] }));
    assert!(why(bearer(&of, &token, NOW).await).contains("does not have the key `one`"));
    assert!(bearer(&of, &next.token(&good()), NOW).await.is_ok());
}

#[tokio::test]
async fn memory_of_tokens_is_bounded() {
    let (signer, held, _) = bed();
    let mut settings = super::settings(KeySource::Held(held));
    settings.kept = 0;
    let of = Verifier::new(settings).unwrap();
    let token = signer.token(&good());
    let [first, again] = [bearer(&of, &token, NOW).await.unwrap(), bearer(&of, &token, NOW).await.unwrap()];
    assert!(!Arc::ptr_eq(&first.principal, &again.principal), "nothing is kept");
}

#[tokio::test]
async fn where_nobody_knows_what_was_revoked_it_is_not_said_that_it_was() {
    let (signer, held, of) = bed();
    let token = signer.token(&good());
    bearer(&of, &token, NOW).await.unwrap();
    held.knows_nothing.store(true, Ordering::SeqCst);
    assert_eq!(bearer(&of, &token, NOW).await.unwrap_err(), Unauthenticated::Unavailable);
    held.knows_nothing.store(false, Ordering::SeqCst);
    bearer(&of, &token, NOW).await.unwrap();
}
