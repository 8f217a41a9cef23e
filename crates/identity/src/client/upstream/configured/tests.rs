use expect_test::expect;
use serde_json::{Value, json};
use time::OffsetDateTime;

use super::*;

const NOW: OffsetDateTime = time::macros::datetime!(2026-12-01 12:00 UTC);

/// The credential, or all that is wrong with it.
fn made(folder: &Path, configured: Value) -> Result<Made, String> {
    made_with(None, folder, configured)
}

fn made_with(kept: Option<&Arc<ConnectionStore>>, folder: &Path, configured: Value) -> Result<Made, String> {
    let configured: ConfiguredCredential =
        serde_json::from_value(configured).map_err(|fault| fault.to_string())?;
    let public = Url::parse("https://gateway.example/at/").unwrap();
    let making = Making {
        http: &Arc::new(Http::default()),
        env: &|name| (name == "SET").then(|| "canary".to_owned()),
        base: folder,
        people: kept.map(|kept| (kept, "https://gateway.example")),
        public: &public,
    };
    configured.make("parts", Some("https://parts.example/mcp"), &making).map_err(|fault| {
        let mut told = fault.to_string();
        let mut source = std::error::Error::source(&fault);
        while let Some(fault) = source {
            told = format!("{told}: {fault}");
            source = fault.source();
        }
        told.replace(&folder.display().to_string(), "FOLDER")
    })
}

async fn shown(folder: &Path, configured: Value) -> String {
    let made = made(folder, configured).unwrap();
    assert!(!format!("{made:?}").contains("canary"));
    match made.credential.authorization(None, NOW).await.unwrap() {
        Some(header) => format!("{}: {}", header.name, header.value.to_str().unwrap()),
        None => "nothing".to_owned(),
    }
}

#[tokio::test]
async fn a_header_is_shown_as_it_is_configured() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("key"), "of a file\n").unwrap();
    let shown = async |configured| shown(folder.path(), configured).await;
    assert_eq!(shown(json!({})).await, "nothing");
    assert_eq!(shown(json!({ "kind": "header", "env": "SET" })).await, "authorization: Bearer canary");
    assert_eq!(
        shown(json!({ "kind": "header", "scheme": "Token", "env": "SET" })).await,
        "authorization: Token canary"
    );
    assert_eq!(
        shown(json!({ "kind": "header", "header": "X-Api-Key", "file": "key" })).await,
        "x-api-key: of a file"
    );
}

#[tokio::test]
async fn tokens_are_asked_for_as_it_is_configured() {
    let folder = tempfile::tempdir().unwrap();
    let store = aldgate_store::identity::IdentityStore::open(folder.path()).await.unwrap();
    let seal = aldgate_approval::SealKey::derive(&[7; 32]).unwrap();
    let kept = ConnectionStore::new(Arc::new(store), seal);
    let made = |configured| made_with(Some(&kept), folder.path(), configured).unwrap();
    let told = |configured| format!("{:?}\n", made(configured).credential);
    let program = |kind: &str| {
        json!({
            "kind": kind, "issuer": "https://as.example", "client_id": "gateway", "client_method": "client_secret_post",
            "env": "SET", "scopes": ["b", "a"],
        })
    };
    let mut public = program("connection");
    public.as_object_mut().unwrap().retain(|name, _| !matches!(name.as_str(), "client_method" | "env"));
    let all = told(program("client_credentials")) + &told(program("token_exchange")) + &told(public.clone());
    expect![[r#"
        ClientCredentials { program: Program { issuer: "https://as.example", token_endpoint: None, client_id: "gateway", authentication: Post(Secret), resource: Some("https://parts.example/mcp"), scopes: Some(Scopes({"a", "b"})) }, .. }
        TokenExchange { settings: TokenExchangeSettings { program: Program { issuer: "https://as.example", token_endpoint: None, client_id: "gateway", authentication: Post(Secret), resource: Some("https://parts.example/mcp"), scopes: Some(Scopes({"a", "b"})) }, audience: None, takes: ["https://as.example"] }, .. }
        Connections { settings: ConnectionSettings { upstream: "parts", program: Program { issuer: "https://as.example", token_endpoint: None, client_id: "gateway", authentication: None, resource: Some("https://parts.example/mcp"), scopes: Some(Scopes({"a", "b"})) }, page: Url { scheme: "https", cannot_be_a_base: false, username: "", password: None, host: Some(Domain("gateway.example")), port: None, path: "/at/connections/parts", query: None, fragment: None }, redirect: Url { scheme: "https", cannot_be_a_base: false, username: "", password: None, host: Some(Domain("gateway.example")), port: None, path: "/at/connections/parts/callback", query: None, fragment: None }, people: "https://gateway.example" }, .. }
    "#]].assert_eq(&all);
    assert!(made(public).connections.is_some());
}

#[test]
fn another_secret_in_the_same_place_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let public = Url::parse("https://gateway.example").unwrap();
    let print = |configured: Value, value: Option<&str>| {
        let configured: ConfiguredCredential = serde_json::from_value(configured).unwrap();
        let (http, env) = (Arc::new(Http::default()), |_: &str| value.map(str::to_owned));
        let base = folder.path();
        configured.print_of_secret(&Making { http: &http, env: &env, base, people: None, public: &public })
    };
    let (env, file) = (json!({ "kind": "header", "env": "A" }), json!({ "kind": "header", "file": "key" }));
    assert_eq!(print(env.clone(), Some("a")), print(env.clone(), Some("a")));
    assert_ne!(print(env.clone(), Some("a")), print(env.clone(), Some("b")));
    assert_ne!(print(env.clone(), Some("")), print(env, None));
    std::fs::write(folder.path().join("key"), "a").unwrap();
    let before = print(file.clone(), None);
    std::fs::write(folder.path().join("key"), "b").unwrap();
    assert_ne!(print(file, None), before);
}

#[test]
fn what_is_missing_or_does_nothing_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("empty"), "\n").unwrap();
    std::fs::write(folder.path().join("key"), "canary").unwrap();
    let token = json!({
        "kind": "client_credentials", "issuer": "https://as.example", "client_id": "gateway",
        "client_method": "client_secret_basic", "env": "SET",
    });
    let with = |members: Value| {
        let mut all = token.clone();
        all.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        all
    };
    let all: String = [
        json!({ "kind": "header" }),
        json!({ "kind": "header", "env": "SET", "file": "key" }),
        json!({ "kind": "header", "env": "UNSET" }),
        json!({ "kind": "header", "file": "gone" }),
        json!({ "kind": "header", "file": "empty" }),
        json!({ "kind": "header", "env": "SET", "header": "a b" }),
        json!({ "kind": "header", "env": "SET", "issuer": "https://as.example" }),
        json!({ "env": "SET" }),
        json!({ "kind": "header", "token": "canary" }),
        with(json!({ "issuer": null })),
        with(json!({ "issuer": "as.example" })),
        with(json!({ "issuer": "http://as.example" })),
        with(json!({ "token_endpoint": "http://as.example/token" })),
        with(json!({ "client_id": "" })),
        with(json!({ "client_method": null })),
        with(json!({ "algorithm": "ES256" })),
        with(json!({ "audience": "parts" })),
        with(json!({ "scopes": ["approvals:decide"] })),
        with(json!({ "scopes": ["a b"] })),
        with(json!({ "client_method": "private_key_jwt" })),
        with(json!({ "client_method": "private_key_jwt", "algorithm": "ES256" })),
        with(json!({ "client_method": "private_key_jwt", "algorithm": "none", "env": null, "file": "key" })),
        with(json!({ "kind": "connection", "token_endpoint": "https://as.example/token" })),
        with(json!({ "kind": "connection", "client_method": null })),
        with(json!({ "kind": "connection" })),
        with(json!({ "subject_issuers": ["https://as.example"] })),
    ]
    .into_iter()
    .map(|configured| format!("{}\n", made(folder.path(), configured).unwrap_err()))
    .collect();
    expect![[r#"
        the credential of upstream `parts` cannot be used: the secret has to be in one place; give either `env` or `file`
        the credential of upstream `parts` cannot be used: the secret has to be in one place; give either `env` or `file`
        the credential of upstream `parts` cannot be used: the environment variable `UNSET` is not set or is empty
        the credential of upstream `parts` cannot be used: the file `FOLDER/gone` with the credential cannot be read: No such file or directory (os error 2)
        the credential of upstream `parts` cannot be used: the file `FOLDER/empty` is empty or cannot be sent in a header; expected one line of printable ASCII characters
        the credential of upstream `parts` cannot be used: `header` is `a b`, which is no name of a header
        the credential of upstream `parts` cannot be used: `issuer` does nothing with `kind = "header"`; leave it out, or choose another kind
        the credential of upstream `parts` cannot be used: `env` does nothing with `kind = "none"`; leave it out, or choose another kind
        unknown field `token`, expected one of `kind`, `header`, `scheme`, `env`, `file`, `issuer`, `token_endpoint`, `client_id`, `client_method`, `algorithm`, `key_id`, `resource`, `audience`, `subject_issuers`, `scopes`
        the credential of upstream `parts` cannot be used: `issuer` is missing
        the credential of upstream `parts` cannot be used: `issuer` is `as.example`; expected an absolute `https` URL
        the credential of upstream `parts` cannot be used: `issuer` cannot be used: `http://as.example/` is not `https`; `http` is used only for a resource on this machine, at 127.0.0.1 or localhost
        the credential of upstream `parts` cannot be used: `token_endpoint` cannot be used: `http://as.example/token` is not `https`; `http` is used only for a resource on this machine, at 127.0.0.1 or localhost
        the credential of upstream `parts` cannot be used: `client_id` is missing
        the credential of upstream `parts` cannot be used: `client_method` is missing
        the credential of upstream `parts` cannot be used: `algorithm` and `key_id` belong to `client_method = "private_key_jwt"`; leave them out
        the credential of upstream `parts` cannot be used: `audience` does nothing with `kind = "client_credentials"`; leave it out, or choose another kind
        the credential of upstream `parts` cannot be used: `approvals:decide` is not a scope that a program may have; leave it out
        the credential of upstream `parts` cannot be used: `a b` is no scope; expected printable ASCII characters without quotation mark, backslash and space, 128 at most
        the credential of upstream `parts` cannot be used: `algorithm` is missing
        the credential of upstream `parts` cannot be used: the private key is not one for `ES256`; expected PKCS #8 as PEM, and `ES256`, `ES384`, `EdDSA` or `RS256`
        the credential of upstream `parts` cannot be used: the private key is not one for `none`; expected PKCS #8 as PEM, and `ES256`, `ES384`, `EdDSA` or `RS256`
        the credential of upstream `parts` cannot be used: `token_endpoint` does nothing with `kind = "connection"`; leave it out, or choose another kind
        the credential of upstream `parts` cannot be used: `client_method` is missing
        the credential of upstream `parts` cannot be used: `kind = "connection"` needs people who sign in at the gateway's own authorization server, which does not run; see `identity.server.enabled`
        the credential of upstream `parts` cannot be used: `subject_issuers` does nothing with `kind = "client_credentials"`; leave it out, or choose another kind
    "#]].assert_eq(&all);
}
