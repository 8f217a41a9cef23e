use super::*;

fn principal(tenant: &str, issuer: &str, subject: &str) -> Principal {
    Principal {
        issuer: issuer.to_owned(),
        subject: subject.to_owned(),
        tenant: tenant.to_owned(),
        kind: PrincipalKind::Person,
        roles: BTreeSet::new(),
        name: "N".to_owned(),
        client: "c".to_owned(),
        actors: Vec::new(),
    }
}

#[test]
fn ids_read_as_documented() {
    let p = principal("acme", "https://id.example/realm", "u-1");
    assert_eq!(p.id(), "https://id.example/realm#u-1");
    assert_eq!(p.entity_id(), "acme/https://id.example/realm#u-1");
}

#[test]
fn ids_of_different_principals_differ() {
    let ids = [
        principal("a", "b/x", "s"),
        principal("a/b", "x", "s"),
        principal("a%2Fb", "x", "s"),
        principal("a", "b#c", "d"),
        principal("a", "b", "c#d"),
        principal("a", "b%23c", "d"),
    ]
    .map(|p| p.entity_id());
    let distinct: BTreeSet<_> = ids.iter().collect();
    assert_eq!(distinct.len(), ids.len(), "{ids:?}");
}

#[test]
fn serde_uses_lower_case_kinds_and_refuses_unknown_members() {
    let p = principal("t", "i", "s");
    let json = serde_json::to_value(&p).unwrap();
    assert_eq!(json["kind"], "person");
    assert_eq!(serde_json::from_value::<Principal>(json.clone()).unwrap(), p);
    let mut odd = json;
    odd["admin"] = true.into();
    assert!(serde_json::from_value::<Principal>(odd).is_err());
}
