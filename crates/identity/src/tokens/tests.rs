use std::collections::BTreeSet;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use aldgate_authority::PrincipalKind;
use time::OffsetDateTime;

use super::{ConfiguredPrincipal, TokenHash, TokenTable, TokensFault};
use crate::{Authenticator as _, Door, Presented, Proof, Unauthenticated};

fn principal(name: &str, token: &str) -> ConfiguredPrincipal {
    ConfiguredPrincipal {
        scopes: None,
        name: name.into(),
        display_name: None,
        kind: PrincipalKind::Service,
        tenant: "main".into(),
        roles: BTreeSet::from(["agent".to_owned()]),
        token_sha256: TokenHash::of(token).to_string(),
        expires_at: None,
    }
}

const NOW: OffsetDateTime = time::macros::datetime!(2026-11-30 12:00 UTC);

fn who(authorization: Option<&str>) -> Result<String, Unauthenticated> {
    let table =
        TokenTable::new(&[principal("agent", "t-agent"), principal("maya", "t-maya")]).expect("table");
    found(&table, authorization)
}

fn presented(authorization: Option<&str>) -> Presented<'_> {
    Presented {
        authorization: authorization.map(str::as_bytes),
        proof: Proof::Sent(None),
        method: "POST",
        url: "http://127.0.0.1:7300/mcp",
        door: Door::Mcp,
    }
}

fn found(table: &TokenTable, authorization: Option<&str>) -> Result<String, Unauthenticated> {
    let presented = presented(authorization);
    let mut future = pin!(table.authenticate(&presented, NOW));
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(found) => found.map(|identity| identity.principal.id()),
        Poll::Pending => panic!("a table does not wait"),
    }
}

#[test]
fn a_known_token_names_its_principal() {
    assert_eq!(who(Some("Bearer t-maya")), Ok("config#maya".to_owned()));
    assert_eq!(who(Some("bearer  t-agent ")), Ok("config#agent".to_owned()));
}

#[test]
fn anything_else_names_nobody() {
    assert_eq!(who(None), Err(Unauthenticated::Missing));
    for malformed in ["", "Bearer", "Bearer ", "Basic t-maya", "Bearer t-maya t-agent", "t-maya"] {
        assert_eq!(who(Some(malformed)), Err(Unauthenticated::Malformed), "{malformed}");
    }
    for unknown in ["Bearer t-may", "Bearer T-MAYA", "Bearer sha256:00"] {
        assert_eq!(who(Some(unknown)), Err(Unauthenticated::Unknown), "{unknown}");
    }
}

#[test]
fn principals_that_could_be_mistaken_for_each_other_are_refused() {
    let refused = |principals: &[ConfiguredPrincipal]| TokenTable::new(principals).expect_err("refused");
    assert_eq!(
        refused(&[principal("a", "1"), principal("a", "2")]),
        TokensFault::TwiceNamed { name: "a".into() }
    );
    let shared = TokensFault::SharedToken { first: "a".into(), second: "b".into() };
    assert_eq!(refused(&[principal("a", "1"), principal("b", "1")]), shared);
    assert_eq!(refused(&[principal("a#b", "1")]), TokensFault::Name { name: "a#b".into() });
    let malformed = ConfiguredPrincipal { token_sha256: "sha256:12".into(), ..principal("a", "1") };
    assert_eq!(refused(&[malformed]), TokensFault::Hash { name: "a".into() });
}

#[test]
fn a_token_is_good_until_it_expires() {
    let until = |expires_at: &str| {
        let one = ConfiguredPrincipal { expires_at: Some(expires_at.to_owned()), ..principal("agent", "t") };
        found(&TokenTable::new(&[one]).expect("table"), Some("Bearer t"))
    };
    assert_eq!(until("2026-11-30T12:00:01Z"), Ok("config#agent".to_owned()));
    assert_eq!(until("2026-11-30T12:00:00Z"), Err(Unauthenticated::Expired));
    let odd = ConfiguredPrincipal { expires_at: Some("tomorrow".to_owned()), ..principal("agent", "t") };
    let fault = TokensFault::Expiry { name: "agent".to_owned(), found: "tomorrow".to_owned() };
    assert_eq!(TokenTable::new(&[odd]).map(|_| ()), Err(fault));
}

#[test]
fn the_challenge_has_the_reason_where_a_token_was_sent() {
    use Unauthenticated::{Expired, Malformed, Missing, Unknown};
    for fault in [Unknown, Expired] {
        let expected = format!(r#"Bearer error="invalid_token", error_description="{fault}""#);
        assert_eq!(fault.challenge(None), Some(expected));
    }
    for fault in [Missing, Malformed] {
        assert_eq!(fault.challenge(None).as_deref(), Some("Bearer"));
    }
}

#[test]
fn a_token_may_be_used_for_what_its_principal_lists_or_for_all() {
    let scopes = |listed: Option<&[&str]>| {
        let scopes = listed.map(|listed| listed.iter().map(|&scope| scope.to_owned()).collect());
        let table = TokenTable::new(&[ConfiguredPrincipal { scopes, ..principal("agent", "t") }])?;
        let presented = presented(Some("Bearer t"));
        let mut found = pin!(table.authenticate(&presented, NOW));
        match found.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(found) => Ok::<_, TokensFault>(found.unwrap().scopes.to_string()),
            Poll::Pending => panic!("a table answers at once"),
        }
    };
    assert_eq!(scopes(None).as_deref(), Ok("admin approvals:decide evidence:read tools:read tools:write"));
    assert_eq!(scopes(Some(&["tools:read"])).as_deref(), Ok("tools:read"));
    assert_eq!(scopes(Some(&[])).as_deref(), Ok(""));
    assert!(matches!(scopes(Some(&["a b"])), Err(TokensFault::Scope { .. })));
}
