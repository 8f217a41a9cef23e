//! The trace of a run, and what of it goes along with each request.

use std::collections::BTreeMap;

use aldgate_agent::{
    Answered, ModelEvent, PlanFault, Planner, RunEvent, RunLimits, RunReport, RunState, Step, run,
};
use aldgate_telemetry::{Ring, Settings, SpanRecord, Telemetry};
use async_trait::async_trait;
use expect_test::expect;
use serde_json::{Value, json};

use crate::fake::{Fake, Reply, Scripted, Seen, accept, done, form, refusal};

/// Asks a model that is none, and has it call each of these once.
struct Modelled(Vec<&'static str>);

#[async_trait]
impl Planner for Modelled {
    async fn next(
        &mut self,
        state: &RunState,
        told: &(dyn Fn(ModelEvent) + Send + Sync),
    ) -> Result<Step, PlanFault> {
        let turn = state.observations.len() + 1;
        let (provider, model) = ("anthropic", "some-model".to_owned());
        told(ModelEvent::Asked {
            turn,
            provider,
            model: model.clone(),
            max_tokens: 100,
            server_address: "127.0.0.1".to_owned(),
            server_port: 8080,
        });
        if self.0.is_empty() {
            told(ModelEvent::Failed { turn, code: "AG-MODEL-ANSWER", text: "no answer".to_owned() });
            return Ok(Step::Finish { summary: String::new() });
        }
        told(ModelEvent::Answered(Answered {
            turn,
            provider,
            request_model: model.clone(),
            response_model: Some("some-model-1".to_owned()),
            response_id: Some("msg-1".to_owned()),
            finish_reasons: vec!["tool_use".to_owned()],
            input_tokens: Some(7),
            output_tokens: Some(5),
            counted_tokens: 12,
            calls: 1,
            took_ms: 1,
        }));
        Ok(Step::call(self.0.remove(0), json!({"secret": "m4rk"}), "test".to_owned()))
    }

    fn provider(&self) -> Option<&'static str> {
        Some("anthropic")
    }

    fn model(&self) -> Option<&str> {
        Some("some-model")
    }
}

fn telemetry(content: bool) -> Telemetry {
    let ring = Some(Ring::new(100));
    Telemetry::start(Settings { service: "agent", destination: None, sample_ratio: 1.0, content, ring })
        .unwrap()
}

async fn works(fake: &Fake, telemetry: Telemetry) -> (RunReport, Option<String>) {
    let connection = fake.connect().await.observed_by(telemetry);
    let said = std::sync::Mutex::new(None);
    let observer = |event: RunEvent| {
        if let RunEvent::Connected { conversation, .. } = event {
            *said.lock().unwrap() = Some(conversation);
        }
    };
    let mut planner = Modelled(vec!["look", "order", "look", "look", "look", "order"]);
    let limits = RunLimits::default();
    let report =
        run(&connection, &mut planner, "work", &Scripted::new(accept), observer, limits).await.unwrap();
    (report, said.into_inner().unwrap())
}

async fn fake() -> Fake {
    Fake::start(|number, _| match number {
        1 => done("found m4rk"),
        2 => form(Some("s")),
        3 => done("ordered"),
        4 => Reply::Error(-32602, "m4rk is no such thing", json!({"code": "AG-PARAMS"})),
        5 => refusal("AG-PROHIBITED"),
        6 => Reply::Error(7502, "m4rk is not what it says", json!({"code": "AG-UPSTREAM-ANSWER"})),
        _ => Reply::Break,
    })
    .await
}

fn meta<'a>(seen: &'a Seen, key: &str) -> Option<&'a Value> {
    seen.params["_meta"].get(key)
}

fn ids(spans: &[SpanRecord]) -> BTreeMap<&str, &SpanRecord> {
    spans.iter().map(|span| (span.span_id.as_str(), span)).collect()
}

#[tokio::test]
async fn every_request_of_a_run_carries_its_conversation_and_its_own_span() {
    let fake = fake().await;
    let telemetry = telemetry(false);
    let (report, conversation) = works(&fake, telemetry.clone()).await;
    let spans = telemetry.ring().unwrap().trace(&report.trace, "");
    let spans = ids(&spans);
    // The first list is from before the run.
    let requests: Vec<Seen> = fake.lists().into_iter().skip(1).chain(fake.calls()).collect();
    assert_eq!(requests.len(), 8);
    for seen in &requests {
        assert_eq!(meta(seen, "gen_ai.conversation.id").unwrap().as_str(), conversation.as_deref());
        let parent = meta(seen, "traceparent").unwrap().as_str().unwrap();
        assert_eq!(seen.headers["traceparent"], parent);
        let parts: Vec<&str> = parent.split('-').collect();
        assert_eq!((parts[0], parts[1], parts[3]), ("00", report.trace.as_str(), "01"));
        assert_eq!(spans[parts[2]].kind, "client", "{parent}");
        assert_eq!(meta(seen, "tracestate"), None, "an empty one is left out");
    }
    let (_, another) = works(&fake, telemetry).await;
    assert_ne!(conversation, another);
}

#[tokio::test]
async fn without_telemetry_no_trace_is_begun_in_our_name() {
    let fake = fake().await;
    works(&fake, Telemetry::off()).await;
    for seen in fake.lists().iter().chain(&fake.calls()) {
        assert_eq!(meta(seen, "traceparent"), None);
        assert!(!seen.headers.contains_key("traceparent") && !seen.headers.contains_key("tracestate"));
    }
}

#[tokio::test]
async fn a_run_is_a_tree_of_turns_and_calls() {
    let fake = fake().await;
    let telemetry = telemetry(false);
    let (report, conversation) = works(&fake, telemetry.clone()).await;
    let spans = telemetry.ring().unwrap().trace(&report.trace, "");
    let known = ids(&spans);
    let lines: Vec<String> = spans
        .iter()
        .map(|span| {
            assert_eq!(span.attributes["gen_ai.conversation.id"].as_str(), conversation.as_deref());
            let above = span.parent_id.as_deref().map_or("-", |parent| known[parent].name.as_str());
            let error = span.attributes.get("error.type").and_then(Value::as_str).unwrap_or("-");
            format!("{} {} within {above}, error {error}", span.name, span.kind)
        })
        .collect();
    expect![[r#"
        invoke_agent aldgate internal within -, error -
        tools/list client within invoke_agent aldgate, error -
        chat some-model client within invoke_agent aldgate, error -
        execute_tool look internal within invoke_agent aldgate, error -
        tools/call look client within execute_tool look, error -
        chat some-model client within invoke_agent aldgate, error -
        execute_tool order internal within invoke_agent aldgate, error -
        tools/call order client within execute_tool order, error -
        tools/call order client within execute_tool order, error -
        chat some-model client within invoke_agent aldgate, error -
        execute_tool look internal within invoke_agent aldgate, error tool_error
        tools/call look client within execute_tool look, error -32602
        chat some-model client within invoke_agent aldgate, error -
        execute_tool look internal within invoke_agent aldgate, error tool_error
        tools/call look client within execute_tool look, error tool_error
        chat some-model client within invoke_agent aldgate, error -
        execute_tool look internal within invoke_agent aldgate, error tool_error
        tools/call look client within execute_tool look, error 7502
        chat some-model client within invoke_agent aldgate, error -
        execute_tool order internal within invoke_agent aldgate, error no_outcome
        tools/call order client within execute_tool order, error connection_broken
        chat some-model client within invoke_agent aldgate, error AG-MODEL-ANSWER"#]]
    .assert_eq(&lines.join("\n"));
    let chat = &spans.iter().find(|span| span.name.starts_with("chat")).unwrap().attributes;
    expect![[r#"
        {
          "gen_ai.conversation.id": "RUN",
          "gen_ai.operation.name": "chat",
          "gen_ai.provider.name": "anthropic",
          "gen_ai.request.max_tokens": 100,
          "gen_ai.request.model": "some-model",
          "gen_ai.response.finish_reasons": [
            "tool_use"
          ],
          "gen_ai.response.id": "msg-1",
          "gen_ai.response.model": "some-model-1",
          "gen_ai.system": "anthropic",
          "gen_ai.usage.input_tokens": 7,
          "gen_ai.usage.output_tokens": 5,
          "server.address": "127.0.0.1",
          "server.port": 8080
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(chat).unwrap().replace(&conversation.unwrap(), "RUN"));
}

#[tokio::test]
async fn arguments_results_and_definitions_are_kept_only_where_that_is_on() {
    for content in [false, true] {
        let fake = fake().await;
        let telemetry = telemetry(content);
        let (report, _) = works(&fake, telemetry.clone()).await;
        let spans = telemetry.ring().unwrap().trace(&report.trace, "");
        assert_eq!(serde_json::to_string(&spans).unwrap().contains("m4rk"), content);
        for name in ["gen_ai.tool.call.arguments", "gen_ai.tool.call.result", "gen_ai.tool.definitions"] {
            assert_eq!(spans.iter().any(|span| span.attributes.contains_key(name)), content, "{name}");
        }
    }
}

/// Cannot work on its task, whose words the fault repeats.
struct Unable;

#[async_trait]
impl Planner for Unable {
    async fn next(
        &mut self,
        state: &RunState,
        _: &(dyn Fn(ModelEvent) + Send + Sync),
    ) -> Result<Step, PlanFault> {
        Err(PlanFault::Task { task: state.task.clone(), expected: "another one" })
    }
}

#[tokio::test]
async fn a_run_that_fails_shows_its_task_only_where_content_is_on() {
    for content in [false, true] {
        let fake = fake().await;
        let telemetry = telemetry(content);
        let connection = fake.connect().await.observed_by(telemetry.clone());
        let (asker, limits) = (Scripted::new(accept), RunLimits::default());
        let done = run(&connection, &mut Unable, "find m4rk", &asker, |_| (), limits).await;
        assert_eq!(done.unwrap_err().code(), "AG-AGENT-TASK");
        let ring = telemetry.ring().unwrap();
        let spans = ring.trace(&ring.traces("", 1)[0].trace_id, "");
        let failed: Vec<_> = spans.iter().filter(|span| span.error.is_some()).collect();
        assert_eq!(failed.len(), 2, "the plan and the run: {spans:?}");
        assert_eq!(serde_json::to_string(&spans).unwrap().contains("m4rk"), content);
    }
}
