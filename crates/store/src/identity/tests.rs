use super::*;

fn account(name: &str) -> NewAccount {
    NewAccount {
        id: name.to_owned(),
        name: name.to_owned(),
        display_name: name.to_owned(),
        tenant: "default".to_owned(),
        roles: std::collections::BTreeSet::new(),
        password: "password".to_owned(),
        one_time_until: None,
        at: 1,
    }
}

#[tokio::test]
async fn a_transaction_that_sqlite_ended_by_itself_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let store = IdentityStore::open(folder.path()).await.unwrap();
    assert!(store.add_account(&account("alice")).await.unwrap());
    let mut all = Vec::new();
    for _ in 0..4 {
        all.push(store.pool.acquire().await.unwrap());
    }
    for connection in &mut all {
        let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await.unwrap();
        // As where a commit meets a full disk.
        sqlx::raw_sql("ROLLBACK").execute(&mut *transaction).await.unwrap();
        assert!(transaction.commit().await.is_err());
    }
    drop(all);
    let none = std::collections::BTreeSet::new();
    for _ in 0..8 {
        assert!(store.change_account("alice", ("Alice", "default", &none), 3).await.unwrap());
    }
}
