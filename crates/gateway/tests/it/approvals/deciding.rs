use aldgate_testkit::Call;
use serde_json::json;

use super::BOLTS;
use crate::world::{World, approval, code, text};

/// An approval that `who` asked for.
async fn pending(world: &World, who: &str) -> String {
    approval(&world.client(who).send(&Call::tool("order", BOLTS)).await.unwrap())
}

#[tokio::test]
async fn an_approver_sees_what_it_decides() {
    let world = World::plain().await;
    let id = pending(&world, "agent").await;
    let shown = world.look(&format!("/v1/approvals/{id}")).await;
    assert_eq!(shown["arguments"], json!({"item": "bolts", "count": 12}));
    assert_eq!(shown["tool"], "up/order");
    assert_eq!(shown["caller"], json!({"principal": "config#agent", "name": "agent", "kind": "service"}));
    assert_eq!((shown["state"].as_str(), &shown["decision"]), (Some("pending"), &json!(null)));
    let decided = world.decide(&id, "approve").await;
    assert_eq!(
        (decided["state"].as_str(), decided["decision"]["by"].as_str()),
        (Some("approved"), Some("approver"))
    );
}

#[tokio::test]
async fn a_caller_cannot_decide_for_itself() {
    let world = World::plain().await;
    let id = pending(&world, "chief").await;
    let reply = world.decide_as("chief", &id, "approve").await;
    assert_eq!((reply.status, code(&reply).as_str()), (403, "AG-DECIDE-SELF"), "{}", reply.text());
    assert_eq!(world.state_of(&id).await, "pending");
    // The same person may decide for somebody else.
    let others = pending(&world, "agent").await;
    assert_eq!(world.decide_as("chief", &others, "approve").await.status, 200);
}

#[tokio::test]
async fn another_name_of_the_caller_decides_nothing() {
    let one_person = |config: &mut crate::world::Config| {
        let names = ["agent", "approver"].map(|name| ("config".to_owned(), name.to_owned()));
        config.aliases.add("somebody", names).unwrap();
    };
    let world = World::start(one_person).await;
    let id = pending(&world, "agent").await;
    for decision in ["approve", "deny"] {
        let reply = world.decide_as("approver", &id, decision).await;
        assert_eq!((reply.status, code(&reply).as_str()), (403, "AG-DECIDE-SELF"), "{}", reply.text());
    }
    assert_eq!(world.state_of(&id).await, "pending");
    // The refusals are told of, with the approval and the code.
    let refused = world.look("/v1/evidence?kind=refusal").await;
    let rows = refused["rows"].as_array().unwrap();
    let decisions = rows.iter().filter(|row| row["method"] == "approvals/decide");
    let told: Vec<_> =
        decisions.map(|row| [&row["code"], &row["approval"], &row["principal"]["name"]]).collect();
    assert_eq!(told, vec![[&json!("AG-DECIDE-SELF"), &json!(id), &json!("approver")]; 2]);
    // Whoever is not one of them decides.
    assert_eq!(world.decide_as("chief", &id, "deny").await.status, 200);

    // Read again, the next decision is by what stands there now.
    let others = approval(&world.client("other").send(&Call::tool("order", BOLTS)).await.unwrap());
    world.configure(|config| {
        let names = ["other", "chief"].map(|name| ("config".to_owned(), name.to_owned()));
        config.aliases.add("chief", names).unwrap();
    });
    assert_eq!(world.reload_as("approver").await.status, 200);
    assert_eq!(code(&world.decide_as("chief", &others, "approve").await), "AG-DECIDE-SELF");
    assert_eq!(world.decide_as("approver", &others, "approve").await.status, 200);
}

#[tokio::test]
async fn a_caller_decides_for_itself_where_the_registry_says_so() {
    let world = World::start(|config| config.entry("order").self_approval = true).await;
    let id = pending(&world, "chief").await;
    assert_eq!(world.decide_as("chief", &id, "approve").await.status, 200);
    let done = world.client("chief").send(&Call::tool("order", BOLTS)).await.unwrap();
    assert_eq!(text(&done), "done");
}

#[tokio::test]
async fn a_service_cannot_decide_whatever_its_roles() {
    let world = World::plain().await;
    let id = pending(&world, "agent").await;
    for (who, status) in [("robot", 404), ("other", 404), ("agent", 403)] {
        let reply = world.decide_as(who, &id, "approve").await;
        assert_eq!(reply.status, status, "{who}: {}", reply.text());
    }
    assert_eq!(world.state_of(&id).await, "pending");
    assert_eq!(code(&world.call("order", BOLTS).await), "AG-APPROVAL-PENDING");
    assert_eq!(world.up.calls("order").len(), 0);
}

#[tokio::test]
async fn who_may_not_decide_sees_nothing_and_another_tenant_is_another_world() {
    let world = World::plain().await;
    let id = pending(&world, "agent").await;
    for who in ["stranger", "other", "robot"] {
        let list = world.admin(who).get("/v1/approvals").await.unwrap().json().unwrap();
        assert_eq!(list["approvals"], json!([]), "{who}");
        let shown = world.admin(who).get(&format!("/v1/approvals/{id}")).await.unwrap();
        assert_eq!((shown.status, code(&shown).as_str()), (404, "AG-ADMIN-APPROVAL"), "{who}");
        assert!(!shown.text().contains("bolts"));
    }
    let decided = world.decide_as("stranger", &id, "approve").await;
    assert_eq!((decided.status, code(&decided).as_str()), (404, "AG-ADMIN-APPROVAL"));
    let unknown = world.decide_as("approver", "ap_00000000000000000000000000000000", "approve").await;
    let (told, same) = (decided.text(), unknown.text());
    assert_eq!(told.replace(&id, "ap_00000000000000000000000000000000"), same, "like one that there is not");
    // Its own caller sees it, and cannot decide it.
    assert_eq!(world.admin("agent").get(&format!("/v1/approvals/{id}")).await.unwrap().status, 200);
}

#[tokio::test]
async fn evidence_and_status_are_for_those_that_policy_names() {
    let world = World::plain().await;
    let id = pending(&world, "agent").await;
    for path in ["/v1/evidence", "/v1/status", "/v1/tools/look"] {
        for who in ["agent", "robot"] {
            let reply = world.admin(who).get(path).await.unwrap();
            assert_eq!((reply.status, code(&reply).as_str()), (403, "AG-ADMIN-FORBIDDEN"), "{who} at {path}");
        }
    }
    let elsewhere = world.admin("stranger").get("/v1/evidence").await.unwrap();
    assert_eq!(elsewhere.json().unwrap(), json!({"rows": []}), "rows of the own tenant alone");
    assert!(!elsewhere.text().contains(&id));
}

#[tokio::test]
async fn a_decision_is_taken_once() {
    let world = World::plain().await;
    for (first, then) in [("approve", "approve"), ("approve", "deny"), ("deny", "approve")] {
        let arguments = format!(r#"{{"item":"{first} {then}"}}"#);
        let id = approval(&world.call("order", &arguments).await);
        world.decide(&id, first).await;
        let reply = world.decide_as("approver", &id, then).await;
        assert_eq!((reply.status, code(&reply).as_str()), (409, "AG-ADMIN-DECIDED"), "{first}, then {then}");
        let state = if first == "approve" { "approved" } else { "denied" };
        assert_eq!(world.state_of(&id).await, state);
    }
    let decided = world.story().await.into_iter().filter(|row| row.starts_with("approval_decided")).count();
    assert_eq!(decided, 3, "a refused decision is none");
}

#[tokio::test]
async fn racing_decisions_leave_one() {
    let world = World::plain().await;
    let id = pending(&world, "agent").await;
    let tries = (0..10).map(|number| {
        let decision = if number % 2 == 0 { "approve" } else { "deny" };
        world.decide_as(if number % 3 == 0 { "chief" } else { "approver" }, &id, decision)
    });
    let replies = futures::future::join_all(tries).await;
    let statuses: Vec<_> = replies.iter().map(|reply| reply.status).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
    assert!(statuses.iter().all(|status| [200, 409].contains(status)), "{statuses:?}");
}

#[tokio::test]
async fn a_decision_that_cannot_be_read_is_refused() {
    let world = World::plain().await;
    let id = pending(&world, "agent").await;
    let path = format!("/v1/approvals/{id}/decision");
    for body in [
        json!({}),
        json!({"decision": "maybe"}),
        json!({"decision": "approve", "who": "me"}),
        json!({"decision": "approve", "note": "x".repeat(501)}),
        json!({"decision": "approve", "note": "bell \u{7}"}),
    ] {
        let reply = world.admin("approver").post(&path, &body).await.unwrap();
        assert_eq!((reply.status, code(&reply).as_str()), (400, "AG-ADMIN-REQUEST"), "{body}");
    }
    assert_eq!(world.state_of(&id).await, "pending");
}

#[tokio::test]
async fn a_hundred_may_wait_for_one_caller_and_all_are_found_page_by_page() {
    let world = World::plain().await;
    let order = |who: &'static str, count: usize| {
        let call = Call::tool("order", &format!(r#"{{"item": "bolts", "count": {count}}}"#));
        let client = world.client(who);
        async move { client.send(&call).await.unwrap() }
    };
    let mut asked = Vec::new();
    for count in 1..=100 {
        asked.push(approval(&order("agent", count).await));
    }
    assert_eq!(code(&order("agent", 101).await), "AG-APPROVAL-TOO-MANY");
    for id in &asked {
        world.decide(id, "deny").await;
    }
    for count in 101..=200 {
        asked.push(approval(&order("agent", count).await));
    }
    // Whose place is its own, and whom the first page alone would hide the oldest from.
    asked.push(approval(&order("chief", 1).await));

    let newest = world.look("/v1/approvals").await;
    let next = newest["next"].as_str().expect("there are older ones").to_owned();
    let oldest = world.look(&format!("/v1/approvals?before={next}")).await;
    assert_eq!(oldest["next"], json!(null));
    let ids = |page: &serde_json::Value| {
        let of = |one: &serde_json::Value| one["id"].as_str().unwrap().to_owned();
        page["approvals"].as_array().unwrap().iter().map(of).collect::<Vec<_>>()
    };
    let mut found = [ids(&oldest), ids(&newest)].concat();
    found.sort();
    asked.sort();
    assert_eq!(found, asked, "each once");
    let pending = world.look("/v1/approvals?state=pending").await;
    assert_eq!((ids(&pending).len(), &pending["next"]), (101, &json!(null)));
}
