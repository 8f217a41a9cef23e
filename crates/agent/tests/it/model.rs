//! A run with a model against a fake of its service, told by either API.

use std::sync::Mutex;
use std::time::Duration;

use aldgate_agent::{
    Api, Connection, Key, ModelConfig, ModelEvent, ModelLimits, ModelPlanner, RunEvent, RunFault, RunLimits,
    RunReport, run,
};
use aldgate_testkit::{MODEL_KEY, ModelAnswer, ModelApi, ModelRequest, ModelServer, Script};
use serde_json::Value;

use crate::fake::{self, accept};

pub(crate) const BOTH: [ModelApi; 2] = [ModelApi::Anthropic, ModelApi::OpenAi];

/// What came of a run.
pub(crate) struct Ran {
    pub(crate) done: Result<RunReport, RunFault>,
    pub(crate) events: Vec<RunEvent>,
    pub(crate) requests: Vec<ModelRequest>,
}

impl Ran {
    /// The code of the fault that ended it.
    pub(crate) fn code(&self) -> &str {
        self.done.as_ref().err().map_or("", RunFault::code)
    }

    /// The fault with its causes.
    pub(crate) fn fault(&self) -> String {
        let Err(fault) = &self.done else { panic!("the run came to its end: {:?}", self.done) };
        let mut text = fault.to_string();
        let mut next = std::error::Error::source(fault);
        while let Some(cause) = next {
            text.push_str(&format!(": {cause}"));
            next = cause.source();
        }
        text
    }

    pub(crate) fn report(&self) -> &RunReport {
        self.done.as_ref().unwrap_or_else(|_| panic!("{}", self.fault()))
    }

    pub(crate) fn model_events(&self) -> Vec<&ModelEvent> {
        let all = self.events.iter();
        all.filter_map(|event| match event {
            RunEvent::Model(event) => Some(event),
            _ => None,
        })
        .collect()
    }

    pub(crate) fn retries(&self) -> usize {
        self.model_events().iter().filter(|event| matches!(event, ModelEvent::Retried { .. })).count()
    }

    /// The results that the model got in its last request, in order: the id, the content, and whether it is an error,
    /// where the API tells.
    pub(crate) fn results(&self, api: ModelApi) -> Vec<(String, String, Option<bool>)> {
        let messages = self.requests.last().unwrap().body["messages"].as_array().unwrap().clone();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        match api {
            ModelApi::Anthropic => messages.last().unwrap()["content"]
                .as_array()
                .unwrap()
                .iter()
                .map(|block| {
                    let content = text(&block["content"][0]["text"]);
                    (text(&block["tool_use_id"]), content, block["is_error"].as_bool())
                })
                .collect(),
            ModelApi::OpenAi => {
                let from = messages.iter().rposition(|message| message["role"] == "assistant").unwrap() + 1;
                let results = messages[from..].iter();
                results
                    .map(|message| (text(&message["tool_call_id"]), text(&message["content"]), None))
                    .collect()
            }
        }
    }
}

/// Limits that keep a test short.
pub(crate) fn limits() -> ModelLimits {
    ModelLimits {
        pause: Duration::from_millis(1),
        max_pause: Duration::from_millis(2),
        patience: Duration::from_secs(20),
        idle: Duration::from_secs(20),
        ..ModelLimits::default()
    }
}

pub(crate) fn config(api: ModelApi, base_url: String) -> ModelConfig {
    let api = match api {
        ModelApi::Anthropic => Api::Anthropic,
        ModelApi::OpenAi => Api::OpenAi,
    };
    let model = api.default_model().to_owned();
    ModelConfig { api, model, base_url, key: Key::new(MODEL_KEY), limits: limits() }
}

/// Runs a task with a model that gives these answers.
pub(crate) async fn work(
    api: ModelApi,
    connection: &Connection,
    answers: impl IntoIterator<Item = ModelAnswer>,
    run_limits: RunLimits,
) -> Ran {
    work_with(api, connection, answers, run_limits, |_| ()).await
}

/// The same, with another configuration of the model.
pub(crate) async fn work_with(
    api: ModelApi,
    connection: &Connection,
    answers: impl IntoIterator<Item = ModelAnswer>,
    run_limits: RunLimits,
    change: impl FnOnce(&mut ModelConfig),
) -> Ran {
    let service = ModelServer::start(answers).await.unwrap();
    let mut config = config(api, service.base_url(api));
    change(&mut config);
    let events = Mutex::new(Vec::new());
    let observer = |event: RunEvent| events.lock().unwrap().push(event);
    let mut planner = ModelPlanner::new(config).unwrap();
    let done =
        run(connection, &mut planner, "Work on it.", &fake::Scripted::new(accept), observer, run_limits)
            .await;
    let requests = service.requests();
    Ran { done, events: events.into_inner().unwrap(), requests }
}

/// An answer that says and calls nothing more.
pub(crate) fn end(api: ModelApi) -> ModelAnswer {
    Script::says("It is done.").answer(api)
}

/// No request was one that the service refuses.
pub(crate) fn all_accepted(ran: &Ran) {
    for request in &ran.requests {
        assert_eq!(request.wrong, None, "{:#}", request.body);
    }
}
