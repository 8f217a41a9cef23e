//! Tools as an upstream defines them and as clients see them listed.

use std::collections::BTreeMap;

use aldgate_authority::Authority;
use aldgate_gateway::fetch_live;
use aldgate_gateway::settings::{Pins, Settings};
use aldgate_testkit::{Behaviour, Call, Upstream};
use serde_json::Value;

use super::Rule;
use super::cut::{value, without};
use crate::world::{Config, World, code, http, settings_of};

const UNKNOWN: &str = "AG-TOOL-UNKNOWN";

/// Definitions by their tools' names, and the rule by which a tool is left out.
fn cases() -> Vec<(&'static str, String, Option<Rule>)> {
    let same = |name, text: &str| (name, text.to_owned(), None);
    let left = |name, text: &str, sentence| (name, text.to_owned(), Some(Rule(UNKNOWN, sentence)));
    let unsure = "the definition cannot be read without doubt";
    let deep = format!(
        r#"{{"name":"deep","inputSchema":{{"type":"object","default":{}{}}}}}"#,
        "[".repeat(70),
        "]".repeat(70)
    );
    vec![
        same("plain", r#"{"name":"plain","inputSchema":{"type":"object"}}"#),
        same(
            "spaced",
            "{ \"title\" :\r\n\"T\",\t\"inputSchema\" : {\"type\":\"object\" } , \"name\": \"spaced\" }",
        ),
        same(
            "unknown",
            r#"{"name":"unknown","execution":{"taskSupport":"optional"},"com.example/x":[1.10],"inputSchema":{"type":"object"},"icons":[{"src":"a:b","theme":"sepia","x":1}]}"#,
        ),
        same(
            "hints",
            r#"{"name":"hints","annotations":{"readOnlyHint":true,"priority":0.123456789,"vendor":{"a":null}},"inputSchema":{"type":"object"}}"#,
        ),
        same(
            "schema",
            r#"{"name":"schema","inputSchema":{"x-last":1,"type":"object","properties":{"b":{"default":1E5},"a":{"examples":[-0,1.10,18446744073709551615,"\u0041"]}},"x-first":{}},"outputSchema":{"type":"object","description":"\/"}}"#,
        ),
        same(
            "letters",
            "{\"\\u006eame\":\"le\\u0074ters\",\"description\":\"\u{2028}\\u0000\u{202e}\",\"\":{\"\":0},\"inputSchema\":{\"type\":\"object\"}}",
        ),
        same(
            "described",
            r#"{"name":"described","_meta":{ "a":1.0 }, "inputSchema":{"type":"object"},"annotations":{"_meta":{"b":1}}}"#,
        ),
        left("bare", r#"{"name":"bare"}"#, "`inputSchema` of a tool must be an object"),
        left(
            "listed",
            r#"{"name":"listed","inputSchema":{"type":"array"}}"#,
            "`inputSchema.type` of a tool must be the string `object`",
        ),
        left(
            "unsure",
            r#"{"name":"unsure","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":null}}"#,
            "`readOnlyHint` of a tool must be a boolean",
        ),
        left(
            "schemaless",
            r#"{"name":"schemaless","inputSchema":{"type":"object","required":7}}"#,
            "it is not a valid JSON Schema",
        ),
        left(
            "digits",
            r#"{"name":"digits","x":12345678901234567890123,"inputSchema":{"type":"object"}}"#,
            unsure,
        ),
        left("beyond", r#"{"name":"beyond","inputSchema":{"type":"object","maximum":1e400}}"#, unsure),
        left("half", r#"{"name":"half","description":"\ud800","inputSchema":{"type":"object"}}"#, unsure),
        left("doubled", r#"{"name":"doubled","inputSchema":{"type":"object","x":1,"x":2}}"#, unsure),
        ("deep", deep, Some(Rule(UNKNOWN, unsure))),
        left(
            "forged",
            r#"{"name":"forged","inputSchema":{"type":"object"},"_meta":{"io.github.aldgate/contract":{}}}"#,
            "which only the gateway may set",
        ),
        left(
            "meta",
            r#"{"name":"meta","inputSchema":{"type":"object"},"_meta":[]}"#,
            "`_meta` of a tool must be an object",
        ),
        left(
            "renamed",
            r#"{"name":"renamed","name":"plain","inputSchema":{"type":"object"}}"#,
            "the definition repeats the member",
        ),
        left(
            "",
            r#"{"name":"","inputSchema":{"type":"object"}}"#,
            "a tool must have `name`, a string that is not empty",
        ),
        left("number", "7", "a tool must be an object"),
        left("a b", r#"{"name":"a b","inputSchema":{"type":"object"}}"#, "visible names have 1 to 64 of"),
    ]
}

pub(super) fn rules() -> Vec<Rule> {
    cases().into_iter().filter_map(|(_, _, rule)| rule).collect()
}

fn on_first_use(config: &mut Config) {
    config.up().pins = Pins::FirstUse;
    config.otherwise = Some(Authority::Automatic);
    config.entries.clear();
}

/// A page with these definitions, and members of the page that are odd themselves.
fn page(tools: &[&str]) -> Behaviour {
    let tools = tools.join(" , ");
    Behaviour::raw_result(&format!(
        r#"{{"resultType":"complete","ttlMs":5.0,"cacheScope":"tenant","x":1e400,"nextCursor":null,"tools":[{tools}]}}"#
    ))
}

/// A gateway that pinned what the upstream lists when it is first asked.
async fn listing(tools: &[&str]) -> World {
    let mut world = World::plain().await;
    world.up.lists_by(Some(page(tools)));
    world.restart(on_first_use).await;
    world
}

/// The tools of a list by their names, each as its text.
fn listed(text: &str) -> BTreeMap<String, String> {
    let tools = value(value(text, "result").unwrap(), "tools").unwrap();
    let tools: Vec<&serde_json::value::RawValue> = serde_json::from_str(tools).unwrap();
    let named = |text: &str| {
        let tool: Value = serde_json::from_str(text).unwrap();
        tool["name"].as_str().unwrap().to_owned()
    };
    tools.into_iter().map(|tool| (named(tool.get()), tool.get().to_owned())).collect()
}

#[tokio::test]
async fn a_definition_keeps_its_bytes_or_is_left_out_by_a_rule() {
    let cases = cases();
    let world = listing(&cases.iter().map(|(_, text, _)| text.as_str()).collect::<Vec<_>>()).await;
    let reply = world.send(&Call::method("tools/list")).await;
    let listed = listed(&reply.text());
    let said = why_left_out(&world, &cases).await;
    for (name, text, rule) in &cases {
        match (rule, listed.get(*name)) {
            (None, Some(got)) => {
                let odd = ["_meta", "name", "\\u006eame"];
                assert_eq!(without(got, &odd), without(text, &odd), "{name}");
            }
            (Some(Rule(expected, sentence)), None) => {
                let called = if name.is_empty() { "none" } else { name };
                assert_eq!(code(&world.call(called, "{}").await), *expected, "{name}");
                // An element without a name of its own is told by its number.
                let of_it = |why: &&String| why.contains(name) || why.starts_with("tool number ");
                let told = said.iter().filter(of_it).any(|why| why.contains(sentence));
                assert!(told, "{name}: {sentence} in {said:#?}");
            }
            (rule, found) => panic!("{name}: {rule:?}, but {found:?}"),
        }
    }
    assert_eq!(listed.len(), cases.iter().filter(|(_, _, rule)| rule.is_none()).count(), "{listed:?}");
}

/// What operators are told of tools that are not served: elements that cannot be read, definitions that cannot be pinned,
/// and contracts that cannot be held to.
async fn why_left_out(world: &World, cases: &[(&str, String, Option<Rule>)]) -> Vec<String> {
    let one = settings_of("up", "", http(&world.serving.url()));
    let live = fetch_live(&one, &Settings::default()).await.unwrap();
    let mut said = live.unreadable().to_vec();
    said.extend(cases.iter().filter_map(|(name, text, _)| {
        aldgate_contract::fingerprint(text).err().map(|fault| format!("{name}: {fault}"))
    }));
    let status = world.look("/v1/status").await;
    let held = status["held_back"].as_array().unwrap().iter();
    said.extend(held.map(|held| format!("{}: {}", held["tool"], held["why"].as_str().unwrap())));
    said
}

#[tokio::test]
async fn an_upstream_inside_the_process_is_listed_the_same_way() {
    let inside = Upstream::new("inside");
    let text = "{ \"inputSchema\" : {\"type\":\"object\" } , \"name\": \"spaced\",\"x\":1.10 }";
    inside.lists_by(Some(page(&[text])));
    let world = World::start(|config| {
        let transport = aldgate_gateway::settings::Transport::InProcess(inside.router(), "/mcp".to_owned());
        config.upstreams = vec![settings_of("up", "", transport)];
        on_first_use(config);
    })
    .await;
    let reply = world.send(&Call::method("tools/list")).await;
    let listed = listed(&reply.text());
    assert_eq!(without(&listed["spaced"], &["_meta", "name"]), without(text, &["name"]));
}
