use std::time::{Duration, Instant};

use expect_test::expect;
use serde_json::{Value, json};

use super::*;
use crate::client::fake::{self, Fake, RESOURCE, Reply, SERVER, redirect, reply};

async fn found(fake: &Fake) -> Result<Discovered, DiscoveryFault> {
    discover(&fake::http(), &fake.resource(), &Probe::Mcp, Purpose::SignIn, None).await
}

/// The fault and all that led to it, with the address of this run taken out.
async fn refused(fake: &Fake) -> String {
    told(fake, &found(fake).await.expect_err("refused"))
}

fn told(fake: &Fake, fault: &dyn std::error::Error) -> String {
    let mut told = fault.to_string();
    let mut source = fault.source();
    while let Some(fault) = source {
        told = format!("{told}: {fault}");
        source = fault.source();
    }
    told.replace(&fake.base, "BASE")
}

#[tokio::test]
async fn a_challenge_leads_to_the_server() {
    let fake = Fake::start().await;
    let found = found(&fake).await.unwrap();
    assert_eq!((found.resource, found.server.issuer), (format!("{}/mcp", fake.base), fake.base.clone()));
    assert_eq!(found.scopes.unwrap().to_string(), "tools:read");
    let probe = &fake.asked("/mcp")[0];
    assert!(probe.headers.get("authorization").is_none());
    assert_eq!((probe.method.as_str(), probe.header("mcp-method")), ("POST", "server/discover"));
    assert!(serde_json::from_str::<Value>(&probe.body).is_ok());
    assert_eq!(fake.paths(), ["POST /mcp".to_owned(), format!("GET {RESOURCE}"), format!("GET {SERVER}")]);
}

#[tokio::test]
async fn without_a_challenge_the_well_known_places_are_asked_in_their_order() {
    let fake = Fake::start().await;
    fake.on("/mcp", |_, _| reply(401, json!({})));
    let all = found(&fake).await.unwrap().scopes.unwrap().to_string();
    assert_eq!(all, "tools:read tools:write", "the right to decide is asked for by name only");
    fake.on(RESOURCE, |_, _| reply(404, json!({})));
    let root = |fake: &Fake| json!({ "resource": fake.base, "authorization_servers": [fake.base] });
    fake.on("/.well-known/oauth-protected-resource", move |fake, _| reply(200, root(fake)));
    let found = found(&fake).await.unwrap();
    assert_eq!(
        (found.resource, found.scopes),
        (fake.base.clone(), None),
        "as it is published, without a slash"
    );
    fake.on("/.well-known/oauth-protected-resource", |_, _| reply(404, json!({})));
    expect!["`BASE/mcp` does not say who signs people in: it named no `resource_metadata`, and there is nothing at `BASE/.well-known/oauth-protected-resource/mcp`, `BASE/.well-known/oauth-protected-resource`; check the URL, or configure a token"].assert_eq(&refused(&fake).await);
}

#[tokio::test]
async fn metadata_of_another_resource_are_not_used() {
    let fake = Fake::start().await;
    let mut all = String::new();
    for resource in [
        "https://other.example/mcp",
        "BASE/mcp/",
        "BASE/MCP",
        "BASE/mcp?a=b",
        "BASE/mcp#a",
        "BASE/mcp/deeper",
        // The root of the host, but not said at the well-known place of the root.
        "BASE",
        "",
    ] {
        let resource = resource.replace("BASE", &fake.base);
        fake.change(RESOURCE, json!({ "resource": resource }));
        all += &format!("{}\n", refused(&fake).await);
    }
    expect![[r#"
        the metadata that `BASE/mcp` led to are of `https://other.example/mcp`, and may not be used (RFC 9728 §3.3); expected `BASE/mcp`
        the metadata that `BASE/mcp` led to are of `BASE/mcp/`, and may not be used (RFC 9728 §3.3); expected `BASE/mcp`
        the metadata that `BASE/mcp` led to are of `BASE/MCP`, and may not be used (RFC 9728 §3.3); expected `BASE/mcp`
        the metadata that `BASE/mcp` led to are of `BASE/mcp?a=b`, and may not be used (RFC 9728 §3.3); expected `BASE/mcp`
        the metadata that `BASE/mcp` led to are of `BASE/mcp#a`, and may not be used (RFC 9728 §3.3); expected `BASE/mcp`
        the metadata that `BASE/mcp` led to are of `BASE/mcp/deeper`, and may not be used (RFC 9728 §3.3); expected `BASE/mcp`
        the metadata that `BASE/mcp` led to are of `BASE`, and may not be used (RFC 9728 §3.3); expected `BASE/mcp`
        the metadata that `BASE/mcp` led to are of ``, and may not be used (RFC 9728 §3.3); expected `BASE/mcp`
    "#]].assert_eq(&all);
    assert_eq!(fake.asked(SERVER).len(), 0);
}

#[tokio::test]
async fn an_issuer_is_equal_to_the_last_letter() {
    let fake = Fake::start().await;
    for issuer in ["BASE/", "https://other.example", "BASE:80", ""] {
        fake.change(SERVER, json!({ "issuer": issuer.replace("BASE", &fake.base) }));
        let told = refused(&fake).await;
        assert!(told.contains("equal to the last letter"), "{issuer}: {told}");
    }
    fake.change(RESOURCE, json!({ "authorization_servers": [format!("{}/?a=b", fake.base)] }));
    assert!(refused(&fake).await.contains("it has a query"));
    fake.on(RESOURCE, |fake, asked| fake.good(asked));
    fake.change(SERVER, json!({ "issuer": fake.base.to_uppercase() }));
    assert!(refused(&fake).await.contains("equal to the last letter"));
}

#[tokio::test]
async fn metadata_of_a_server_are_looked_for_in_the_order_of_the_specification() {
    let fake = Fake::start().await;
    fake.change(RESOURCE, json!({ "authorization_servers": [format!("{}/t1", fake.base)] }));
    expect!["the authorization server `BASE/t1` cannot be used: there are no metadata at `BASE/.well-known/oauth-authorization-server/t1`, `BASE/.well-known/openid-configuration/t1`, `BASE/t1/.well-known/openid-configuration`"].assert_eq(&refused(&fake).await);
    let asked: Vec<_> = fake.paths().into_iter().filter(|path| path.contains("t1")).collect();
    expect![[r#"
        GET /.well-known/oauth-authorization-server/t1
        GET /.well-known/openid-configuration/t1
        GET /t1/.well-known/openid-configuration"#]]
    .assert_eq(&asked.join("\n"));
    let issuer = format!("{}/t1", fake.base);
    fake.on("/t1/.well-known/openid-configuration", move |fake, asked| {
        let mut document: Value = serde_json::from_str(
            &fake.good(&crate::client::fake::Asked { path: SERVER.into(), ..asked.clone() }).body,
        )
        .unwrap();
        document["issuer"] = json!(issuer);
        reply(200, document)
    });
    assert!(found(&fake).await.is_ok());
}

#[tokio::test]
async fn a_server_without_s256_is_refused() {
    let fake = Fake::start().await;
    for methods in [json!(null), json!([]), json!(["plain"]), json!(["s256", "plain"])] {
        fake.change(SERVER, json!({ "code_challenge_methods_supported": methods }));
        let told = refused(&fake).await;
        assert!(told.contains("does not list `S256`"), "{methods}: {told}");
    }
    let program = discover(&fake::http(), &fake.resource(), &Probe::Mcp, Purpose::Program, None).await;
    assert!(program.is_ok(), "a program shows no code");
}

#[tokio::test]
async fn endpoints_are_where_they_may_be() {
    let fake = Fake::start().await;
    let mut all = String::new();
    for (member, value) in [
        ("authorization_endpoint", json!("javascript:alert(1)")),
        ("authorization_endpoint", json!("http://as.example/authorize")),
        ("token_endpoint", json!("http://169.254.169.254/token")),
        ("registration_endpoint", json!("file:///etc/passwd")),
        ("revocation_endpoint", json!("https://u:p@as.example/")),
        ("token_endpoint", json!(null)),
        ("authorization_endpoint", json!(null)),
    ] {
        fake.change(SERVER, json!({ member: value }));
        all += &format!("{}\n", refused(&fake).await);
    }
    expect![[r#"
        the authorization server `BASE` cannot be used: its `authorization_endpoint` is refused: `javascript:alert(1)` is no absolute `https` URL
        the authorization server `BASE` cannot be used: its `authorization_endpoint` is refused: `http://as.example/authorize` is not `https`; `http` is used only for a resource on this machine, at 127.0.0.1 or localhost
        the authorization server `BASE` cannot be used: its `token_endpoint` is refused: `http://169.254.169.254/token` is not `https`; `http` is used only for a resource on this machine, at 127.0.0.1 or localhost
        the authorization server `BASE` cannot be used: its `registration_endpoint` is refused: `file:///etc/passwd` is no absolute `https` URL
        the authorization server `BASE` cannot be used: its `revocation_endpoint` is refused: `https://as.example/` holds a user, a password or a fragment, and no such URL is used
        the authorization server `BASE` cannot be used: its metadata have no `token_endpoint`
        the authorization server `BASE` cannot be used: its metadata have no `authorization_endpoint`
    "#]].assert_eq(&all);
}

#[tokio::test]
async fn no_redirect_is_followed_and_no_answer_is_too_large_or_too_slow() {
    let fake = Fake::start().await;
    for path in [RESOURCE, SERVER] {
        fake.on(path, |fake, asked| redirect(format!("{}{}?again", fake.base, asked.path)));
        assert!(refused(&fake).await.contains("redirect (302)"));
        fake.on(path, |_, _| Reply { status: 200, body: "x".repeat(300_000), ..Reply::default() });
        assert!(refused(&fake).await.contains("larger than"));
        fake.on(path, |_, _| Reply { status: 200, body: "<html>canary".to_owned(), ..Reply::default() });
        let told = refused(&fake).await;
        assert!(told.contains("not the JSON") && !told.contains("canary"), "{told}");
        fake.on(path, |_, _| reply(500, json!({})));
        assert!(refused(&fake).await.contains("status 500"));
        fake.on(path, |_, _| Reply { after: Duration::from_secs(60), ..reply(200, json!({})) });
        let (begun, http) = (Instant::now(), Http::default().within(Duration::from_millis(300)));
        let fault = discover(&http, &fake.resource(), &Probe::Get, Purpose::SignIn, None).await.unwrap_err();
        assert!(told_slow(&fake, &fault) && begun.elapsed() < Duration::from_secs(30));
        fake.on(path, |fake, asked| fake.good(asked));
    }
    assert!(found(&fake).await.is_ok());
}

fn told_slow(fake: &Fake, fault: &DiscoveryFault) -> bool {
    told(fake, fault).contains("did not answer in full")
}

#[tokio::test]
async fn the_first_server_that_works_is_taken_and_one_may_be_chosen() {
    let fake = Fake::start().await;
    let bad = format!("{}/bad", fake.base);
    fake.change(RESOURCE, json!({ "authorization_servers": [bad, fake.base] }));
    assert_eq!(found(&fake).await.unwrap().server.issuer, fake.base);
    let chosen = async |wanted: &str| {
        let found =
            discover(&fake::http(), &fake.resource(), &Probe::Mcp, Purpose::SignIn, Some(wanted)).await;
        found.map(|found| found.server.issuer).map_err(|fault| told(&fake, &fault))
    };
    assert_eq!(chosen(&fake.base).await, Ok(fake.base.clone()));
    assert!(chosen(&bad).await.unwrap_err().contains("there are no metadata"));
    let other = chosen("https://other.example").await.unwrap_err();
    expect!["`BASE/mcp` does not name the authorization server `https://other.example`; it names `BASE/bad`, `BASE`"].assert_eq(&other);
    fake.change(RESOURCE, json!({ "authorization_servers": [bad, "http://10.0.0.1", "https://[::1"] }));
    expect!["none of the authorization servers of `BASE/mcp` can be used: `BASE/bad`: there are no metadata at `BASE/.well-known/oauth-authorization-server/bad`, `BASE/.well-known/openid-configuration/bad`, `BASE/bad/.well-known/openid-configuration`; `http://10.0.0.1`: it is no issuer: `http://10.0.0.1/` is not `https`; `http` is used only for a resource on this machine, at 127.0.0.1 or localhost; `https://[::1`: it is no issuer: `https://[::1` is no absolute `https` URL"].assert_eq(&refused(&fake).await);
    fake.change(RESOURCE, json!({ "authorization_servers": [] }));
    expect!["the metadata of `BASE/mcp` name no authorization server"].assert_eq(&refused(&fake).await);
}

#[tokio::test]
async fn a_challenge_does_not_lead_elsewhere_by_plain_http() {
    let fake = Fake::start().await;
    for place in ["http://169.254.169.254/latest", "file:///etc/passwd", "http://as.example/x"] {
        let header = format!("Bearer resource_metadata=\"{place}\"");
        fake.on("/mcp", move |_, _| Reply {
            status: 401,
            headers: vec![("www-authenticate", header.clone())],
            ..Reply::default()
        });
        let told = refused(&fake).await;
        assert!(
            told.contains("is not `https`") || told.contains("no absolute `https` URL"),
            "{place}: {told}"
        );
    }
}
