//! What becomes of accounts, clients, grants and keys is written down with the change itself.

use aldgate_store::identity::{
    ConnectionKey, IdentityStore, NewAccount, Passkey, PasswordChange, SessionEnds, SessionStart,
    StoredClient, StoredGrant, StoredKey,
};

struct Bed {
    _folder: tempfile::TempDir,
    store: IdentityStore,
}

impl Bed {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = IdentityStore::open(folder.path()).await.unwrap();
        let account = NewAccount {
            id: "u1".into(),
            name: "alice".into(),
            display_name: "Alice".into(),
            tenant: "default".into(),
            roles: ["agent".to_owned()].into(),
            password: "one".into(),
            one_time_until: None,
            at: 1,
        };
        assert!(store.add_account(&account).await.unwrap());
        let bed = Self { _folder: folder, store };
        bed.told(&[r#"account_added u1 {"name":"alice","roles":["agent"]}"#]).await;
        bed
    }

    /// What was written down since, which is forgotten then.
    #[track_caller]
    fn told<'a>(&'a self, expected: &'a [&'a str]) -> impl Future<Output = ()> + 'a {
        let caller = std::panic::Location::caller();
        async move {
            let events = self.store.events(100).await.unwrap();
            let of = |event: &aldgate_store::identity::StoredEvent| {
                let user = event.account.as_ref().map_or("-", |account| account.id.as_str());
                format!("{} {user} {}", event.what, event.detail)
            };
            let found: Vec<String> = events.iter().map(of).collect();
            assert_eq!(found, expected, "{caller}");
            if let Some(last) = events.last() {
                self.store.forget_events(last.id).await.unwrap();
            }
        }
    }
}

fn start<'a>(password: &'a str, hash: &'a [u8], at: i64) -> SessionStart<'a> {
    let ends = SessionEnds { signed_in_by: 0, seen_by: 0 };
    SessionStart { hash, user: "u1", password, signed_in_for: None, replaces: None, at, ends }
}

#[tokio::test]
async fn what_a_person_does() {
    let bed = Bed::new().await;
    let store = &bed.store;
    assert!(store.begin_session(&start("one", b"a", 2)).await.unwrap());
    bed.told(&[r#"signed_in u1 {"for_request":0}"#]).await;
    let for_request = SessionStart { signed_in_for: Some("digest"), ..start("one", b"b", 3) };
    assert!(store.begin_session(&for_request).await.unwrap());
    bed.told(&[r#"signed_in u1 {"for_request":1}"#]).await;
    // A wrong password begins nothing.
    assert!(!store.begin_session(&start("other", b"c", 4)).await.unwrap());
    bed.told(&[]).await;

    assert!(store.rehash_password("u1", "one", "two").await.unwrap());
    bed.told(&[]).await;
    let change =
        PasswordChange { user: "u1", checked: "two", anew: "three", session: b"b", hash: b"d", at: 5 };
    assert!(store.change_password(&change).await.unwrap());
    // Nobody signed in: the session goes on under another name, and is the only one.
    bed.told(&["password_changed u1 {}"]).await;
    let sessions = store.sessions_of("u1").await.unwrap();
    let [session] = sessions.as_slice() else { panic!("one: {sessions:?}") };
    assert_eq!((session.hash.as_slice(), session.signed_in_at), (&b"d"[..], 5));
    assert_eq!(session.signed_in_for.as_deref(), Some("digest"));
    // With another password, or in a session that ended, nothing is changed.
    for (checked, session) in [("two", b"d"), ("three", b"b")] {
        let change = PasswordChange { checked, anew: "four", session, hash: b"e", at: 6, ..change };
        assert!(!store.change_password(&change).await.unwrap(), "{checked}");
    }
    assert_eq!(store.sessions_of("u1").await.unwrap(), sessions);
    bed.told(&[]).await;

    let passkey = Passkey {
        id: "k1".into(),
        name: "laptop".into(),
        algorithm: -7,
        public_key: vec![1],
        counter: 0,
        created_at: 7,
        used_at: None,
    };
    assert!(store.add_passkey("u1", &passkey, "challenge", 100).await.unwrap());
    bed.told(&[r#"passkey_added u1 {"name":"laptop"}"#]).await;
    store.remove_passkey("u1", "k1").await.unwrap();
    bed.told(&[r#"passkey_removed u1 {"name":"laptop"}"#]).await;
    store.sign_out_everywhere("u1", 8).await.unwrap();
    bed.told(&["signed_out_everywhere u1 {}"]).await;
}

#[tokio::test]
async fn what_is_done_to_an_account() {
    let bed = Bed::new().await;
    let store = &bed.store;
    assert!(store.set_disabled("u1", true, 2).await.unwrap());
    assert!(store.set_disabled("u1", false, 3).await.unwrap());
    bed.told(&[r#"account_disabled u1 {"name":"alice"}"#, r#"account_enabled u1 {"name":"alice"}"#]).await;
    let roles = ["lead".to_owned()].into();
    assert!(store.change_account("u1", ("Alice L.", "default", &roles), 4).await.unwrap());
    assert!(!store.change_account("u2", ("Nobody", "default", &roles), 4).await.unwrap());
    let before = r#"{"roles":["agent"],"tenant":"default"}"#;
    let now = format!(r#"{{"name":"alice","roles":["lead"],"tenant":"default","before":{before}}}"#);
    bed.told(&[&format!("account_changed u1 {now}")]).await;
    let passkey = Passkey {
        id: "k1".into(),
        name: "laptop".into(),
        algorithm: -7,
        public_key: vec![1],
        counter: 0,
        created_at: 4,
        used_at: None,
    };
    assert!(store.add_passkey("u1", &passkey, "challenge", 100).await.unwrap());
    assert!(store.reset_password("u1", "new", 1_000, 5).await.unwrap());
    bed.told(&[r#"passkey_added u1 {"name":"laptop"}"#, r#"password_reset u1 {"name":"alice"}"#]).await;
}

#[tokio::test]
async fn what_is_granted_and_taken_back() {
    let bed = Bed::new().await;
    let store = &bed.store;
    let grant = StoredGrant {
        id: "g1".into(),
        client: "desk".into(),
        subject: "u1".into(),
        record: r#"{"scope":"tools:read","resource":"https://g.example/mcp","challenge":"secret"}"#.into(),
        generation: 0,
        created_at: 10,
        ends_at: 100,
        revoked_at: None,
    };
    store.add_grant(&grant).await.unwrap();
    let told = r#"u1 {"client":"desk","scope":"tools:read","resource":"https://g.example/mcp"}"#;
    bed.told(&[&format!("granted {told}")]).await;
    assert!(store.revoke_grant("g1", 11).await.unwrap());
    assert!(!store.revoke_grant("g1", 12).await.unwrap());
    bed.told(&[&format!("revoked {told}")]).await;
}

#[tokio::test]
async fn what_is_done_to_clients_and_keys() {
    let bed = Bed::new().await;
    let store = &bed.store;
    let client = |id: &str, dynamic| StoredClient {
        id: id.into(),
        dynamic,
        record: "{}".into(),
        secret: None,
        disabled: false,
        created_at: 1,
        used_at: None,
    };
    assert!(store.add_client(&client("desk", false)).await.unwrap());
    assert!(!store.add_client(&client("desk", false)).await.unwrap());
    assert!(store.add_dynamic_client(&client("dyn_1", true), 10, 0, 0).await.unwrap());
    assert!(store.set_client_disabled("desk", true, 2).await.unwrap());
    assert!(store.set_client_disabled("desk", false, 3).await.unwrap());
    assert!(store.remove_client("desk", 4).await.unwrap());
    bed.told(&[
        r#"client_added - {"client":"desk"}"#,
        r#"client_disabled - {"client":"desk"}"#,
        r#"client_enabled - {"client":"desk"}"#,
        r#"client_removed - {"client":"desk"}"#,
    ])
    .await;
    let key = StoredKey { kid: "k1".into(), sealed: vec![1], created_at: 1, retired_at: None };
    assert!(store.add_signing_key(&key, false, 0).await.unwrap());
    bed.told(&[r#"key_made - {"kid":"k1"}"#]).await;
}

#[tokio::test]
async fn events_are_read_in_turn_and_each_has_a_name_of_its_own() {
    let bed = Bed::new().await;
    for hash in [b"a", b"b", b"c"] {
        assert!(bed.store.begin_session(&start("one", hash, 2)).await.unwrap());
    }
    let first = bed.store.events(2).await.unwrap();
    let [one, two] = first.as_slice() else { panic!("two: {first:?}") };
    assert!(one.mark.len() == 10 && one.mark != two.mark);
    bed.store.forget_events(two.id).await.unwrap();
    assert_eq!(bed.store.events(2).await.unwrap().len(), 1);
}

#[tokio::test]
async fn what_is_connected() {
    let bed = Bed::new().await;
    let key = ConnectionKey { issuer: "https://as.example", upstream: "desk", user: "u1" };
    bed.store.connect(key, "sealed", 5).await.unwrap();
    assert!(bed.store.refresh_connection(key, "fresh").await.unwrap());
    bed.store.connect(key, "sealed anew", 6).await.unwrap();
    // It ended at its server, or the person takes it back.
    assert!(bed.store.end_connection(key).await.unwrap());
    assert!(!bed.store.end_connection(key).await.unwrap());
    bed.store.connect(key, "sealed once more", 7).await.unwrap();
    bed.store.disconnect("desk", "u1").await.unwrap();
    bed.store.disconnect("desk", "u1").await.unwrap();
    let told = r#"u1 {"upstream":"desk","issuer":"https://as.example"}"#;
    let [connected, ended, disconnected] =
        ["connected", "connection_ended", "disconnected"].map(|what| format!("{what} {told}"));
    bed.told(&[&connected, &connected, &ended, &connected, &disconnected]).await;
}
