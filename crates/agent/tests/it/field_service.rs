//! The scripted planner on the three real servers.

use std::sync::Mutex;

use aldgate_agent::{
    AskKind, AskReply, Connection, Finding, InputAsk, RunEvent, RunLimits, RunReport, Scripted, run,
};
use serde_json::{Map, Value, json};

use crate::fake;
use crate::gate::Gate;

/// Fills in the order form of the parts server.
fn decide(ask: &InputAsk, decision: &str) -> AskReply {
    let AskKind::Form { requested_schema, .. } = &ask.kind else { panic!("{ask:?}") };
    assert!(requested_schema["properties"]["decision"].is_object(), "{requested_schema}");
    let answers = [("decision", decision), ("approver", "Ada Byron"), ("note", "test")];
    AskReply::Accept(
        answers.map(|(name, value)| (name.to_owned(), Value::from(value))).into_iter().collect::<Map<_, _>>(),
    )
}

async fn work(connection: &Connection, task: &str, decision: &'static str) -> (RunReport, Vec<Value>) {
    let events = Mutex::new(Vec::new());
    let asker = fake::Scripted::new(move |ask| decide(ask, decision));
    let observer = |event: RunEvent| events.lock().unwrap().push(serde_json::to_value(event).unwrap());
    let report = run(connection, &mut Scripted, task, &asker, observer, RunLimits::default()).await.unwrap();
    (report, events.into_inner().unwrap())
}

fn answer<'a>(report: &'a RunReport, tool: &str) -> &'a Value {
    let seen = report.observations.iter().find(|seen| seen.tool == tool).unwrap();
    match &seen.finding {
        Finding::Answer(answer) if !answer.as_data().is_error => {
            answer.as_data().structured.as_ref().unwrap()
        }
        other => panic!("{tool}: {other:?}"),
    }
}

#[tokio::test]
async fn the_demonstration_ticket_is_worked_from_symptom_to_order_and_note() {
    let gate = Gate::start().await;
    let connection = gate.connect().await;
    let (report, events) = work(&connection, "Work ticket SR-20031", "approve").await;

    let tools: Vec<_> = report.observations.iter().map(|seen| seen.tool.as_str()).collect();
    assert_eq!(
        tools[..7],
        [
            "get_ticket",
            "search_tickets",
            "find_part",
            "check_availability",
            "search_manual",
            "raise_parts_order",
            "post_ticket_update"
        ]
    );
    assert!(report.summary.contains("F-101"), "{}", report.summary);
    let part = &report.observations[2].arguments;
    assert_eq!(part, &json!({"model_variant": "AC-250-S", "category": "thermostatic-valve"}));
    // What was ordered is what the catalogue listed for this variant, and what was fitted before.
    let ordered = &report.observations[5].arguments["part_no"];
    assert!(
        answer(&report, "find_part")["parts"]
            .as_array()
            .unwrap()
            .iter()
            .any(|part| part["part_no"] == *ordered)
    );
    assert!(
        answer(&report, "search_tickets")["tickets"]
            .as_array()
            .unwrap()
            .iter()
            .any(|past| past["part_no"] == *ordered)
    );
    // One order: the first call and its round with the decision.
    assert_eq!(gate.calls_of("raise_parts_order").len(), 2);
    assert_eq!(events.iter().filter(|event| event["event"] == "asked").count(), 1);

    let ticket = connection_ticket(&connection, "SR-20031").await;
    let notes = ticket["notes"].as_array().unwrap();
    let note = notes.last().unwrap()["note"].as_str().unwrap();
    assert!(note.contains(ordered.as_str().unwrap()) && note.contains("rev."), "{note}");
}

#[tokio::test]
async fn the_demonstration_tickets_customer_text_leads_to_a_refused_export() {
    let gate = Gate::start().await;
    let (report, _) = work(&gate.connect().await, "Work ticket SR-20031", "approve").await;
    let refusals: Vec<_> = report.refusals().map(|(tool, refusal)| (tool, refusal.code.as_str())).collect();
    assert_eq!(refusals, [("export_service_records", "AG-PROHIBITED")]);
    assert_eq!(gate.calls_of("export_service_records").len(), 1);
}

#[tokio::test]
async fn a_denied_order_is_noted_and_not_tried_again() {
    let gate = Gate::start().await;
    let connection = gate.connect().await;
    let (report, _) = work(&connection, "Work ticket SR-20031", "deny").await;
    assert_eq!(gate.calls_of("raise_parts_order").len(), 2, "one call and its round with the decision");
    assert!(report.summary.contains("not ordered"), "{}", report.summary);
    let ticket = connection_ticket(&connection, "SR-20031").await;
    let note = ticket["notes"].as_array().unwrap().last().unwrap()["note"].as_str().unwrap().to_owned();
    assert!(note.contains("denied and nothing was ordered"), "{note}");
}

#[tokio::test]
async fn other_open_tickets_are_worked_too() {
    let gate = Gate::start().await;
    let connection = gate.connect().await;
    let mut worked = Vec::new();
    for number in 20_000..20_400 {
        let id = format!("SR-{number}");
        let Some(ticket) = try_ticket(&connection, &id).await else { continue };
        if ticket["status"] != "open" || id == "SR-20031" {
            continue;
        }
        let (report, _) = work(&connection, &format!("Please look after {id}."), "approve").await;
        assert!(report.summary.contains(&id), "{}", report.summary);
        assert!(answer(&report, "post_ticket_update").is_object());
        worked.push(answer(&report, "raise_parts_order").clone());
        if worked.len() == 3 {
            break;
        }
    }
    assert_eq!(worked.len(), 3, "the data has more than three open tickets");
}

async fn try_ticket(connection: &Connection, id: &str) -> Option<Value> {
    use aldgate_agent::CallOutcome;
    let asker = fake::Scripted::new(fake::never);
    let outcome = connection.call("get_ticket", json!({"ticket_id": id}), &asker).await.unwrap();
    let CallOutcome::Complete(complete) = outcome else { panic!("{outcome:?}") };
    (!complete.is_error).then(|| complete.structured.unwrap())
}

async fn connection_ticket(connection: &Connection, id: &str) -> Value {
    try_ticket(connection, id).await.unwrap()
}
