//! What each tool answers.

use std::sync::Arc;

use aldgate_contract::rename::Confirmed;
use aldgate_contract::{Acceptance, Item, Kind};
use aldgate_evidence_server::{Bounds, Shelf};
use expect_test::{Expect, expect};
use serde_json::{Value, json};

use crate::fake::{self, Fake};
use crate::world::{TOKEN_A, TOKEN_B, shelves, world, world_of};

fn shown(value: &Value, expected: Expect) {
    expected.assert_eq(&serde_json::to_string_pretty(value).unwrap());
}

#[tokio::test]
async fn a_contract_is_found_by_its_visible_name_and_by_its_full_name() {
    let world = world();
    let visible = world.value(TOKEN_A, "lookup_contract", json!({ "tool": "fs_get_ticket" })).await;
    shown(
        &visible,
        expect![[r#"
            {
              "tool": "fs_get_ticket",
              "version": "2",
              "schema": {
                "type": "object",
                "properties": {
                  "ticket_id": {
                    "type": "string",
                    "description": "The number of the ticket."
                  }
                },
                "required": [
                  "ticket_id"
                ],
                "additionalProperties": false
              },
              "key": "desk/get_ticket",
              "digest": "sha256:873c0f23251505316e14cf5bd76f95624101917a678dc756b480eb85ec59d50b",
              "pinnedAt": "2026-11-02T00:00:00Z",
              "renames": [
                {
                  "from": "id",
                  "to": "ticket_id",
                  "confidence": 0.92,
                  "identityConfirmed": false
                }
              ]
            }"#]],
    );
    let mut full = world.value(TOKEN_A, "lookup_contract", json!({ "tool": "desk/get_ticket" })).await;
    assert_eq!(full["tool"], "desk/get_ticket");
    full["tool"] = visible["tool"].clone();
    assert_eq!(full, visible);
}

#[tokio::test]
async fn what_is_not_pinned_has_no_contract() {
    let world = world();
    // Unknown, an upstream's own name without the upstream, visible but not pinned, other spellings, another tenant's.
    for tool in [
        "vendor.read",
        "get_ticket",
        "fs_gone",
        "desk/gone",
        "desk",
        "desk/",
        "/get_ticket",
        "Desk/get_ticket",
        "open",
    ] {
        let value = world.value(TOKEN_A, "lookup_contract", json!({ "tool": tool })).await;
        assert_eq!(value, Value::Null, "{tool}");
    }
}

#[tokio::test]
async fn a_first_contract_has_no_version_before_it_to_compare_with() {
    let value = world().value(TOKEN_A, "lookup_contract", json!({ "tool": "clock" })).await;
    assert_eq!((&value["version"], value.get("renames")), (&json!("1"), None));
    assert_eq!(value["schema"]["required"], json!(["zone"]));
}

/// `desk/get_ticket` under a new name, with a rename that somebody confirmed, signed.
fn renamed() -> Shelf {
    let shelf = shelves().remove(0);
    let item = Item { kind: Kind::Tool, name: "read_ticket".to_owned() };
    let definition = r#"{"name":"read_ticket","inputSchema":{"type":"object","properties":{"nr":{"type":"integer"}},"required":["nr"],"additionalProperties":false}}"#;
    let confirmed = [Confirmed { from: "ticket_id".to_owned(), to: "nr".to_owned() }];
    let acceptance = Acceptance {
        at: "2026-11-03T00:00:00Z",
        renamed_from: Some("get_ticket"),
        renames: &confirmed,
        ..Acceptance::default()
    };
    let mut lock = shelf.lock.accept(&item, definition, &acceptance).unwrap();
    assert!(lock.sign(&item, "header..signature".to_owned()));
    let visible = [("fs_read_ticket".to_owned(), "read_ticket".to_owned())].into();
    Shelf { lock: Arc::new(lock), visible, ..shelf }
}

#[tokio::test]
async fn a_contract_says_who_confirmed_what_and_where_it_came_from() {
    let world = world();
    world.server.replace_shelves(vec![renamed()]);
    let value = world.value(TOKEN_A, "lookup_contract", json!({ "tool": "fs_read_ticket" })).await;
    assert_eq!((&value["version"], &value["renamedFrom"]), (&json!("3"), &json!("get_ticket")));
    assert_eq!(value["signature"], "header..signature");
    let rename = json!({ "from": "ticket_id", "to": "nr", "confidence": 1.0, "identityConfirmed": true });
    assert_eq!(value["renames"], json!([rename]));
    assert_eq!(
        world.value(TOKEN_A, "lookup_contract", json!({ "tool": "desk/get_ticket" })).await,
        Value::Null
    );
    let strict = json!({ "tool": "desk/read_ticket", "args": { "ticket_id": "12" }, "mode": "strict" });
    let repaired = world.value(TOKEN_A, "simulate_repair", strict).await;
    assert_eq!((&repaired["applied"], &repaired["args"]), (&json!(true), &json!({ "nr": 12 })));
}

#[tokio::test]
async fn drift_is_listed_up_to_the_limit_the_newest_first() {
    let world = world();
    let count = async |arguments: Value| {
        let value = world.value(TOKEN_A, "query_drift", arguments).await;
        value.as_array().unwrap().len()
    };
    assert_eq!(count(json!({ "tool": "fs_get_ticket" })).await, 20);
    assert_eq!(count(json!({ "tool": "desk/get_ticket", "limit": 1 })).await, 1);
    assert_eq!(count(json!({ "tool": "desk/get_ticket", "limit": 100 })).await, 100);
    assert_eq!(count(json!({ "tool": "desk/get_ticket", "limit": 3.0 })).await, 3);
    let one = world.value(TOKEN_A, "query_drift", json!({ "tool": "fs_get_ticket", "limit": 1 })).await;
    shown(
        &one,
        expect![[r#"
            [
              {
                "version": "2",
                "id": "call_0",
                "tool": "desk/get_ticket",
                "at": 1700000000000,
                "kind": "quarantined",
                "why": "definition",
                "severity": "breaking",
                "before": "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                "after": "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
                "diff": [
                  {
                    "severity": "breaking",
                    "path": "/inputSchema/required",
                    "what": "only-acme-may-see-this"
                  }
                ]
              }
            ]"#]],
    );
}

#[tokio::test]
async fn an_answer_holds_so_many_diffs_as_have_room() {
    let mut source = Fake::default();
    let mut events: Vec<_> = (0..20).map(|number| fake::event("common/clock", number, "")).collect();
    for event in &mut events {
        event.diff = json!("x".repeat(100_000));
    }
    source.drift.insert(("acme".to_owned(), "common/clock".to_owned()), events);
    let world = world_of(source, Bounds::default(), None);
    let value = world.value(TOKEN_A, "query_drift", json!({ "tool": "clock" })).await;
    let given = value.as_array().unwrap().iter().filter(|event| !event["diff"].is_null()).count();
    assert_eq!((value.as_array().unwrap().len(), given), (20, 10));
}

#[tokio::test]
async fn no_drift_is_an_empty_list() {
    for tool in ["vendor.read", "vendor/read", "vault/open", "fs_gone"] {
        assert_eq!(world().value(TOKEN_A, "query_drift", json!({ "tool": tool })).await, json!([]), "{tool}");
    }
}

#[tokio::test]
async fn an_artefact_is_the_whole_record_of_a_call() {
    let world = world();
    let value = world.value(TOKEN_B, "fetch_audit", json!({ "id": "call_of_globex" })).await;
    shown(
        &value,
        expect![[r#"
        {
          "version": "1",
          "id": "call_of_globex",
          "kind": "call",
          "tool": "common/clock",
          "record": [
            {
              "at": 1,
              "kind": "intent",
              "call": "call_of_globex",
              "principal": {
                "tenant": "globex",
                "name": "only-globex-may-see-this"
              },
              "tool": "common/clock",
              "arguments": "hmac-sha256:00",
              "result": "hmac-sha256:01"
            },
            {
              "at": 1,
              "kind": "outcome",
              "call": "call_of_globex",
              "principal": {
                "tenant": "globex",
                "name": "only-globex-may-see-this"
              },
              "tool": "common/clock",
              "arguments": "hmac-sha256:00",
              "result": "hmac-sha256:01"
            }
          ],
          "whole": true,
          "proof": null,
          "checkpoint": null
        }"#]],
    );
    let drift = world.value(TOKEN_B, "fetch_audit", json!({ "id": "drift_of_globex" })).await;
    assert_eq!((&drift["kind"], &drift["record"][0]["kind"]), (&json!("drift"), &json!("drift")));
    assert_eq!(world.value(TOKEN_B, "fetch_audit", json!({ "id": "call_of_nobody" })).await, Value::Null);
}

#[tokio::test]
async fn a_repair_is_simulated_and_nothing_is_sent() {
    let world = world();
    for (mode, tool) in [("observe", "fs_get_ticket"), ("repair", "fs_get_ticket"), ("strict", "vendor.read")]
    {
        let arguments = json!({ "tool": tool, "args": { "ticket_id": "SR-1" }, "mode": mode });
        let value = world.value(TOKEN_A, "simulate_repair", arguments).await;
        assert_eq!(value["applied"], false);
        assert_eq!(value["valid"], tool == "fs_get_ticket");
        assert_eq!(value["dispatched"], false);
        assert_eq!(value["args"], json!({ "ticket_id": "SR-1" }));
        assert_eq!(value["changes"], json!([]));
        assert_ne!(value["reason"], "");
    }
}

#[tokio::test]
async fn arguments_for_the_version_before_are_repaired_as_far_as_the_mode_goes() {
    let world = world();
    let of = async |mode: &str| {
        let arguments = json!({ "tool": "fs_get_ticket", "args": { "id": "SR-1" }, "mode": mode });
        world.value(TOKEN_A, "simulate_repair", arguments).await
    };
    shown(
        &of("repair").await,
        expect![[r#"
        {
          "applied": true,
          "changes": [
            {
              "rule": "rename",
              "path": "/id",
              "before": "SR-1",
              "after": "SR-1",
              "to": "/ticket_id",
              "confidence": 0.92
            }
          ],
          "args": {
            "ticket_id": "SR-1"
          },
          "valid": true,
          "reason": "written for version 1, with 1 change they are valid under version 2",
          "dispatched": false
        }"#]],
    );
    let (observed, strict) = (of("observe").await, of("strict").await);
    assert_eq!(observed["changes"], of("repair").await["changes"]);
    for untouched in [observed, strict] {
        assert_eq!((&untouched["applied"], &untouched["args"]), (&json!(false), &json!({ "id": "SR-1" })));
    }
}

#[tokio::test]
async fn the_mode_is_repair_where_none_is_named() {
    let world = world();
    let arguments = json!({ "tool": "fs_get_ticket", "args": { "id": "SR-1" } });
    let mut named = arguments.clone();
    named["mode"] = json!("repair");
    let (unnamed, named) = (
        world.value(TOKEN_A, "simulate_repair", arguments).await,
        world.value(TOKEN_A, "simulate_repair", named).await,
    );
    assert_eq!(unnamed, named);
}

#[tokio::test]
async fn coverage_counts_and_never_claims_safety() {
    let tools = json!(["fs_get_ticket", "desk/get_ticket", "vendor.read", "fs_gone", "vault/open", "clock"]);
    let value = world().value(TOKEN_A, "coverage_report", json!({ "tools": tools })).await;
    assert_eq!(value["status"], "unvalidated");
    assert_ne!(value["reason"], "");
    let counted: Vec<_> = value["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| json!([one["tool"], one["contract"], one["observations"]]).to_string())
        .collect();
    expect![[r#"
        ["fs_get_ticket",true,5]
        ["desk/get_ticket",true,5]
        ["vendor.read",false,0]
        ["fs_gone",false,0]
        ["vault/open",false,0]
        ["clock",true,9]"#]]
    .assert_eq(&counted.join("\n"));
    shown(
        &value["tools"][0]["versions"],
        expect![[r#"
        [
          {
            "version": "2",
            "calls": 3,
            "failures": 1,
            "violations": 0,
            "medianMs": 5,
            "p95Ms": 50,
            "longestMs": 41
          },
          {
            "version": "1",
            "calls": 2,
            "failures": 1,
            "violations": 0,
            "medianMs": 5,
            "p95Ms": 50,
            "longestMs": 41
          }
        ]"#]],
    );
    assert_eq!(value["tools"][2].as_object().unwrap().len(), 3);
}

#[tokio::test]
async fn a_reload_changes_what_is_found() {
    let world = world();
    let clock = json!({ "tool": "clock" });
    assert_ne!(world.value(TOKEN_A, "lookup_contract", clock.clone()).await, Value::Null);
    let fewer: Vec<Shelf> = shelves().into_iter().filter(|shelf| shelf.tenants.is_some()).collect();
    world.server.replace_shelves(fewer);
    assert_eq!(world.value(TOKEN_A, "lookup_contract", clock).await, Value::Null);
}
