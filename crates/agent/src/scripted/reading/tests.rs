use serde_json::{Value, json};

use super::{categories, history, parts, passages, stock, ticket};

#[test]
fn a_ticket_needs_its_machine_and_symptom() {
    let record = json!({"ticket_id": "SR-20031", "status": "open", "model_variant": "AC-250-S",
        "symptom": "trips", "customer_text": "hurry", "notes": []});
    let read = ticket(&record).unwrap();
    assert!(read.open);
    assert_eq!((read.model_variant.as_str(), read.customer_text.as_str()), ("AC-250-S", "hurry"));
    assert_eq!(ticket(&json!({"ticket": record})), Some(read));
    for missing in ["ticket_id", "status", "model_variant", "symptom"] {
        let mut record = record_without(missing);
        record["status"] = if missing == "status" { Value::Null } else { json!("closed") };
        assert_eq!(ticket(&record), None, "{missing}");
    }
}

fn record_without(member: &str) -> Value {
    let mut record = json!({"ticket_id": "SR-20031", "model_variant": "AC-250-S", "symptom": "trips"});
    record.as_object_mut().unwrap().remove(member);
    record
}

#[test]
fn rows_that_lack_what_is_needed_are_left_out() {
    let found = history(&json!({"count": 3, "tickets": [
        {"ticket_id": "SR-10001", "fault_code": "F-101", "fault": "stuck valve", "part_no": "P-1",
         "part_category": "thermostatic-valve", "repair_minutes": 90, "cause": "wax"},
        {"ticket_id": "SR-10002"}, 7]}));
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].part_no.as_deref(), found[0].minutes), (Some("P-1"), Some(90)));
    assert!(found[0].words.contains("wax"));
    assert_eq!(parts(&json!({"parts": [{"part_no": "P-1"}, {}]})).len(), 1);
    assert!(history(&json!({})).is_empty());
}

#[test]
fn stock_keeps_what_is_missing_apart_from_none_left() {
    assert_eq!(stock(&json!({"stock": 0})).quantity, Some(0));
    assert_eq!(stock(&json!({"stock": "many"})).quantity, None);
}

#[test]
fn a_current_procedure_comes_before_a_superseded_one_and_a_table() {
    let row = |page: i64, kind: &str, superseded: bool| {
        json!({"document": "FM-AC250", "revision": "C", "page": page, "kind": kind, "superseded": superseded,
               "passage": format!("{kind} {page}")})
    };
    let found = passages(&json!({"backend": "x", "passages": [
        row(1, "procedure", true), row(2, "specification", false), row(3, "procedure", false)]}));
    let order: Vec<_> = found.iter().map(|passage| passage.text.as_str()).collect();
    assert_eq!(order, ["procedure 3", "specification 2", "procedure 1"]);
    assert_eq!(found[0].source, "FM-AC250, rev. C, p. 3");
}

#[test]
fn categories_come_from_the_listed_schema() {
    let schema = json!({"properties": {"category": {"enum": ["belt", "gauge"]}}});
    assert_eq!(categories(&schema), ["belt", "gauge"]);
    assert!(categories(&json!({})).is_empty());
}
