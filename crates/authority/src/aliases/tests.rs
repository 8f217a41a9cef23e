use std::collections::BTreeSet;

use super::*;
use crate::principal::PrincipalKind;

const ISSUER: &str = "https://login.example.com";

fn principal(issuer: &str, subject: &str, actors: &[&str]) -> Principal {
    Principal {
        issuer: issuer.to_owned(),
        subject: subject.to_owned(),
        tenant: "t".to_owned(),
        kind: PrincipalKind::Person,
        roles: BTreeSet::new(),
        name: "Maya".to_owned(),
        client: "c".to_owned(),
        actors: actors.iter().map(|&actor| actor.to_owned()).collect(),
    }
}

fn maya() -> Aliases {
    let mut aliases = Aliases::default();
    let names =
        [("config", "maya"), (ISSUER, "81"), ("https://gateway", "u1"), ("https://gateway", "maya-bot")];
    aliases.add("maya", names.map(|(issuer, subject)| (issuer.to_owned(), subject.to_owned()))).unwrap();
    aliases.add("lena", [("config".to_owned(), "lena".to_owned())]).unwrap();
    aliases
}

#[track_caller]
fn same(one: &Principal, other: &Principal, expected: bool) {
    let aliases = maya();
    assert_eq!(aliases.meet(one, other), expected, "{one:?} and {other:?}");
    assert_eq!(aliases.meet(other, one), expected, "the other way round");
}

#[test]
fn every_name_of_a_person_is_that_person() {
    let names =
        [("config", "maya"), (ISSUER, "81"), ("https://gateway", "u1"), ("https://gateway", "maya-bot")];
    for (issuer, subject) in names {
        for (other, named) in names {
            same(&principal(issuer, subject, &[]), &principal(other, named, &[]), true);
        }
        same(&principal(issuer, subject, &[]), &principal("config", "lena", &[]), false);
        same(&principal(issuer, subject, &[]), &principal(issuer, "82", &[]), false);
    }
    // One subject at two issuers is two people, and a name to show says nothing.
    same(&principal(ISSUER, "maya", &[]), &principal("config", "maya", &[]), false);
}

#[test]
fn who_is_in_no_list_is_one_person_in_whatever_spelling() {
    let bob = principal(ISSUER, "Bob", &[]);
    for (issuer, subject) in [
        (ISSUER, "Bob"),
        (ISSUER, "bob"),
        ("https://login.example.com/", "BOB"),
        ("HTTPS://Login.example.com", "bob"),
    ] {
        same(&bob, &principal(issuer, subject, &[]), true);
    }
    same(&bob, &principal("https://login.example.com/other", "Bob", &[]), false);
    same(&principal("https://login.example.com/", "81", &[]), &principal("config", "Maya", &[]), true);
}

#[test]
fn whoever_acts_counts_as_the_caller() {
    let me = principal("https://gateway", "u1", &[]);
    same(&me, &principal("https://gateway", "alice", &["app", "maya-bot"]), true);
    same(&me, &principal("https://gateway", "alice", &["app"]), false);
    same(&principal("config", "maya", &[]), &principal("https://gateway", "alice", &["maya-bot"]), true);
    // Both by one actor that is in no list.
    same(
        &principal("https://gateway", "alice", &["app"]),
        &principal("https://gateway", "bob", &["app"]),
        true,
    );
    // The names of actors are those of the issuer that names them.
    same(&me, &principal(ISSUER, "alice", &["maya-bot"]), false);
}

fn through(client: &str, principal: Principal) -> Principal {
    Principal { client: client.to_owned(), ..principal }
}

#[test]
fn whoever_signs_in_with_somebodys_client_is_in_their_hands() {
    let alice = |client| through(client, principal("https://gateway", "alice", &[]));
    let me = principal("https://gateway", "u1", &[]);
    same(&me, &alice("maya-bot"), true);
    same(&principal("config", "maya", &[]), &alice("Maya-Bot"), true);
    // It is known by its issuer as well.
    same(&me, &through("maya-bot", principal(ISSUER, "alice", &[])), false);
    // A client that is nobody's makes nobody one.
    same(&me, &alice("cli"), false);
    same(&through("cli", me), &alice("cli"), false);
    same(&alice("maya-bot"), &through("maya-bot", principal("https://gateway", "bob", &[])), true);
}

#[test]
fn one_principal_is_one_person_alone() {
    let mut aliases = maya();
    let twice = aliases.add("eve", [("config".to_owned(), "MAYA".to_owned())]).unwrap_err();
    assert_eq!(
        twice.to_string(),
        "the principal `MAYA` of `config` is the person `maya` and the person `eve`; it can be one person alone"
    );
    let named = maya().add("lena", []).unwrap_err();
    assert_eq!(named.to_string(), "two people are named `lena`; names must be unique");
    // Twice in one list is once.
    let both =
        [("config", "x"), ("config", "x")].map(|(issuer, subject)| (issuer.to_owned(), subject.to_owned()));
    maya().add("x", both).unwrap();
}
