//! Configured tokens beside those of issuers.

use aldgate_authority::PrincipalKind;

use super::*;
use crate::{ConfiguredPrincipal, TokenHash, TokenTable};

fn configured(name: &str, token: &str) -> ConfiguredPrincipal {
    ConfiguredPrincipal {
        name: name.to_owned(),
        display_name: None,
        kind: PrincipalKind::Service,
        tenant: "acme".to_owned(),
        roles: BTreeSet::new(),
        scopes: None,
        token_sha256: TokenHash::of(token).to_string(),
        expires_at: None,
    }
}

async fn who(of: &dyn Authenticator, authorization: &str) -> Result<String, Unauthenticated> {
    of.authenticate(&request(authorization, None), NOW).await.map(|found| found.principal.id())
}

#[tokio::test]
async fn both_kinds_of_tokens_are_taken() {
    let signer = Signer::new(Algorithm::ES256, "one");
    let token = signer.token(&good());
    let listed = signer.token(&with(&json!({"sub": "bob", "exp": 0})));
    let foreign = signer.token(&with(&json!({"iss": "https://evil.example.com"})));
    let table = [("agent", "ag_1"), ("odd", "o!d"), ("twin", &listed), ("foreign", &foreign)];
    let table: Vec<_> = table.iter().map(|(name, token)| configured(name, token)).collect();
    let of = TableFirst { table: TokenTable::new(&table).unwrap(), verifier: Arc::new(verifier(&[&signer])) };

    assert_eq!(who(&of, "Bearer ag_1").await.unwrap(), "config#agent");
    assert_eq!(who(&of, "Bearer o!d").await.unwrap(), "config#odd");
    assert_eq!(who(&of, &format!("Bearer {token}")).await.unwrap(), "https://login.example.com#alice");
    // A JWT of a configured issuer is the issuer's to vouch for, whatever the table says.
    assert_eq!(who(&of, &format!("Bearer {listed}")).await, Err(Unauthenticated::Expired));
    assert_eq!(who(&of, &format!("Bearer {foreign}")).await.unwrap(), "config#foreign");

    assert_eq!(who(&of, "Bearer ag_2").await, Err(Unauthenticated::Unknown));
    assert_eq!(who(&of, "DPoP ag_1").await, Err(Unauthenticated::Unknown));
    assert_eq!(who(&of, "Basic ag_1").await, Err(Unauthenticated::Malformed));
    let nothing = Presented { authorization: None, ..request("", None) };
    assert_eq!(of.authenticate(&nothing, NOW).await, Err(Unauthenticated::Missing));
}
