//! What the conformance suite starts for its client scenarios of `auth/`: the OAuth client that `aldgate login` and the
//! credentials for upstreams are made of, with an HTTP client that lists the tools and calls one. The suite puts the server's
//! URL last: `conformance_sign_in http://localhost:8123/mcp`
//!
//! The scenario's authorization server agrees at once, so that the browser is a request whose redirects are followed.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use aldgate_identity::Scopes;
use aldgate_identity::client::upstream::{ClientCredentials, Program, UpstreamCredential};
use aldgate_identity::client::{
    AccessToken, Challenge, ClientAuthentication, Http, Keep, LoginEvent, LoginSettings, Preregistered,
    Probe, Purpose, Secret, SigningKey, StepUp, discover, login,
};
use http::{HeaderMap, StatusCode, header};
use serde_json::{Value, json};
use time::OffsetDateTime;
use url::Url;

type Fallible<T> = Result<T, Box<dyn Error>>;

const REVISION: &str = "2026-07-28";
/// How long everything may take: the suite ends only the shell around this program when its own time is over.
const LONGEST: Duration = Duration::from_secs(50);
/// Where the scenarios say that this client's metadata document is.
const DOCUMENT: &str = "https://conformance-test.local/client-metadata.json";
const TOOL: &str = "test-tool";

/// Who shows what to the scenario's server.
enum Credential {
    /// A person signs in when the server asks for it.
    Person(Option<AccessToken>),
    /// The program itself.
    Program(Box<ClientCredentials>),
}

struct Client {
    url: Url,
    http: Arc<Http>,
    plain: reqwest::Client,
    settings: LoginSettings,
    credential: Credential,
    asked: Option<Scopes>,
    nonce: Option<String>,
}

#[tokio::main]
async fn main() -> Fallible<()> {
    let url = std::env::args().next_back().ok_or("expected the URL of a server")?;
    let scenario = std::env::var("MCP_CONFORMANCE_SCENARIO")?;
    let context = match std::env::var("MCP_CONFORMANCE_CONTEXT") {
        Ok(context) => serde_json::from_str(&context)?,
        Err(_) => Value::Null,
    };
    let kept = tempfile::tempdir()?;
    let run = async {
        let mut client =
            Client::of(Url::parse(&url)?, &scenario, &context, Keep::open(&kept.path().join("kept"))?)
                .await?;
        println!("{}", client.ask("tools/list", json!({})).await?);
        println!("{}", client.ask("tools/call", json!({"name": TOOL, "arguments": {}})).await?);
        Ok(())
    };
    tokio::time::timeout(LONGEST, run).await?
}

/// What a browser does where nobody has to be asked.
fn browser(event: LoginEvent<'_>) {
    let LoginEvent::Open { url, .. } = event;
    let url = url.clone();
    tokio::spawn(async move {
        match plain() {
            Ok(http) => {
                println!("the browser got {:?}", http.get(url).send().await.map(|page| page.status()))
            }
            Err(fault) => eprintln!("there is no browser: {fault}"),
        }
    });
}

fn plain() -> reqwest::Result<reqwest::Client> {
    reqwest::Client::builder().no_proxy().tls_certs_only(std::iter::empty()).build()
}

impl Client {
    /// A client as the scenario wants it.
    async fn of(url: Url, scenario: &str, context: &Value, keep: Keep) -> Fallible<Self> {
        let http = Arc::new(Http::default());
        let mut settings = LoginSettings::at(url.clone(), OffsetDateTime::now_utc);
        settings.browser = false;
        settings.wait = Duration::from_secs(8);
        settings.document = Some(Url::parse(DOCUMENT)?);
        settings.keep = Some(keep);
        settings.dpop = scenario.starts_with("auth/dpop");
        let mut credential = Credential::Person(None);
        if scenario.starts_with("auth/client-credentials-") {
            credential = Credential::Program(Box::new(program(&http, &url, context).await?));
        } else if scenario == "auth/pre-registration" {
            let found = discover(&http, &url, &Probe::Mcp, Purpose::SignIn, None).await?;
            let (client_id, authentication) = registered(context)?;
            settings.preregistered =
                vec![Preregistered { issuer: found.server.issuer, client_id, authentication }];
        }
        Ok(Self { url, http, plain: plain()?, settings, credential, asked: None, nonce: None })
    }

    /// The answer to a request, with as many sign-ins as the server may ask for.
    async fn ask(&mut self, method: &str, params: Value) -> Fallible<Value> {
        let mut step = StepUp::with(self.asked.as_ref());
        let mut nonce_asked = false;
        loop {
            let answer = self.send(method, params.clone()).await?;
            let status = answer.status();
            if let Some(nonce) = answer.headers().get("dpop-nonce") {
                self.nonce = Some(nonce.to_str()?.to_owned());
            }
            if status != StatusCode::UNAUTHORIZED && status != StatusCode::FORBIDDEN {
                return answer_of(&answer.text().await?);
            }
            let challenge = challenge(answer.headers())?;
            println!("{method}: {status} {challenge:?}");
            if challenge.parameter("error") == Some("use_dpop_nonce") && !nonce_asked {
                nonce_asked = true;
                continue;
            }
            let mut settings = self.settings.clone();
            if status == StatusCode::FORBIDDEN {
                settings.scopes = Some(step.next(&challenge)?);
            } else {
                step.signed_in(challenge.scope().as_ref())?;
            }
            settings.probe = Probe::Known(challenge);
            self.sign_in(&settings).await?;
        }
    }

    async fn sign_in(&mut self, settings: &LoginSettings) -> Fallible<()> {
        let Credential::Person(token) = &mut self.credential else {
            return Err("the program's token was refused".into());
        };
        let login = login(&self.http, settings, &mut browser).await?;
        self.asked = login.asked;
        *token = Some(login.token);
        Ok(())
    }

    async fn send(&self, method: &str, mut params: Value) -> Fallible<reqwest::Response> {
        let name = params.get("name").and_then(Value::as_str).map(str::to_owned);
        if let Some(params) = params.as_object_mut() {
            let meta = json!({
                "io.modelcontextprotocol/protocolVersion": REVISION,
                "io.modelcontextprotocol/clientInfo": {"name": "aldgate-conformance", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            params.insert("_meta".to_owned(), meta);
        }
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let mut request = self
            .plain
            .post(self.url.clone())
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ACCEPT, "application/json, text/event-stream")
            .header("mcp-protocol-version", REVISION)
            .header("mcp-method", method);
        if let Some(name) = name {
            request = request.header("mcp-name", name);
        }
        let now = OffsetDateTime::now_utc();
        match &self.credential {
            Credential::Person(None) => {}
            Credential::Person(Some(token)) => {
                let value = token.authorization().ok_or("the token cannot be sent in a header")?;
                request = request.header(header::AUTHORIZATION, value);
                if let Some(proof) = token.proof("POST", self.url.as_str(), self.nonce.as_deref(), now)? {
                    request = request.header("dpop", proof);
                }
            }
            Credential::Program(program) => {
                let shown = program.authorization(None, now).await?.ok_or("the program has no token")?;
                request = request.header(shown.name, shown.value);
            }
        }
        Ok(request.body(body.to_string()).send().await?)
    }
}

/// A program that signs in by itself at the server that the resource names.
async fn program(http: &Arc<Http>, url: &Url, context: &Value) -> Fallible<ClientCredentials> {
    let found = discover(http, url, &Probe::Mcp, Purpose::Program, None).await?;
    let (client_id, authentication) = registered(context)?;
    let program = Program {
        issuer: found.server.issuer,
        token_endpoint: None,
        client_id,
        authentication,
        resource: Some(found.resource),
        scopes: found.scopes,
    };
    Ok(ClientCredentials::new(Arc::clone(http), program)?)
}

/// The client that the scenario's server knows already.
fn registered(context: &Value) -> Fallible<(String, ClientAuthentication)> {
    let text = |name: &str| {
        let found = context.get(name).and_then(Value::as_str).map(str::to_owned);
        found.ok_or_else(|| format!("the scenario's context has no `{name}`"))
    };
    let authentication = if context.get("private_key_pem").is_some() {
        let pem = Secret::new(text("private_key_pem")?);
        let key = SigningKey::from_pem(&pem, &text("signing_algorithm")?, None);
        ClientAuthentication::Signed(key.ok_or("the key of the scenario's context cannot be used")?)
    } else {
        ClientAuthentication::Basic(Secret::new(text("client_secret")?))
    };
    Ok((text("client_id")?, authentication))
}

fn challenge(headers: &HeaderMap) -> Fallible<Challenge> {
    let mut values = Vec::new();
    for value in headers.get_all(header::WWW_AUTHENTICATE) {
        values.push(value.to_str()?);
    }
    Ok(Challenge::of_oauth(values).unwrap_or_default())
}

/// The JSON of an answer, which may be the one event of a stream.
fn answer_of(text: &str) -> Fallible<Value> {
    let event = text.lines().find_map(|line| line.strip_prefix("data: "));
    Ok(serde_json::from_str(event.unwrap_or(text))?)
}
