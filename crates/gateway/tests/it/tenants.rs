//! What serves one tenant does not exist for another.

use std::collections::BTreeSet;

use aldgate_authority::{Authority, Entry};
use aldgate_gateway::settings::Pins;
use aldgate_testkit::{Behaviour, Call, Reply};
use serde_json::json;

use crate::fake;
use crate::library::{MORE, shelves};
use crate::world::{POLICY, World, code, eventually, http, settings_of};

fn only(tenant: &str) -> Option<BTreeSet<String>> {
    Some([tenant.to_owned()].into())
}

/// The library, for `default` alone. `stranger` is of `elsewhere`, and may do there whatever may be done.
async fn library() -> World {
    World::start_with(fake::library(), |config| {
        shelves(config);
        config.policy = format!(
            "{POLICY}{MORE}\n@id(\"all\") permit (principal in Role::\"agent\", action in [Action::\"operate\", Action::\"audit\"], resource);"
        );
        config.up().tenants = only("default");
    })
    .await
}

/// The answer, with what was asked for and what names the request alone taken out.
fn plain(reply: &Reply, named: &str) -> String {
    let text = reply.text().replace(named, "NAME");
    let cut = text.split_once("\"call\":\"c_").and_then(|(before, id)| Some((before, id.split_once('"')?.1)));
    let (before, after) = cut.unwrap_or((&text, ""));
    format!("{} {before}{after}", reply.status)
}

#[tokio::test]
async fn what_another_tenant_has_is_answered_like_what_nobody_has() {
    let world = library().await;
    let complete = |reference: serde_json::Value| {
        Call::method("completion/complete")
            .param("ref", reference)
            .param("argument", json!({"name": "who", "value": ""}))
    };
    let pairs = [
        ("look", "l00k", Call::tool("look", r#"{"text":"t"}"#), Call::tool("l00k", r#"{"text":"t"}"#)),
        ("look", "l00k", Call::tool("look", "{}"), Call::tool("l00k", "{}")),
        ("greet", "gr33t", Call::prompt("greet", &json!({})), Call::prompt("gr33t", &json!({}))),
        ("note://a", "n0te://a", Call::resource("note://a"), Call::resource("n0te://a")),
        (
            "greet",
            "gr33t",
            complete(json!({"type": "ref/prompt", "name": "greet"})),
            complete(json!({"type": "ref/prompt", "name": "gr33t"})),
        ),
        (
            "note://{id}",
            "n0te://{id}",
            complete(json!({"type": "ref/resource", "uri": "note://{id}"})),
            complete(json!({"type": "ref/resource", "uri": "n0te://{id}"})),
        ),
    ];
    let stranger = world.client("stranger");
    for (theirs, nobodys, of_theirs, of_nobody) in pairs {
        // It is there for whom it serves.
        assert_ne!(
            plain(&world.send(&of_theirs).await, theirs),
            plain(&world.send(&of_nobody).await, nobodys)
        );
        let found = plain(&stranger.send(&of_theirs).await.unwrap(), theirs);
        assert_eq!(found, plain(&stranger.send(&of_nobody).await.unwrap(), nobodys));
        assert!(!found.contains("default") && !found.contains("up/"), "{found}");
    }
    let called = world.up.seen().iter().filter(|seen| seen.method == "tools/call").count();
    assert_eq!(called, 1, "whom it serves, and nobody else");
}

#[tokio::test]
async fn lists_hold_what_serves_the_tenant() {
    let world = library().await;
    for (method, member) in [
        ("tools/list", "tools"),
        ("prompts/list", "prompts"),
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
    ] {
        let count = async |who: &str| {
            let reply = world.client(who).send(&Call::method(method)).await.unwrap();
            reply.result().unwrap()[member].as_array().unwrap().len()
        };
        eventually("the list", async || (count("agent").await > 0).then_some(())).await;
        assert_eq!(count("stranger").await, 0, "{method}");
    }
}

#[tokio::test]
async fn operators_see_the_upstreams_of_their_tenant() {
    let world = library().await;
    let status = world.admin("stranger").get("/v1/status").await.unwrap();
    assert_eq!(status.status, 200, "{}", status.text());
    let told = status.json().unwrap();
    assert_eq!((&told["upstreams"], &told["held_back"]), (&json!([]), &json!([])), "{told}");
    assert_eq!([&told["tools"], &told["prompts"], &told["resources"]], [&json!(0), &json!(0), &json!(0)]);
    let own = world.admin("chief").get("/v1/status").await.unwrap().json().unwrap();
    assert!(own["tools"].as_u64().unwrap() > 0 && !own["held_back"].as_array().unwrap().is_empty(), "{own}");

    let admin = world.admin("stranger");
    for (path, body) in [("look", None), ("l00k", None), ("", Some("look")), ("", Some("l00k"))] {
        let (reply, named) = match body {
            None => (admin.get(&format!("/v1/tools/{path}")).await.unwrap(), path),
            Some(name) => {
                let body = json!({"upstream": "up", "kind": "tool", "name": name});
                (admin.post("/v1/quarantine/release", &body).await.unwrap(), name)
            }
        };
        assert_eq!(reply.status, 404, "{named}: {}", reply.text());
    }
}

#[tokio::test]
async fn one_uri_is_each_tenants_own() {
    let theirs = fake::library();
    theirs.answers("resources/read", Behaviour::result(&fake::contents("note://a", "elsewhere's own")));
    let serving = theirs.serve().await.unwrap();
    let world = World::start_with(fake::library(), |config| {
        shelves(config);
        config.up().tenants = only("default");
        let mut other = settings_of("b", "b_", http(&serving.url()));
        other.pins = Pins::Locked(fake::whole_lock("b"));
        other.tenants = only("elsewhere");
        config.upstreams.push(other);
        let entry = Entry { read_only: true, ..Entry::of(Authority::Automatic) };
        config.resources.push(("b/note://{id}".to_owned(), entry));
        // For whom the other upstream serves it is forbidden.
        config.policy.push_str(
            "@id(\"not-up\") forbid (principal, action, resource == Resource::\"up/note://{id}\") when { principal.tenant == \"elsewhere\" };",
        );
    })
    .await;
    let read = async |who: &str| {
        let reply = world.client(who).send(&Call::resource("note://a")).await.unwrap();
        reply.result().unwrap()["contents"][0]["text"].clone()
    };
    assert_eq!(read("agent").await, "text of a");
    assert_eq!(read("stranger").await, "elsewhere's own");
}

#[tokio::test]
async fn a_subscription_hears_of_nothing_that_serves_others() {
    let world = library().await;
    let wanted = json!({"resourceSubscriptions": ["note://a"]});
    let reply = world.client("stranger").send(&Call::listen(wanted)).await.unwrap();
    let nobodys = json!({"resourceSubscriptions": ["n0te://a"]});
    let other = world.client("stranger").send(&Call::listen(nobodys)).await.unwrap();
    assert_eq!(plain(&reply, "note://a"), plain(&other, "n0te://a"));
    assert!(world.up.seen().iter().all(|seen| !seen.body.contains("note://a")));
}

#[tokio::test]
async fn a_contract_that_drifts_is_told_to_the_tenants_that_it_serves() {
    let world = World::start(|config| {
        config.up().tenants = only("default");
        config.up().verify_every = std::time::Duration::from_secs(1);
        config.policy.push_str(
            "@id(\"all\") permit (principal in Role::\"agent\", action == Action::\"audit\", resource);",
        );
    })
    .await;
    world.up.lists(&[]).unwrap();
    let drifted = async |who: &str| {
        let reply = world.admin(who).get("/v1/evidence?kind=drift").await.unwrap();
        reply.json().unwrap()["rows"].as_array().unwrap().len()
    };
    eventually("the drift", async || (drifted("chief").await > 0).then_some(())).await;
    assert_eq!(drifted("stranger").await, 0);
    assert_eq!(code(&world.call("look", r#"{"text":"t"}"#).await), "AG-CONTRACT-CHANGED");
}
