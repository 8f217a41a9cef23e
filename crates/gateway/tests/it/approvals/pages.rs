//! How callers learn of a pending approval by a page: people of the own authorization server alone.

use std::sync::Arc;
use std::time::{Duration, Instant};

use aldgate_authority::{Principal, PrincipalKind};
use aldgate_identity::{Authenticator, Identity, Presented, TokenTable, Unauthenticated};
use aldgate_testkit::{Call, Reply};
use serde_json::{Value, json};
use time::OffsetDateTime;

use super::{BOLTS, order, retry};
use crate::world::{World, approval, code, principals, state, text};

const OWN: &str = "https://gate.example";

/// The table of the tokens; `agent` is of this issuer and kind.
struct OfIssuer(TokenTable, &'static str, PrincipalKind);

#[async_trait::async_trait]
impl Authenticator for OfIssuer {
    async fn authenticate(
        &self,
        presented: &Presented<'_>,
        now: OffsetDateTime,
    ) -> Result<Identity, Unauthenticated> {
        let identity = self.0.authenticate(presented, now).await?;
        if identity.principal.name != "agent" {
            return Ok(identity);
        }
        let principal =
            Principal { issuer: self.1.to_owned(), kind: self.2, ..identity.principal.as_ref().clone() };
        Ok(Identity { principal: Arc::new(principal), ..identity })
    }
}

async fn world(issuer: &'static str, kind: PrincipalKind, pages: Option<&str>, hold: Duration) -> World {
    World::start(|config| {
        config.identity = Some(Arc::new(OfIssuer(principals(None, &[]), issuer, kind)));
        config.settings.approval_pages = pages.map(str::to_owned);
        config.settings.approvals.hold = hold;
    })
    .await
}

fn declaring(elicitation: Value) -> Call {
    Call::tool("order", BOLTS).declaring(json!({"elicitation": elicitation}))
}

fn asked(reply: &Reply) -> Value {
    reply.result().unwrap()["inputRequests"]["approval"]["params"].clone()
}

fn again(earlier: &Reply, action: &str) -> Call {
    let call = declaring(json!({"url": {}})).id("2").state(&state(earlier));
    call.answering(json!({"approval": {"action": action}}))
}

#[tokio::test]
async fn a_person_whose_client_opens_pages_is_led_to_the_state_of_the_approval() {
    let hold = Duration::from_millis(300);
    let world = world(OWN, PrincipalKind::Person, Some(OWN), hold).await;
    // A page comes before a form.
    for declared in [json!({"url": {}}), json!({"form": {}, "url": {}})] {
        let notice = world.send(&declaring(declared)).await;
        let params = asked(&notice);
        let id = approval(&notice);
        assert_eq!(params["mode"], "url", "{params}");
        assert_eq!(params["url"], format!("{OWN}/approvals/{id}"));
        assert_eq!(params.as_object().unwrap().len(), 3, "{params}");
        assert!(params["message"].as_str().unwrap().contains(&id));
        let result = notice.result().unwrap();
        assert_eq!(result["inputRequests"]["approval"]["method"], "elicitation/create");
        assert_eq!(result["resultType"], "input_required");
    }
    let notice = world.send(&declaring(json!({"url": {}}))).await;
    // Held, and then a fresh one.
    let begun = Instant::now();
    let held = world.send(&again(&notice, "accept")).await;
    assert!(begun.elapsed() >= hold, "held for {:?}", begun.elapsed());
    assert_eq!(asked(&held), asked(&notice));
    assert_ne!(state(&held), state(&notice));
    world.decide(&approval(&notice), "approve").await;
    assert_eq!(text(&world.send(&again(&held, "accept")).await), "done");
    assert_eq!(world.up.calls("order").len(), 1);
}

#[tokio::test]
async fn who_does_not_open_the_page_waits_no_longer() {
    let world = world(OWN, PrincipalKind::Person, Some(OWN), Duration::from_secs(120)).await;
    let begun = Instant::now();
    let notice = world.send(&declaring(json!({"url": {}}))).await;
    for action in ["decline", "cancel"] {
        let left = world.send(&again(&notice, action)).await;
        assert_eq!(code(&left), "AG-APPROVAL-PENDING");
        assert_eq!(left.result().unwrap()["isError"], true);
    }
    assert!(begun.elapsed() < Duration::from_secs(60));
    assert_eq!(world.state_of(&approval(&notice)).await, "pending");
}

#[tokio::test]
async fn nobody_else_is_led_to_a_page() {
    let (person, service) = (PrincipalKind::Person, PrincipalKind::Service);
    for (issuer, kind, pages) in [
        (OWN, service, Some(OWN)),
        ("https://other.example", person, Some(OWN)),
        ("https://gate.example/", person, Some(OWN)),
        (OWN, person, None),
    ] {
        let world = world(issuer, kind, pages, Duration::ZERO).await;
        let plain = world.send(&declaring(json!({"url": {}}))).await;
        assert_eq!(code(&plain), "AG-APPROVAL-PENDING");
        assert_eq!(plain.result().unwrap()["resultType"], "complete", "{issuer} {kind:?} {pages:?}");
        let form = world.send(&order()).await;
        assert_eq!(asked(&form)["mode"], "form");
        assert!(asked(&form)["message"].as_str().unwrap().contains("the test's admin API"));
        world.decide(&approval(&form), "approve").await;
        assert_eq!(text(&world.send(&retry(&form)).await), "done");
    }
}

#[tokio::test]
async fn who_declares_no_page_gets_a_form_or_a_result() {
    let world = world(OWN, PrincipalKind::Person, Some(OWN), Duration::ZERO).await;
    assert_eq!(asked(&world.send(&order()).await)["mode"], "form");
    let plain = world.send(&Call::tool("order", BOLTS)).await;
    assert_eq!(plain.result().unwrap()["resultType"], "complete");
    assert_eq!(world.approvals().await.len(), 1, "one record, whatever it is told by");
}
