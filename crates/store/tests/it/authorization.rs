//! Clients, grants and keys of the authorization server.

use aldgate_store::identity::{Advanced, IdentityStore, StoredClient, StoredGrant, StoredKey};

async fn store() -> (tempfile::TempDir, IdentityStore) {
    let folder = tempfile::tempdir().unwrap();
    let store = IdentityStore::open(folder.path()).await.unwrap();
    (folder, store)
}

fn client(id: &str, dynamic: bool, created_at: i64) -> StoredClient {
    StoredClient {
        id: id.into(),
        dynamic,
        record: "{}".into(),
        secret: None,
        disabled: false,
        created_at,
        used_at: None,
    }
}

fn grant(id: &str, client: &str, ends_at: i64) -> StoredGrant {
    StoredGrant {
        id: id.into(),
        client: client.into(),
        subject: "alice".into(),
        record: "{}".into(),
        generation: 0,
        created_at: 10,
        ends_at,
        revoked_at: None,
    }
}

#[tokio::test]
async fn an_id_of_a_client_is_taken_once() {
    let (_folder, store) = store().await;
    let mut with_secret = client("desk", false, 1);
    with_secret.secret = Some(vec![1, 2, 3]);
    assert!(store.add_client(&with_secret).await.unwrap());
    assert!(!store.add_client(&client("desk", false, 2)).await.unwrap());
    assert!(!store.add_dynamic_client(&client("desk", true, 2), 9, 0, 0).await.unwrap());
    assert_eq!(store.client("desk").await.unwrap(), Some(with_secret));
    assert_eq!(store.enabled_clients().await.unwrap(), ["desk"]);
}

#[tokio::test]
async fn a_client_that_registered_itself_makes_room_when_it_is_unused_and_no_other_does() {
    let (_folder, store) = store().await;
    store.add_client(&client("desk", false, 1)).await.unwrap();
    let add = async |id: &str, at: i64, unused: i64, idle: i64| {
        store.add_dynamic_client(&client(id, true, at), 2, unused, idle).await.unwrap()
    };
    assert!(add("used", 1, 0, 0).await);
    assert!(add("unused", 2, 0, 0).await);
    store.note_client_used("used", 5).await.unwrap();
    assert!(!add("third", 6, 2, 5).await);
    assert!(add("third", 6, 3, 5).await);
    assert!(store.client("unused").await.unwrap().is_none());
    // One that is disabled stays disabled.
    store.set_client_disabled("third", true, 7).await.unwrap();
    assert!(!add("fourth", 8, 100, 5).await);
    assert!(add("fourth", 8, 100, 6).await);
    let left: Vec<_> = store.clients().await.unwrap().into_iter().map(|one| one.id).collect();
    assert_eq!(left, ["desk", "third", "fourth"]);
}

#[tokio::test]
async fn a_grant_goes_on_step_by_step_and_ends_when_a_step_comes_twice() {
    let (_folder, store) = store().await;
    store.add_grant(&grant("g", "desk", 100)).await.unwrap();
    let advance = async |generation: i64, now: i64| {
        store.advance_grant("g", generation, "{\"x\":1}", 200, now).await.unwrap()
    };
    assert_eq!(advance(0, 100).await, Advanced::Over);
    assert_eq!(advance(0, 99).await, Advanced::To(1));
    assert_eq!(advance(1, 150).await, Advanced::To(2));
    let kept = store.grant("g").await.unwrap().unwrap();
    assert_eq!((kept.record.as_str(), kept.ends_at, kept.generation), ("{\"x\":1}", 200, 2));
    assert_eq!(advance(1, 151).await, Advanced::Reused);
    assert_eq!(advance(2, 152).await, Advanced::Over);
    assert_eq!(store.grants_revoked_since(151).await.unwrap(), ["g"]);
    assert!(store.grants_revoked_since(152).await.unwrap().is_empty());
    let unknown = store.advance_grant("h", 0, "{}", 200, 1).await.unwrap();
    assert_eq!(unknown, Advanced::Over);
}

#[tokio::test]
async fn grants_end_with_their_client_and_with_their_person() {
    let (_folder, store) = store().await;
    for (id, client) in [("a", "desk"), ("b", "desk"), ("c", "other"), ("d", "third")] {
        store.add_client(&self::client(client, false, 1)).await.unwrap();
        store.add_grant(&grant(id, client, 100)).await.unwrap();
    }
    assert_eq!(store.revoke_grants_of("alice", 10, 20).await.unwrap(), 0);
    assert!(store.set_client_disabled("desk", true, 30).await.unwrap());
    assert!(store.remove_client("third", 31).await.unwrap());
    assert!(!store.remove_client("third", 31).await.unwrap());
    let mut revoked = store.grants_revoked_since(0).await.unwrap();
    revoked.sort();
    assert_eq!(revoked, ["a", "b", "d"]);
    assert_eq!(store.revoke_grants_of("alice", 11, 40).await.unwrap(), 1);
    assert!(!store.revoke_grant("c", 41).await.unwrap());
    store.sweep_grants(101, 0).await.unwrap();
    assert_eq!(store.grant("a").await.unwrap(), None);
}

#[tokio::test]
async fn an_assertion_is_used_once_until_it_is_too_old_anyway() {
    let (_folder, store) = store().await;
    assert!(store.use_assertion(&[1], 50).await.unwrap());
    assert!(!store.use_assertion(&[1], 60).await.unwrap());
    assert!(store.use_assertion(&[2], 50).await.unwrap());
    store.sweep_grants(0, 50).await.unwrap();
    assert!(!store.use_assertion(&[1], 50).await.unwrap());
    store.sweep_grants(0, 51).await.unwrap();
    assert!(store.use_assertion(&[1], 50).await.unwrap());
}

#[tokio::test]
async fn one_key_signs_and_those_before_it_stay_for_a_while() {
    let (_folder, store) = store().await;
    let key = |kid: &str, created_at: i64| StoredKey {
        kid: kid.into(),
        sealed: vec![1],
        created_at,
        retired_at: None,
    };
    assert!(store.add_signing_key(&key("one", 10), true, 0).await.unwrap());
    assert!(!store.add_signing_key(&key("two", 20), true, 0).await.unwrap());
    assert!(store.add_signing_key(&key("two", 20), false, 0).await.unwrap());
    let found = store.signing_keys().await.unwrap();
    let found: Vec<_> = found.iter().map(|key| (key.kid.as_str(), key.retired_at)).collect();
    assert_eq!(found, [("two", None), ("one", Some(20))]);
    assert!(store.add_signing_key(&key("three", 30), false, 21).await.unwrap());
    let found = store.signing_keys().await.unwrap();
    let found: Vec<_> = found.iter().map(|key| (key.kid.as_str(), key.retired_at)).collect();
    assert_eq!(found, [("three", None), ("two", Some(30))]);
}
