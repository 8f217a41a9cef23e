use expect_test::expect;

use super::super::{metadata, metadata_path};
use super::*;
use crate::Scopes;

#[test]
fn metadata_says_whom_to_ask_and_what_for() {
    let scopes = Scopes::parse("tools:write tools:read").unwrap();
    let told = |proofs| {
        let told = metadata("https://g.example/mcp", [ISSUER], &scopes, "Aldgate", proofs);
        serde_json::to_string_pretty(&told).unwrap()
    };
    expect![[r#"
        {
          "resource": "https://g.example/mcp",
          "authorization_servers": [
            "https://login.example.com"
          ],
          "scopes_supported": [
            "tools:read",
            "tools:write"
          ],
          "bearer_methods_supported": [
            "header"
          ],
          "resource_name": "Aldgate"
        }"#]]
    .assert_eq(&told(ProofRule::Off));
    let required: Value = serde_json::from_str(&told(ProofRule::Require)).unwrap();
    assert_eq!(required["dpop_signing_alg_values_supported"], json!(["ES256", "EdDSA"]));
    assert_eq!(required["dpop_bound_access_tokens_required"], json!(true));
    let allowed: Value = serde_json::from_str(&told(ProofRule::Allow)).unwrap();
    assert_eq!(allowed["dpop_bound_access_tokens_required"], json!(false));
}

#[test]
fn metadata_is_at_the_well_known_path_before_the_doors_own() {
    for (door, path) in [
        ("https://g.example/mcp", "/.well-known/oauth-protected-resource/mcp"),
        ("https://g.example/evidence/mcp", "/.well-known/oauth-protected-resource/evidence/mcp"),
        ("https://g.example", "/.well-known/oauth-protected-resource"),
        ("https://g.example/", "/.well-known/oauth-protected-resource"),
        ("https://g.example:7300/a/", "/.well-known/oauth-protected-resource/a"),
    ] {
        assert_eq!(metadata_path(door), path, "{door}");
    }
}
