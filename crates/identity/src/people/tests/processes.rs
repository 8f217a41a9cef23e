//! Several processes on one store: each opens it for itself.

use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn several_processes_open_a_new_store_at_once() {
    for _ in 0..10 {
        let folder = tempfile::tempdir().unwrap();
        let opened = (0..4).map(|_| {
            let path = folder.path().to_owned();
            tokio::spawn(async move { IdentityStore::open(&path).await.map(|_| ()) })
        });
        for opened in futures::future::join_all(opened).await {
            opened.unwrap().unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn accounts_are_made_and_used_by_several_processes_at_once() {
    let site = Site::new().await;
    let other = Arc::new(IdentityStore::open(site.folder.path()).await.unwrap());
    let person = |name: String| NewPerson {
        name,
        display_name: None,
        tenant: "main".to_owned(),
        roles: std::collections::BTreeSet::new(),
    };
    let commands = (0..20).map(|index| {
        let accounts = Accounts::new(
            if index % 2 == 0 { Arc::clone(&other) } else { Arc::clone(&site.people.store) },
            &cheap(),
        );
        let (own, shared) = (person(format!("p{index}")), person(format!("shared{}", index / 2)));
        tokio::spawn(async move {
            accounts.add(&own, START).await.unwrap();
            accounts.add(&shared, START).await.is_ok()
        })
    });
    let made: Vec<bool> =
        futures::future::join_all(commands).await.into_iter().map(|made| made.unwrap()).collect();
    // Of two who ask for one name at once, one gets it.
    assert_eq!(made.iter().filter(|made| **made).count(), 10);
    assert_eq!(site.accounts.list().await.unwrap().len(), 30);

    // What a command does, the server knows at the next request.
    let (_, browser) = site.person("maya").await;
    let command = Accounts::new(other, &cheap());
    command.disable("maya", START).await.unwrap();
    assert_eq!(site.who(&browser).await, None);
    command.enable("maya", START).await.unwrap();
    let (_, once) = command.reset("maya", START).await.unwrap();
    assert_eq!(site.browser().sign_in("maya", GOOD).await.status, StatusCode::FORBIDDEN);
    assert_eq!(site.browser().sign_in("maya", &once.password).await.status, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn a_reset_while_a_password_is_checked_is_not_overtaken() {
    let site = Site::new().await;
    let (_, known) = site.person("maya").await;
    let all_turns = site.people.hasher.occupied().await;
    let mut late = site.browser();
    let csrf = late.get("/oauth/sign-in").await.field("csrf");
    let trying = tokio::spawn(async move {
        let fields = [("csrf", csrf.as_str()), ("name", "maya"), ("password", GOOD)];
        (late.post("/oauth/sign-in", &fields).await.status, late)
    });
    site.until("a password waits to be checked", |site| site.people.hasher.places() < cheap().waiting).await;
    let other = Arc::new(IdentityStore::open(site.folder.path()).await.unwrap());
    Accounts::new(other, &cheap()).reset("maya", START).await.unwrap();
    drop(all_turns);
    let (status, late) = trying.await.unwrap();
    assert_eq!(status, StatusCode::FORBIDDEN);
    assert!(site.who(&late).await.is_none() && site.who(&known).await.is_none());
}

#[tokio::test]
async fn another_process_with_the_same_secret_knows_the_session() {
    let site = Site::new().await;
    let (_, browser) = site.person("maya").await;
    let store = Arc::new(IdentityStore::open(site.folder.path()).await.unwrap());
    let people = |secret| People::new(settings("https://gate.example"), Arc::clone(&store), &[secret; 32]);
    let same = people(7).signed_in(&browser.headers(), &browser.key, START).await.unwrap();
    assert_eq!(same, site.who(&browser).await);
    let other = people(8).signed_in(&browser.headers(), &browser.key, START).await.unwrap().unwrap();
    assert!(!other.is_csrf(&same.unwrap().csrf));
}
