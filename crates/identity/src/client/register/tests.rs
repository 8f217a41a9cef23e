use expect_test::expect;
use serde_json::{Value, json};

use super::*;
use crate::client::discover::{Probe, Purpose, discover};
use crate::client::fake::{self, Fake, SERVER, reply};

async fn at(fake: &Fake) -> Discovered {
    discover(&fake::http(), &fake.resource(), &Probe::Mcp, Purpose::SignIn, None).await.unwrap()
}

fn wanted<'a>(document: Option<&'a Url>, preregistered: &'a [Preregistered]) -> Wanted<'a> {
    Wanted { name: "Aldgate", document, preregistered }
}

#[tokio::test]
async fn a_given_client_comes_before_a_document_and_a_document_before_registration() {
    let fake = Fake::start().await;
    let document = Url::parse("https://client.example/aldgate.json").unwrap();
    let given = |issuer: &str| {
        let authentication = ClientAuthentication::Basic(Secret::new("canary".to_owned()));
        [Preregistered { issuer: issuer.to_owned(), client_id: "given".to_owned(), authentication }]
    };
    let id = |wanted: Wanted<'_>, at: &Discovered| wanted.known(at).unwrap().map(|known| known.client_id);
    let found = at(&fake).await;
    assert_eq!(id(wanted(Some(&document), &given(&fake.base)), &found).as_deref(), Some("given"));
    // Its credentials are for one issuer, to the last letter.
    for other in ["https://other.example", &format!("{}/", fake.base)] {
        assert_eq!(id(wanted(Some(&document), &given(other)), &found), None, "documents are not taken here");
    }
    fake.change(SERVER, json!({ "client_id_metadata_document_supported": true }));
    let found = at(&fake).await;
    assert_eq!(
        id(wanted(Some(&document), &given("https://other.example")), &found).as_deref(),
        Some(document.as_str())
    );
    assert_eq!(id(wanted(None, &[]), &found), None);
    for bad in [
        "http://client.example/a",
        "https://client.example/",
        "https://client.example/a?b",
        "https://127.0.0.1/a",
    ] {
        let bad = Url::parse(bad).unwrap();
        let fault = wanted(Some(&bad), &[]).known(&found).unwrap_err();
        assert!(matches!(fault, RegistrationFault::Document { .. }), "{bad}: {fault}");
    }
}

#[tokio::test]
async fn a_client_registers_as_what_it_is() {
    let fake = Fake::start().await;
    let registered = wanted(None, &[]).register(&fake::http(), &at(&fake).await, 7).await.unwrap();
    assert_eq!((registered.client_id.as_str(), registered.port), ("registered", Some(7)));
    assert_eq!(registered.authentication.method(), "none");
    let sent: Value = serde_json::from_str(&fake.asked("/register")[0].body).unwrap();
    expect![[r#"{"client_name":"Aldgate","application_type":"native","redirect_uris":["http://127.0.0.1:7/callback"],"grant_types":["authorization_code","refresh_token"],"response_types":["code"],"token_endpoint_auth_method":"none"}"#]].assert_eq(&sent.to_string());
}

#[tokio::test]
async fn the_method_is_one_that_both_have() {
    let fake = Fake::start().await;
    for (listed, given, method) in [
        (json!(null), json!({}), "none"),
        (json!(["client_secret_post"]), json!({ "client_secret": "canary" }), "client_secret_post"),
        (
            json!(["client_secret_basic", "client_secret_post"]),
            json!({ "client_secret": "canary" }),
            "client_secret_basic",
        ),
        (json!(null), json!({ "client_secret": "canary" }), "client_secret_basic"),
        (json!(["none"]), json!({ "client_secret": "canary" }), "none"),
        (
            json!(null),
            json!({ "client_secret": "c", "token_endpoint_auth_method": "client_secret_post" }),
            "client_secret_post",
        ),
    ] {
        fake.change(SERVER, json!({ "token_endpoint_auth_methods_supported": listed }));
        fake.change("/register", given.clone());
        let registered = wanted(None, &[]).register(&fake::http(), &at(&fake).await, 7).await.unwrap();
        assert_eq!(registered.authentication.method(), method, "{listed} {given}");
        assert!(!format!("{registered:?}").contains("canary"));
    }
}

#[tokio::test]
async fn refusals_say_what_to_do() {
    let fake = Fake::start().await;
    let mut all = String::new();
    let mut refused = async |fake: &Fake| {
        let fault = wanted(None, &[]).register(&fake::http(), &at(fake).await, 7).await.unwrap_err();
        all += &format!("{}\n", fault.to_string().replace(&fake.base, "BASE"));
    };
    fake.on("/register", |_, _| {
        reply(400, json!({ "error": "invalid_redirect_uri", "error_description": "x" }))
    });
    refused(&fake).await;
    fake.on("/register", |_, _| reply(200, json!({ "error": "invalid_client_metadata" })));
    refused(&fake).await;
    fake.on("/register", |_, _| reply(403, json!("no")));
    refused(&fake).await;
    fake.on("/register", |_, _| reply(201, json!({ "client_id": "" })));
    refused(&fake).await;
    fake.on("/register", |_, _| {
        reply(201, json!({ "client_id": "x", "token_endpoint_auth_method": "tls_client_auth" }))
    });
    refused(&fake).await;
    fake.on("/register", |_, _| {
        reply(201, json!({ "client_id": "x", "token_endpoint_auth_method": "client_secret_basic" }))
    });
    refused(&fake).await;
    fake.change(SERVER, json!({ "registration_endpoint": null }));
    refused(&fake).await;
    fake.change(
        SERVER,
        json!({ "registration_endpoint": null, "client_id_metadata_document_supported": true }),
    );
    refused(&fake).await;
    expect![[r#"
        `BASE` refused to register this client: `invalid_redirect_uri` (status 400)
        `BASE` refused to register this client: `invalid_client_metadata` (status 200)
        `BASE` refused to register this client: `no error code` (status 403)
        `BASE` registered this client in a way that it cannot use: it has no `client_id`
        `BASE` registered this client in a way that it cannot use: its `token_endpoint_auth_method` is not one that this client has
        `BASE` registered this client in a way that it cannot use: it has a method with a secret but no secret
        `BASE` does not know this client, and there is no way to become known: no client was given for this issuer, it takes no client metadata documents, and it has no `registration_endpoint`; register a client there with the redirect `http://127.0.0.1/callback` and give its identifier
        `BASE` does not know this client, and there is no way to become known: no client was given for this issuer, it takes client metadata documents but none is configured, and it has no `registration_endpoint`; register a client there with the redirect `http://127.0.0.1/callback` and give its identifier
    "#]].assert_eq(&all);
}
