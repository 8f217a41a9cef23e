//! Lists over all upstreams: their order, their pages, and what they hold whatever the upstreams do meanwhile.

use aldgate_authority::{Authority, Entry};
use aldgate_gateway::settings::Pins;
use aldgate_testkit::{Behaviour, Call};
use serde_json::{Value, json};

use super::{library, shelves};
use crate::fake;
use crate::world::{World, code, eventually, http, rpc, settings_of};

async fn all(world: &World, method: &str, member: &str, key: &str) -> (Vec<String>, usize) {
    let (mut found, mut pages) = (Vec::new(), 0);
    let mut cursor: Option<Value> = None;
    loop {
        let call = match cursor.take() {
            Some(cursor) => Call::method(method).param("cursor", cursor),
            None => Call::method(method),
        };
        let page = world.send(&call).await.result().unwrap();
        assert_eq!(page["cacheScope"], "private");
        pages += 1;
        found
            .extend(page[member].as_array().unwrap().iter().map(|one| one[key].as_str().unwrap().to_owned()));
        match page.get("nextCursor") {
            Some(next) => cursor = Some(next.clone()),
            None => return (found, pages),
        }
    }
}

#[tokio::test]
async fn each_list_holds_what_is_registered() {
    let world = library().await;
    let resources = world.send(&Call::method("resources/list")).await;
    assert!(
        resources.text().contains(r#"[{"uri":"note://a","name":"a", "x-odd" : 1.50}]"#),
        "{}",
        resources.text()
    );
    let templates = world.send(&Call::method("resources/templates/list")).await.result().unwrap();
    let template = &templates["resourceTemplates"][0];
    assert_eq!((&template["name"], &template["mimeType"]), (&json!("note"), &json!("text/plain")));
    assert_eq!(template["_meta"]["io.github.aldgate/contract"]["authority"], "automatic");
    let prompts = world.send(&Call::method("prompts/list")).await.result().unwrap();
    assert_eq!(prompts["prompts"][0]["arguments"][0], json!({"name": "who", "required": true}));
    // Whoever may not read or get sees nothing.
    let other = world.client("approver");
    for (method, member) in [
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
        ("prompts/list", "prompts"),
    ] {
        assert_eq!(other.send(&Call::method(method)).await.unwrap().result().unwrap()[member], json!([]));
    }
}

#[tokio::test]
async fn lists_are_paged_in_the_order_of_their_names() {
    let world = World::start_with(fake::library(), |config| {
        shelves(config);
        config.settings.bounds.list_page = 3;
    })
    .await;
    let (tools, pages) = all(&world, "tools/list", "tools", "name").await;
    assert_eq!(tools, ["look", "measure", "note", "order", "region", "reorder", "ship"]);
    assert_eq!(pages, 3);
    let more: Vec<String> = (0..7).rev().map(|n| format!(r#"{{"uri":"note://{n}","name":"{n}"}}"#)).collect();
    world.up.offers("resources/list", &more.iter().map(String::as_str).collect::<Vec<_>>()).unwrap();
    world.up.ears().were_opened(1).await;
    world.up.ears().tell("notifications/resources/list_changed", &json!({}));
    let expected: Vec<_> = (0..7).map(|n| format!("note://{n}")).collect();
    eventually("the new list", async || {
        let (uris, pages) = all(&world, "resources/list", "resources", "uri").await;
        (uris == expected && pages == 3).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_cursor_is_good_for_one_list_and_one_principal() {
    let world = World::start_with(fake::library(), |config| {
        shelves(config);
        config.settings.bounds.list_page = 3;
    })
    .await;
    let page = world.send(&Call::method("tools/list")).await.result().unwrap();
    let cursor = page["nextCursor"].clone();
    let text = cursor.as_str().unwrap();
    assert!(!text.contains("note"), "sealed: {text}");
    let changed = |(at, letter): (usize, char)| match at {
        10 if letter == 'A' => 'B',
        10 => 'A',
        _ => letter,
    };
    let altered = json!(text.chars().enumerate().map(changed).collect::<String>());
    for (what, who, method, cursor) in [
        ("of another list", "agent", "prompts/list", cursor.clone()),
        ("of somebody else", "other", "tools/list", cursor.clone()),
        ("altered", "agent", "tools/list", altered),
        ("made up", "agent", "tools/list", json!("abc")),
        ("empty", "agent", "tools/list", json!("")),
    ] {
        let reply = world.client(who).send(&Call::method(method).param("cursor", cursor)).await.unwrap();
        assert_eq!((rpc(&reply), code(&reply).as_str()), (-32602, "AG-PARAMS"), "{what}: {}", reply.text());
    }
    let again = world.send(&Call::method("tools/list").param("cursor", cursor)).await.result().unwrap();
    assert_eq!(again["tools"][0]["name"], "order");
}

#[tokio::test]
async fn an_upstream_that_is_slow_or_gone_takes_nothing_from_the_others() {
    let (hangs, gone) = (fake::upstream(), fake::upstream());
    hangs.lists_by(Some(Behaviour::Hang));
    let hanging = hangs.serve().await.unwrap();
    let left = gone.serve().await.unwrap();
    let url = left.url();
    left.end().await;
    let world = World::start_with(fake::library(), |config| {
        shelves(config);
        for (name, url) in [("hangs", hanging.url()), ("gone", url)] {
            config.upstreams.push(settings_of(name, &format!("{name}_"), http(&url)));
            let entry = Entry { read_only: true, ..Entry::of(Authority::Automatic) };
            config.entries.push((format!("{name}/look"), entry));
        }
    })
    .await;
    let begun = std::time::Instant::now();
    let (tools, _) = all(&world, "tools/list", "tools", "name").await;
    assert_eq!(tools.iter().filter(|name| name.ends_with("look")).count(), 3, "they stay listed: {tools:?}");
    let resources = eventually("the library's resources", async || {
        let (uris, _) = all(&world, "resources/list", "resources", "uri").await;
        (!uris.is_empty()).then_some(uris)
    })
    .await;
    assert_eq!(resources, ["note://a"]);
    assert_eq!(code(&world.send(&Call::resource("note://a")).await), "-");
    assert!(begun.elapsed() < std::time::Duration::from_secs(10), "nobody waited for the one that hangs");
    // Its absence is told in the status, and to whoever calls it.
    let status = eventually("the comparison with the one that is gone", async || {
        let status = world.look("/v1/status").await;
        let one = status["upstreams"].as_array()?.iter().find(|one| one["name"] == "gone")?.clone();
        one["unreachable"].is_string().then_some(one)
    })
    .await;
    assert!(status["compared_at"].is_null(), "{status}");
    let refused = world.call("gone_look", r#"{"text":"t"}"#).await;
    assert_eq!(code(&refused), "AG-UPSTREAM-UNREACHABLE");
}

#[tokio::test]
async fn what_is_not_pinned_is_not_listed_and_what_the_registry_names_must_be() {
    let world = World::start_with(fake::library(), |config| {
        shelves(config);
        config.prompts.clear();
        config.up().pins = Pins::Locked(fake::lock("up"));
    })
    .await;
    let templates = world.send(&Call::method("resources/templates/list")).await.result().unwrap();
    assert_eq!(templates["resourceTemplates"], json!([]), "the lock has none");
    let prompts = world.send(&Call::method("prompts/list")).await.result().unwrap();
    assert_eq!(prompts["prompts"], json!([]));
    world.configure(|config| {
        shelves(config);
        config.up().pins = Pins::Locked(fake::lock("up"));
    });
    let reload = world.reload_as("approver").await;
    assert!(reload.text().contains("the prompt `up/greet`, which no lock holds"), "{}", reload.text());
}
