//! The five definitions.

use std::collections::BTreeSet;

use aldgate_contract::signature::{Keyring, SigningKey, Statement};
use aldgate_contract::{Digest, Kind, Validator, fingerprint};
use aldgate_evidence_server::{Bounds, SERVER_NAME};
use expect_test::expect;
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use crate::fake::Fake;
use crate::world::{TOKEN_A, TOKEN_B, official, world, world_of};

const CONTRACT: &str = include_str!("../../contract.json");

async fn listed() -> Vec<Value> {
    let answered = world().modern(TOKEN_A, "tools/list", json!({})).await;
    answered.body["result"]["tools"].as_array().unwrap().clone()
}

/// Whether all that `least` says, `whole` says too: words may be added, and members of objects.
fn says(whole: &Value, least: &Value) -> bool {
    match (whole, least) {
        (Value::Object(whole), Value::Object(least)) => {
            least.iter().all(|(key, value)| whole.get(key).is_some_and(|found| says(found, value)))
        }
        (whole, least) => whole == least,
    }
}

#[tokio::test]
async fn the_definitions_are_those_of_the_contract() {
    let contract: Value = serde_json::from_str(CONTRACT).unwrap();
    let agreed = contract["tools"].as_array().unwrap();
    let listed = listed().await;
    assert_eq!(listed.len(), agreed.len());
    for (one, agreed) in listed.iter().zip(agreed) {
        official("Tool", one);
        for member in ["name", "inputSchema", "annotations"] {
            assert_eq!(one[member].to_string(), agreed[member].to_string());
        }
        assert!(says(&one["outputSchema"], &agreed["outputSchema"]), "{}", one["name"]);
        for schema in ["inputSchema", "outputSchema"] {
            Validator::compile(&to_raw_value(&one[schema]).unwrap()).unwrap();
        }
    }
}

#[tokio::test]
async fn each_has_words_of_its_own_for_a_model_to_choose_by() {
    let mut words = BTreeSet::new();
    for one in listed().await {
        let title = one["title"].as_str().unwrap().to_owned();
        let description = one["description"].as_str().unwrap().to_owned();
        assert!((60..1000).contains(&description.len()), "{description}");
        assert!(
            description.contains("Use it") || description.contains("Nothing is ever sent"),
            "{description}"
        );
        assert!(words.insert(title) && words.insert(description));
    }
}

#[tokio::test]
async fn each_carries_the_digest_of_its_definition() {
    let mut seen = Vec::new();
    for mut one in listed().await {
        let meta = one.as_object_mut().unwrap().remove("_meta").unwrap();
        let contract = &meta["io.github.aldgate/contract"];
        assert_eq!(contract["digest"], fingerprint(&one.to_string()).unwrap().jcs.to_string());
        assert_eq!(contract.get("signature"), None);
        seen.push(format!("{} {} {}", one["name"], contract["version"], contract["digest"]));
    }
    // A change here is a new version of the definitions: raise `VERSION` in `tools.rs` with it, once one was released.
    expect![[r#"
        "lookup_contract" 1 "sha256:cf7b3925109fcf3d3a2e605d13383f55c6b93ad621d1b13796fcbc96e135ceb5"
        "query_drift" 1 "sha256:efb4147190fb4776bebac6633f44169b1784030bc6b52fd7243ef140028beb78"
        "fetch_audit" 1 "sha256:9b2bd56ecefe04a8709f7414f66953759b9d5bedc481f50334caaadf9989377b"
        "simulate_repair" 1 "sha256:4fecf1d3111ff2e653fdad9a97d0ef72dc9036fdb0cd2ff9af9408004cc6c721"
        "coverage_report" 1 "sha256:239fbf841ce5b9e1db322b7f7eb363fb816d6b2713908b0619e86446ce9bfa56""#]]
    .assert_eq(&seen.join("\n"));
}

#[tokio::test]
async fn the_host_signs_each_definition_that_it_serves() {
    let key = SigningKey::from_seed([7; 32], Some("host-1")).unwrap();
    let keyring = Keyring::new([key.public().clone()], [] as [String; 0]).unwrap();
    let world = world_of(Fake::default(), Bounds::default(), Some(&key));
    let answered = world.modern(TOKEN_A, "tools/list", json!({})).await;
    let older = world.older(TOKEN_A, "tools/list", json!({})).await;
    assert_eq!(answered.body["result"]["tools"], older.body["result"]["tools"]);
    for mut one in answered.body["result"]["tools"].as_array().unwrap().clone() {
        let meta = one.as_object_mut().unwrap().remove("_meta").unwrap();
        let contract = &meta["io.github.aldgate/contract"];
        let digest = fingerprint(&one.to_string()).unwrap().jcs;
        let name = one["name"].as_str().unwrap();
        let version = u32::try_from(contract["version"].as_u64().unwrap()).unwrap();
        let statement = Statement { upstream: SERVER_NAME, kind: Kind::Tool, name, version, digest };
        let signature = contract["signature"].as_str();
        assert_eq!(keyring.verify(&statement, signature), Ok("host-1".to_owned()));
        let other = Statement { digest: Digest::of("another"), ..statement };
        assert!(keyring.verify(&other, signature).is_err());
    }
}

#[tokio::test]
async fn the_list_is_the_same_for_everybody_and_has_one_page() {
    let world = world();
    let first = world.modern(TOKEN_A, "tools/list", json!({})).await;
    let second = world.modern(TOKEN_B, "tools/list", json!({})).await;
    assert_eq!(first.body, second.body);
    assert_eq!(
        (&first.body["result"]["ttlMs"], first.body["result"].get("nextCursor")),
        (&json!(300_000), None)
    );
    for cursor in ["", "2"] {
        let refused = world.modern(TOKEN_A, "tools/list", json!({ "cursor": cursor })).await;
        assert_eq!((refused.status, &refused.body["error"]["code"]), (200, &json!(-32602)));
    }
}

#[tokio::test]
async fn discovery_says_what_is_spoken() {
    let answered = world().modern(TOKEN_A, "server/discover", json!({})).await;
    assert_eq!(answered.status, 200);
    assert_eq!(answered.headers["content-type"], "application/json");
    assert_eq!(answered.headers["cache-control"], "no-store");
    let result = &answered.body["result"];
    assert_eq!(result["supportedVersions"], json!(["2026-07-28"]));
    assert_eq!(result["capabilities"], json!({ "tools": {} }));
}
