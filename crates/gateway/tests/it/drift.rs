//! What becomes of contracts whose live definition is not the pinned one, and the evidence of it.

mod credentials;
mod locks;
mod quarantine;
mod results;
mod ruled;

use std::time::Duration;

use serde_json::Value;

use crate::fake;
use crate::world::{Config, World, eventually};

const LOOK: &str = r#"{"text":"t"}"#;

fn breaking() -> String {
    fake::LOOK.replace(r#""required":["text"]"#, r#""required":["text","n"]"#)
}

fn behavioural() -> String {
    fake::LOOK.replace("closely", "very closely")
}

fn compatible() -> String {
    fake::LOOK.replace(r#""n":{"type":"integer"}"#, r#""n":{"type":"number"}"#)
}

fn cosmetic() -> String {
    fake::LOOK.replace(r#""title":"Look""#, r#""title":"A look""#)
}

fn digest(definition: &str) -> String {
    aldgate_contract::fingerprint(definition).unwrap().jcs.to_string()
}

/// The fake's definitions with this one in the place of `look`.
fn with_look(definition: &str) -> Vec<String> {
    fake::TOOLS
        .iter()
        .map(|(name, text)| if *name == "look" { definition } else { text }.to_owned())
        .collect()
}

fn serve(world: &World, definitions: &[String]) {
    world.up.lists(&definitions.iter().map(String::as_str).collect::<Vec<_>>()).unwrap();
}

fn often(config: &mut Config) {
    config.up().verify_every = Duration::from_secs(1);
}

async fn status(world: &World, member: &str) -> Vec<Value> {
    status_of(world, "up", member).await
}

async fn status_of(world: &World, upstream: &str, member: &str) -> Vec<Value> {
    let status = world.look("/v1/status").await;
    let found = status["upstreams"].as_array().unwrap().iter().find(|found| found["name"] == upstream);
    found.unwrap()[member].as_array().unwrap().clone()
}

/// Waits until `look` stands so; `None` stands for neither quarantined nor noted.
async fn look_is(world: &World, member: Option<&str>) -> Value {
    look_of(world, "up", member).await
}

/// The same for the `look` of this upstream.
async fn look_of(world: &World, upstream: &str, member: Option<&str>) -> Value {
    eventually("the drift", async || {
        let of = async |member| {
            status_of(world, upstream, member).await.into_iter().find(|item| item["name"] == "look")
        };
        let (quarantined, noted) = (of("quarantined").await, of("drift").await);
        match member {
            Some("quarantined") => quarantined,
            Some(_) => noted,
            None => (quarantined.is_none() && noted.is_none()).then_some(Value::Null),
        }
    })
    .await
}

/// A comparison that begins after this has ended.
async fn compared(world: &World) {
    let at = async || world.look("/v1/status").await["upstreams"][0]["compared_at"].clone();
    for _ in 0..2 {
        let before = at().await;
        eventually("a comparison", async || (at().await != before).then_some(())).await;
    }
}

/// The rows of drift that `approver`'s tenant has, as `event severity version`.
async fn events(world: &World) -> Vec<String> {
    let rows = world.look("/v1/evidence?kind=drift&limit=500").await["rows"].as_array().unwrap().clone();
    let brief = |row: &Value| {
        let drift = &row["drift"];
        let word = |key: &str| drift[key].as_str().unwrap_or("-").to_owned();
        format!("{} {} {}", word("event"), word("severity"), drift["version"])
    };
    rows.iter().map(brief).collect()
}
