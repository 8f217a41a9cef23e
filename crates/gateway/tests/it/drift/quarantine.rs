//! What is quarantined, for how long, and what is told of it.

use std::time::Duration;

use aldgate_gateway::settings::OnDrift;
use aldgate_testkit::Call;
use serde_json::json;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{Connection as _, SqliteConnection};

use super::{
    LOOK, behavioural, breaking, compared, compatible, cosmetic, digest, events, look_is, often, serve,
    status, with_look,
};
use crate::fake;
use crate::world::{World, code, eventually, text};

#[tokio::test]
async fn severity_and_setting_decide_what_is_quarantined() {
    for (definition, severity) in [
        (breaking(), "breaking"),
        (behavioural(), "behavioural"),
        (compatible(), "compatible"),
        (cosmetic(), "cosmetic"),
    ] {
        assert_ne!(definition, fake::LOOK);
        for on_drift in [OnDrift::Quarantine, OnDrift::AllowCompatible, OnDrift::Warn] {
            let mut world = World::plain().await;
            serve(&world, &with_look(&definition));
            world.restart(|config| config.up().on_drift = on_drift).await;
            let quarantined = match on_drift {
                OnDrift::Quarantine => true,
                OnDrift::AllowCompatible => ["breaking", "behavioural"].contains(&severity),
                OnDrift::Warn => false,
            };
            let found = look_is(&world, Some(if quarantined { "quarantined" } else { "drift" })).await;
            assert_eq!(found["severity"], severity, "{found}");
            assert_eq!(found["reason"], "changed");
            let called = code(&world.call("look", LOOK).await);
            assert_eq!(
                called,
                if quarantined { "AG-CONTRACT-CHANGED" } else { "-" },
                "{severity} {on_drift:?}"
            );
            let listed = world.send(&Call::method("tools/list")).await.text();
            assert_eq!(listed.contains(r#""name":"look""#), !quarantined, "{severity} {on_drift:?}");
            assert!(!listed.contains("very closely"), "the pin is served, never what is live");
            assert_eq!(code(&world.call("note", LOOK).await), "-", "the others go on");
            let event = if quarantined { "quarantined" } else { "noted" };
            assert_eq!(events(&world).await, [format!("{event} {severity} 1")]);
        }
    }
}

#[tokio::test]
async fn a_drift_is_evidence_with_both_digests_and_the_diff_for_every_tenant() {
    let mut world = World::plain().await;
    serve(&world, &with_look(&breaking()));
    world.restart(|_| {}).await;
    look_is(&world, Some("quarantined")).await;
    let rows = world.look("/v1/evidence?kind=drift").await["rows"].as_array().unwrap().clone();
    let [row] = rows.as_slice() else { panic!("{rows:?}") };
    assert_eq!(row["tool"], "up/look");
    assert_eq!(row["contract_version"], 1);
    assert_eq!(row["drift"]["before"], digest(fake::LOOK));
    assert_eq!(row["drift"]["after"], digest(&breaking()));
    assert_eq!(row["drift"]["diff"][0]["severity"], "breaking", "{row}");
    assert_eq!((&row["drift"]["kind"], &row["drift"]["name"]), (&json!("tool"), &json!("look")));
    let stranger = world.admin("stranger").get("/v1/evidence?kind=drift").await.unwrap().json().unwrap();
    let theirs = &stranger["rows"][0];
    assert_eq!((&theirs["tool"], &theirs["principal"]["tenant"]), (&json!("up/look"), &json!("elsewhere")));
    assert_ne!(theirs["call"], row["call"], "each tenant has an event of its own");
}

#[tokio::test]
async fn a_drift_of_an_upstream_is_nothing_to_tenants_that_it_does_not_serve() {
    let mut world = World::plain().await;
    serve(&world, &with_look(&breaking()));
    world.restart(|config| config.up().tenants = Some(["default".to_owned()].into())).await;
    look_is(&world, Some("quarantined")).await;
    assert_eq!(events(&world).await, ["quarantined breaking 1"]);
    let theirs = world.admin("stranger").get("/v1/evidence").await.unwrap().json().unwrap();
    assert_eq!(theirs["rows"], json!([]));
    // Neither their own requests nor an operator's list of upstreams have anything of it.
    let called = world.client("stranger").send(&Call::tool("look", LOOK)).await.unwrap();
    assert_eq!(code(&called), "AG-TOOL-UNKNOWN", "{}", called.text());
    let listed = world.client("stranger").send(&Call::method("tools/list")).await.unwrap();
    assert_eq!(listed.result().unwrap()["tools"], json!([]));
    // One that serves no tenant that there is, serves nobody.
    world.restart(|config| config.up().tenants = Some(["nobody".to_owned()].into())).await;
    assert_eq!(code(&world.call("note", LOOK).await), "AG-TOOL-UNKNOWN");
}

#[tokio::test]
async fn a_quarantine_outlives_the_drift_and_the_gateway_until_it_is_released() {
    let mut world = World::start(often).await;
    serve(&world, &with_look(&behavioural()));
    look_is(&world, Some("quarantined")).await;
    serve(&world, &fake::TOOLS.map(|(_, text)| text.to_owned()));
    compared(&world).await;
    assert_eq!(
        code(&world.call("look", LOOK).await),
        "AG-CONTRACT-CHANGED",
        "it shows the reviewed contract again"
    );
    world.restart(often).await;
    let still = look_is(&world, Some("quarantined")).await;
    assert_eq!(still["severity"], "behavioural", "{still}");
    assert_eq!(
        still["command"], "aldgate contracts release up/look",
        "the server went back: there is nothing to accept"
    );
    assert_eq!(events(&world).await, ["quarantined behavioural 1"], "a restart tells nothing twice");
    let release = json!({"upstream": "up", "kind": "tool", "name": "look"});
    for who in ["agent", "robot"] {
        assert_eq!(
            world.admin(who).post("/v1/quarantine/release", &release).await.unwrap().status,
            403,
            "{who}"
        );
    }
    let reply = world.admin("approver").post("/v1/quarantine/release", &release).await.unwrap();
    assert_eq!((reply.status, reply.json().unwrap()), (200, json!({"released": true})));
    assert_eq!(text(&world.call("look", LOOK).await), "done");
    let again = world.admin("approver").post("/v1/quarantine/release", &release).await.unwrap();
    assert_eq!(again.json().unwrap(), json!({"released": false}));
    let absent = json!({"upstream": "up", "kind": "tool", "name": "absent"});
    let unknown = world.admin("approver").post("/v1/quarantine/release", &absent).await.unwrap();
    assert_eq!((unknown.status, code(&unknown)), (404, "AG-ADMIN-QUARANTINE".to_owned()));
    assert_eq!(events(&world).await, ["quarantined behavioural 1", "released behavioural 1"]);
    let last = world.look("/v1/evidence?kind=drift").await["rows"][1]["principal"]["subject"].clone();
    assert_eq!(last, "approver");
}

#[tokio::test]
async fn a_release_accepts_nothing() {
    let world = World::start(often).await;
    serve(&world, &with_look(&behavioural()));
    let found = look_is(&world, Some("quarantined")).await;
    let exactly = format!("aldgate contracts accept up/look --digest {}", digest(&behavioural()));
    assert_eq!(found["command"], exactly);
    let release = json!({"upstream": "up", "kind": "tool", "name": "look"});
    assert_eq!(world.admin("approver").post("/v1/quarantine/release", &release).await.unwrap().status, 200);
    // What is released is compared before it is called.
    assert_eq!(code(&world.call("look", LOOK).await), "AG-CONTRACT-CHANGED");
    assert_eq!(world.up.calls("look").len(), 0);
    eventually("the second event", async || (events(&world).await.len() == 3).then_some(())).await;
    assert_eq!(code(&world.call("look", LOOK).await), "AG-CONTRACT-CHANGED");
    let expected = ["quarantined behavioural 1", "released behavioural 1", "quarantined behavioural 1"];
    assert_eq!(events(&world).await, expected);
}

#[tokio::test]
async fn a_server_that_alternates_between_two_contracts_is_caught() {
    let world = World::start(often).await;
    let pinned = fake::TOOLS.map(|(_, text)| text.to_owned());
    serve(&world, &with_look(&compatible()));
    look_is(&world, Some("drift")).await;
    serve(&world, &pinned);
    look_is(&world, None).await;
    serve(&world, &with_look(&compatible()));
    let caught = look_is(&world, Some("quarantined")).await;
    assert_eq!(caught["reason"], "alternates", "{caught}");
    assert_eq!(code(&world.call("look", LOOK).await), "AG-CONTRACT-CHANGED");
    assert_eq!(
        events(&world).await,
        ["noted compatible 1", "ended compatible 1", "quarantined compatible 1"]
    );
}

#[tokio::test]
async fn a_quarantined_tool_under_another_name_is_named_and_not_served() {
    let world = World::start(often).await;
    let renamed = fake::NOTE.replace(r#""name":"note""#, r#""name":"note_text""#);
    let mut definitions: Vec<String> =
        fake::TOOLS.iter().filter(|(name, _)| *name != "note").map(|(_, text)| (*text).to_owned()).collect();
    let changed = fake::NOTE.replace("Notes.", "Notes everything.");
    serve(&world, &[definitions.clone(), vec![changed]].concat());
    eventually("the quarantine", async || {
        status(&world, "quarantined").await.iter().any(|item| item["name"] == "note").then_some(())
    })
    .await;
    definitions.push(renamed);
    serve(&world, &definitions);
    let found = eventually("the rename", async || {
        let found = status(&world, "quarantined").await.into_iter().find(|item| item["name"] == "note")?;
        found["renames"].as_array().is_some_and(|renames| !renames.is_empty()).then_some(found)
    })
    .await;
    assert_eq!(found["renames"][0]["to"], "note_text", "{found}");
    assert_eq!(found["renames"][0]["identityConfirmed"], false);
    assert_eq!(code(&world.call("note_text", LOOK).await), "AG-TOOL-UNKNOWN");
    assert_eq!(code(&world.call("note", LOOK).await), "AG-CONTRACT-CHANGED");
}

#[tokio::test]
async fn what_the_store_does_not_take_is_quarantined_and_kept_as_soon_as_it_does() {
    let mut world = World::start(often).await;
    let path = world.folder().join("aldgate.sqlite");
    let lock = async |sql: &'static str| {
        let options = SqliteConnectOptions::new().filename(&path).busy_timeout(Duration::from_secs(5));
        let mut held = SqliteConnection::connect_with(&options).await.unwrap();
        sqlx::raw_sql(sql).execute(&mut held).await.unwrap();
        held
    };
    // Another program refuses every row of drift.
    let refuse = "CREATE TRIGGER no_drift BEFORE INSERT ON drifts BEGIN SELECT raise(ABORT, 'no'); END";
    drop(lock(refuse).await);
    serve(&world, &with_look(&behavioural()));
    look_is(&world, Some("quarantined")).await;
    assert_eq!(events(&world).await, [""; 0]);
    serve(&world, &fake::TOOLS.map(|(_, text)| text.to_owned()));
    compared(&world).await;
    drop(lock("DROP TRIGGER no_drift").await);
    eventually("the event", async || (!events(&world).await.is_empty()).then_some(())).await;
    assert_eq!(events(&world).await, ["quarantined behavioural 1"]);
    world.restart(often).await;
    assert_eq!(code(&world.call("look", LOOK).await), "AG-CONTRACT-CHANGED", "it is kept");
}
