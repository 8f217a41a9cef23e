//! What a model's service does wrong, and what comes of it.

use std::time::Duration;

use aldgate_agent::{ModelEvent, ModelPlanner, RunLimits};
use aldgate_testkit::{MODEL_KEY, ModelAnswer, ModelApi, ModelServer, Script};

use crate::fake::{Fake, done};
use crate::model::{BOTH, Ran, all_accepted, config, end, work, work_with};

/// A file of `testkit/recorded`.
fn recorded(api: ModelApi, name: &str) -> String {
    let folder = match api {
        ModelApi::Anthropic => "anthropic",
        ModelApi::OpenAi => "openai",
    };
    let path = format!("{}/../../testkit/recorded/{folder}/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|fault| panic!("{path}: {fault}"))
}

fn error(api: ModelApi, status: u16) -> ModelAnswer {
    let body = recorded(api, &format!("{status}.json"));
    ModelAnswer::Whole { status, media: "application/json", headers: Vec::new(), body }
}

async fn answers(api: ModelApi, answers: Vec<ModelAnswer>) -> (Ran, Fake) {
    let fake = Fake::start(|_, _| done("found")).await;
    let ran = work(api, &fake.connect().await, answers, RunLimits::default()).await;
    (ran, fake)
}

#[tokio::test]
async fn what_may_pass_is_tried_again_and_told() {
    for api in BOTH {
        let busy = error(api, 429).with("retry-after", "0");
        let (ran, _) =
            answers(api, vec![busy, error(api, 500), error(api, 529), ModelAnswer::Drop, end(api)]).await;
        assert_eq!(ran.report().summary, "It is done.");
        assert_eq!(ran.requests.len(), 5);
        all_accepted(&ran);
        let told: Vec<_> = ran
            .model_events()
            .into_iter()
            .filter_map(|event| match event {
                ModelEvent::Retried { turn: 1, attempt, cause, after_ms } => {
                    Some((*attempt, cause.clone(), *after_ms))
                }
                _ => None,
            })
            .collect();
        let attempts: Vec<_> = told.iter().map(|(attempt, ..)| *attempt).collect();
        assert_eq!(attempts, [2, 3, 4, 5]);
        assert!(
            told[0].1.contains("HTTP 429") && told[0].1.to_lowercase().contains("rate limit"),
            "{told:?}"
        );
        assert!(told[1].1.contains("HTTP 500") && told[2].1.contains("HTTP 529"), "{told:?}");
        assert_eq!(told[0].2, 0, "the service's own pause holds");
    }
}

#[tokio::test]
async fn attempts_are_bounded() {
    for api in BOTH {
        let (ran, _) = answers(api, vec![error(api, 500); 9]).await;
        assert_eq!(ran.code(), "AG-MODEL-UNAVAILABLE");
        assert_eq!((ran.requests.len(), ran.retries()), (5, 4));
        assert!(ran.fault().contains("in 5 attempts"), "{}", ran.fault());
        let last = ran.model_events().pop().unwrap();
        assert!(matches!(last, ModelEvent::Failed { turn: 1, code: "AG-MODEL-UNAVAILABLE", .. }), "{last:?}");
    }
}

#[tokio::test]
async fn a_pause_that_is_longer_than_the_patience_is_not_made() {
    for api in BOTH {
        let (ran, _) = answers(api, vec![error(api, 429).with("retry-after", "3600"), end(api)]).await;
        assert_eq!((ran.code(), ran.requests.len()), ("AG-MODEL-UNAVAILABLE", 1));
        assert!(ran.fault().contains("a pause of 3600 s"), "{}", ran.fault());
    }
}

#[tokio::test]
async fn a_service_that_is_not_there_is_tried_again_and_then_named() {
    let fake = Fake::start(|_, _| done("found")).await;
    let connection = fake.connect().await;
    for api in BOTH {
        let gone = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
        let ran = work_with(api, &connection, [], RunLimits::default(), |config| {
            config.base_url = format!("http://{gone}");
            config.limits.attempts = 2;
        })
        .await;
        assert_eq!((ran.code(), ran.retries()), ("AG-MODEL-UNAVAILABLE", 1));
        assert!(
            ran.fault().contains(&gone.to_string()) && ran.fault().contains("base URL"),
            "{}",
            ran.fault()
        );
    }
}

#[tokio::test]
async fn a_wrong_key_is_not_tried_again_and_shown_nowhere() {
    let fake = Fake::start(|_, _| done("found")).await;
    let connection = fake.connect().await;
    for api in BOTH {
        let ran = work_with(api, &connection, [end(api)], RunLimits::default(), |config| {
            config.key = aldgate_agent::Key::new("sk-wrong-secret");
        })
        .await;
        assert_eq!((ran.code(), ran.requests.len(), ran.retries()), ("AG-MODEL-KEY", 1, 0));
        let variable = if api == ModelApi::Anthropic { "ANTHROPIC_API_KEY" } else { "OPENAI_API_KEY" };
        assert!(ran.fault().contains(variable) && ran.fault().contains("401"), "{}", ran.fault());
        let told = format!("{:?} {:?} {}", ran.events, ran.done, ran.fault());
        assert!(!told.contains("wrong-secret"), "{told}");
    }
}

#[tokio::test]
async fn a_model_that_there_is_not_is_told_in_the_services_words() {
    let fake = Fake::start(|_, _| done("found")).await;
    let connection = fake.connect().await;
    for api in BOTH {
        let ran = work_with(api, &connection, [end(api)], RunLimits::default(), |config| {
            config.model = "no-such-model".to_owned();
        })
        .await;
        assert_eq!((ran.code(), ran.requests.len()), ("AG-MODEL-REFUSED", 1));
        assert!(ran.fault().contains("no-such-model") && ran.fault().contains("HTTP 404"), "{}", ran.fault());
    }
}

#[tokio::test]
async fn no_redirect_is_followed_with_the_key() {
    let elsewhere = ModelServer::start([]).await.unwrap();
    for api in BOTH {
        let to = format!("{}/v1/messages", elsewhere.base_url(ModelApi::Anthropic));
        let moved = ModelAnswer::Whole {
            status: 307,
            media: "text/plain",
            headers: vec![("location", to)],
            body: String::new(),
        };
        let (ran, _) = answers(api, vec![moved, end(api)]).await;
        assert_eq!((ran.code(), ran.requests.len()), ("AG-MODEL-REFUSED", 1));
        assert!(ran.fault().contains("no redirect is followed"), "{}", ran.fault());
    }
    assert_eq!(elsewhere.requests().len(), 0);
}

/// No call of the answer was made, the request was sent once, and the fault says this.
async fn unusable(api: ModelApi, answer: ModelAnswer, code: &str, says: &str) {
    let (ran, fake) = answers(api, vec![answer, end(api)]).await;
    assert_eq!(ran.code(), code, "{}", ran.fault());
    assert!(ran.fault().contains(says), "{}", ran.fault());
    assert_eq!((ran.requests.len(), ran.retries(), fake.calls().len()), (1, 0, 0));
}

#[tokio::test]
async fn an_answer_that_is_not_whole_is_a_fault_and_nothing_of_it_is_done() {
    for api in BOTH {
        let good = Script::says("I look at it.").calls("id_1", "look", "{}").events(api);
        let stream = |text: &str| ModelAnswer::Stream(text.to_owned());
        unusable(api, ModelAnswer::Cut(good.clone()), "AG-MODEL-STREAM", "broke off").await;
        unusable(api, ModelAnswer::Stream(recorded(api, "error.sse")), "AG-MODEL-STREAM", "broke it off")
            .await;
        unusable(api, ModelAnswer::Stream(recorded(api, "cut.sse")), "AG-MODEL-CUT", "limit on tokens").await;
        unusable(
            api,
            ModelAnswer::Stream(recorded(api, "declined.sse")),
            "AG-MODEL-DECLINED",
            "I cannot help",
        )
        .await;
        unusable(api, stream(""), "AG-MODEL-STREAM", "before it said that it was complete").await;
        unusable(api, stream("data: {\"type\":\n\n"), "AG-MODEL-STREAM", "no JSON").await;
        // The end is missing: the last two events of one API, the last three of the other.
        let events: Vec<&str> = good.split_inclusive("\n\n").collect();
        let missing = if api == ModelApi::Anthropic { 2 } else { 3 };
        let unended = events[..events.len() - missing].concat();
        unusable(api, ModelAnswer::Stream(unended), "AG-MODEL-STREAM", "before it said").await;
        let page = ModelAnswer::Whole {
            status: 200,
            media: "text/html",
            headers: Vec::new(),
            body: "hi".to_owned(),
        };
        unusable(api, page, "AG-MODEL-STREAM", "`text/html`").await;
        unusable(api, Script::says("x").stops("something_new").answer(api), "AG-MODEL-STOP", "something_new")
            .await;
        unusable(api, Script::says("").answer(api), "AG-MODEL-STOP", "neither text nor calls").await;
    }
    let filtered = Script::says("").stops("content_filter").answer(ModelApi::OpenAi);
    unusable(ModelApi::OpenAi, filtered, "AG-MODEL-DECLINED", "content_filter").await;
}

#[tokio::test]
async fn an_answer_has_bounds() {
    let fake = Fake::start(|_, _| done("found")).await;
    let connection = fake.connect().await;
    for api in BOTH {
        let many = (0..33).fold(Script::says(""), |script, n| script.calls(&format!("id_{n}"), "look", "{}"));
        let long = Script::says("").calls("id_1", "look", &format!("{{\"a\": \"{}\"}}", "x".repeat(2000)));
        let talk = Script::says(&"word ".repeat(2000));
        for (script, of) in [(many, "32 calls"), (long, "1000 bytes of arguments"), (talk, "20000 bytes;")] {
            let ran = work_with(api, &connection, [script.answer(api)], RunLimits::default(), |config| {
                config.limits.max_arguments = 1000;
                config.limits.max_response = if of.starts_with("20000") { 20_000 } else { 1 << 20 };
            })
            .await;
            assert_eq!(ran.code(), "AG-MODEL-BOUND", "{}", ran.fault());
            assert!(ran.fault().contains(of), "{}", ran.fault());
        }
        let event = ModelAnswer::Stream(format!("data: \"{}\"\n\n", "x".repeat(5000)));
        let ran = work_with(api, &connection, [event], RunLimits::default(), |config| {
            config.limits.max_event = 1000;
        })
        .await;
        assert!(ran.fault().contains("1000 bytes in one event"), "{}", ran.fault());
    }
    assert_eq!(fake.calls().len(), 0);
}

#[tokio::test]
async fn a_service_that_stalls_is_not_waited_for_for_ever() {
    let fake = Fake::start(|_, _| done("found")).await;
    let connection = fake.connect().await;
    for api in BOTH {
        let impatient = |config: &mut aldgate_agent::ModelConfig| {
            config.limits.idle = Duration::from_millis(300);
            config.limits.attempts = 2;
        };
        let good = Script::says("I look at it.").events(api);
        let limits = RunLimits::default();
        let ran = work_with(api, &connection, [ModelAnswer::Stall(good)], limits.clone(), impatient).await;
        assert_eq!(ran.code(), "AG-MODEL-STREAM");
        assert!(ran.fault().contains("nothing came for 0.3 s"), "{}", ran.fault());
        let slow =
            |config: &mut aldgate_agent::ModelConfig| config.limits.longest = Duration::from_millis(300);
        let stall = ModelAnswer::Stall(Script::says("I look at it.").events(api));
        let ran = work_with(api, &connection, [stall], limits.clone(), slow).await;
        assert!(ran.fault().contains("it did not end within 0.3 s"), "{}", ran.fault());
        let ran = work_with(api, &connection, [ModelAnswer::Silence, end(api)], limits, impatient).await;
        assert_eq!((ran.report().summary.as_str(), ran.retries()), ("It is done.", 1));
    }
}

#[tokio::test]
async fn an_answer_that_pauses_is_gone_on_with_a_few_times() {
    let api = ModelApi::Anthropic;
    let pause = ModelAnswer::Stream(recorded(api, "pause.sse"));
    let (ran, _) = answers(api, vec![pause.clone(), end(api)]).await;
    all_accepted(&ran);
    assert_eq!((ran.report().summary.as_str(), ran.requests.len()), ("It is done.", 2));
    assert!(ran.requests[1].body.to_string().contains("I am still thinking."));
    let (ran, _) = answers(api, vec![pause; 9]).await;
    assert_eq!((ran.code(), ran.requests.len()), ("AG-MODEL-STOP", 5));
}

#[tokio::test]
async fn chat_completions_on_this_machine_need_no_key_and_others_do() {
    let api = ModelApi::OpenAi;
    let service = ModelServer::start_open([end(api)]).await.unwrap();
    let open = aldgate_agent::ModelConfig { key: None, ..config(api, service.base_url(api)) };
    let fake = Fake::start(|_, _| done("found")).await;
    let mut planner = ModelPlanner::new(open.clone()).unwrap();
    let asker = crate::fake::Scripted::new(crate::fake::never);
    let connection = fake.connect().await;
    let report = aldgate_agent::run(&connection, &mut planner, "t", &asker, |_| (), RunLimits::default())
        .await
        .unwrap();
    assert_eq!(report.summary, "It is done.");
    assert!(service.requests()[0].headers.get("authorization").is_none());
    for config in [
        aldgate_agent::ModelConfig { base_url: "https://models.example.org/v1".to_owned(), ..open },
        aldgate_agent::ModelConfig {
            key: None,
            ..config(ModelApi::Anthropic, "http://127.0.0.1:9".to_owned())
        },
    ] {
        let fault = ModelPlanner::new(config).err().unwrap();
        assert_eq!(fault.code(), "AG-MODEL-KEY");
    }
}

#[tokio::test]
async fn the_key_is_sent_as_each_api_wants_it_and_in_nothing_else() {
    for api in BOTH {
        let (ran, _) = answers(api, vec![end(api)]).await;
        let request = &ran.requests[0];
        let holds: Vec<_> = request
            .headers
            .iter()
            .filter(|(_, value)| value.to_str().is_ok_and(|value| value.contains(MODEL_KEY)))
            .map(|(name, _)| name.as_str())
            .collect();
        let expected = if api == ModelApi::Anthropic { "x-api-key" } else { "authorization" };
        assert_eq!(holds, [expected]);
        assert!(!request.body.to_string().contains(MODEL_KEY));
        assert!(!format!("{:?}", ran.events).contains(MODEL_KEY));
    }
}

#[tokio::test]
async fn more_tools_than_chat_completions_take_are_a_fault_of_their_own() {
    let tools: Vec<_> = (0..129)
        .map(|n| serde_json::json!({"name": format!("t{n}"), "inputSchema": {"type": "object"}}))
        .collect();
    let fake = Fake::with_pages(vec![serde_json::json!({"tools": tools})], |_, _| done("found")).await;
    let connection = fake.connect().await;
    let ran = work(ModelApi::OpenAi, &connection, [end(ModelApi::OpenAi)], RunLimits::default()).await;
    assert_eq!((ran.code(), ran.requests.len()), ("AG-MODEL-TOOLS", 0));
    let ran = work(ModelApi::Anthropic, &connection, [end(ModelApi::Anthropic)], RunLimits::default()).await;
    all_accepted(&ran);
    assert_eq!(ran.report().summary, "It is done.");
}

#[tokio::test]
async fn an_error_in_a_stream_that_quotes_the_key_does_not_bring_it_out() {
    let fake = Fake::start(|_, _| done("found")).await;
    let connection = fake.connect().await;
    for api in BOTH {
        let error = match api {
            ModelApi::Anthropic => {
                serde_json::json!({"type": "error", "error": {"type": "api_error", "message": format!("bad {MODEL_KEY}")}})
            }
            ModelApi::OpenAi => serde_json::json!({"error": {"message": format!("bad {MODEL_KEY}")}}),
        };
        let broken = ModelAnswer::Stream(format!("event: error\ndata: {error}\n\n"));
        let ran = work(api, &connection, [broken], RunLimits::default()).await;
        let told = format!("{:?} {:?}", ran.events, ran.done);
        assert!(!told.contains(MODEL_KEY) && told.contains("bad …"), "{told}");
    }
}
