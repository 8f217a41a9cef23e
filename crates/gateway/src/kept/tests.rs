use std::collections::BTreeSet;
use std::sync::Arc;

use aldgate_authority::{Action, Authorizer, Item, PolicySet, Principal, PrincipalKind, Question, Registry};

use super::{Kept, Key, MOST, Reasoned};

fn principal(role: &str) -> Arc<Principal> {
    Arc::new(Principal {
        issuer: "test".to_owned(),
        subject: "one".to_owned(),
        tenant: "a".to_owned(),
        kind: PrincipalKind::Service,
        roles: BTreeSet::from([role.to_owned()]),
        name: "One".to_owned(),
        client: "one".to_owned(),
        actors: Vec::new(),
    })
}

fn ruling(principal: &Principal) -> Arc<Reasoned> {
    let authorizer = Authorizer::new(Registry::default(), PolicySet::parse(&[]).unwrap()).unwrap();
    Arc::new(Reasoned::new(authorizer.rule(&Question {
        principal,
        action: Action::Call,
        target: Item::tool("up", "look", "sha256:0").into(),
        uri: None,
        arguments: None,
        argument: None,
        input_responses: None,
        client: &principal.client,
    })))
}

fn key(principal: &Arc<Principal>, action: Action, concern: &str) -> Key {
    Key { principal: principal.clone(), action, concern: concern.into() }
}

#[test]
fn every_part_of_the_key_tells_rulings_apart() {
    let kept = Kept::default();
    let one = principal("agent");
    let ruled = ruling(&one);
    kept.keep(key(&one, Action::Call, "up/look"), &ruled);
    // The same by value, not by where it is.
    assert!(
        kept.get(&key(&principal("agent"), Action::Call, "up/look"))
            .is_some_and(|found| Arc::ptr_eq(&found, &ruled))
    );
    assert!(kept.get(&key(&principal("other"), Action::Call, "up/look")).is_none());
    assert!(kept.get(&key(&one, Action::GetPrompt, "up/look")).is_none());
    assert!(kept.get(&key(&one, Action::Call, "prompt:up/look")).is_none());
}

#[test]
fn no_more_is_kept_than_may_be() {
    let kept = Kept::default();
    let one = principal("agent");
    let ruled = ruling(&one);
    for number in 0..=MOST {
        kept.keep(key(&one, Action::Call, &number.to_string()), &ruled);
    }
    assert!(kept.get(&key(&one, Action::Call, "0")).is_none());
    assert!(kept.get(&key(&one, Action::Call, &MOST.to_string())).is_some());
}
