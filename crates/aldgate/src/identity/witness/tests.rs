use aldgate_store::identity::EventAccount;
use expect_test::{Expect, expect};

use super::*;

fn whose() -> Whose {
    let tenants = ["default", "other"].map(str::to_owned).into();
    Whose { issuer: "https://g.example".to_owned(), tenants }
}

fn event(what: &str, account: bool, detail: &str) -> StoredEvent {
    let account = account.then(|| EventAccount {
        id: "u1".to_owned(),
        tenant: "other".to_owned(),
        display_name: "Alice".to_owned(),
        roles: r#"["agent"]"#.to_owned(),
    });
    StoredEvent {
        id: 1,
        at: 1_000,
        mark: vec![7; 10],
        what: what.to_owned(),
        account,
        detail: detail.to_owned(),
    }
}

fn check(event: &StoredEvent, expected: Expect) {
    let told = rows(event, &whose()).into_iter().map(|row| {
        let by = &row.principal;
        format!(
            "{} {}#{} by {}: {}\n",
            by.tenant,
            by.issuer,
            by.subject,
            by.client,
            row.detail.unwrap_or_default()
        )
    });
    expected.assert_eq(&told.collect::<String>());
}

#[test]
fn what_a_person_did_is_theirs() {
    check(
        &event("signed_in", true, r#"{"for_request":1}"#),
        expect![[r#"
        other https://g.example#u1 by aldgate-pages: signed in to answer the request of a client
    "#]],
    );
    check(
        &event(
            "granted",
            true,
            r#"{"client":"dyn_1","scope":"tools:read","resource":"https://g.example/mcp"}"#,
        ),
        expect![[r#"
            other https://g.example#u1 by dyn_1: let the client `dyn_1` have `tools:read` at https://g.example/mcp
        "#]],
    );
}

#[test]
fn what_the_host_did_is_told_to_the_tenant_of_the_account() {
    check(
        &event("account_disabled", true, r#"{"name":"alice"}"#),
        expect![[r#"
        other aldgate#host by aldgate: the account `alice` was disabled
    "#]],
    );
}

#[test]
fn what_is_about_no_account_is_told_to_every_tenant() {
    check(
        &event("client_added", false, r#"{"client":"desk"}"#),
        expect![[r#"
        default aldgate#host by aldgate: the client `desk` was written down
        other aldgate#host by aldgate: the client `desk` was written down
    "#]],
    );
}

#[test]
fn an_event_has_one_name() {
    let ids = |event| rows(&event, &whose()).iter().map(|row| row.call.clone()).collect::<Vec<_>>();
    let one = event("signed_in", true, "{}");
    assert_eq!(ids(one.clone()), ids(one.clone()));
    assert_ne!(ids(one.clone()), ids(StoredEvent { mark: vec![8; 10], ..one }));
}
