use expect_test::expect;
use proptest::prelude::*;

use super::*;
use crate::{Protected, Unauthenticated};

fn read(value: &str) -> String {
    challenges(value)
        .iter()
        .map(|challenge| {
            let parameters: Vec<_> =
                challenge.parameters.iter().map(|(name, value)| format!("{name}={value:?}")).collect();
            format!("{} [{}]\n", challenge.scheme, parameters.join(", "))
        })
        .collect()
}

#[test]
fn several_challenges_are_told_apart() {
    let told: String = [
        r#"Bearer"#,
        r#"Bearer resource_metadata="https://h/.well-known/x", scope="a b""#,
        r#"Basic realm="x, Bearer resource_metadata=\"https://evil\"", Bearer scope=a , error = "e""#,
        r#"Negotiate YII=, Bearer realm=x, DPoP algs="ES256""#,
        r#"Negotiate, Bearer scope="a""#,
        r#"bearer SCOPE="a\"b\\c""#,
        r#", ,Bearer ,scope="a""#,
        r#"Bearer scope="unterminated"#,
        r#"scope="a""#,
        r#"Bearer scope="a" junk:"#,
        r#"Bearer scope="a" scope="b""#,
        "",
    ]
    .iter()
    .map(|value| format!("{value}\n{}\n", read(value)))
    .collect();
    expect![[r#"
        Bearer
        bearer []

        Bearer resource_metadata="https://h/.well-known/x", scope="a b"
        bearer [resource_metadata="https://h/.well-known/x", scope="a b"]

        Basic realm="x, Bearer resource_metadata=\"https://evil\"", Bearer scope=a , error = "e"
        basic [realm="x, Bearer resource_metadata=\"https://evil\""]
        bearer [scope="a", error="e"]

        Negotiate YII=, Bearer realm=x, DPoP algs="ES256"
        negotiate []
        bearer [realm="x"]
        dpop [algs="ES256"]

        Negotiate, Bearer scope="a"
        negotiate []
        bearer [scope="a"]

        bearer SCOPE="a\"b\\c"
        bearer [scope="a\"b\\c"]

        , ,Bearer ,scope="a"
        bearer [scope="a"]

        Bearer scope="unterminated
        bearer []

        scope="a"

        Bearer scope="a" junk:
        bearer [scope="a"]
        junk []

        Bearer scope="a" scope="b"
        bearer [scope="a", scope="b"]



    "#]]
    .assert_eq(&told);
}

#[test]
fn the_challenge_that_names_metadata_is_taken() {
    let found = Challenge::of_oauth([
        "Basic realm=x",
        "DPoP algs=\"ES256\"",
        "Bearer resource_metadata=\"https://h/m\", scope=\"b a\", error=\"insufficient_scope\"",
    ])
    .unwrap();
    assert_eq!(found.resource_metadata(), Some("https://h/m"));
    assert_eq!(found.scope().unwrap().to_string(), "a b");
    assert!(found.is_insufficient_scope());
    assert_eq!(Challenge::of_oauth(["Basic realm=x"]), None);
    let twice =
        Challenge::of_oauth(["Bearer resource_metadata=\"https://a\", resource_metadata=\"https://b\""]);
    assert_eq!(twice.unwrap().resource_metadata(), None);
}

#[test]
fn our_own_challenges_are_read_as_they_were_meant() {
    let protected = Protected {
        metadata: "https://g.example/.well-known/oauth-protected-resource/mcp".to_owned(),
        scope: Scopes::parse("tools:read tools:write").unwrap(),
        dpop: true,
        dpop_only: false,
    };
    for fault in [Unauthenticated::Missing, Unauthenticated::Expired, Unauthenticated::Nonce("n".to_owned())]
    {
        let value = fault.challenge(Some(&protected)).unwrap();
        let found = Challenge::of_oauth([value.as_str()]).unwrap();
        assert_eq!(found.resource_metadata(), Some(protected.metadata.as_str()));
        assert_eq!(found.scope().as_ref(), Some(&protected.scope));
        assert_eq!(found.parameter("error"), fault.error());
    }
}

proptest! {
    #[test]
    fn any_value_is_read(value in "\\PC{0,40}", parts in prop::collection::vec("Bearer|a|=|==|,| |\"|\\\\|x=y", 0..20)) {
        let _ = challenges(&value);
        let _ = challenges(&parts.concat());
    }

    #[test]
    fn a_quoted_value_comes_back(value in "[ -~]{0,30}") {
        let quoted = value.replace('\\', "\\\\").replace('"', "\\\"");
        let found = challenges(&format!("Bearer a=\"{quoted}\", b=c"));
        prop_assert_eq!(found.len(), 1);
        prop_assert_eq!(found[0].parameter("a"), Some(value.as_str()));
        prop_assert_eq!(found[0].parameter("b"), Some("c"));
    }
}
