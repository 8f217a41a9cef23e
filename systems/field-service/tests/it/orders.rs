//! An order without a gateway: a person is asked by a form, once, and the decision holds.

use aldgate_field_service::{Access, ORDER_FORM_KEY, ORDER_FORM_SCHEMA, ServerName};
use serde_json::{Value, json};

use crate::site::{OPEN_TICKET, Reply, Site, headers, meta, request, start, start_with};

const PART: &str = "AC250-TV-S1";

fn arguments() -> Value {
    json!({ "part_no": PART, "quantity": 2, "ticket_id": OPEN_TICKET, "justification": "valve stuck" })
}

fn with_forms() -> Value {
    meta(json!({ "elicitation": { "form": {} } }))
}

async fn call(site: &Site, arguments: &Value, state: Option<&str>, response: Option<Value>) -> Reply {
    let mut params = json!({ "_meta": with_forms(), "name": "raise_parts_order", "arguments": arguments });
    if let Some(state) = state {
        params["requestState"] = json!(state);
    }
    if let Some(response) = response {
        params["inputResponses"] = json!({ ORDER_FORM_KEY: response });
    }
    site.ask(ServerName::Parts, "tools/call", params).await
}

/// Asks for an order and returns the state that came with the form.
async fn ask(site: &Site) -> String {
    let result = call(site, &arguments(), None, None).await.result();
    state_of(&result)
}

fn state_of(result: &Value) -> String {
    assert_eq!(result["resultType"], json!("input_required"), "{result}");
    result["requestState"].as_str().unwrap().to_owned()
}

fn filled(decision: &str, approver: &str) -> Value {
    json!({ "action": "accept", "content": { "decision": decision, "approver": approver, "note": "ok by phone" } })
}

async fn orders(site: &Site) -> i64 {
    let pool = sqlx::SqlitePool::connect(&format!("sqlite://{}", site.store.display())).await.unwrap();
    sqlx::query_scalar("SELECT count(*) FROM orders").fetch_one(&pool).await.unwrap()
}

#[tokio::test]
async fn the_first_call_asks_with_the_pinned_form() {
    let site = start().await;
    let result = call(&site, &arguments(), None, None).await.result();
    let request = &result["inputRequests"][ORDER_FORM_KEY];
    assert_eq!(request["method"], json!("elicitation/create"));
    assert_eq!(request["params"]["mode"], json!("form"));
    let schema: Value = serde_json::from_str(ORDER_FORM_SCHEMA).unwrap();
    assert_eq!(request["params"]["requestedSchema"], schema);
    let message = request["params"]["message"].as_str().unwrap();
    for shown in [PART, OPEN_TICKET, "2 x", "ACC-", "GBP", "valve stuck", "lead time 2 days"] {
        assert!(message.contains(shown), "`{message}` does not say `{shown}`");
    }
    assert!(result.get("content").is_none());
    assert_eq!(orders(&site).await, 0);
    // The form does not depend on what is ordered.
    let other = json!({ "part_no": PART, "quantity": 1, "ticket_id": OPEN_TICKET });
    let other = call(&site, &other, None, None).await.result();
    assert_eq!(other["inputRequests"][ORDER_FORM_KEY]["params"]["requestedSchema"], schema);
    // The order of members on the wire is that of the constant too.
    let raw = call(&site, &arguments(), None, None).await.body;
    assert!(raw.contains(ORDER_FORM_SCHEMA), "{raw}");
}

#[tokio::test]
async fn an_approval_raises_one_order_that_names_its_terms() {
    let site = start().await;
    let state = ask(&site).await;
    let result =
        call(&site, &arguments(), Some(&state), Some(filled("approve", "Rosa Quinn"))).await.result();
    assert_ne!(result["isError"], json!(true), "{result}");
    let order = &result["structuredContent"];
    assert_eq!(order["order_id"], json!("PO-000001"));
    assert_eq!(order["approver"], json!("Rosa Quinn"));
    assert_eq!(order["approver_note"], json!("ok by phone"));
    assert_eq!(order["status"], json!("raised"));
    assert!(order["account_charged"].as_str().unwrap().starts_with("ACC-"));
    let cents = |name: &str| order[name].as_str().unwrap().replace('.', "").parse::<i64>().unwrap();
    assert_eq!(cents("total"), 2 * cents("unit_price"));
    assert_eq!(order["lead_time_days"], json!(2));
    assert_eq!(orders(&site).await, 1);

    let again = call(&site, &arguments(), Some(&state), Some(filled("approve", "Rosa Quinn"))).await;
    assert_eq!(again.code(), -32602, "the decision is spent");
    assert_eq!(orders(&site).await, 1);
}

#[tokio::test]
async fn racing_retries_of_one_approval_raise_one_order() {
    let site = start().await;
    let state = ask(&site).await;
    let (arguments, state) = (arguments(), state.as_str());
    let tries = (0..20).map(|_| call(&site, &arguments, Some(state), Some(filled("approve", "Rosa Quinn"))));
    let replies = futures::future::join_all(tries).await;
    let raised = replies.iter().filter(|reply| reply.json().get("result").is_some()).count();
    assert_eq!(raised, 1);
    assert!(
        replies
            .iter()
            .filter(|reply| reply.json().get("error").is_some())
            .all(|reply| reply.code() == -32602)
    );
    assert_eq!(orders(&site).await, 1);
}

#[tokio::test]
async fn a_denial_is_final_for_the_call() {
    let site = start().await;
    for refusal in
        [filled("deny", "Rosa Quinn"), json!({ "action": "decline" }), json!({ "action": "cancel" })]
    {
        let state = ask(&site).await;
        let result = call(&site, &arguments(), Some(&state), Some(refusal.clone())).await.result();
        assert_eq!(result["isError"], json!(true), "{result}");
        assert!(result["content"][0]["text"].as_str().unwrap().contains("nothing was ordered"));
        for retry in [Some(filled("approve", "Rosa Quinn")), None] {
            let again = call(&site, &arguments(), Some(&state), retry).await;
            assert_eq!(again.code(), -32602, "{refusal}");
        }
    }
    assert_eq!(orders(&site).await, 0);
}

#[tokio::test]
async fn a_blank_name_is_asked_again_and_both_states_are_one_decision() {
    let site = start().await;
    let first = ask(&site).await;
    for blank in ["", "   "] {
        let result = call(&site, &arguments(), Some(&first), Some(filled("approve", blank))).await.result();
        let second = state_of(&result);
        let message = result["inputRequests"][ORDER_FORM_KEY]["params"]["message"].as_str().unwrap();
        assert!(message.starts_with("A decision needs the approver's name."), "{message}");
        assert_ne!(second, first);
    }
    let result = call(&site, &arguments(), Some(&first), None).await.result();
    let second = state_of(&result);
    let done = call(&site, &arguments(), Some(&second), Some(filled("approve", "Rosa Quinn"))).await.result();
    assert_eq!(done["structuredContent"]["status"], json!("raised"));
    let again = call(&site, &arguments(), Some(&first), Some(filled("approve", "Rosa Quinn"))).await;
    assert_eq!(again.code(), -32602, "the first state belongs to the same decision");
    assert_eq!(orders(&site).await, 1);
}

#[tokio::test]
async fn an_answer_without_a_state_is_asked_for_again() {
    let site = start().await;
    let result = call(&site, &arguments(), None, Some(filled("approve", "Rosa Quinn"))).await.result();
    state_of(&result);
    assert_eq!(orders(&site).await, 0);
}

#[tokio::test]
async fn altered_foreign_and_other_states_are_refused() {
    let site = start().await;
    let state = ask(&site).await;
    let mut altered = state.clone();
    let last = altered.pop().unwrap();
    altered.push(if last == 'A' { 'B' } else { 'A' });
    let other_arguments =
        json!({ "part_no": PART, "quantity": 20, "ticket_id": OPEN_TICKET, "justification": "valve stuck" });
    for (arguments, state) in [
        (&arguments(), altered.as_str()),
        (&arguments(), "made-up"),
        (&arguments(), ""),
        (&other_arguments, state.as_str()),
    ] {
        let reply = call(&site, arguments, Some(state), Some(filled("approve", "Rosa Quinn"))).await;
        assert_eq!(reply.code(), -32602);
    }
    assert_eq!(orders(&site).await, 0);
}

#[tokio::test]
async fn a_state_belongs_to_the_credential_that_got_it() {
    let site = start().await;
    let post = async |credential: &str, state: Option<&str>| {
        let mut params =
            json!({ "_meta": with_forms(), "name": "raise_parts_order", "arguments": arguments() });
        if let Some(state) = state {
            params["requestState"] = json!(state);
            params["inputResponses"] = json!({ ORDER_FORM_KEY: filled("approve", "Rosa Quinn") });
        }
        let body = request(json!(1), "tools/call", params);
        let mut head = headers(&body);
        head.push(("Authorization".to_owned(), credential.to_owned()));
        site.post(ServerName::Parts, &head, body.to_string().as_bytes()).await
    };
    let state = state_of(&post("Bearer alice", None).await.result());
    assert_eq!(post("Bearer mallory", Some(&state)).await.code(), -32602);
    assert_eq!(
        post("Bearer alice", Some(&state)).await.result()["structuredContent"]["status"],
        json!("raised")
    );
}

#[tokio::test]
async fn malformed_answers_are_errors_and_spend_nothing() {
    let site = start().await;
    let state = ask(&site).await;
    for response in [
        json!(7),
        json!({}),
        json!({ "action": "maybe" }),
        json!({ "action": "accept" }),
        json!({ "action": "accept", "content": { "approver": "Rosa Quinn" } }),
        json!({ "action": "accept", "content": { "decision": "APPROVE", "approver": "Rosa Quinn" } }),
        json!({ "action": "accept", "content": { "decision": "approve", "approver": 5 } }),
        json!({ "action": "accept", "content": { "decision": "approve", "approver": "x".repeat(121) } }),
    ] {
        let reply = call(&site, &arguments(), Some(&state), Some(response.clone())).await;
        assert_eq!(reply.code(), -32602, "{response}");
    }
    let done = call(&site, &arguments(), Some(&state), Some(filled("approve", "Rosa Quinn"))).await.result();
    assert_eq!(done["structuredContent"]["status"], json!("raised"));
}

#[tokio::test]
async fn a_client_without_forms_is_told_what_it_lacks() {
    let site = start().await;
    for capabilities in [json!({}), json!({ "elicitation": { "url": {} } }), json!({ "sampling": {} })] {
        let params =
            json!({ "_meta": meta(capabilities), "name": "raise_parts_order", "arguments": arguments() });
        let reply = site.ask(ServerName::Parts, "tools/call", params).await;
        assert_eq!((reply.status, reply.code()), (400, -32021));
        let required = &reply.json()["error"]["data"]["requiredCapabilities"];
        assert_eq!(*required, json!({ "elicitation": { "form": {} } }));
    }
    let params = json!({ "_meta": meta(json!({ "elicitation": {} })), "name": "raise_parts_order", "arguments": arguments() });
    state_of(&site.ask(ServerName::Parts, "tools/call", params).await.result());
}

#[tokio::test]
async fn what_cannot_be_ordered_is_refused_before_anyone_is_asked() {
    let site = start().await;
    let pool = sqlx::SqlitePool::connect(&format!("sqlite://{}", site.store.display())).await.unwrap();
    let closed: String = sqlx::query_scalar("SELECT id FROM tickets WHERE status = 'closed' LIMIT 1")
        .fetch_one(&pool)
        .await
        .unwrap();
    for (part, ticket, expected) in [
        ("NOPE", OPEN_TICKET, "no part"),
        (PART, "SR-99999", "no ticket"),
        (PART, closed.as_str(), "closed"),
        ("AC250-TV-A1", OPEN_TICKET, "does not fit AC-250-S"),
    ] {
        let arguments = json!({ "part_no": part, "quantity": 1, "ticket_id": ticket });
        let text = site.refused(ServerName::Parts, "raise_parts_order", arguments).await;
        assert!(text.contains(expected), "{text}");
    }
    let arguments = json!({ "part_no": PART, "quantity": 21, "ticket_id": OPEN_TICKET });
    assert!(site.refused(ServerName::Parts, "raise_parts_order", arguments).await.contains("20"));
}

#[tokio::test]
async fn the_same_works_where_a_secret_is_demanded() {
    let site = start_with(Access::Bearer("s3cret".to_owned())).await;
    let body = request(
        json!(1),
        "tools/call",
        json!({ "_meta": with_forms(), "name": "raise_parts_order", "arguments": arguments() }),
    );
    let mut head = headers(&body);
    head.push(("Authorization".to_owned(), "Bearer s3cret".to_owned()));
    let reply = site.post(ServerName::Parts, &head, body.to_string().as_bytes()).await;
    state_of(&reply.result());
}
