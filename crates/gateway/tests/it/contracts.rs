//! Live contracts against the lock.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use aldgate_authority::Authority;
use aldgate_gateway::settings::Pins;
use aldgate_gateway::{Gateway, StartFault};
use aldgate_testkit::{Behaviour, Call};
use serde_json::{Value, json};

use crate::fake;
use crate::world::{World, code, eventually, http, rpc, settings_of, text};

const LOOK: &str = r#"{"text":"t"}"#;

async fn listed(world: &World) -> Vec<String> {
    let result = world.send(&Call::method("tools/list")).await.result().unwrap();
    result["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

/// What the gateway has quarantined, once it has looked.
async fn quarantined(world: &World, upstream: usize) -> Value {
    eventually("a comparison", async || {
        let status = world.look("/v1/status").await;
        let upstream = &status["upstreams"][upstream];
        upstream["compared_at"].is_string().then(|| upstream["quarantined"].clone())
    })
    .await
}

/// The fake's definitions with this one in the place of `look`.
fn with_look(definition: &str) -> Vec<String> {
    let others = fake::TOOLS.iter().filter(|(name, _)| *name != "look").map(|(_, text)| (*text).to_owned());
    others.chain([definition.to_owned()]).collect()
}

async fn start_with_look(definition: &str) -> World {
    let mut world = World::plain().await;
    let definitions = with_look(definition);
    world.up.lists(&definitions.iter().map(String::as_str).collect::<Vec<_>>()).unwrap();
    world.restart(|_| {}).await;
    world
}

#[tokio::test]
async fn a_changed_tool_is_refused_and_the_others_are_served() {
    for changed_definition in [
        fake::LOOK.replace("closely", "very closely"),
        fake::LOOK.replace("\"text\":{\"type\":\"string\"}", "\"text\":{\"type\":\"null\"}"),
        fake::LOOK.replace("\"readOnlyHint\":true", "\"readOnlyHint\":false"),
        fake::LOOK.replace("\"x-odd\" : 1.50", "\"x-odd\" : 1.51"),
    ] {
        assert_ne!(changed_definition, fake::LOOK);
        let world = start_with_look(&changed_definition).await;
        let reply = world.call("look", LOOK).await;
        let told = (reply.status, rpc(&reply), code(&reply));
        assert_eq!(
            told,
            (200, 7409, "AG-CONTRACT-CHANGED".to_owned()),
            "{changed_definition}: {}",
            reply.text()
        );
        assert_eq!(world.up.calls("look").len(), 0);
        assert_eq!(listed(&world).await, ["measure", "note", "order", "region", "reorder", "ship"]);
        assert_eq!(text(&world.call("note", LOOK).await), "done", "the others go on");
        let story = ["drift - quarantined -", "refusal automatic - AG-CONTRACT-CHANGED"];
        assert_eq!(world.story().await[..2], story);
    }
}

#[tokio::test]
async fn a_refusal_names_the_member_that_changed() {
    let world = start_with_look(&fake::LOOK.replace("closely", "very closely")).await;
    let reply = world.call("look", LOOK).await;
    assert!(text(&reply).contains("(1 behavioural: description)"), "{}", text(&reply));
    let found = quarantined(&world, 0).await;
    assert_eq!(
        (&found[0]["name"], &found[0]["severity"]),
        (&json!("look"), &json!("behavioural")),
        "{found}"
    );
    let command = found[0]["command"].as_str().unwrap();
    assert!(command.starts_with("aldgate contracts accept up/look --digest sha256:"), "{command}");
}

#[tokio::test]
async fn the_same_definition_in_other_bytes_is_the_same() {
    let value: Value = serde_json::from_str(fake::LOOK).unwrap();
    let world = start_with_look(&serde_json::to_string_pretty(&value).unwrap()).await;
    assert_eq!(text(&world.call("look", LOOK).await), "done");
    assert!(listed(&world).await.contains(&"look".to_owned()));
}

#[tokio::test]
async fn a_tool_that_is_gone_or_listed_twice_or_forged_is_refused() {
    let forged =
        fake::LOOK.replace("\"vendor/key\":[1]", "\"vendor/key\":[1],\"io.github.aldgate/contract\":{}");
    for (what, definition) in [("gone", None), ("twice", Some(fake::LOOK)), ("forged", Some(forged.as_str()))]
    {
        let mut world = World::plain().await;
        let mut definitions: Vec<&str> = fake::TOOLS[1..].iter().map(|(_, text)| *text).collect();
        definitions.extend(definition);
        if what == "twice" {
            definitions.push(fake::LOOK);
        }
        world.up.lists(&definitions).unwrap();
        world.restart(|_| {}).await;
        assert_eq!(code(&world.call("look", LOOK).await), "AG-CONTRACT-CHANGED", "{what}");
        assert_eq!(text(&world.call("note", LOOK).await), "done", "{what}");
    }
}

#[tokio::test]
async fn a_tool_that_was_never_reviewed_is_not_served() {
    let world = World::plain().await;
    let new = r#"{"name":"new","description":"New.","inputSchema":{"type":"object"}}"#;
    let mut definitions: Vec<&str> = fake::TOOLS.iter().map(|(_, text)| *text).collect();
    definitions.push(new);
    world.up.lists(&definitions).unwrap();
    assert_eq!(code(&world.call("new", "{}").await), "AG-TOOL-UNKNOWN");
    assert_eq!(text(&world.call("look", LOOK).await), "done");
}

#[tokio::test]
async fn a_change_at_run_time_is_found() {
    let world = World::start(|config| config.up().verify_every = Duration::from_secs(1)).await;
    assert_eq!(text(&world.call("look", LOOK).await), "done");
    let definitions = with_look(&fake::LOOK.replace("closely", "very closely"));
    world.up.lists(&definitions.iter().map(String::as_str).collect::<Vec<_>>()).unwrap();
    eventually("the change being found", async || {
        (!listed(&world).await.contains(&"look".to_owned())).then_some(())
    })
    .await;
    assert_eq!(code(&world.call("look", LOOK).await), "AG-CONTRACT-CHANGED");
}

#[tokio::test]
async fn a_server_by_another_name_is_another_server() {
    let mut world = World::plain().await;
    world.up.is_called("impostor");
    world.restart(|_| {}).await;
    for tool in ["look", "note"] {
        let reply = world.call(tool, LOOK).await;
        assert_eq!(code(&reply), "AG-CONTRACT-CHANGED", "{tool}");
        assert!(
            text(&reply).contains("calls itself otherwise") && !text(&reply).contains("impostor"),
            "{}",
            text(&reply)
        );
    }
    let rows = world.look("/v1/evidence?kind=drift").await["rows"].as_array().unwrap().clone();
    let drift = &rows[0]["drift"];
    assert_eq!((&drift["event"], &drift["upstream"]), (&json!("stranger"), &json!("up")), "{rows:?}");
    assert_eq!(drift["before"], fake::lock("up").upstream.digest().unwrap().to_string());
    assert!(drift["after"].is_string() && drift["after"] != drift["before"], "{drift}");
    assert_eq!(drift["diff"][0]["path"], "/server");
    let stranger = world.look("/v1/status").await["upstreams"][0]["stranger"].clone();
    assert_eq!(stranger["command"], "aldgate contracts diff up", "{stranger}");
    assert_eq!(listed(&world).await, Vec::<String>::new());
}

#[tokio::test]
async fn an_upstream_that_is_down_stays_listed_and_its_calls_say_why() {
    let world = World::start(|config| {
        config.upstreams.push(settings_of("down", "down_", http("http://127.0.0.1:1/mcp")));
        let entries = fake::entries("down");
        config.entries.extend(entries);
    })
    .await;
    let names = listed(&world).await;
    assert!(names.contains(&"down_look".to_owned()) && names.contains(&"look".to_owned()), "{names:?}");
    for tool in ["down_look", "down_note"] {
        let reply = world.call(tool, LOOK).await;
        let told = (reply.status, rpc(&reply), code(&reply));
        assert_eq!(told, (200, 7502, "AG-UPSTREAM-UNREACHABLE".to_owned()), "{tool}");
        assert!(
            text(&reply).contains("upstream `down` could not be asked for its contracts"),
            "{}",
            text(&reply)
        );
    }
    assert_eq!(text(&world.call("look", LOOK).await), "done", "the others are served");
    let status = world.look("/v1/status").await;
    let why = status["upstreams"][1]["unreachable"].as_str().unwrap();
    assert!(why.contains("no connection to the upstream"), "{why}");
}

#[tokio::test]
async fn an_upstream_that_comes_up_later_is_served_then() {
    let world = World::plain().await;
    world.up.lists_by(Some(Behaviour::status(503)));
    let mut world = world;
    world.restart(|_| {}).await;
    assert_eq!(code(&world.call("look", LOOK).await), "AG-UPSTREAM-UNREACHABLE");
    assert_eq!(world.up.calls("look").len(), 0);
    world.up.lists_by(None);
    assert_eq!(text(&world.call("look", LOOK).await), "done", "the next call asks again");
}

#[tokio::test]
async fn waiting_for_a_silent_upstream_is_shared() {
    let mut world = World::plain().await;
    world.up.lists_by(Some(Behaviour::Hang));
    let limit = Duration::from_secs(2);
    world.restart(|config| config.settings.bounds.call_timeout = limit).await;
    let begun = std::time::Instant::now();
    let replies = futures::future::join_all((0..10).map(|_| world.call("look", LOOK))).await;
    assert!(replies.iter().all(|reply| code(reply) == "AG-UPSTREAM-UNREACHABLE"));
    assert!(begun.elapsed() < limit * 5, "ten calls waited one after another: {:?}", begun.elapsed());
}

#[tokio::test]
async fn locks_and_registry_must_fit_together() {
    let world = World::plain().await;
    let start = async |change: fn(&mut crate::world::Config)| {
        let mut config = world.config();
        change(&mut config);
        Gateway::start(crate::world::parts(config, tempfile::tempdir().unwrap().path()).await)
            .await
            .map(|_| ())
    };
    let same = start(|config| {
        let other = settings_of("other", "", http("http://127.0.0.1:1/mcp"));
        config.upstreams.push(other);
        config.entries.extend(fake::entries("other"));
    })
    .await;
    let Err(StartFault::Catalog(fault)) = same else { panic!("{same:?}") };
    assert!(fault.to_string().contains("`up/") && fault.to_string().contains("`other/"), "{fault}");
    let missing = start(|config| {
        config.entries.push(("up/absent".to_owned(), aldgate_authority::Entry::of(Authority::Automatic)));
    })
    .await;
    let Err(StartFault::Catalog(fault)) = missing else { panic!("{missing:?}") };
    assert!(fault.to_string().contains("`up/absent`, which no lock holds"), "{fault}");
}

/// What this thread logs.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_tool_whose_header_annotations_are_invalid_is_held_back_and_the_others_are_served() {
    let annotated = fake::LOOK
        .replace(r#""text":{"type":"string"}"#, r#""text":{"type":"number","x-mcp-header":"Text"}"#);
    assert_ne!(annotated, fake::LOOK);
    let mut world = World::plain().await;
    let definitions = with_look(&annotated);
    world.up.lists(&definitions.iter().map(String::as_str).collect::<Vec<_>>()).unwrap();
    let pinned = fake::TOOLS.map(|(name, text)| (name, if name == "look" { &*annotated } else { text }));
    let lock = fake::accepted(pinned);
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone()).finish();
    let listening = tracing::subscriber::set_default(subscriber);
    world.restart(|config| config.up().pins = Pins::Locked(lock)).await;
    drop(listening);
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    let warned = log.lines().find(|line| line.contains("WARN") && line.contains("up/look"));
    assert!(warned.is_some_and(|line| line.contains("`x-mcp-header`")), "{log}");
    assert_eq!(listed(&world).await, ["measure", "note", "order", "region", "reorder", "ship"]);
    assert_eq!(code(&world.call("look", r#"{"text":1}"#).await), "AG-TOOL-UNKNOWN");
    assert_eq!(text(&world.call("note", LOOK).await), "done", "the others go on");
    let status = world.look("/v1/status").await;
    let held = status["held_back"].as_array().unwrap().iter().find(|held| held["tool"] == "up/look").unwrap();
    let why = held["why"].as_str().unwrap();
    assert!(why.contains("`x-mcp-header`") && why.contains("`/properties/text`"), "{why}");
}

#[tokio::test]
async fn a_server_that_refuses_the_version_it_supports_is_asked_once_more_under_a_new_id() {
    let mut world = World::plain().await;
    world.stop().await;
    let error = |supported: &str| {
        let data = json!({"supported": [supported], "requested": "2026-07-28"});
        let error = json!({"code": -32022, "message": "unsupported", "data": data});
        Behaviour::Json { status: 400, body: format!(r#"{{"jsonrpc":"2.0","id":%ID%,"error":{error}}}"#) }
    };
    let id = |body: &str| serde_json::from_str::<Value>(body).unwrap()["id"].to_string();
    for (supported, asked) in [("2025-11-25", 1), ("2026-07-28", 2)] {
        world.up.lists_by(Some(error(supported)));
        let before = world.up.seen().len();
        let mut config = world.config();
        config.up().pins = Pins::FirstUse;
        let parts = crate::world::parts(config, tempfile::tempdir().unwrap().path()).await;
        assert!(matches!(Gateway::start(parts).await, Err(StartFault::FirstUse { .. })), "{supported}");
        let seen = world.up.seen().split_off(before);
        let ids: BTreeSet<String> = seen.iter().map(|seen| id(&seen.body)).collect();
        assert_eq!((seen.len(), ids.len()), (asked, asked), "{supported}");
    }
}

#[tokio::test]
async fn names_are_the_hosts_and_the_upstream_gets_its_own() {
    let world = World::start(|config| {
        config.up().prefix = "shop_".to_owned();
        config.entry("note").expose_as = Some("write".to_owned());
    })
    .await;
    let names = listed(&world).await;
    assert!(names.contains(&"shop_look".to_owned()) && names.contains(&"write".to_owned()), "{names:?}");
    assert_eq!(text(&world.call("shop_look", LOOK).await), "done");
    assert_eq!(text(&world.call("write", LOOK).await), "done");
    assert_eq!(code(&world.call("look", LOOK).await), "AG-TOOL-UNKNOWN");
    assert_eq!((world.up.calls("look").len(), world.up.calls("note").len()), (1, 1));
    assert_eq!(world.up.calls("look")[0].header("mcp-name"), "look");
    assert_eq!(world.rows().await[1]["tool"], "up/look", "evidence keys a tool by its upstream");
}

#[tokio::test]
async fn a_name_that_models_do_not_take_is_held_back() {
    for prefix in ["shop.", "sh op", &"x".repeat(64)] {
        let world = World::start(|config| {
            config.up().prefix = prefix.to_owned();
            config.entry("note").expose_as = Some("note".to_owned());
        })
        .await;
        assert_eq!(listed(&world).await, ["note"], "{prefix}");
        let status = world.look("/v1/status").await;
        let held = status["held_back"].as_array().unwrap();
        assert!(held.iter().any(|held| held["tool"] == "up/look"), "{prefix}: {status}");
    }
}

#[tokio::test]
async fn what_is_served_on_first_use_is_pinned_for_the_run() {
    let mut world = World::plain().await;
    world.restart(|config| config.up().pins = Pins::FirstUse).await;
    assert_eq!(text(&world.call("look", LOOK).await), "done");
    let contract = &world.look("/v1/tools/look").await["_meta"]["io.github.aldgate/contract"]["digest"];
    assert_eq!(contract.as_str().unwrap(), fake::lock("up").tools["look"].digest.to_string());
}

#[tokio::test]
async fn a_server_that_stops_listing_its_tools_is_not_called_for_ever() {
    let world = World::start(|config| config.up().verify_every = Duration::from_secs(1)).await;
    assert_eq!(code(&world.call("look", LOOK).await), "-");
    world.up.lists_by(Some(Behaviour::status(500)));
    let refused = eventually("a refusal", async || {
        let reply = world.call("look", LOOK).await;
        (code(&reply) == "AG-UPSTREAM-UNREACHABLE").then_some(reply)
    })
    .await;
    assert_eq!(rpc(&refused), 7502);
    let calls = world.up.calls("look").len();
    assert_eq!(code(&world.call("look", LOOK).await), "AG-UPSTREAM-UNREACHABLE");
    assert_eq!(world.up.calls("look").len(), calls, "called without a comparison");
}

#[tokio::test]
async fn resources_of_an_upstream_that_was_not_asked_yet_are_a_list_that_nobody_keeps() {
    let mut world = World::plain().await;
    let kept = async |world: &World, method| {
        let result = world.send(&Call::method(method)).await.result().unwrap();
        result["ttlMs"].as_u64().unwrap() > 0
    };
    quarantined(&world, 0).await;
    assert!(kept(&world, "resources/list").await);
    world
        .restart(|config| config.upstreams.push(settings_of("gone", "gone_", http("http://127.0.0.1:1/mcp"))))
        .await;
    quarantined(&world, 0).await;
    assert!(!kept(&world, "resources/list").await);
    // What is pinned is known.
    assert!(kept(&world, "tools/list").await);
}
