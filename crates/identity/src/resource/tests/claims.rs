//! Tokens of their issuer that are not good here, and whom the good ones stand for.

use std::collections::BTreeMap;

use aldgate_authority::PrincipalKind;
use expect_test::{Expect, expect};
use time::Duration;

use super::*;
use crate::Scopes;
use crate::resource::claims::Checked;

struct Bed {
    signer: Signer,
    settings: Settings,
}

fn bed() -> Bed {
    let signer = Signer::new(Algorithm::ES256, "one");
    let settings = super::settings(KeySource::Held(InMemory::of(&[&signer])));
    Bed { signer, settings }
}

impl Bed {
    async fn at(&self, door: Door, changes: &Value) -> Result<Identity, Unauthenticated> {
        let value = format!("Bearer {}", self.signer.token(&with(changes)));
        let of = Verifier::new(self.settings.clone()).unwrap();
        of.authenticate(&Presented { door, ..request(&value, None) }, NOW).await
    }

    async fn found(&self, changes: Value) -> Result<Identity, Unauthenticated> {
        self.at(Door::Mcp, &changes).await
    }

    async fn refused(&self, changes: Value, expected: Expect) {
        let fault = why(self.found(changes).await);
        expected.assert_eq(fault.strip_prefix("the token was refused: ").unwrap_or(&fault));
    }
}

#[tokio::test]
async fn audience_has_to_be_the_door() {
    let bed = bed();
    let mcp = "https://gateway.example.com/mcp";
    bed.refused(
        json!({"aud": "https://other.example.com"}),
        expect!["its `aud` is `https://other.example.com`; expected `https://gateway.example.com/mcp`"],
    )
    .await;
    bed.refused(
        json!({"aud": format!("{mcp}/")}),
        expect![
            "its `aud` is `https://gateway.example.com/mcp/`; expected `https://gateway.example.com/mcp`"
        ],
    )
    .await;
    bed.refused(
        json!({"aud": format!("{mcp} x")}),
        expect![
            "its `aud` is `https://gateway.example.com/mcp x`; expected `https://gateway.example.com/mcp`"
        ],
    )
    .await;
    bed.refused(json!({"aud": []}), expect!["its `aud` is ``; expected `https://gateway.example.com/mcp`"])
        .await;
    assert!(bed.found(json!({"aud": ["https://other.example.com", mcp]})).await.is_ok());
    let doors = [Door::Mcp, Door::Evidence, Door::Admin, Door::Decisions];
    for of in doors {
        for at in doors {
            let found = bed.at(at, &json!({"aud": super::doors().url(of)})).await;
            assert_eq!(found.is_ok(), of == at, "{of:?} at {at:?}");
        }
    }
}

#[tokio::test]
async fn audience_of_another_type_is_refused() {
    let bed = bed();
    let mcp = "https://gateway.example.com/mcp";
    bed.refused(json!({"aud": 1}), expect!["its `aud` is a number; expected a text or a list"]).await;
    bed.refused(json!({"aud": {"0": mcp}}), expect!["its `aud` is an object; expected a text or a list"])
        .await;
    bed.refused(json!({"aud": [mcp, 1]}), expect!["its `aud` lists what is no text"]).await;
    bed.refused(json!({"aud": [[mcp]]}), expect!["its `aud` lists what is no text"]).await;
    bed.refused(json!({"aud": [mcp, null]}), expect!["its `aud` lists what is no text"]).await;
}

#[tokio::test]
async fn further_audience_of_a_door_is_taken_at_that_door_alone() {
    let mut bed = bed();
    let further = BTreeMap::from([(Door::Evidence, BTreeSet::from(["api://evidence".to_owned()]))]);
    bed.settings.issuers[0].audiences = further;
    let token = json!({"aud": "api://evidence"});
    assert!(bed.at(Door::Evidence, &token).await.is_ok());
    assert!(bed.at(Door::Mcp, &token).await.is_err());
}

#[tokio::test]
async fn expired_token_is_refused() {
    let bed = bed();
    let now = NOW.unix_timestamp();
    for (exp, good) in [(now - 4, true), (now - 5, false), (now - 6, false), (0, false), (-1, false)] {
        let found = bed.found(json!({"exp": exp})).await;
        assert_eq!(found.is_ok(), good, "{exp}");
        assert!(good || found == Err(Unauthenticated::Expired));
    }
    let mut exact = bed;
    exact.settings.leeway = Duration::ZERO;
    assert!(exact.found(json!({"exp": now + 1})).await.is_ok());
    assert_eq!(exact.found(json!({"exp": now})).await, Err(Unauthenticated::Expired));
}

#[tokio::test]
async fn token_of_the_future_is_refused() {
    let bed = bed();
    let later = NOW.unix_timestamp() + 6;
    bed.refused(json!({"nbf": later}), expect!["its `nbf` is 1796040006, and the time here is 1796040000"])
        .await;
    bed.refused(json!({"iat": later}), expect!["its `iat` is 1796040006, and the time here is 1796040000"])
        .await;
    assert!(bed.found(json!({"nbf": later - 1, "iat": later - 1})).await.is_ok());
}

#[tokio::test]
async fn time_of_another_form_is_refused() {
    let bed = bed();
    for name in ["exp", "nbf", "iat"] {
        for odd in [
            json!("1796040600"),
            json!(1796040600.5),
            json!(1e300),
            json!(i64::MAX),
            json!([1796040600]),
            json!(true),
        ] {
            let fault = why(bed.found(json!({name: odd})).await);
            let told =
                format!("the token was refused: its `{name}` is no whole number of seconds since 1970");
            assert_eq!(fault, told, "{odd}");
        }
    }
}

#[tokio::test]
async fn missing_claim_is_refused() {
    let bed = bed();
    bed.refused(json!({"iss": null}), expect!["it names no issuer (`iss`)"]).await;
    bed.refused(json!({"sub": null}), expect!["it has no `sub`"]).await;
    bed.refused(json!({"aud": null}), expect!["it has no `aud`"]).await;
    bed.refused(json!({"exp": null}), expect!["it has no `exp`"]).await;
    bed.refused(json!({"iat": null}), expect!["it has no `iat`"]).await;
    bed.refused(json!({"client_id": null}), expect!["it has no `client_id`"]).await;
    bed.refused(json!({"tenant": null}), expect!["it has no `tenant`, which names the tenant"]).await;
}

#[tokio::test]
async fn claim_of_another_type_is_refused() {
    let bed = bed();
    bed.refused(json!({"sub": 7}), expect!["its `sub` is a number; expected a text"]).await;
    bed.refused(
        json!({"sub": ""}),
        expect!["its `sub` has no 1 to 255 bytes, or control characters among them"],
    )
    .await;
    bed.refused(
        json!({"sub": "a\nb"}),
        expect!["its `sub` has no 1 to 255 bytes, or control characters among them"],
    )
    .await;
    bed.refused(json!({"client_id": ["a"]}), expect!["its `client_id` is a list; expected a text"]).await;
    bed.refused(json!({"scope": ["tools:read"]}), expect!["its `scope` is a list; expected a text"]).await;
    bed.refused(json!({"scope": "tools:read\u{0}"}), expect!["its `scope` cannot be used: `tools:read` is no scope; expected printable ASCII characters without quotation mark, backslash and space, 128 at most"]).await;
    bed.refused(json!({"grant": 1}), expect!["its `grant` is a number; expected a text"]).await;
}

#[tokio::test]
async fn client_is_named_by_client_id_or_azp() {
    let bed = bed();
    let client = |found: Result<Identity, _>| found.unwrap().principal.client.clone();
    assert_eq!(client(bed.found(json!({"client_id": null, "azp": "app"})).await), "app");
    assert_eq!(client(bed.found(json!({"client_id": "app", "azp": "app"})).await), "app");
    bed.refused(
        json!({"client_id": "app", "azp": "other"}),
        expect!["its `client_id` is `app`, its `azp` `other`"],
    )
    .await;
}

#[tokio::test]
async fn tenant_that_the_issuer_may_not_assert_is_refused() {
    let mut bed = bed();
    bed.refused(json!({"tenant": "initech"}), expect!["its issuer may not assert the tenant `initech`"])
        .await;
    bed.refused(json!({"tenant": "ACME"}), expect!["its issuer may not assert the tenant `ACME`"]).await;
    bed.refused(json!({"tenant": ["acme", "globex"]}), expect!["its `tenant` is a list; expected a text"])
        .await;
    assert_eq!(bed.found(json!({"tenant": "globex"})).await.unwrap().principal.tenant, "globex");
    bed.settings.issuers[0].tenants = Tenants::One("main".to_owned());
    assert_eq!(bed.found(json!({"tenant": "acme"})).await.unwrap().principal.tenant, "main");
}

#[tokio::test]
async fn claims_are_found_by_configured_names() {
    let mut bed = bed();
    bed.settings.issuers[0].claims = ClaimNames {
        tenant: ClaimName("https://example.com/org.id".to_owned()),
        roles: ClaimName("realm_access.roles".to_owned()),
        kind: Some(ClaimName("sort".to_owned())),
        name: ClaimName("profile.full.name".to_owned()),
    };
    let token = json!({
        "https://example.com/org.id": "acme",
        "realm_access": {"roles": ["a", "b"]},
        "realm_access.roles": ["admin"],
        "sort": "service",
        "profile": {"full": {"name": "Älice"}},
    });
    let found = bed.found(token).await.unwrap();
    let roles: Vec<_> = found.principal.roles.iter().map(String::as_str).collect();
    assert_eq!((found.principal.tenant.as_str(), roles), ("acme", vec!["a", "b"]));
    assert_eq!((found.principal.name.as_str(), found.principal.kind), ("Älice", PrincipalKind::Service));
    let bare = json!({"https://example.com/org.id": "acme", "realm_access": "roles", "sort": "person"});
    let found = bed.found(bare).await.unwrap();
    assert!(found.principal.roles.is_empty());
    assert_eq!(found.principal.name, "alice");
}

#[tokio::test]
async fn roles_are_a_text_or_a_list_of_texts() {
    let bed = bed();
    let roles =
        |found: Result<Identity, _>| found.unwrap().principal.roles.iter().cloned().collect::<Vec<_>>();
    assert_eq!(roles(bed.found(json!({"roles": "reader writer"})).await), ["reader writer"]);
    assert_eq!(roles(bed.found(json!({"roles": null})).await), Vec::<String>::new());
    bed.refused(
        json!({"roles": [["admin"]]}),
        expect!["its `roles` lists what is no name of 1 to 128 bytes"],
    )
    .await;
    bed.refused(json!({"roles": ["a", 1]}), expect!["its `roles` lists what is no name of 1 to 128 bytes"])
        .await;
    bed.refused(json!({"roles": ["a\u{7}"]}), expect!["its `roles` lists what is no name of 1 to 128 bytes"])
        .await;
    bed.refused(
        json!({"roles": ["a".repeat(129)]}),
        expect!["its `roles` lists what is no name of 1 to 128 bytes"],
    )
    .await;
    bed.refused(
        json!({"roles": {"admin": true}}),
        expect!["its `roles` is an object; expected a text or a list"],
    )
    .await;
    let many: Vec<_> = (0..65).map(|number| number.to_string()).collect();
    bed.refused(json!({"roles": many}), expect!["its `roles` lists 65 roles; 64 are read at most"]).await;
}

#[tokio::test]
async fn name_that_would_be_shown_as_another_is_refused() {
    let bed = bed();
    for odd in ["Ma\u{202E}ya", "Maya\nApproved", "", &"M".repeat(257)] {
        bed.refused(
            json!({"name": odd}),
            expect!["its `name` has no 1 to 256 bytes, or control characters among them"],
        )
        .await;
    }
}

#[tokio::test]
async fn kind_is_claimed_or_follows_from_subject_and_client() {
    let mut bed = bed();
    let kind = |found: Result<Identity, _>| found.unwrap().principal.kind;
    assert_eq!(kind(bed.found(json!({})).await), PrincipalKind::Person);
    assert_eq!(kind(bed.found(json!({"sub": "robot", "client_id": "robot"})).await), PrincipalKind::Service);
    // Nobody says that the claim `kind` of this issuer means anything.
    assert_eq!(kind(bed.found(json!({"kind": "service"})).await), PrincipalKind::Person);
    bed.settings.issuers[0].claims = ClaimNames::own();
    assert_eq!(kind(bed.found(json!({"kind": "service"})).await), PrincipalKind::Service);
    // An issuer that says it of each does not leave it to be guessed.
    bed.refused(json!({"kind": null}), expect!["it does not say whether it is of a person or a service"])
        .await;
    bed.refused(json!({"kind": "Person"}), expect!["its kind is `Person`; expected `person` or `service`"])
        .await;
}

#[test]
fn who_acts_for_somebody_else_is_taken_of_our_own_server_alone() {
    let claims = |value: serde_json::Value| value.as_object().unwrap().clone();
    let checked = |actors: &[&str]| Checked {
        subject: "bob".to_owned(),
        client: "app".to_owned(),
        scopes: Scopes::default(),
        expires_at: NOW,
        bound: None,
        grant: None,
        actors: actors.iter().map(|&actor| actor.to_owned()).collect(),
    };
    let tenant = Tenants::One("acme".to_owned());
    let others = Issuer::new("https://login.example.com", KeySource::Discovered, tenant);
    let refused =
        mapping::principal(&others, &claims(json!({"act": {"sub": "alice"}})), &checked(&["alice"]));
    expect!["the token was refused: it is of somebody who acts for somebody else (`act`), which is not taken of this issuer"]
        .assert_eq(&refused.unwrap_err().to_string());
    assert_eq!(mapping::principal(&others, &claims(json!({})), &checked(&[])).unwrap().subject, "bob");
    let own = bed().settings.issuers[0].clone();
    let exchanged = claims(json!({"tenant": "acme", "act": {"sub": "app"}}));
    assert_eq!(mapping::principal(&own, &exchanged, &checked(&["app"])).unwrap().subject, "bob");
}

#[tokio::test]
async fn scopes_are_read_from_scope_or_scp() {
    let bed = bed();
    let scopes = |found: Result<Identity, _>| found.unwrap().scopes.to_string();
    assert_eq!(
        scopes(bed.found(json!({"scope": null, "scp": "admin  tools:read"})).await),
        "admin tools:read"
    );
    assert_eq!(
        scopes(bed.found(json!({"scope": null, "scp": ["admin", "tools:read"]})).await),
        "admin tools:read"
    );
    assert_eq!(scopes(bed.found(json!({"scp": ["admin"]})).await), "tools:read tools:write");
    assert_eq!(scopes(bed.found(json!({"scope": null})).await), "");
    bed.refused(json!({"scope": null, "scp": [["admin"]]}), expect!["its `scp` lists what is no text"]).await;
    bed.refused(json!({"scope": null, "scp": ["a b"]}), expect!["its `scp` cannot be used: `a b` is no scope; expected printable ASCII characters without quotation mark, backslash and space, 128 at most"]).await;
}
