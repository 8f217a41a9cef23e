use super::*;

const NOW: OffsetDateTime = time::macros::datetime!(2026-12-01 12:00 UTC);

async fn accounts() -> (Accounts, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(IdentityStore::open(folder.path()).await.unwrap());
    let params = argon2::Params::new(64, 1, 1, None).unwrap();
    (Accounts::new(store, &Hashing { params, ..Hashing::default() }), folder)
}

fn person(name: &str) -> NewPerson {
    let roles = ["writer".to_owned(), "approver".to_owned()].into();
    NewPerson { name: name.to_owned(), display_name: None, tenant: "main".to_owned(), roles }
}

#[tokio::test]
async fn accounts_are_made_listed_and_changed() {
    let (accounts, _folder) = accounts().await;
    let (bob, _) = accounts.add(&person("Bob"), NOW).await.unwrap();
    let later = NOW + Duration::from_secs(60);
    let named = NewPerson { display_name: Some(" Maya Lindqvist ".to_owned()), ..person("maya") };
    let (maya, once) = accounts.add(&named, later).await.unwrap();
    assert_eq!(once.until, later + Duration::from_secs(24 * 3600));
    assert_eq!((bob.display_name.as_str(), maya.display_name.as_str()), ("bob", "Maya Lindqvist"));
    assert!(bob.id.len() == 22 && bob.id != maya.id);

    let disabled = accounts.disable("BOB", later).await.unwrap();
    let list = accounts.list().await.unwrap();
    assert_eq!(list.iter().map(|one| &one.user).collect::<Vec<_>>(), [&disabled, &maya]);
    assert_eq!((disabled.disabled, &disabled.roles), (true, &bob.roles));
    assert_eq!(
        (list[0].created_at, list[0].changed_at, list[1].one_time_until),
        (NOW, later, Some(once.until))
    );
    assert_eq!(accounts.enable("bob", later).await.unwrap(), bob);
}

#[tokio::test]
async fn what_cannot_be_an_account_is_refused() {
    let (accounts, _folder) = accounts().await;
    accounts.add(&person("maya"), NOW).await.unwrap();
    let mut told = String::new();
    let without = |tenant: &str| NewPerson { tenant: tenant.to_owned(), ..person("x") };
    let shown = NewPerson { display_name: Some("a\nb".to_owned()), ..person("x") };
    let role = NewPerson { roles: ["a b".to_owned()].into(), ..person("x") };
    for refused in [person("MAYA"), person("a/b"), without(""), without("a#b"), shown, role] {
        let fault = accounts.add(&refused, NOW).await.map(|_| ()).unwrap_err();
        told.push_str(&format!("{fault}\n"));
    }
    told.push_str(&format!("{}\n", accounts.reset("nobody", NOW).await.map(|_| ()).unwrap_err()));
    told.push_str(&format!("{}\n", accounts.disable("nobody", NOW).await.unwrap_err()));
    expect_test::expect![[r#"
        there is an account `maya` already; upper and lower case are the same in names
        `a/b` is no name to sign in with; expected 1 to 128 characters and no `/`, `#`, white space or control character
        `` is no tenant; expected 1 to 128 characters and no `/`, `#`, white space or control character
        `a#b` is no tenant; expected 1 to 128 characters and no `/`, `#`, white space or control character
        `ab` is no name to show; expected 1 to 128 characters and no control character
        `a b` is no role; expected 1 to 128 characters and no `/`, `#`, white space or control character
        there is no account `nobody`; `aldgate users list` shows those that there are
        there is no account `nobody`; `aldgate users list` shows those that there are
    "#]].assert_eq(&told);
}

#[test]
fn passwords_of_ours_are_long_and_read_well() {
    let mut seen = BTreeSet::new();
    for _ in 0..200 {
        let one = one_time_password().unwrap();
        assert_eq!(one.len(), 24);
        assert!(one.split('-').all(|group| group.len() == 4), "{}", *one);
        assert!(one.bytes().all(|letter| letter == b'-' || LETTERS.contains(&letter)));
        assert!(seen.insert(one.to_string()));
    }
    assert_eq!(LETTERS.iter().collect::<BTreeSet<_>>().len(), 32);
}

#[tokio::test]
async fn what_a_person_is_can_be_changed_and_nothing_else_with_it() {
    let (accounts, _folder) = accounts().await;
    let roles = ["agent".to_owned()].into();
    let person =
        NewPerson { name: "alice".to_owned(), display_name: None, tenant: "default".to_owned(), roles };
    let (made, _) = accounts.add(&person, NOW).await.unwrap();
    let change =
        Change { name: "Alice".to_owned(), roles: Some(["lead".to_owned()].into()), ..Change::default() };
    let changed = accounts.change(&change, NOW).await.unwrap();
    assert_eq!(changed, User { roles: ["lead".to_owned()].into(), ..made.clone() });
    let change = Change {
        display_name: Some(" Alice L. ".to_owned()),
        ..Change { name: "alice".to_owned(), ..Change::default() }
    };
    assert_eq!(accounts.change(&change, NOW).await.unwrap().display_name, "Alice L.");
    let listed = accounts.list().await.unwrap();
    assert_eq!(listed[0].user, User { display_name: "Alice L.".to_owned(), ..changed });
    let nobody = Change { name: "bob".to_owned(), ..Change::default() };
    assert!(matches!(accounts.change(&nobody, NOW).await, Err(AccountFault::None { .. })));
    let odd =
        Change { tenant: Some("a/b".to_owned()), ..Change { name: "alice".to_owned(), ..Change::default() } };
    assert!(matches!(accounts.change(&odd, NOW).await, Err(AccountFault::Text { .. })));
}
