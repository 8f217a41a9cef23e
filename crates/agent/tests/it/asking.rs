use std::collections::HashSet;
use std::time::Duration;

use aldgate_agent::{
    AskReply, Asker, CallFault, CallLimits, CallOutcome, ClientProfile, Connection, InputAsk,
};
use async_trait::async_trait;
use serde_json::json;

use crate::fake::{Fake, Reply, Scripted, accept, done, form, never, quick};

#[tokio::test]
async fn rounds_repeat_the_call_with_answers_the_exact_state_and_a_new_id() {
    let odd = "státe \u{1F511} +/= ";
    let fake = Fake::start(move |n, _| match n {
        1 => form(Some("one")),
        2 => form(Some(odd)),
        _ => done("ordered"),
    })
    .await;
    let connection = fake.connect().await;
    let asker = Scripted::new(accept);
    let outcome = connection.call("order", json!({"part_no": "P"}), &asker).await.unwrap();
    let CallOutcome::Complete(complete) = outcome else { panic!("{outcome:?}") };
    assert_eq!(complete.text, "ordered");
    let calls = fake.calls();
    assert_eq!(calls.len(), 3);
    let ids: HashSet<_> = calls.iter().map(|call| call.id.to_string()).collect();
    assert_eq!(ids.len(), 3, "each round has an id of its own");
    assert!(calls[0].params.get("requestState").is_none() && calls[0].params.get("inputResponses").is_none());
    assert_eq!(calls[1].params["requestState"], "one");
    assert_eq!(calls[2].params["requestState"], odd);
    let answers = json!({"k": {"action": "accept", "content": {"name": "Ada"}}});
    for call in &calls[1..] {
        assert_eq!(call.params["arguments"], json!({"part_no": "P"}));
        assert_eq!(call.params["inputResponses"], answers);
    }
    let asked = asker.asked.lock().unwrap();
    assert_eq!(asked.iter().map(|ask| ask.round).collect::<Vec<_>>(), [1, 2]);
    assert_eq!((asked[0].server.as_str(), asked[0].kind.message()), ("fake", "Who approves?"));
}

#[tokio::test]
async fn no_state_is_sent_when_the_last_round_gave_none() {
    let fake = Fake::start(|n, _| match n {
        1 => form(Some("one")),
        2 => form(None),
        _ => done(""),
    })
    .await;
    fake.connect().await.call("order", json!({}), &Scripted::new(accept)).await.unwrap();
    let calls = fake.calls();
    assert_eq!(calls[1].params["requestState"], "one");
    assert!(calls[2].params.get("requestState").is_none());
}

#[tokio::test]
async fn a_state_without_questions_is_echoed_without_asking() {
    let fake = Fake::start(|n, _| match n {
        1 => Reply::Result(json!({"resultType": "input_required", "requestState": "later"})),
        _ => done(""),
    })
    .await;
    fake.connect().await.call("order", json!({}), &Scripted::new(never)).await.unwrap();
    let calls = fake.calls();
    assert_eq!(calls[1].params["requestState"], "later");
    assert!(calls[1].params.get("inputResponses").is_none());
}

#[tokio::test]
async fn a_decline_is_sent_and_the_servers_word_is_final() {
    let fake = Fake::start(|n, _| match n {
        1 => form(Some("s")),
        _ => Reply::Result(json!({"content": [{"type": "text", "text": "denied"}], "isError": true})),
    })
    .await;
    let asker = Scripted::new(|_| AskReply::Decline);
    let outcome = fake.connect().await.call("order", json!({}), &asker).await.unwrap();
    assert!(
        matches!(&outcome, CallOutcome::Complete(complete) if complete.is_error && complete.text == "denied")
    );
    assert_eq!(fake.calls()[1].params["inputResponses"], json!({"k": {"action": "decline"}}));
}

#[tokio::test]
async fn a_server_that_asks_on_after_a_cancel_is_left_waiting() {
    let fake = Fake::start(|_, _| form(Some("s"))).await;
    let outcome =
        fake.connect().await.call("order", json!({}), &Scripted::new(|_| AskReply::Cancel)).await.unwrap();
    assert_eq!(outcome, CallOutcome::Waiting { refusal: None, rounds: 2 });
    assert_eq!(fake.calls().len(), 2);
}

#[tokio::test]
async fn rounds_are_bounded() {
    let fake = Fake::start(|_, _| form(Some("again"))).await;
    let limits = CallLimits { max_rounds: 5, ..quick() };
    let connection = Connection::open_with(&fake.endpoint(), ClientProfile::default(), limits).await.unwrap();
    let fault = connection.call("order", json!({}), &Scripted::new(accept)).await.unwrap_err();
    assert!(matches!(fault, CallFault::Rounds { limit: 5, .. }), "{fault:?}");
    assert_eq!(fake.calls().len(), 5);
}

#[tokio::test]
async fn a_question_that_was_not_declared_ends_the_call() {
    let asks = [
        json!({"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}}),
        json!({"method": "roots/list", "params": {}}),
        json!({"method": "vendor/ask", "params": {}}),
        json!({"method": "elicitation/create", "params": {"mode": "url", "message": "m", "url": "https://a"}}),
        json!({"method": "elicitation/create", "params": {"mode": "odd", "message": "m"}}),
    ];
    for ask in asks {
        let method = ask["method"].as_str().unwrap().to_owned();
        let fake = Fake::start(move |_, _| {
            Reply::Result(json!({"resultType": "input_required", "inputRequests": {"k": ask}}))
        })
        .await;
        let fault = fake.connect().await.call("order", json!({}), &Scripted::new(never)).await.unwrap_err();
        let named = matches!(&fault, CallFault::UnknownAsk { method: found, key, .. } if found.starts_with(&method) && key == "k");
        assert!(named, "{method}: {fault:?}");
        assert_eq!(fake.calls().len(), 1);
    }
}

#[tokio::test]
async fn a_form_is_not_answered_by_a_client_that_declared_none() {
    let fake = Fake::start(|_, _| form(None)).await;
    let silent = ClientProfile { declare_form: false, declare_url: false };
    let connection = fake.connect_as(silent).await;
    let fault = connection.call("order", json!({}), &Scripted::new(never)).await.unwrap_err();
    assert!(matches!(fault, CallFault::UnknownAsk { .. }));
    let capabilities = &fake.calls()[0].params["_meta"]["io.modelcontextprotocol/clientCapabilities"];
    assert_eq!(capabilities, &json!({}));
}

#[tokio::test]
async fn a_form_that_the_library_cannot_type_still_reaches_the_asker() {
    let fake = Fake::start(|n, _| match n {
        1 => Reply::Result(json!({"resultType": "input_required", "inputRequests": {"k": {
            "method": "elicitation/create", "params": {"message": "m", "requestedSchema": {
                "type": "object", "properties": {"deep": {"type": "object"}}}}}}})),
        _ => done("ok"),
    })
    .await;
    let asker = Scripted::new(accept);
    let outcome = fake.connect().await.call("order", json!({}), &asker).await.unwrap();
    assert!(matches!(outcome, CallOutcome::Complete(_)));
    assert_eq!(asker.asked.lock().unwrap().len(), 1);
}

struct Slow(Duration);

#[async_trait]
impl Asker for Slow {
    async fn answer(&self, ask: InputAsk) -> AskReply {
        tokio::time::sleep(self.0).await;
        accept(&ask)
    }
}

#[tokio::test]
async fn a_person_who_thinks_longer_than_the_time_out_is_waited_for() {
    let fake = Fake::start(|n, _| if n == 1 { form(None) } else { done("ordered") }).await;
    let limits = CallLimits { timeout: Duration::from_secs(2), ..quick() };
    let connection = Connection::open_with(&fake.endpoint(), ClientProfile::default(), limits).await.unwrap();
    let outcome = connection.call("order", json!({}), &Slow(Duration::from_millis(2200))).await.unwrap();
    assert!(matches!(&outcome, CallOutcome::Complete(complete) if complete.text == "ordered"));
}
