//! Recognisable secrets in every credential, and a look for them in all that is shown: `Debug`, errors with what led to
//! them, and what is logged at every level.

use std::fmt::{Debug, Write as _};
use std::io;
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use serde_json::json;
use time::{Duration, OffsetDateTime};

use super::fake::{self, Fake, Reply, SERVER, reply};
use super::upstream::{
    Caller, ClientCredentials, ConnectionSettings, Connections, HeaderCredential, HeaderSource, Program,
    SubjectToken, TokenExchange, TokenExchangeSettings, UpstreamCredential, Who,
};
use super::{
    ClientAuthentication, DpopKey, Keep, LoginSettings, Preregistered, Secret, Session, SigningKey, login,
};

/// All that is shown.
#[derive(Clone, Default)]
struct Shown(Arc<Mutex<String>>);

impl io::Write for Shown {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().push_str(&String::from_utf8_lossy(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Shown {
    fn debug(&self, what: &dyn Debug) {
        writeln!(self.0.lock().unwrap(), "{what:?} {what:#?}").unwrap();
    }

    /// The outcome: where it is a fault, with all that led to it.
    fn outcome<T: Debug, F: std::error::Error + 'static>(&self, outcome: Result<T, F>) {
        let fault = match outcome {
            Ok(found) => return self.debug(&found),
            Err(fault) => fault,
        };
        self.debug(&fault);
        let mut next: Option<&dyn std::error::Error> = Some(&fault);
        while let Some(fault) = next {
            writeln!(self.0.lock().unwrap(), "{fault}").unwrap();
            next = fault.source();
        }
    }
}

fn pem() -> String {
    let random = aws_lc_rs::rand::SystemRandom::new();
    let kind = &aws_lc_rs::signature::ECDSA_P256_SHA256_FIXED_SIGNING;
    let made = aws_lc_rs::signature::EcdsaKeyPair::generate_pkcs8(kind, &random).unwrap();
    base64::engine::general_purpose::STANDARD.encode(made.as_ref())
}

fn giving(_: &Fake, asked: &fake::Asked) -> Reply {
    let kind = if asked.headers.contains_key("dpop") { "DPoP" } else { "Bearer" };
    reply(
        200,
        json!({
            "access_token": "canary-access", "refresh_token": "canary-refresh", "token_type": kind, "expires_in": 300,
            "issued_token_type": "urn:ietf:params:oauth:token-type:access_token",
        }),
    )
}

/// A server that says back all that it was told, wherever it can.
fn telltale(_: &Fake, asked: &fake::Asked) -> Reply {
    let all = format!(
        "{} {} {}",
        asked.body,
        asked.header("authorization"),
        asked.form.values().cloned().collect::<Vec<_>>().join(" ")
    );
    reply(400, json!({ "error": "invalid_grant", "error_description": all, "access_token": "canary-given" }))
}

#[tokio::test]
async fn no_secret_is_shown_anywhere() {
    let shown = Shown::default();
    let writer = shown.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);

    let (fake, folder) = (Fake::start().await, tempfile::tempdir().unwrap());
    let body = pem();
    let pem = Secret::new(format!("-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\n"));
    let signed = ClientAuthentication::Signed(SigningKey::from_pem(&pem, "ES256", None).unwrap());
    let authentications = [
        ClientAuthentication::Basic(Secret::new("canary-basic".to_owned())),
        ClientAuthentication::Post(Secret::new("canary-post".to_owned())),
        signed,
    ];
    fake.change(SERVER, json!({ "dpop_signing_alg_values_supported": ["ES256"] }));
    let mut states = Vec::new();
    for authentication in authentications {
        shown.debug(&authentication);
        fake.on("/token", giving);
        let given = Preregistered {
            issuer: fake.base.clone(),
            client_id: "c".to_owned(),
            authentication: authentication.clone(),
        };
        let keep = Keep::open(&folder.path().join("t")).unwrap();
        let settings = LoginSettings {
            keep: Some(keep.clone()),
            dpop: true,
            preregistered: vec![given.clone()],
            ..fake.settings()
        };
        shown.debug(&settings);
        let http = Arc::new(fake::http());
        shown.outcome(login(&http, &settings, &mut fake::browser).await);
        let kept = keep.latest(settings.resource.as_str(), "default").unwrap().unwrap();
        states.push(kept.access.key.as_ref().map(DpopKey::document).unwrap().expose().to_owned());
        shown.debug(&kept);
        let session =
            Session::new(Arc::clone(&http), keep, fake.resource(), "default".to_owned()).knowing(vec![given]);
        shown.debug(&session);
        let late = OffsetDateTime::now_utc() + Duration::days(1);
        let token = session.token(late).await;
        shown.debug(&token.as_ref().unwrap().authorization());
        shown.outcome(token);

        let program = Program {
            issuer: fake.base.clone(),
            token_endpoint: None,
            client_id: "c".to_owned(),
            authentication,
            resource: Some("https://parts.example/mcp".to_owned()),
            scopes: None,
        };
        let connecting = program.clone();
        let exchange = TokenExchangeSettings {
            program: program.clone(),
            audience: None,
            takes: vec!["https://gateway.example".to_owned()],
        };
        let machine = ClientCredentials::new(Arc::clone(&http), program).unwrap();
        let exchange = TokenExchange::new(Arc::clone(&http), exchange).unwrap();
        let token = SubjectToken { token: Secret::new("canary-subject".to_owned()), expires_at: None };
        let principal = aldgate_authority::Principal {
            issuer: "https://gateway.example".to_owned(),
            subject: "alice".to_owned(),
            tenant: "default".to_owned(),
            kind: aldgate_authority::PrincipalKind::Person,
            roles: std::collections::BTreeSet::new(),
            name: "Alice".to_owned(),
            client: "app".to_owned(),
            actors: Vec::new(),
        };
        let caller = Caller { principal: Arc::new(principal), token: Some(token) };
        shown.debug(&caller);
        let answers: [fn(&Fake, &fake::Asked) -> Reply; 5] = [
            giving,
            telltale,
            |_, asked| Reply { status: 200, body: asked.body.clone(), ..Reply::default() },
            |_, asked| fake::redirect(format!("https://evil.example/?{}", asked.body)),
            |_, asked| reply(200, json!({ "access_token": "canary\n", "token_type": asked.body })),
        ];
        let settings_of = ConnectionSettings {
            upstream: "parts".to_owned(),
            program: connecting,
            page: url::Url::parse("https://gateway.example/connections/parts").unwrap(),
            redirect: url::Url::parse("https://gateway.example/connections/parts/callback").unwrap(),
            people: "https://gateway.example".to_owned(),
        };
        let seal = aldgate_approval::SealKey::derive(b"canary-seal-canary-seal-canary-seal").unwrap();
        let kept = fake::connections(folder.path(), seal).await;
        shown.debug(&kept);
        let connections = Connections::new(Arc::clone(&http), kept, settings_of).unwrap();
        let who = |user| Who { user, session: "canary-session" };
        let finish = async |query: String, user| match connections.answer(&query, late) {
            Ok(answer) => connections.finish(answer, who(user), late).await,
            Err(fault) => Err(fault),
        };
        let query = |state: &str| format!("code=code-canary&iss={}&state={state}", fake.base);
        let page = connections.begin(who("alice"), "/connections/parts?key=canary-key", late).await.unwrap();
        let state = page.query_pairs().find(|(name, _)| name == "state").unwrap().1.into_owned();
        shown.outcome(finish(query("canary"), "alice").await);
        shown.outcome(finish(query(&state), "bob").await);
        shown.outcome(finish(query(&state), "alice").await);
        states.push(state);
        for (index, answer) in answers.into_iter().enumerate() {
            fake.on("/token", answer);
            let now = late + Duration::days(i64::try_from(index).unwrap());
            for credential in [&machine as &dyn UpstreamCredential, &exchange, &connections] {
                shown.outcome(credential.authorization(Some(&caller), now).await);
                shown.debug(&credential);
            }
            shown.outcome(session.token(now).await);
            shown.outcome(login(&http, &settings, &mut fake::browser).await);
        }
        shown.outcome(connections.forget("alice", late).await);
        shown.outcome(session.sign_out(late).await);
    }
    let path = folder.path().join("key");
    for source in
        [HeaderSource::Value(Secret::new("canary-value".to_owned())), HeaderSource::File(path.clone())]
    {
        std::fs::write(&path, "canary-file").unwrap();
        let header = HeaderCredential::new(http::header::AUTHORIZATION, None, source).unwrap();
        shown.debug(&header);
        shown.outcome(header.authorization(None, OffsetDateTime::now_utc()).await);
        std::fs::write(&path, "canary-file\nof two lines").unwrap();
        shown.outcome(header.authorization(None, OffsetDateTime::now_utc()).await);
    }

    // The server was told each of them, so they were there to be shown.
    let sent: String = fake.asked("/token").iter().map(|asked| format!("{asked:?}")).collect();
    let codes: Vec<String> =
        fake.asked("/token").iter().filter_map(|asked| asked.form.get("code_verifier").cloned()).collect();
    for canary in ["canary-post", "canary-refresh", "canary-subject", "code-canary"] {
        assert!(sent.contains(canary), "{canary}");
    }
    let all = shown.0.lock().unwrap();
    assert!(all.contains("invalid_grant") && all.contains("TRACE"), "nothing was looked at");
    assert!(!codes.is_empty() && states.len() == 6);
    let line = body.get(40..80).unwrap().to_owned();
    let secrets = codes.iter().chain(&states).chain([&line]).map(String::as_str);
    for secret in secrets.chain(["canary", "Y2FuYXJ5"]) {
        let found = all.find(secret).map(|at| all.get(at.saturating_sub(300)..at + 100));
        assert_eq!(found, None, "{secret}");
    }
}
