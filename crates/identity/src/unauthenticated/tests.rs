use expect_test::expect;

use super::*;
use crate::Scopes;

fn protected() -> Protected {
    Protected {
        metadata: "https://g.example/.well-known/oauth-protected-resource/mcp".to_owned(),
        scope: Scopes::parse("tools:read tools:write").unwrap(),
        dpop: true,
        dpop_only: false,
    }
}

#[test]
fn a_challenge_says_where_to_go_and_what_to_ask_for() {
    let told = |fault: Unauthenticated| fault.challenge(Some(&protected())).unwrap_or_default();
    expect![[r#"Bearer scope="tools:read tools:write", resource_metadata="https://g.example/.well-known/oauth-protected-resource/mcp""#]]
        .assert_eq(&told(Unauthenticated::Missing));
    expect![[r#"Bearer error="invalid_token", error_description="the token has expired", scope="tools:read tools:write", resource_metadata="https://g.example/.well-known/oauth-protected-resource/mcp""#]]
        .assert_eq(&told(Unauthenticated::Expired));
    expect![[r#"DPoP error="use_dpop_nonce", error_description="the proof of possession has to hold the nonce of the `DPoP-Nonce` header", scope="tools:read tools:write", resource_metadata="https://g.example/.well-known/oauth-protected-resource/mcp", algs="ES256 EdDSA""#]]
        .assert_eq(&told(Unauthenticated::Nonce("n".to_owned())));
    assert_eq!(Unauthenticated::Unavailable.challenge(Some(&protected())), None);
    assert_eq!(Unauthenticated::Missing.challenge(None).as_deref(), Some("Bearer"));
    let only = Protected { dpop_only: true, ..protected() };
    for fault in [Unauthenticated::Missing, Unauthenticated::Malformed] {
        expect![[r#"DPoP scope="tools:read tools:write", resource_metadata="https://g.example/.well-known/oauth-protected-resource/mcp", algs="ES256 EdDSA""#]]
            .assert_eq(&fault.challenge(Some(&only)).unwrap_or_default());
    }
}

#[test]
fn nothing_that_was_sent_ends_a_value() {
    let fault = Unauthenticated::Refused("issuer `a\", error=\"x\\\r\nSet-Cookie: a=b`".to_owned());
    expect![[r#"Bearer error="invalid_token", error_description="the token was refused: issuer `a, error=xSet-Cookie: a=b`""#]]
        .assert_eq(&fault.challenge(None).unwrap());
}

#[test]
fn a_step_up_names_all_scopes_that_are_needed() {
    let needed = Scopes::parse("tools:write tools:read").unwrap();
    expect![[r#"Bearer error="insufficient_scope", error_description="`parts/create_order` needs `tools:write`", scope="tools:read tools:write", resource_metadata="https://g.example/.well-known/oauth-protected-resource/mcp""#]]
        .assert_eq(&protected().insufficient_scope(&needed, "`parts/create_order` needs `tools:write`"));
}
