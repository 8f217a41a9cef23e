//! An issuer that a running gateway is told of, and told of no more.

use std::io::Write as _;

use aldgate_testkit::Call;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use axum::routing::get;
use axum::{Json, Router};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use time::OffsetDateTime;

use super::world::World;
use super::{ORDER, fails_with, pending, succeeds, text};

/// An authorization server of somebody else, as far as a gateway sees of it: metadata and keys.
struct Issuer {
    url: String,
    key: EcdsaKeyPair,
    _runtime: tokio::runtime::Runtime,
}

impl Issuer {
    fn start() -> Self {
        let key = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).expect("a key");
        let point = key.public_key().as_ref();
        let jwk = json!({
            "kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig", "kid": "one",
            "x": URL_SAFE_NO_PAD.encode(&point[1..33]), "y": URL_SAFE_NO_PAD.encode(&point[33..65]),
        });
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime");
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let metadata = json!({
            "issuer": url, "jwks_uri": format!("{url}/jwks"), "authorization_endpoint": format!("{url}/authorize"),
            "token_endpoint": format!("{url}/token"), "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
        });
        let app = Router::new()
            .route("/.well-known/oauth-authorization-server", get(move || async move { Json(metadata) }))
            .route("/jwks", get(move || async move { Json(json!({"keys": [jwk]})) }));
        runtime.spawn(async move { axum::serve(listener, app).await });
        Self { url, key, _runtime: runtime }
    }

    fn token(&self, world: &World, more: &Value) -> String {
        let now = OffsetDateTime::now_utc().unix_timestamp();
        let mut claims = json!({
            "iss": self.url, "sub": "eve", "aud": world.url, "client_id": "app", "scope": "tools:read",
            "iat": now, "exp": now + 300, "roles": ["agent"],
        });
        let (Value::Object(claims_of), Value::Object(more)) = (&mut claims, more) else {
            panic!("two objects")
        };
        claims_of.extend(more.clone());
        let header = json!({"typ": "at+jwt", "alg": "ES256", "kid": "one"});
        let signed = format!(
            "{}.{}",
            URL_SAFE_NO_PAD.encode(header.to_string().as_bytes()),
            URL_SAFE_NO_PAD.encode(claims.to_string().as_bytes())
        );
        let signature = self.key.sign(&SystemRandom::new(), signed.as_bytes()).expect("signed");
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature.as_ref()))
    }
}

/// The status of a list of tools with this token.
fn status(world: &World, token: &str) -> u16 {
    world.sends(token, &Call::method("tools/list")).status
}

#[test]
fn an_issuer_is_trusted_from_one_reload_to_another() {
    let issuer = Issuer::start();
    let world = World::start_with(|config| config.replace("dynamic_registration = true", "enabled = true"));
    let path = world.folder().join("aldgate.toml");
    let without = std::fs::read_to_string(&path).expect("a configuration");
    let token = issuer.token(&world, &json!({}));
    assert_eq!(status(&world, &token), 401);

    let section = |more: &str| {
        format!(
            "\n[[identity.issuers]]\nissuer = \"{}\"\nalgorithms = [\"ES256\"]\ntenants = [\"default\"]\n{more}",
            issuer.url
        )
    };
    let mut file = std::fs::OpenOptions::new().append(true).open(&path).expect("a configuration");
    file.write_all(section("").as_bytes()).expect("written");
    // What stands in the file alone makes no difference.
    assert_eq!(status(&world, &token), 401);
    succeeds(&world.operates(&["reload"]));
    assert_eq!(status(&world, &token), 200);
    // Of this issuer alone, for this door alone, as long as it is good, and who acts for nobody.
    let now = OffsetDateTime::now_utc().unix_timestamp();
    for wrong in [
        json!({"iss": "http://127.0.0.1:1"}),
        json!({"aud": format!("{}/v1", world.admin)}),
        json!({"exp": now - 120}),
        json!({"nbf": now + 600}),
        json!({"act": {"sub": "mallory"}}),
    ] {
        assert_eq!(status(&world, &issuer.token(&world, &wrong)), 401, "{wrong}");
    }
    let rows = world.rows("answer");
    let of_issuer = rows.iter().filter(|row| row["principal"]["issuer"] == issuer.url.as_str());
    assert_eq!(of_issuer.count(), 1);

    // What the issuer may assert is taken anew; what is kept of the token is not.
    std::fs::write(&path, format!("{without}{}", section("tenant_claim = \"org\"\n"))).expect("written");
    succeeds(&world.operates(&["reload"]));
    assert_eq!(status(&world, &token), 401);
    assert_eq!(status(&world, &issuer.token(&world, &json!({"org": "default"}))), 200);
    assert_eq!(status(&world, &issuer.token(&world, &json!({"org": "elsewhere"}))), 401);
    // A configuration that cannot be used leaves everything as it was.
    std::fs::write(&path, format!("{without}{}", section("algorithms = [\"none\"]\n"))).expect("written");
    let refused = world.operates(&["reload"]);
    assert!(!refused.status.success(), "{}", text(&refused));
    assert_eq!(status(&world, &issuer.token(&world, &json!({"org": "default"}))), 200);

    std::fs::write(&path, &without).expect("written");
    succeeds(&world.operates(&["reload"]));
    assert_eq!(status(&world, &issuer.token(&world, &json!({"org": "default"}))), 401);
    assert_eq!(status(&world, &token), 401);
}

#[test]
fn a_person_who_is_known_elsewhere_too_decides_nothing_of_their_own() {
    let issuer = Issuer::start();
    let world = World::start_with(|config| {
        let config = config.replace("dynamic_registration = true", "enabled = true");
        format!(
            "{config}\n[[identity.issuers]]\nissuer = \"{}\"\nalgorithms = [\"ES256\"]\ntenants = [\"default\"]\n",
            issuer.url
        )
    });
    let mut maya = world.person("maya", &["agent", "writer"]);
    let mut lena = world.person("lena", &["approver"]);
    let people = format!(
        "\n[[people]]\nname = \"maya\"\naccounts = [\"maya\"]\nsubjects = [{{ issuer = \"{}\", subject = \"Maya-81\" }}]\n",
        issuer.url
    );
    let mut file = std::fs::OpenOptions::new()
        .append(true)
        .open(world.folder().join("aldgate.toml"))
        .expect("a configuration");
    file.write_all(people.as_bytes()).expect("written");
    succeeds(&world.operates(&["reload"]));
    succeeds(&maya.signs_in(&["login"]));
    succeeds(&lena.signs_in(&["login", "--admin", "--scope", "tools:read"]));
    let decider = |subject: &str| {
        let audience = format!("{}/v1/approvals", world.admin);
        let more =
            json!({"sub": subject, "aud": audience, "scope": "approvals:decide", "roles": ["approver"]});
        issuer.token(&world, &more)
    };

    let asked = maya.begins(ORDER);
    let id = pending(&lena);
    // However the issuer spells it this time.
    for subject in ["Maya-81", "maya-81", "MAYA-81"] {
        fails_with(&world.run_as(&decider(subject), &["approvals", "approve", &id]), "AG-DECIDE-SELF");
    }
    succeeds(&world.run_as(&decider("lars-82"), &["approvals", "approve", &id]));
    succeeds(&asked.wait_with_output().expect("it ends"));

    // And the other way round: she calls as the one whom the issuer knows.
    let calls = json!({"sub": "maya-81", "scope": "tools:read tools:write"});
    let order: Vec<String> = ORDER.iter().map(|word| word.replace("SR-20031", "SR-20032")).collect();
    let order: Vec<&str> = order.iter().map(String::as_str).collect();
    let asked = world.begins_as(&issuer.token(&world, &calls), &order);
    let id = pending(&lena);
    fails_with(&world.run_as(&decider("Maya-81"), &["approvals", "deny", &id]), "AG-DECIDE-SELF");
    succeeds(&lena.signs_in(&["approvals", "deny", &id]));
    fails_with(&asked.wait_with_output().expect("it ends"), "AG-APPROVAL-DENIED");
}
