//! Upstreams where each caller has a credential of its own.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use aldgate_gateway::settings::{Credential, MayAsk};
use aldgate_identity::client::upstream::{Caller, CredentialFault, UpstreamCredential, UpstreamHeader};
use aldgate_testkit::{Behaviour, Call, Reply};
use http::HeaderValue;
use http::header::AUTHORIZATION;
use serde_json::{Value, json};
use time::OffsetDateTime;

use crate::fake;
use crate::library::shelves;
use crate::world::{Config, UPSTREAM_TOKEN, World, call_id, code, text, token};

const PAGE: &str = "https://gateway.example/connections/up";
const KEY: &str = "io.github.aldgate/connection";
const LOOK: &str = r#"{"text":"x"}"#;

/// A token for each caller who has connected an account; `robot`s have none.
#[derive(Debug, Default)]
struct Own {
    connected: Mutex<BTreeSet<String>>,
    /// The tokens of callers that it was given.
    given: Mutex<BTreeSet<String>>,
    refused: Mutex<Vec<String>>,
    /// How often it was asked.
    asked: AtomicUsize,
}

impl Own {
    fn connect(&self, who: &str) {
        self.connected.lock().unwrap().insert(who.to_owned());
    }
}

#[async_trait::async_trait]
impl UpstreamCredential for Own {
    async fn authorization(
        &self,
        caller: Option<&Caller>,
        _: OffsetDateTime,
    ) -> Result<Option<UpstreamHeader>, CredentialFault> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let caller = caller.ok_or(CredentialFault::NoCaller)?;
        let sent = caller.token.as_ref().map(|token| token.token.expose().to_owned());
        self.given.lock().unwrap().extend(sent);
        let who = &caller.principal.subject;
        if who == "other" {
            return Err(CredentialFault::Unfit("only a person can connect an account to it"));
        }
        if !self.connected.lock().unwrap().contains(who) {
            return Err(CredentialFault::NotConnected { upstream: "up".to_owned(), page: PAGE.to_owned() });
        }
        let value = HeaderValue::try_from(format!("Bearer account-of-{who}")).unwrap();
        Ok(Some(UpstreamHeader { name: AUTHORIZATION, value }))
    }

    fn refused(&self, caller: Option<&Caller>, header: &UpstreamHeader) {
        let who = caller.map(|caller| caller.principal.subject.clone()).unwrap_or_default();
        self.refused.lock().unwrap().push(format!("{who}: {}", header.value.to_str().unwrap()));
    }
}

fn with(own: &Arc<Own>) -> impl FnOnce(&mut Config) + use<> {
    let shown = own.clone();
    move |config| {
        let for_itself = Box::new(Credential::Bearer(UPSTREAM_TOKEN.to_owned()));
        config.up().credential = Credential::OfCallers { shown, own: for_itself };
    }
}

async fn world(connected: &[&str]) -> (World, Arc<Own>) {
    let own = Arc::new(Own::default());
    connected.iter().for_each(|who| own.connect(who));
    (World::start(with(&own)).await, own)
}

fn looking(capabilities: Value) -> Call {
    Call::tool("look", LOOK).declaring(capabilities)
}

fn urls() -> Value {
    json!({"elicitation": {"url": {}}})
}

fn shown_to(world: &World) -> Vec<String> {
    world.up.calls("look").iter().map(|seen| seen.header("authorization").to_owned()).collect()
}

fn seen_of(world: &World, method: &str) -> Vec<aldgate_testkit::Seen> {
    world.up.seen().into_iter().filter(|seen| seen.method == method).collect()
}

/// What is asked for, where that is to open a page.
fn asked(reply: &Reply) -> Value {
    let result = reply.result().unwrap();
    assert_eq!(result["resultType"], "input_required", "{result}");
    result["inputRequests"][KEY].clone()
}

#[tokio::test]
async fn each_caller_is_shown_with_its_own_and_none_with_what_it_sent() {
    let (world, own) = world(&["agent", "chief"]).await;
    for who in ["agent", "chief", "agent"] {
        let reply = world.client(who).send(&Call::tool("look", LOOK)).await.unwrap();
        assert_eq!((reply.status, text(&reply).as_str()), (200, "done"));
    }
    let accounts = ["agent", "chief", "agent"].map(|who| format!("Bearer account-of-{who}"));
    assert_eq!(shown_to(&world), accounts);
    // Contracts are compared with what the gateway has itself.
    let listed = seen_of(&world, "tools/list");
    assert!(!listed.is_empty());
    let itself = format!("Bearer {UPSTREAM_TOKEN}");
    assert!(listed.iter().all(|seen| seen.header("authorization") == itself));
    // The source was given what the callers sent; the upstream never saw it.
    assert_eq!(*own.given.lock().unwrap(), BTreeSet::from([token("agent"), token("chief")]));
    for who in ["agent", "chief"] {
        assert!(world.up.seen().iter().all(|seen| !seen.mentions(&token(who))));
    }
}

#[tokio::test]
async fn a_client_that_can_open_pages_is_led_to_the_one_that_connects() {
    let (world, own) = world(&[]).await;
    let reply = world.send(&looking(urls())).await;
    let ask = asked(&reply);
    assert_eq!(
        (&ask["method"], &ask["params"]["mode"], &ask["params"]["url"]),
        (&json!("elicitation/create"), &json!("url"), &json!(PAGE))
    );
    assert_eq!(code(&reply), "AG-CONNECTION-NEEDED");
    assert!(world.up.calls("look").is_empty());
    // Agreed, and not done yet: asked again.
    let accepted = looking(urls()).answering(json!({KEY: {"action": "accept"}}));
    assert_eq!(asked(&world.send(&accepted).await)["params"]["url"], PAGE);
    own.connect("agent");
    assert_eq!(text(&world.send(&accepted).await), "done");
    // The upstream is not told of it.
    let seen = world.up.calls("look");
    assert_eq!(seen.len(), 1);
    assert!(!seen[0].mentions(KEY) && !seen[0].mentions("inputResponses"));
    // Nor is the evidence: it holds what the upstream gets.
    let rows = world.rows().await;
    assert!(rows.iter().all(|row| row["responses"].is_null()), "{rows:?}");
    // An answer that may be to a question of the upstream's stays.
    let both = looking(urls()).answering(json!({KEY: {"action": "accept"}, "its": {"action": "accept"}}));
    assert_eq!(text(&world.send(&both).await), "done");
    assert!(world.rows().await.iter().any(|row| row["responses"].is_string()));
    // Nobody else is connected by that.
    assert_eq!(asked(&world.client("chief").send(&looking(urls())).await.unwrap())["params"]["url"], PAGE);
    let rows = world.rows_of(&call_id(&reply)).await;
    assert_eq!((rows.len(), &rows[0]["code"]), (1, &json!("AG-CONNECTION-NEEDED")));
}

#[tokio::test]
async fn who_says_no_or_cannot_open_pages_is_told_in_words() {
    let (world, _) = world(&[]).await;
    for call in [
        looking(json!({})),
        looking(json!({"elicitation": {"form": {}}})),
        looking(urls()).answering(json!({KEY: {"action": "decline"}})),
        looking(urls()).answering(json!({KEY: {"action": "cancel"}})),
    ] {
        let reply = world.send(&call).await;
        let result = reply.result().unwrap();
        assert_eq!((&result["isError"], code(&reply).as_str()), (&json!(true), "AG-CONNECTION-NEEDED"));
        assert!(text(&reply).contains(PAGE), "{}", text(&reply));
    }
    assert!(world.up.calls("look").is_empty());
}

#[tokio::test]
async fn a_caller_who_agreed_is_waited_for() {
    let own = Arc::new(Own::default());
    let change = with(&own);
    let world = World::start(|config| {
        change(config);
        config.settings.approvals.hold = Duration::from_secs(25);
    })
    .await;
    let accepted = looking(urls()).answering(json!({KEY: {"action": "accept"}}));
    let connecting = async {
        // It was looked once more, while nobody was connected.
        while own.asked.load(Ordering::SeqCst) < 2 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        own.connect("agent");
    };
    let waited = async { futures::join!(world.send(&accepted), connecting).0 };
    let reply = tokio::time::timeout(Duration::from_secs(20), waited).await.expect("it is waited for");
    assert_eq!(text(&reply), "done");
}

#[tokio::test]
async fn a_caller_that_can_have_none_is_told_why() {
    let (world, _) = world(&[]).await;
    let reply = world.client("other").send(&looking(urls())).await.unwrap();
    assert_eq!(code(&reply), "AG-CREDENTIAL-CALLER");
    assert!(text(&reply).contains("only a person can connect an account"), "{}", text(&reply));
    assert!(world.up.calls("look").is_empty());
}

#[tokio::test]
async fn nothing_is_asked_for_a_call_that_is_prohibited() {
    let (world, own) = world(&[]).await;
    let reply = world.send(&Call::tool("export", "{}").declaring(urls())).await;
    assert!(code(&reply).starts_with("AG-") && code(&reply) != "AG-CONNECTION-NEEDED", "{}", reply.text());
    assert!(own.given.lock().unwrap().is_empty());
}

#[tokio::test]
async fn an_account_is_connected_before_a_person_is_asked_to_approve() {
    let (world, own) = world(&[]).await;
    let order = Call::tool("order", r#"{"item":"i"}"#).declaring(urls());
    assert_eq!(asked(&world.send(&order).await)["params"]["url"], PAGE);
    assert!(world.approvals().await.is_empty());
    own.connect("agent");
    assert_eq!(code(&world.send(&order).await), "AG-APPROVAL-PENDING");
    let approvals = world.approvals().await;
    world.decide(approvals[0]["id"].as_str().unwrap(), "approve").await;
    // Taken away meanwhile: the approval is not used up.
    own.connected.lock().unwrap().clear();
    assert_eq!(asked(&world.send(&order).await)["params"]["url"], PAGE);
    own.connect("agent");
    assert_eq!(text(&world.send(&order).await), "done");
    let shown = world.up.calls("order");
    assert_eq!(shown[0].header("authorization"), "Bearer account-of-agent");
}

#[tokio::test]
async fn a_refused_account_is_given_back_for_its_caller_and_no_challenge_is_relayed() {
    let (world, own) = world(&["agent"]).await;
    let challenge = "Bearer resource_metadata=\"https://evil.example\", error=\"account-of-agent\"";
    let headers =
        vec![("www-authenticate", challenge.to_owned()), ("content-type", "application/json".to_owned())];
    let body = r#"{"error":{"message":"account-of-agent"}}"#.into();
    world.up.does("look", Behaviour::Http { status: 401, headers, body });
    let reply = world.send(&looking(urls())).await;
    assert_eq!((reply.status, code(&reply).as_str()), (200, "AG-UPSTREAM-CREDENTIAL"), "{}", reply.text());
    assert!(reply.header("www-authenticate").is_empty(), "{reply:?}");
    assert!(!reply.text().contains("evil.example") && !reply.text().contains("account-of-agent"));
    assert_eq!(*own.refused.lock().unwrap(), ["agent: Bearer account-of-agent"]);
}

#[tokio::test]
async fn reads_and_prompts_go_the_same_way() {
    let own = Arc::new(Own::default());
    let change = with(&own);
    let world = World::start_with(fake::library(), |config| {
        shelves(config);
        change(config);
    })
    .await;
    let read = Call::resource("note://a");
    let reply = world.send(&read.clone().declaring(urls())).await;
    assert_eq!(asked(&reply)["params"]["url"], PAGE);
    // Only a tool's result can be an error.
    let told = world.send(&read).await.json().unwrap();
    assert_eq!(told["error"]["data"]["code"], "AG-CONNECTION-NEEDED", "{told}");
    own.connect("agent");
    assert_eq!(world.send(&read).await.result().unwrap()["contents"][0]["text"], "text of a");
    let prompt = Call::prompt("greet", &json!({"who": "Ada"}));
    assert_eq!(world.send(&prompt).await.result().unwrap()["messages"][0]["role"], "user");
    for method in ["resources/read", "prompts/get"] {
        let seen = seen_of(&world, method);
        assert_eq!(seen.last().unwrap().header("authorization"), "Bearer account-of-agent", "{method}");
    }
}

#[tokio::test]
async fn what_an_upstream_repeats_of_its_credential_is_taken_out() {
    let (world, _) = world(&["agent"]).await;
    let secret = "account-of-agent";
    let note = json!({"jsonrpc": "2.0", "method": "notifications/message",
        "params": {"level": "error", "data": {"authorization": format!("Bearer {secret}")}}});
    let result = json!({"resultType": "complete", "content": [{"type": "text", "text": format!("I saw Bearer {secret}")}],
        "structuredContent": {(secret): [secret]}});
    let page = |media: &str, status| Behaviour::Http {
        status,
        headers: vec![("content-type", media.to_owned())],
        body: format!(r#"{{"error":{{"message":"no {secret}"}}}}"#).into(),
    };
    for does in [
        Behaviour::result(&result),
        Behaviour::failure(secret),
        Behaviour::error(-32000, &format!("who is {secret}?")),
        Behaviour::streamed(&[note], &result),
        page("application/json", 500),
        page(&format!("text/{secret}"), 200),
        Behaviour::raw_result(&format!(r#"{{"resultType":"{secret}","content":[]}}"#)),
        Behaviour::raw_result(&format!(
            r#"{{"resultType":"complete","_meta":{{"io.github.aldgate/{secret}":1}}}}"#
        )),
    ] {
        world.up.does("look", does.clone());
        let call = looking(json!({})).meta("io.modelcontextprotocol/logLevel", "debug".into());
        let reply = world.send(&call).await;
        assert!(!reply.text().contains(secret), "{does:?}: {}", reply.text());
    }
    world.up.does("look", Behaviour::result(&result));
    assert_eq!(text(&world.send(&looking(json!({}))).await), "I saw Bearer [credential]");
    let rows: Vec<String> = world.rows().await.iter().map(Value::to_string).collect();
    assert!(!rows.join("\n").contains(secret));
}

#[tokio::test]
async fn what_is_repeated_of_the_gateways_own_is_taken_out_too() {
    let world = World::plain().await;
    world.up.does("look", Behaviour::text(&format!("Bearer {UPSTREAM_TOKEN}")));
    assert_eq!(text(&world.call("look", LOOK).await), "Bearer [credential]");
    world.up.does("look", Behaviour::text("nothing of it"));
    assert_eq!(text(&world.call("look", LOOK).await), "nothing of it");
}

#[tokio::test]
async fn an_answer_to_the_gateway_is_none_to_an_upstream_that_asks_by_the_same_name() {
    let own = Arc::new(Own::default());
    own.connect("agent");
    let change = with(&own);
    let world = World::start(|config| {
        change(config);
        config.up().may_ask = vec![MayAsk::Form];
    })
    .await;
    let form = Behaviour::form(KEY, "really?", &json!({"type": "object", "properties": {}}));
    world.up.does("look", Behaviour::asking(form, "done"));
    let both = json!({"elicitation": {"form": {}, "url": {}}});
    let answer = json!({KEY: {"action": "accept", "content": {}}});
    let reply = world.send(&looking(both).answering(answer)).await;
    assert_eq!(reply.result().unwrap()["resultType"], "input_required", "{}", reply.text());
    assert_eq!(world.up.calls("look").len(), 1);
}
