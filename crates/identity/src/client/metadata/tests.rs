use expect_test::expect;

use super::*;

#[test]
fn documents_are_looked_for_in_the_order_of_the_specification() {
    let told = |places: fn(&Url) -> Vec<Url>, urls: &[&str]| -> String {
        let one = |url: &&str| {
            places(&Url::parse(url).unwrap()).iter().map(|url| format!("{url}\n")).collect::<String>()
        };
        urls.iter().map(one).collect::<Vec<_>>().join("\n")
    };
    expect![[r#"
        https://h/.well-known/oauth-protected-resource/mcp
        https://h/.well-known/oauth-protected-resource

        https://h/.well-known/oauth-protected-resource

        https://h:8/.well-known/oauth-protected-resource/a/b?c=d
        https://h:8/.well-known/oauth-protected-resource
    "#]]
    .assert_eq(&told(of_resource, &["https://h/mcp", "https://h", "https://h:8/a/b/?c=d"]));
    expect![[r#"
        https://h/.well-known/oauth-authorization-server
        https://h/.well-known/openid-configuration

        https://h/.well-known/oauth-authorization-server
        https://h/.well-known/openid-configuration

        https://h/.well-known/oauth-authorization-server/t1
        https://h/.well-known/openid-configuration/t1
        https://h/t1/.well-known/openid-configuration

        https://h/.well-known/oauth-authorization-server/t1
        https://h/.well-known/openid-configuration/t1
        https://h/t1/.well-known/openid-configuration
    "#]]
    .assert_eq(&told(of_server, &["https://h", "https://h/", "https://h/t1", "https://h/t1/"]));
}
