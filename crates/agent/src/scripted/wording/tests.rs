use super::{OrderEnd, bounded, justification, note};
use crate::scripted::diagnosis::Diagnosis;
use crate::scripted::reading::{Part, Passage, Stock, Ticket};

fn ticket() -> Ticket {
    Ticket {
        id: "SR-20031".to_owned(),
        open: true,
        model_variant: "AC-250-S".to_owned(),
        symptom: "trips".to_owned(),
        customer_text: String::new(),
    }
}

fn diagnosis() -> Diagnosis {
    Diagnosis {
        fault_code: "F-101".to_owned(),
        fault: Some("valve stuck".to_owned()),
        part_no: Some("TV-S".to_owned()),
        category: "thermostatic-valve".to_owned(),
        agreeing: 6,
        found: 10,
        sources: (1..=6).map(|n| format!("SR-1000{n}")).collect(),
        minutes: Some(95),
    }
}

fn part() -> Part {
    Part { number: "TV-S".to_owned(), description: Some("Valve".to_owned()) }
}

#[test]
fn a_note_names_reasons_sources_and_the_end_of_the_order() {
    let passage =
        Passage { source: "FM-AC250, rev. C, p. 3".to_owned(), text: "Tighten to 28 Nm.".to_owned() };
    let stock = Stock { quantity: Some(0), lead_time_days: Some(4) };
    let ordered = OrderEnd::Ordered("order_id PO-1".to_owned());
    let text = note(&ticket(), &diagnosis(), Some(&part()), Some(&stock), Some(&passage), Some(&ordered));
    for expected in [
        "F-101",
        "6 of 10",
        "SR-10001",
        "and others",
        "TV-S",
        "0 in stock",
        "lead time 4 days",
        "PO-1",
        "p. 3",
        "28 Nm",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
}

#[test]
fn a_note_says_how_an_order_that_was_not_taken_ended() {
    let cases = [
        (OrderEnd::Denied("no budget".to_owned()), "denied and nothing was ordered (no budget)"),
        (OrderEnd::Undecided, "waits for a person"),
        (OrderEnd::Unknown("cut".to_owned()), "check the orders before ordering again"),
        (OrderEnd::Failed("out".to_owned()), "not taken: out"),
    ];
    for (order, expected) in cases {
        let text = note(&ticket(), &diagnosis(), Some(&part()), None, None, Some(&order));
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn texts_stay_within_the_contract() {
    let mut long = diagnosis();
    long.fault = Some("é".repeat(3000));
    assert_eq!(justification(&ticket(), &long, &part()).chars().count(), 600);
    assert_eq!(note(&ticket(), &long, None, None, None, None).chars().count(), 2000);
    assert_eq!(bounded("abc", 3), "abc");
    assert_eq!(bounded("abcd", 3), "ab…");
}
