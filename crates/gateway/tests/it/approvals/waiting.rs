//! What waits for somebody, as the page lists it.

use std::time::{SystemTime, UNIX_EPOCH};

use aldgate_approval::{ApprovalId, Binding, CallId, Record, Timestamp};
use aldgate_authority::{Principal, PrincipalKind};
use aldgate_evidence::{Kind, Row};
use aldgate_gateway::{Gateway, Pending};
use aldgate_store::{AskOutcome, Store};

use crate::world::{World, parts};

fn principal(name: &str, kind: PrincipalKind, role: &str) -> Principal {
    Principal {
        issuer: "config".to_owned(),
        subject: name.to_owned(),
        tenant: "default".to_owned(),
        kind,
        roles: [role.to_owned()].into(),
        name: name.to_owned(),
        client: name.to_owned(),
        actors: Vec::new(),
    }
}

/// Callers and tools of what waits, the oldest first, one a millisecond.
async fn wait(store: &Store, asked: impl Iterator<Item = (Principal, &str)>) {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let begun = i64::try_from(since_1970.as_millis()).unwrap() - 10_000;
    for (number, (caller, tool)) in asked.enumerate() {
        let number = u16::try_from(number).unwrap();
        let at = Timestamp(begun + i64::from(number));
        let mut random = [0; 16];
        random[..2].copy_from_slice(&number.to_be_bytes());
        let call = CallId::from_random(random);
        let row = Row::new(Kind::ApprovalAsked, at, call.clone(), caller.clone().into(), "tools/call");
        let binding = Binding {
            caller,
            upstream: "up".to_owned(),
            tool: tool.to_owned(),
            contract: "sha256:c".to_owned(),
            arguments: format!("sha256:{number}"),
            registry: "sha256:r".to_owned(),
            policy: "sha256:p".to_owned(),
        };
        let record = Record::ask(ApprovalId::from_random(random), binding, call, at, 3_600_000);
        let outcome = store.ask(record, b"sealed", row.to_stored(None).unwrap(), at, 1000).await.unwrap();
        assert!(matches!(outcome, AskOutcome::Asked(_)), "{outcome:?}");
    }
}

async fn pending(who: &str, most: usize, asked: impl Iterator<Item = (Principal, &str)>) -> Pending {
    let world = World::plain().await;
    let folder = tempfile::tempdir().unwrap();
    let parts = parts(world.config(), folder.path()).await;
    wait(&parts.store, asked).await;
    let (gateway, _) = Gateway::start(parts).await.unwrap();
    let who = principal(who, PrincipalKind::Person, "approver");
    gateway.approvals().pending(&who, most).await.unwrap()
}

fn callers(waiting: &aldgate_gateway::Waiting) -> (Vec<&str>, bool) {
    (waiting.records.iter().map(|record| record.binding.caller.name.as_str()).collect(), waiting.more)
}

#[tokio::test]
async fn what_somebody_may_not_see_hides_nothing_from_them() {
    let agent = |name: &str| principal(name, PrincipalKind::Service, "agent");
    let first = std::iter::once((agent("agent"), "up/order"));
    // No entry names that tool: nobody decides it.
    let pushing = (0..250).map(|number| (agent(&format!("other{}", number % 3)), "up/gone"));
    let found = pending("approver", 50, first.chain(pushing)).await;
    assert_eq!(callers(&found.others), (vec!["agent"], false));
    assert_eq!(callers(&found.own), (vec![], false));
    assert!(!found.unread);
}

#[tokio::test]
async fn ones_own_calls_take_no_place_of_what_is_to_be_decided() {
    let of = |name: &str| (principal(name, PrincipalKind::Person, "agent"), "up/order");
    let asked = ["a", "chief", "b", "c", "chief", "chief"].into_iter().map(of);
    let found = pending("chief", 2, asked).await;
    assert_eq!(callers(&found.others), (vec!["b", "c"], true), "the newest, the oldest first");
    assert_eq!(callers(&found.own), (vec!["chief", "chief"], true));
    let found = pending("chief", 3, ["a", "chief", "b", "c", "chief", "chief"].into_iter().map(of)).await;
    assert_eq!(callers(&found.others), (vec!["a", "b", "c"], false));
    assert!(!found.own.more && !found.unread);
}
