use aldgate_authority::Authority;
use aldgate_testkit::Call;
use serde_json::json;

use super::{BOLTS, order, retry};
use crate::world::{World, approval, code, text};

/// The same arguments in other words.
const SPELLINGS: [&str; 5] = [
    r#"{"item":"bolts","count":12}"#,
    r#"{"count":12,"item":"bolts"}"#,
    r#"{ "item" : "\u0062olts", "count": 12 }"#,
    r#"{"item":"bolts","count":12.0}"#,
    r#"{"item":"bolts","count":1.2e1}"#,
];

#[tokio::test]
async fn a_denial_is_told_with_name_and_note() {
    let world = World::plain().await;
    let notice = world.send(&order()).await;
    let path = format!("/v1/approvals/{}/decision", approval(&notice));
    let body = json!({"decision": "deny", "note": "we have plenty"});
    assert_eq!(world.admin("approver").post(&path, &body).await.unwrap().status, 200);
    let denied = world.send(&retry(&notice)).await;
    assert_eq!(
        (code(&denied).as_str(), denied.result().unwrap()["isError"].as_bool()),
        ("AG-APPROVAL-DENIED", Some(true))
    );
    assert!(text(&denied).contains("denied by approver, saying: we have plenty"), "{}", text(&denied));
    assert_eq!(world.up.calls("order").len(), 0);
    assert_eq!(
        world.story().await,
        [
            "approval_asked requires_approval - -",
            "refusal requires_approval - AG-APPROVAL-PENDING",
            "approval_decided - deny -",
            "refusal requires_approval - AG-APPROVAL-DENIED",
        ]
    );
}

#[tokio::test]
async fn a_denial_holds_for_every_spelling_and_every_way_to_ask() {
    let mut world = World::plain().await;
    let first = world.call("order", BOLTS).await;
    world.decide(&approval(&first), "deny").await;
    for spelling in SPELLINGS {
        for call in [
            Call::tool("order", spelling),
            Call::tool("order", spelling).with_forms(),
            Call::tool("order", spelling)
                .meta("io.modelcontextprotocol/clientInfo", json!({"name": "new", "version": "2"})),
        ] {
            assert_eq!(code(&world.send(&call).await), "AG-APPROVAL-DENIED", "{}", call.text());
        }
    }
    // Neither another registry entry nor another policy resets it.
    world
        .restart(|config| {
            config.entry("order").boundaries = vec!["new".to_owned()];
            config.policy.push_str(
                r#"@id("more") permit (principal, action == Action::"call", resource == Tool::"up/order");"#,
            );
        })
        .await;
    assert_eq!(code(&world.call("order", BOLTS).await), "AG-APPROVAL-DENIED");
    assert_eq!(world.up.calls("order").len(), 0);
    assert_eq!(world.approvals().await.len(), 1, "nobody is asked again");
}

#[tokio::test]
async fn a_denial_is_for_one_principal_one_tool_and_one_set_of_arguments() {
    let world = World::plain().await;
    world.decide(&approval(&world.call("order", BOLTS).await), "deny").await;
    for (what, reply) in [
        ("another principal", world.client("other").send(&Call::tool("order", BOLTS)).await.unwrap()),
        ("another tool", world.call("reorder", BOLTS).await),
        ("another number", world.call("order", r#"{"item":"bolts","count":13}"#).await),
        ("a text for a number", world.call("order", r#"{"item":"12"}"#).await),
    ] {
        assert_eq!(code(&reply), "AG-APPROVAL-PENDING", "{what}");
    }
}

#[tokio::test]
async fn an_approval_that_was_asked_for_before_a_denial_does_not_outlive_it() {
    let mut world = World::plain().await;
    let older = world.send(&order()).await;
    // Under another registry entry the same action is another binding, so that two are pending.
    world.restart(|config| config.entry("order").boundaries = vec!["new".to_owned()]).await;
    let newer = world.send(&order()).await;
    assert_ne!(approval(&older), approval(&newer));
    world.decide(&approval(&newer), "approve").await;
    world.decide(&approval(&older), "deny").await;
    for call in [retry(&newer), order()] {
        assert_eq!(code(&world.send(&call).await), "AG-APPROVAL-DENIED");
    }
    assert_eq!(world.up.calls("order").len(), 0);
}

#[tokio::test]
async fn a_denial_does_not_bind_what_no_person_decides_any_more() {
    let mut world = World::plain().await;
    world.decide(&approval(&world.call("order", BOLTS).await), "deny").await;
    world.restart(|config| config.entry("order").authority = Authority::Automatic).await;
    assert_eq!(text(&world.call("order", BOLTS).await), "done", "the host changed its registry");
}
