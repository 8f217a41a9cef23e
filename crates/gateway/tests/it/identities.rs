//! Credentials whose state changes, and doors that differ.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use aldgate_identity::{Authenticator, Door, Identity, Presented, Scopes, TokenTable, Unauthenticated};
use aldgate_testkit::{Call, Events};
use serde_json::{Value, json};
use time::OffsetDateTime;

use crate::fake;
use crate::library::shelves;
use crate::world::{World, code, principals, token};

/// What is said of `agent`.
#[derive(Clone)]
enum Says {
    Good,
    Scopes(&'static str),
    Fault(Unauthenticated),
}

/// The table of the tokens, but for what it says of `agent`: that changes when it was asked a number of times.
struct Changing {
    table: TokenTable,
    says: Mutex<(usize, Says)>,
}

impl Changing {
    fn new() -> Arc<Self> {
        Arc::new(Self { table: principals(None, &[]), says: Mutex::new((0, Says::Good)) })
    }

    fn now(&self, says: Says) {
        self.after(0, says);
    }

    /// The next `good` times the token is good.
    fn after(&self, good: usize, says: Says) {
        *self.says.lock().unwrap() = (good, says);
    }
}

#[async_trait::async_trait]
impl Authenticator for Changing {
    async fn authenticate(
        &self,
        presented: &Presented<'_>,
        now: OffsetDateTime,
    ) -> Result<Identity, Unauthenticated> {
        let identity = self.table.authenticate(presented, now).await?;
        if identity.principal.name != "agent" {
            return Ok(identity);
        }
        let mut says = self.says.lock().unwrap();
        if says.0 > 0 {
            says.0 -= 1;
            return Ok(identity);
        }
        match says.1.clone() {
            Says::Good => Ok(identity),
            Says::Scopes(scopes) => {
                Ok(Identity { scopes: Scopes::parse(scopes).unwrap().into(), ..identity })
            }
            Says::Fault(fault) => Err(fault),
        }
    }
}

const TICK: Duration = Duration::from_millis(50);

/// A library that looks at credentials every 50 ms, and a subscription of `agent` that was acknowledged.
async fn listening(changing: &Arc<Changing>) -> (World, Events) {
    let identity = changing.clone();
    let world = World::start_with(fake::library(), |config| {
        shelves(config);
        config.settings.bounds.keep_alive = TICK;
        config.identity = Some(identity);
    })
    .await;
    let call = Call::listen(json!({"toolsListChanged": true, "resourceSubscriptions": ["note://a"]}));
    let mut events = world.client("agent").listen(&call).await.unwrap();
    assert_eq!(next(&mut events).await["method"], "notifications/subscriptions/acknowledged");
    (world, events)
}

async fn next(events: &mut Events) -> Value {
    tokio::time::timeout(Duration::from_secs(20), events.next()).await.unwrap().unwrap()
}

fn why(last: &Value) -> &Value {
    &last["result"]["_meta"]["io.github.aldgate/ended"]["why"]
}

#[tokio::test]
async fn a_token_that_is_revoked_ends_a_subscription_on_which_nothing_happens() {
    for says in [Says::Fault(Unauthenticated::Unknown), Says::Scopes("evidence:read")] {
        let changing = Changing::new();
        let (_world, mut events) = listening(&changing).await;
        changing.now(says);
        let last = next(&mut events).await;
        assert_eq!(why(&last), "not_authenticated", "{last}");
        assert!(tokio::time::timeout(Duration::from_secs(20), events.next()).await.unwrap().is_none());
    }
}

#[tokio::test]
async fn events_that_come_faster_than_the_ticks_do_not_keep_a_revoked_token_alive() {
    let changing = Changing::new();
    let (world, mut events) = listening(&changing).await;
    changing.now(Says::Fault(Unauthenticated::Unknown));
    let ended = async {
        loop {
            let one = next(&mut events).await;
            if one.get("result").is_some() {
                return one;
            }
        }
    };
    let telling = async {
        loop {
            world.up.ears().tell("notifications/resources/updated", &json!({"uri": "note://a"}));
            tokio::time::sleep(TICK / 10).await;
        }
    };
    let last = tokio::select! {
        last = ended => last,
        () = telling => Value::Null,
        () = tokio::time::sleep(Duration::from_secs(20)) => Value::Null,
    };
    assert_eq!(why(&last), "not_authenticated", "{last}");
}

#[tokio::test]
async fn an_issuer_that_does_not_answer_ends_no_subscription() {
    let changing = Changing::new();
    let (world, mut events) = listening(&changing).await;
    changing.now(Says::Fault(Unauthenticated::Unavailable));
    assert!(tokio::time::timeout(TICK * 10, events.next()).await.is_err(), "it goes on");
    world.up.ears().tell("notifications/resources/updated", &json!({"uri": "note://a"}));
    assert_eq!(next(&mut events).await["method"], "notifications/resources/updated");
    // Once somebody can tell again, it counts.
    changing.now(Says::Fault(Unauthenticated::Expired));
    let last = next(&mut events).await;
    assert_eq!(why(&last), "not_authenticated", "{last}");
}

/// Refuses every token: one fault at the admin API's own door, another where decisions are taken.
struct Differing(Unauthenticated);

#[async_trait::async_trait]
impl Authenticator for Differing {
    async fn authenticate(
        &self,
        presented: &Presented<'_>,
        _: OffsetDateTime,
    ) -> Result<Identity, Unauthenticated> {
        Err(match presented.door {
            Door::Decisions => self.0.clone(),
            _ => Unauthenticated::Refused("audience".to_owned()),
        })
    }
}

#[tokio::test]
async fn the_fault_of_the_door_that_a_token_is_for_is_told() {
    let told = [
        (Unauthenticated::Expired, 401, "expired"),
        (Unauthenticated::Nonce("n1".to_owned()), 401, "nonce"),
        (Unauthenticated::Proof("its key".to_owned()), 401, "its key"),
        (Unauthenticated::Unavailable, 503, "does not answer"),
        (Unauthenticated::Unknown, 401, "audience"),
    ];
    for (fault, status, says) in told {
        let world = World::start(|config| config.identity = Some(Arc::new(Differing(fault)))).await;
        let reply = world.admin("approver").get("/v1/approvals").await.unwrap();
        assert_eq!(reply.status, status, "{}", reply.text());
        assert!(reply.text().contains(says), "{}", reply.text());
        assert_eq!(reply.header("dpop-nonce"), if says == "nonce" { "n1" } else { "" });
    }
}

#[tokio::test]
async fn a_proof_that_stands_twice_is_refused_at_the_admin_api() {
    let world = World::plain().await;
    let admin = world.admin("approver");
    for (name, value) in [("DPoP", "a"), ("Authorization", "Bearer x")] {
        let own = format!("Authorization: Bearer {}\r\n", token("approver"));
        let first = if name == "DPoP" { format!("{own}DPoP: b\r\n") } else { own };
        let request = format!(
            "GET /v1/status HTTP/1.1\r\nHost: localhost\r\n{first}{name}: {value}\r\nConnection: close\r\n\r\n"
        );
        let answer = admin.send_bytes(request.as_bytes()).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 400") && answer.contains("AG-HEAD-REPEATED"), "{answer}");
    }
}

#[tokio::test]
async fn whoever_was_disabled_while_a_person_was_waited_for_makes_no_call_and_burns_no_approval() {
    let changing = Changing::new();
    let identity = changing.clone();
    let world = World::start(|config| config.identity = Some(identity)).await;
    let order = r#"{"item":"x"}"#;
    assert_eq!(code(&world.call("order", order).await), "AG-APPROVAL-PENDING");
    let id = world.approvals().await[0]["id"].as_str().unwrap().to_owned();
    world.decide(&id, "approve").await;
    for (says, status, told) in [
        (Says::Fault(Unauthenticated::Unknown), 401, "AG-IDENTITY"),
        (Says::Fault(Unauthenticated::Unavailable), 503, "AG-IDENTITY-ISSUER"),
        (Says::Scopes("tools:read"), 403, "AG-SCOPE"),
    ] {
        // Good when the request comes, and no more when it is to be sent.
        changing.after(1, says);
        let refused = world.call("order", order).await;
        assert_eq!(refused.status, status, "{}", refused.text());
        assert!(refused.text().contains(told), "{}", refused.text());
        assert!(world.up.calls("order").is_empty(), "nothing was sent");
        assert_eq!(world.state_of(&id).await, "approved");
    }
    changing.now(Says::Good);
    let made = world.call("order", order).await;
    assert!(made.result().is_ok(), "{}", made.text());
    assert_eq!((world.up.calls("order").len(), world.state_of(&id).await.as_str()), (1, "redeemed"));
}

#[tokio::test]
async fn a_call_that_waits_for_nobody_is_authenticated_once() {
    let changing = Changing::new();
    let identity = changing.clone();
    let world = World::start(|config| config.identity = Some(identity)).await;
    changing.after(1, Says::Fault(Unauthenticated::Unknown));
    assert_eq!(world.call("look", r#"{"text":"t"}"#).await.status, 200);
}

/// What comes back until it says nothing for a while, or ends.
async fn hears(stream: &mut tokio::net::TcpStream) -> String {
    use tokio::io::AsyncReadExt as _;
    let mut all = Vec::new();
    let mut piece = [0; 4096];
    while let Ok(Ok(read)) = tokio::time::timeout(
        std::time::Duration::from_millis(if all.is_empty() { 5000 } else { 200 }),
        stream.read(&mut piece),
    )
    .await
    {
        if read == 0 {
            break;
        }
        all.extend_from_slice(&piece[..read]);
    }
    String::from_utf8_lossy(&all).into_owned()
}

#[tokio::test]
async fn who_is_refused_before_the_body_came_goes_on_with_the_connection() {
    use tokio::io::AsyncWriteExt as _;
    let world = World::plain().await;
    let head = |host: &str, kind: &str, more: &str| {
        format!(
            "POST /mcp HTTP/1.1\r\nHost: {host}\r\nContent-Type: {kind}\r\n{more}\
             Accept: application/json, text/event-stream\r\n\r\n"
        )
    };
    let (json, sized) = ("application/json", "Content-Length: 40\r\n");
    for (status, head) in [
        (401, head("localhost", json, sized)),
        (403, head("elsewhere.example", json, sized)),
        (415, head("localhost", "text/plain", sized)),
    ] {
        let mut stream = tokio::net::TcpStream::connect(world.agents()).await.unwrap();
        stream.set_nodelay(true).unwrap();
        for _ in 0..2 {
            // As many clients send it: the head, and the body a moment later.
            stream.write_all(head.as_bytes()).await.unwrap();
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            stream.write_all(&[b' '; 40]).await.unwrap();
            let heard = hears(&mut stream).await;
            let begins = heard.starts_with(&format!("HTTP/1.1 {status} "));
            assert!(begins && !heard.contains("connection: close"), "{status}: {heard}");
        }
    }
    // A body that does not come, is not asked for, or is too long, ends the connection, and the answer says so.
    for (status, more) in [
        (401, sized),
        (401, "Content-Length: 40\r\nExpect: 100-continue\r\n"),
        (413, "Content-Length: 99999999\r\n"),
    ] {
        let mut stream = tokio::net::TcpStream::connect(world.agents()).await.unwrap();
        stream.write_all(head("localhost", json, more).as_bytes()).await.unwrap();
        let heard = hears(&mut stream).await;
        let begins = heard.starts_with(&format!("HTTP/1.1 {status} "));
        assert!(begins && heard.contains("connection: close"), "{more}: {heard}");
    }
}
