//! What a page shows of what somebody else wrote.

use std::collections::BTreeSet;

use aldgate_approval::{ApprovalId, Binding, CallId, Decision, Record, RecordState, Timestamp, Verdict};
use aldgate_authority::{Label, Principal, PrincipalKind};
use aldgate_gateway::{Seen, SeenEntry};

use super::approval::who_decides;
use super::shown::{WHOLE, call, is_whole, state};

const HOSTILE: &str = "<img src=x onerror=alert(1)>\u{202e}\u{0007}\"'&";

fn principal(name: &str) -> Principal {
    Principal {
        issuer: "https://gate.example".to_owned(),
        subject: name.to_owned(),
        tenant: "default".to_owned(),
        kind: PrincipalKind::Person,
        roles: BTreeSet::new(),
        name: name.to_owned(),
        client: name.to_owned(),
        actors: Vec::new(),
    }
}

fn seen(arguments: Option<String>, text: &str) -> Seen {
    let binding = Binding {
        caller: principal(text),
        upstream: text.to_owned(),
        tool: text.to_owned(),
        contract: text.to_owned(),
        arguments: String::new(),
        registry: String::new(),
        policy: String::new(),
    };
    let (id, call) = (ApprovalId::from_random([1; 16]), CallId::from_random([2; 16]));
    let record = Record::ask(id, binding, call, Timestamp(0), 1000);
    Seen {
        state: RecordState::Pending,
        arguments,
        title: Some(text.to_owned()),
        entry: Some(SeenEntry { labels: vec![Label::Consequential], boundaries: vec![text.to_owned()] }),
        own: false,
        may_decide: true,
        record,
    }
}

#[track_caller]
fn is_tame(page: &str) {
    assert!(!page.contains("<img") && !page.contains("<script"), "{page}");
    for letter in page.chars() {
        assert!(!letter.is_control() || letter == '\n', "{letter:?} in {page}");
        assert!(
            !matches!(letter, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'),
            "{letter:?}"
        );
    }
}

#[test]
fn every_text_is_escaped_and_shows_what_a_screen_hides() {
    let arguments = serde_json::json!({HOSTILE: HOSTILE, "nested": {HOSTILE: [HOSTILE]}}).to_string();
    let mut seen = seen(Some(arguments), HOSTILE);
    seen.record.decision = Some(Decision {
        verdict: Verdict::Deny,
        by: principal(HOSTILE),
        note: format!("{HOSTILE}\nsecond line"),
        at: Timestamp(0),
    });
    let page = format!("{}{}", call(&seen).into_string(), state(&seen).into_string());
    is_tame(&page);
    assert!(page.contains("&lt;img src=x onerror=alert(1)&gt;\\u{202e}"), "{page}");
    assert!(page.contains("\\u202e") && page.contains("second line"), "{page}");
}

#[test]
fn every_text_has_a_bound() {
    let text = "long ".repeat(100_000);
    let many: serde_json::Map<_, _> = (0..10_000)
        .map(|index| (format!("{index}{text}").chars().take(400).collect(), text.clone().into()))
        .take(200)
        .collect();
    let page = call(&seen(Some(serde_json::Value::Object(many).to_string()), &text)).into_string();
    is_tame(&page);
    assert!(page.len() < 4 * WHOLE, "{}", page.len());
}

#[test]
fn arguments_are_exact_to_the_last_byte_or_said_not_to_be() {
    // Spelled as the caller spelled them: the readable text says what they mean.
    let exact = "{ \"count\" : 1.50e1, \"item\":\"\\u0062olts\" }";
    let page = call(&seen(Some(exact.to_owned()), "a")).into_string();
    assert!(
        page.contains("{ &quot;count&quot; : 1.50e1, &quot;item&quot;:&quot;\\u0062olts&quot; }"),
        "{page}"
    );
    assert!(page.contains("bolts"), "{page}");

    for (bytes, whole) in [(WHOLE, true), (WHOLE + 1, false)] {
        let text = format!("{{\"a\":\"{}\"}}", "é".repeat(bytes));
        let text: String = text
            .chars()
            .scan(0, |length, letter| {
                *length += letter.len_utf8();
                (*length <= bytes).then_some(letter)
            })
            .collect();
        let text = format!("{text}{}", "x".repeat(bytes - text.len()));
        let seen = seen(Some(text), "a");
        assert_eq!(is_whole(&seen), whole, "{bytes}");
        assert_eq!(call(&seen).into_string().contains("cannot be approved on"), !whole);
    }
    for (arguments, told) in
        [(None, "cannot be shown"), (Some(String::new()), "None."), (Some("{}".to_owned()), "None.")]
    {
        let seen = seen(arguments, "a");
        assert!(call(&seen).into_string().contains(told));
        assert_eq!(is_whole(&seen), seen.arguments.is_some());
    }
}

#[test]
fn callers_are_told_who_decides() {
    let mut own = Seen { own: true, may_decide: false, ..seen(None, "a") };
    assert_eq!(who_decides(&own), "Somebody else decides it.");
    // The registry says `self_approval = true`.
    own.may_decide = true;
    assert!(who_decides(&own).contains("You may decide it yourself"));
}

#[test]
fn each_state_is_told_in_words() {
    let mut one = seen(None, "a");
    let words = |seen: &Seen| state(seen).into_string();
    assert!(words(&one).contains("It waits for a decision until"));
    one.state = RecordState::Expired;
    assert!(words(&one).contains("Nobody decided in time"));
    one.record.decision = Some(Decision {
        verdict: Verdict::Approve,
        by: principal("maya"),
        note: String::new(),
        at: Timestamp(0),
    });
    assert!(words(&one).contains("did not repeat the call in time"));
    one.state = RecordState::Approved;
    assert!(words(&one).contains("maya") && words(&one).contains("was not made yet"));
    one.state = RecordState::Redeemed;
    assert!(words(&one).contains("made under it, once"));
    one.state = RecordState::Denied;
    assert!(words(&one).contains("It is not made"));
}
