//! Callers' own credentials towards an upstream: accounts that people connect, and tokens that are exchanged.

mod canaries;
mod echo;
mod world;

use aldgate_testkit::{Behaviour, Call, Reply};
use serde_json::{Value, json};

use crate::running::json_of;
use world::{OWN, Someone, Start, World, claims, urls};

const KEY: &str = "io.github.aldgate/connection";

/// What an account of each user takes.
const CONNECTION: &str = r#"
[upstreams.up.credential]
kind = "connection"
issuer = "ISSUER"
client_id = "gateway"
client_method = "client_secret_basic"
file = "client-secret"
scopes = ["parts:read"]
[upstreams.up.own_credential]
kind = "header"
file = "own"
"#;

/// What a token in the name of each caller takes.
const EXCHANGE: &str = r#"
[upstreams.up.credential]
kind = "token_exchange"
issuer = "GATEWAY"
client_id = "exchanger"
client_method = "client_secret_basic"
file = "exchange-secret"
[upstreams.up.own_credential]
kind = "header"
file = "own"
"#;

async fn world(life: u32) -> World {
    World::start(Start { credential: CONNECTION, life, ..Start::default() }).await
}

fn look() -> Call {
    Call::tool("look", "{}").declaring(urls())
}

async fn calls(world: &World, token: &str, call: &Call) -> Reply {
    world.client(token).send(call).await.expect("an answer")
}

/// The page that a reply asks to open.
fn page(reply: &Reply) -> String {
    let result = reply.result().unwrap_or_else(|_| panic!("no result in {}", reply.text()));
    assert_eq!(result["resultType"], "input_required", "{result}");
    result["inputRequests"][KEY]["params"]["url"].as_str().expect("a URL").to_owned()
}

fn text(reply: &Reply) -> String {
    let result = reply.result().unwrap_or_else(|_| panic!("no result in {}", reply.text()));
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {result}")).to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_person_connects_an_account_of_its_own_and_is_called_with_that() {
    let world = world(300).await;
    let (mut alice, mut bob) = (world.person("alice"), world.person("bob"));
    let here = format!("{}/connections/up", world.base);
    // Nobody is connected; who cannot open pages is told where to.
    assert_eq!(page(&calls(&world, &alice.token, &look()).await), here);
    let told = calls(&world, &alice.token, &Call::tool("look", "{}")).await;
    assert_eq!(told.result().expect("a result")["isError"], true);
    assert!(text(&told).contains(&here), "{}", text(&told));
    assert_eq!(world.connects(&mut alice, &["anna"]), "Connected");
    let accepted = look().answering(json!({KEY: {"action": "accept"}}));
    assert_eq!(text(&calls(&world, &alice.token, &accepted).await), "done");
    // That is nothing of Bob's, who has another account there.
    assert_eq!(page(&calls(&world, &bob.token, &look()).await), here);
    assert_eq!(world.connects(&mut bob, &["berta"]), "Connected");
    for someone in [&bob, &alice] {
        assert_eq!(text(&calls(&world, &someone.token, &look()).await), "done");
    }
    let shown: Vec<Value> = world.calls().iter().map(claims).collect();
    let accounts: Vec<_> = shown.iter().map(|claims| claims["sub"].as_str().expect("a subject")).collect();
    assert_eq!(accounts, ["anna", "berta", "anna"]);
    for claims in &shown {
        assert_eq!((&claims["iss"], &claims["scope"]), (&json!(world.accounts.issuer), &json!("parts:read")));
    }
    for seen in world.up.seen() {
        let own = seen.bearer() == OWN;
        assert_eq!(own, seen.method != "tools/call", "{}", seen.method);
        assert!([&alice, &bob].iter().all(|someone| !seen.mentions(&someone.token)));
    }
    // The command line leads there, too.
    let mut cara = world.person("cara");
    let told = cara.run(&world, &["call", "look"]);
    assert!(!told.status.success());
    let told = String::from_utf8_lossy(&[told.stdout, told.stderr].concat()).into_owned();
    assert!(told.contains(&here) && told.contains("AG-CONNECTION-NEEDED"), "{told}");
    assert_eq!(world.connects(&mut cara, &["clara"]), "Connected");
    assert!(cara.run(&world, &["call", "look"]).status.success());
    // A service has none.
    let refused = calls(&world, &world.service, &look()).await;
    assert!(text(&refused).contains("AG-CREDENTIAL-CALLER"), "{}", text(&refused));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_is_refreshed_ends_at_the_server_and_is_taken_away() {
    // Good for less than the time that a token is not used any more before its end: each call refreshes.
    let mut world = world(20).await;
    let mut alice = world.person("alice");
    assert_eq!(world.connects(&mut alice, &["anna"]), "Connected");
    let client = world.client(&alice.token);
    let one = look();
    let many = futures::future::join_all((0..6).map(|_| client.send(&one))).await;
    for reply in many {
        assert_eq!(text(&reply.expect("an answer")), "done");
    }
    let shown: Vec<String> = world.calls().iter().map(|seen| seen.bearer().to_owned()).collect();
    // A refresh token that is used twice ends all at this server: it was used by one at a time.
    assert!(shown.iter().collect::<std::collections::BTreeSet<_>>().len() > 1, "nothing was refreshed");
    // A configuration that is read again keeps it.
    assert!(world.operate(&["reload"]).status.success());
    assert_eq!(text(&calls(&world, &alice.token, &look()).await), "done");
    // The account takes it back: asked to connect again, and then it goes on.
    world.accounts.revoke("anna");
    let here = format!("{}/connections/up", world.base);
    assert_eq!(page(&calls(&world, &alice.token, &look()).await), here);
    assert_eq!(world.connects(&mut alice, &["anna"]), "Connected");
    assert_eq!(text(&calls(&world, &alice.token, &look()).await), "done");
    // Taken away on the page.
    let pages = world.pages(&mut alice, "Disconnect", &[]);
    assert_eq!(pages.last().expect("a page")["title"], "Disconnected", "{pages:?}");
    assert_eq!(page(&calls(&world, &alice.token, &look()).await), here);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_that_the_upstream_refuses_is_renewed_or_asked_for() {
    let mut world = world(300).await;
    let mut alice = world.person("alice");
    assert_eq!(world.connects(&mut alice, &["anna"]), "Connected");
    assert_eq!(text(&calls(&world, &alice.token, &look()).await), "done");
    // The server has forgotten the token, and still knows the account.
    world.up.does("look", Behaviour::status(401));
    let refused = calls(&world, &alice.token, &look()).await;
    assert_eq!((refused.status, refused.header("www-authenticate")), (200, ""));
    assert!(refused.text().contains("AG-UPSTREAM-CREDENTIAL"), "{}", refused.text());
    world.up.does("look", Behaviour::text("done"));
    assert_eq!(text(&calls(&world, &alice.token, &look()).await), "done");
    let shown: Vec<String> = world.calls().iter().map(|seen| seen.bearer().to_owned()).collect();
    assert!(shown[0] == shown[1] && shown[1] != shown[2], "a fresh one after the refused one");
    // And where it is known no more, the person is asked.
    world.accounts.revoke("anna");
    world.up.does("look", Behaviour::status(401));
    calls(&world, &alice.token, &look()).await;
    assert_eq!(page(&calls(&world, &alice.token, &look()).await), format!("{}/connections/up", world.base));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_was_altered_or_brought_by_another_connects_nobody() {
    let world = world(300).await;
    let mut alice = world.person("alice");
    assert_eq!(world.connects(&mut alice, &["anna", "state"]), "Not connected");
    let pages = world.pages(&mut alice, "Connect", &["anna", "iss"]);
    let last = pages.last().expect("a page");
    assert_eq!(last["status"], 400, "{last}");
    assert!(last["text"].as_str().expect("a text").contains("RFC 9207"), "{last}");
    let pages = world.pages(&mut alice, "Connect", &["anna", "csrf"]);
    assert_eq!(pages.last().expect("a page")["status"], 403, "{pages:?}");
    // Without the sign-in that began there is nobody whose account it could be: the way leads to the page to sign in, and from
    // there to the beginning.
    let pages = world.pages(&mut alice, "Connect", &["anna", "alone"]);
    let titles: Vec<_> = pages.iter().filter_map(|page| page["title"].as_str()).collect();
    assert!(!titles.contains(&"Connected"), "{titles:?}");
    assert!(!page(&calls(&world, &alice.token, &look()).await).is_empty());
    assert!(world.calls().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_callers_token_is_exchanged_where_it_came_from_and_goes_nowhere_else() {
    let world = World::start(Start { credential: EXCHANGE, life: 300, ..Start::default() }).await;
    let (alice, bob) = (world.person("alice"), world.person("bob"));
    for someone in [&alice, &alice, &bob] {
        assert_eq!(text(&calls(&world, &someone.token, &look()).await), "done");
    }
    let seen = world.calls();
    let shown: Vec<Value> = seen.iter().map(claims).collect();
    let url = &json_of(&world.run(&["clients", "list", "--json"]))[0]["record"]["exchange_for"][0];
    for claims in &shown {
        assert_eq!((&claims["aud"], &claims["act"]["sub"]), (url, &json!("exchanger")), "{claims}");
    }
    assert!(shown[0]["sub"] == shown[1]["sub"] && shown[1]["sub"] != shown[2]["sub"]);
    assert_eq!(seen[0].bearer(), seen[1].bearer(), "exchanged once");
    let itself = |someone: &Someone| world.up.seen().iter().any(|seen| seen.mentions(&someone.token));
    assert!(!itself(&alice) && !itself(&bob));
    // A token that nobody exchanges.
    let refused = calls(&world, &world.service, &look()).await;
    assert!(text(&refused).contains("AG-CREDENTIAL-CALLER"), "{}", text(&refused));
    // A reload keeps what was exchanged; another secret in the same place is used from the next reload on.
    assert!(world.operate(&["reload"]).status.success());
    calls(&world, &alice.token, &look()).await;
    assert_eq!(world.calls()[3].bearer(), seen[0].bearer());
    std::fs::write(world.folder.path().join("exchange-secret"), "another").expect("written");
    assert!(world.operate(&["reload"]).status.success());
    let refused = calls(&world, &alice.token, &look()).await;
    assert!(refused.text().contains("AG-UPSTREAM-CREDENTIAL"), "{}", refused.text());
    std::fs::write(world.folder.path().join("exchange-secret"), &world.exchange_secret).expect("written");
    assert!(world.operate(&["reload"]).status.success());
    assert_eq!(text(&calls(&world, &alice.token, &look()).await), "done");
    assert_ne!(world.calls()[4].bearer(), seen[0].bearer());
    // Nobody uses what was exchanged once the token is not good any more.
    assert!(world.run(&["users", "disable", "alice"]).status.success());
    gone(&world, &alice).await;
}

/// Until the token of somebody is not taken any more.
async fn gone(world: &World, someone: &Someone) {
    let until = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while calls(world, &someone.token, &look()).await.status != 401 {
        assert!(std::time::Instant::now() < until, "the token of somebody who was disabled is still taken");
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
}
