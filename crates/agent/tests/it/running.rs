use std::collections::VecDeque;
use std::sync::Mutex;

use aldgate_agent::{
    Finding, ModelEvent, PlanFault, PlannedCall, Planner, RunEvent, RunFault, RunLimits, RunState, Step, run,
};
use async_trait::async_trait;
use serde_json::json;

use crate::fake::{Fake, Reply, Scripted, accept, done, form, never, refusal};

/// Makes the given calls and finishes with what it saw last.
struct Fixed(VecDeque<&'static str>);

#[async_trait]
impl Planner for Fixed {
    async fn next(
        &mut self,
        state: &RunState,
        _: &(dyn Fn(ModelEvent) + Send + Sync),
    ) -> Result<Step, PlanFault> {
        Ok(match self.0.pop_front() {
            Some(tool) => Step::call(tool, json!({}), "test".to_owned()),
            None => Step::Finish { summary: format!("{} calls", state.observations.len()) },
        })
    }
}

#[tokio::test]
async fn a_run_hands_every_outcome_to_the_planner_and_tells_of_each() {
    let fake = Fake::start(|n, _| match n {
        1 => done("found"),
        2 => form(Some("s")),
        3 => done("ordered"),
        4 => refusal("AG-PROHIBITED"),
        _ => Reply::Break,
    })
    .await;
    let connection = fake.connect().await;
    let told = Mutex::new(Vec::new());
    let observer = |event: RunEvent| told.lock().unwrap().push(serde_json::to_value(event).unwrap());
    let mut planner = Fixed(VecDeque::from(["look", "order", "order", "order"]));
    let report =
        run(&connection, &mut planner, "work", &Scripted::new(accept), observer, RunLimits::default())
            .await
            .unwrap();
    assert_eq!(report.summary, "4 calls");
    assert_eq!(report.refusals().count(), 1);
    assert!(
        matches!(&report.observations[0].finding, Finding::Answer(answer) if answer.as_data().text == "found")
    );
    assert!(matches!(&report.observations[3].finding, Finding::Failed { may_have_run: true, .. }));
    let told = told.into_inner().unwrap();
    let names: Vec<_> = told.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "connected",
            "listed",
            "planned",
            "result",
            "planned",
            "asked",
            "result",
            "planned",
            "refusal",
            "planned",
            "failed",
            "finished"
        ]
    );
    assert_eq!(told[8]["code"], "AG-PROHIBITED");
    assert_eq!((&told[5]["key"], &told[5]["reply"]), (&json!("k"), &json!("accept")));
}

#[tokio::test]
async fn an_error_of_the_gateway_is_a_refusal_unless_the_call_was_sent() {
    let fake = Fake::start(|n, _| match n {
        1 => Reply::Error(7429, "busy", json!({"code": "AG-BUSY", "call": "c-1"})),
        2 => Reply::Error(
            7502,
            "no such thing",
            json!({"code": "AG-UPSTREAM-ERROR", "upstream": {"code": -1}}),
        ),
        _ => Reply::Error(7504, "lost", json!({"code": "AG-OUTCOME-UNKNOWN"})),
    })
    .await;
    let connection = fake.connect().await;
    let mut planner = Fixed(VecDeque::from(["order", "order", "order"]));
    let report = run(&connection, &mut planner, "t", &Scripted::new(never), |_| (), RunLimits::default())
        .await
        .unwrap();
    let findings: Vec<_> = report.observations.iter().map(|seen| &seen.finding).collect();
    assert!(
        matches!(findings[0], Finding::Refused(refusal) if refusal.code == "AG-BUSY" && refusal.call.as_deref() == Some("c-1")),
        "{findings:?}"
    );
    assert!(matches!(findings[1], Finding::Failed { may_have_run: false, .. }), "{findings:?}");
    assert!(matches!(findings[2], Finding::Failed { may_have_run: true, .. }), "{findings:?}");
}

#[tokio::test]
async fn steps_are_bounded() {
    let fake = Fake::start(|_, _| done("")).await;
    let connection = fake.connect().await;
    let mut planner = Fixed(VecDeque::from(["look"; 9]));
    let limits = RunLimits { max_steps: 3, ..RunLimits::default() };
    let fault = run(&connection, &mut planner, "t", &Scripted::new(never), |_| (), limits).await.unwrap_err();
    assert!(matches!(fault, RunFault::Steps { limit: 3 }), "{fault:?}");
    assert_eq!(fault.code(), "AG-AGENT-STEPS");
    assert_eq!(fake.calls().len(), 3);
}

#[tokio::test]
async fn lost_credentials_end_the_run() {
    let fake = Fake::start(|_, _| Reply::Status(401)).await;
    let connection = fake.connect().await;
    let mut planner = Fixed(VecDeque::from(["look", "look"]));
    let fault = run(&connection, &mut planner, "t", &Scripted::new(never), |_| (), RunLimits::default())
        .await
        .unwrap_err();
    assert!(matches!(fault, RunFault::Call { step: 1, .. }), "{fault:?}");
    assert_eq!(fault.code(), "AG-AGENT-UNAUTHORIZED");
}

/// Calls these tools at once, and finishes.
struct AtOnce(&'static [&'static str]);

#[async_trait]
impl Planner for AtOnce {
    async fn next(
        &mut self,
        state: &RunState,
        _: &(dyn Fn(ModelEvent) + Send + Sync),
    ) -> Result<Step, PlanFault> {
        if !state.observations.is_empty() {
            return Ok(Step::Finish { summary: String::new() });
        }
        let call = |(n, tool): (usize, &&str)| {
            let unusable = (*tool == "none").then(|| "there is no such tool".to_owned());
            let id = Some(format!("id-{n}"));
            PlannedCall { id, unusable, ..PlannedCall::new(tool, json!({"n": n}), String::new()) }
        };
        Ok(Step::Calls { calls: self.0.iter().enumerate().map(call).collect() })
    }
}

#[tokio::test]
async fn calls_of_a_turn_are_observed_in_the_planners_order_and_those_that_cannot_be_sent_are_not() {
    let fake =
        Fake::start(|_, seen| if seen.params["arguments"]["n"] == 3 { refusal("AG-NO") } else { done("ok") })
            .await;
    let connection = fake.connect().await;
    let order = Mutex::new(Vec::new());
    let observer = |event: RunEvent| match event {
        RunEvent::Planned { step, id, .. } => {
            order.lock().unwrap().push(format!("planned {step} {}", id.unwrap()))
        }
        RunEvent::Result { step, id, .. }
        | RunEvent::Refusal { step, id, .. }
        | RunEvent::Failed { step, id, .. } => {
            order.lock().unwrap().push(format!("ended {step} {}", id.unwrap()));
        }
        _ => {}
    };
    let mut planner = AtOnce(&["look", "none", "look", "order"]);
    let report = run(&connection, &mut planner, "t", &Scripted::new(never), observer, RunLimits::default())
        .await
        .unwrap();
    let seen: Vec<_> =
        report.observations.iter().map(|seen| (seen.step, seen.id.as_deref().unwrap())).collect();
    assert_eq!(seen, [(1, "id-0"), (2, "id-1"), (3, "id-2"), (4, "id-3")]);
    assert!(
        matches!(&report.observations[1].finding, Finding::Failed { may_have_run: false, text } if text.contains("no such"))
    );
    assert!(matches!(&report.observations[3].finding, Finding::Refused(refusal) if refusal.code == "AG-NO"));
    assert_eq!(fake.calls().len(), 3, "what cannot be sent is not");
    let order = order.into_inner().unwrap();
    assert_eq!(order[..4], ["planned 1 id-0", "planned 2 id-1", "planned 3 id-2", "planned 4 id-3"]);
    assert_eq!(order.len(), 8);
}

/// A host runs an agent in a task of its own.
#[tokio::test]
async fn a_run_can_be_spawned() {
    let fake = Fake::start(|_, _| done("found")).await;
    let connection = fake.connect().await;
    let working = tokio::spawn(async move {
        let mut planner = Fixed(VecDeque::from(["look"]));
        run(&connection, &mut planner, "t", &Scripted::new(never), |_| (), RunLimits::default()).await
    });
    assert_eq!(working.await.unwrap().unwrap().summary, "1 calls");
}
