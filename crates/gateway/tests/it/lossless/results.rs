//! Answers to a call.

mod cases;

use aldgate_gateway::settings::MayAsk;
use aldgate_testkit::{Behaviour, Call, Reply};
use aldgate_wire::guard::Limits;
use serde_json::json;

use super::Rule;
use super::cut::{value, without};
use crate::world::{Config, World, code};
use cases::cases;

/// One odd answer.
struct Case {
    what: &'static str,
    tool: &'static str,
    /// The body, with `%ID%` in the place of the id.
    body: String,
    passes: Passes,
}

/// What the client gets of it.
enum Passes {
    /// The result, outside of `_meta` byte by byte.
    Same,
    /// The same after the `resultType` that it lacks.
    Typed,
    /// The same, but that the message says who asks, and that the state is the gateway's.
    Asked,
    /// An error that says this, as JSON text.
    Told(&'static str),
    /// A refusal.
    Refused(Rule),
}

pub(super) fn rules() -> Vec<Rule> {
    cases()
        .into_iter()
        .filter_map(|case| match case.passes {
            Passes::Refused(rule) => Some(rule),
            _ => None,
        })
        .collect()
}

/// Bytes of an answer that are read at most.
const LIMIT: usize = 2 << 20;

fn relaying_everything(config: &mut Config) {
    config.up().may_ask = vec![MayAsk::Form, MayAsk::Url, MayAsk::Sampling, MayAsk::Roots];
    config.up().ask_origins = vec!["https://login.example.com".to_owned()];
    config.settings.bounds.response_bytes = LIMIT;
}

fn call(tool: &str) -> Call {
    let declared = json!({"elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}}, "roots": {}});
    let arguments = if tool == "measure" { "{}" } else { r#"{"text":"t"}"# };
    Call::tool(tool, arguments).declaring(declared)
}

/// The result of a response as it stands in its text.
fn result_of(response: &str) -> String {
    value(response, "result").unwrap_or_else(|| panic!("no result: {response}")).to_owned()
}

impl Case {
    fn check(&self, reply: &Reply, text: &str) {
        let what = self.what;
        let sent = || without(&result_of(&self.body), &["_meta"]);
        let got = || without(&result_of(text), &["_meta"]);
        match &self.passes {
            Passes::Same => assert_eq!(got(), sent(), "{what}"),
            Passes::Typed => {
                let sent = sent();
                let comma = if sent.len() > 2 { "," } else { "" };
                let typed = format!(r#"{{"resultType":"complete"{comma}{}"#, sent.strip_prefix('{').unwrap());
                assert_eq!(got(), typed, "{what}");
            }
            Passes::Asked => {
                let state = value(&result_of(text), "requestState").unwrap().to_owned();
                assert!(!state.contains("upstream's"), "{what}: the upstream's state is sealed: {text}");
                let asked = sent().replace("\"upstream's\"", &state).replace("\"Which?\"", "\"[up] Which?\"");
                assert_eq!(got(), asked, "{what}");
            }
            Passes::Told(says) => {
                let error = value(text, "error").unwrap_or_else(|| panic!("{what}: no error: {text}"));
                assert!(error.contains(says), "{what}: {says} in {error}");
            }
            Passes::Refused(Rule(expected, sentence)) => {
                assert_eq!(code(reply), *expected, "{what}: {text}");
                let said = format!("{text} {}", self.why());
                assert!(said.contains(sentence), "{what}: {sentence} in {said}");
            }
        }
    }

    /// Why the reader of answers does not take the body. A client is not told, because the words hold some of the body.
    fn why(&self) -> String {
        let body = self.body.replace("%ID%", "7");
        let Err(fault) =
            aldgate_wire::response::read(body.as_bytes(), 7, &Limits { max_bytes: LIMIT, max_depth: 128 })
        else {
            return String::new();
        };
        let source = std::error::Error::source(&fault).map(ToString::to_string).unwrap_or_default();
        format!("{fault}: {source}").replace('"', "\\\"")
    }
}

#[tokio::test]
async fn a_result_keeps_its_bytes_or_is_refused_by_a_rule() {
    let world = World::start(relaying_everything).await;
    for case in cases() {
        world.up.does(case.tool, Behaviour::Json { status: 200, body: case.body.clone() });
        let reply = world.send(&call(case.tool)).await;
        case.check(&reply, &reply.text());
    }
    assert_eq!(world.look("/v1/status").await["counted"]["panics"], 0);
}

/// The same through two streams of events. Line ends within a message are ends of lines of its data there, and come out
/// as line feeds; in JSON they are all white space.
#[tokio::test]
async fn a_result_at_the_end_of_a_stream_keeps_its_bytes_too() {
    let world = World::start(relaying_everything).await;
    let progress =
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%ID%,"progress":1}}"#;
    let line_feeds = |text: &str| text.replace("\r\n", "\n").replace('\r', "\n");
    for mut case in cases() {
        case.body = line_feeds(&case.body);
        world.up.does(case.tool, Behaviour::Stream(vec![progress.to_owned(), case.body.clone()]));
        let reply = world.send(&call(case.tool).meta("progressToken", json!("mine"))).await;
        let events = reply.text();
        let last = events.trim_end_matches('\n').rsplit("\n\n").next().unwrap();
        let data: Vec<_> = last.split('\n').map(|line| line.strip_prefix("data: ").unwrap()).collect();
        let text = data.join("\n");
        let reply = Reply { body: text.clone().into(), ..reply };
        case.check(&reply, &text);
    }
}
