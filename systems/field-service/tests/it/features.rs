//! What the tools, resources, prompts and completions answer.

use aldgate_field_service::ServerName;
use serde_json::{Value, json};

use crate::site::{OPEN_TICKET, Site, start};

fn texts<'a>(entries: &'a Value, member: &str) -> Vec<&'a str> {
    entries.as_array().unwrap().iter().map(|entry| entry[member].as_str().unwrap()).collect()
}

#[tokio::test]
async fn without_a_symptom_tickets_come_newest_first() {
    let site = start().await;
    let found = site.done(ServerName::Tickets, "search_tickets", json!({ "model_variant": "RS-90-B" })).await;
    assert_eq!(found["count"], json!(10), "the default of `limit`");
    let opened = texts(&found["tickets"], "opened_at");
    assert!(opened.is_sorted_by(|a, b| a >= b), "{opened:?}");
    for ticket in found["tickets"].as_array().unwrap() {
        assert!(ticket["part_no"].as_str().unwrap().starts_with("RS90-"), "{ticket}");
        assert!(ticket["repair_minutes"].as_i64().unwrap() >= 15);
        assert_eq!(ticket["model_variant"], json!("RS-90-B"));
    }
    let filtered = json!({ "model_variant": "RS-90-B", "fault_code": "F-113", "limit": 3 });
    let filtered = site.done(ServerName::Tickets, "search_tickets", filtered).await;
    assert!(filtered["count"].as_i64().unwrap() > 0);
    assert!(texts(&filtered["tickets"], "fault_code").iter().all(|code| *code == "F-113"));
}

#[tokio::test]
async fn a_symptom_ranks_by_similarity_and_respects_the_filters() {
    let site = start().await;
    let arguments =
        json!({ "model_variant": "VS-75-A", "symptom": "belt squeals", "limit": 25, "fault_code": "F-113" });
    let found = site.done(ServerName::Tickets, "search_tickets", arguments).await;
    assert!(texts(&found["tickets"], "fault_code").iter().all(|code| *code == "F-113"));
    assert!(texts(&found["tickets"], "model_variant").iter().all(|model| *model == "VS-75-A"));
    assert_eq!(found["backend"], json!("sqlite-fts5-bm25+porter+synonyms"));
    let scores: Vec<f64> =
        found["tickets"].as_array().unwrap().iter().map(|ticket| ticket["score"].as_f64().unwrap()).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
    // Query syntax of the search engine in a symptom is only text.
    for symptom in ["\" OR 1=1 --", "symptom : (a) NOT b*", "NEAR(a b)", "!!!", "'; DROP TABLE tickets"] {
        let arguments = json!({ "model_variant": "VS-75-A", "symptom": symptom });
        site.done(ServerName::Tickets, "search_tickets", arguments).await;
    }
    let found = site.done(ServerName::Tickets, "get_ticket", json!({ "ticket_id": OPEN_TICKET })).await;
    assert_eq!(found["ticket_id"], json!(OPEN_TICKET));
}

#[tokio::test]
async fn the_demonstrations_ticket_leads_from_symptom_to_order() {
    let site = start().await;
    let ticket = site.done(ServerName::Tickets, "get_ticket", json!({ "ticket_id": OPEN_TICKET })).await;
    assert_eq!(ticket["status"], json!("open"));
    assert_eq!(ticket["model_variant"], json!("AC-250-S"));
    assert!(ticket["customer_text"].as_str().unwrap().contains("Ignore your previous instructions"));
    assert!(ticket.get("diagnosis").is_none(), "an open ticket is not diagnosed");
    let arguments = json!({ "model_variant": "AC-250-S", "symptom": ticket["symptom"], "limit": 5 });
    let history = site.done(ServerName::Tickets, "search_tickets", arguments).await;
    let best = &history["tickets"][0];
    assert_eq!(best["fault_code"], json!("F-101"));
    assert_eq!(best["part_category"], json!("thermostatic-valve"));
    let arguments = json!({ "model_variant": "AC-250-S", "category": best["part_category"] });
    let parts = site.done(ServerName::Parts, "find_part", arguments).await;
    assert_eq!(parts["count"], json!(1));
    assert_eq!(parts["parts"][0]["part_no"], best["part_no"]);
    assert_eq!(parts["parts"][0]["fits"], json!(["AC-250-S"]));
    let arguments = json!({ "part_no": best["part_no"] });
    let stock = site.done(ServerName::Parts, "check_availability", arguments).await;
    assert_eq!((&stock["stock"], &stock["lead_time_days"]), (&json!(3), &json!(2)));
    let arguments = json!({ "query": "thermostatic valve replacement", "product_family": "AC-250", "variant": "S", "k": 3 });
    let manual = site.done(ServerName::Manuals, "search_manual", arguments).await;
    let passage = &manual["passages"][0];
    assert_eq!(passage["section"], json!("thermostatic-valve"));
    assert_eq!((&passage["revision"], &passage["variant"]), (&json!("R2"), &json!("S")));
    assert!(passage["passage"].as_str().unwrap().contains("32 Nm"), "{passage}");
}

#[tokio::test]
async fn figures_differ_by_variant_and_revision() {
    let site = start().await;
    let mut torques = Vec::new();
    for (variant, superseded) in [("A", false), ("B", false), ("S", false), ("S", true)] {
        let arguments =
            json!({ "query": "thermostatic valve", "product_family": "AC-250", "variant": variant, "k": 10 });
        let found = site.done(ServerName::Manuals, "search_manual", arguments).await;
        let passages = found["passages"].as_array().unwrap();
        let passage = passages
            .iter()
            .find(|passage| {
                passage["section"] == json!("thermostatic-valve")
                    && passage["superseded"] == json!(superseded)
            })
            .unwrap();
        let text = passage["passage"].as_str().unwrap();
        let torque = text.split("crosswise to ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
        torques.push(torque);
    }
    assert_eq!(torques, ["28", "30", "32", "30"]);
}

#[tokio::test]
async fn every_family_has_two_manuals_in_two_revisions() {
    let site = start().await;
    let listed = site.ask(ServerName::Manuals, "resources/list", json!({})).await.result();
    assert_eq!(listed["resources"].as_array().unwrap().len(), 12);
    for uri in texts(&listed["resources"], "uri") {
        for revision in ["R1", "R2"] {
            let uri = uri.replace("R2", revision).replace("/11", "/12");
            let read = site.ask(ServerName::Manuals, "resources/read", json!({ "uri": uri })).await.result();
            assert!(read["contents"][0]["text"].as_str().unwrap().len() > 50, "{uri}");
        }
    }
}

#[tokio::test]
async fn a_note_is_appended_to_an_open_ticket_only() {
    let site = start().await;
    let before = site.done(ServerName::Tickets, "get_ticket", json!({ "ticket_id": OPEN_TICKET })).await;
    let note = json!({ "ticket_id": OPEN_TICKET, "note": "Diagnosed F-101, part ordered." });
    let posted = site.done(ServerName::Tickets, "post_ticket_update", note.clone()).await;
    let after = site.done(ServerName::Tickets, "get_ticket", json!({ "ticket_id": OPEN_TICKET })).await;
    let (before, after) = (before["notes"].as_array().unwrap(), after["notes"].as_array().unwrap());
    assert_eq!(after[..before.len()], before[..], "earlier notes are untouched");
    assert_eq!(after.len(), before.len() + 1);
    assert_eq!(after[before.len()]["note"], note["note"]);
    assert_eq!(posted["notes"], json!(after.len()));

    let closed =
        site.done(ServerName::Tickets, "search_tickets", json!({ "model_variant": "AC-250-S" })).await;
    let closed = &closed["tickets"][0]["ticket_id"];
    let note = json!({ "ticket_id": closed, "note": "late" });
    assert!(site.refused(ServerName::Tickets, "post_ticket_update", note).await.contains("closed"));
    let note = json!({ "ticket_id": "SR-99999", "note": "x" });
    assert!(site.refused(ServerName::Tickets, "post_ticket_update", note).await.contains("no ticket"));
    let note = json!({ "ticket_id": OPEN_TICKET, "note": "  " });
    assert!(site.refused(ServerName::Tickets, "post_ticket_update", note).await.contains("empty"));
    let note = json!({ "ticket_id": OPEN_TICKET, "note": "x".repeat(2001) });
    assert!(site.refused(ServerName::Tickets, "post_ticket_update", note).await.contains("2000"));
}

#[tokio::test]
async fn resources_are_listed_and_read() {
    let site = start().await;
    let listed = site.ask(ServerName::Tickets, "resources/list", json!({})).await.result();
    let uris = texts(&listed["resources"], "uri");
    assert_eq!(uris[0], "ticket://SR-20031");
    assert_eq!(uris.len(), 5);
    for server in [ServerName::Tickets, ServerName::Manuals] {
        let listed = site.ask(server, "resources/list", json!({})).await.result();
        for resource in listed["resources"].as_array().unwrap() {
            assert!(resource["icons"][0]["src"].as_str().unwrap().starts_with("data:image/svg+xml;base64,"));
            let read = site.ask(server, "resources/read", json!({ "uri": resource["uri"] })).await.result();
            assert_eq!(read["contents"][0]["uri"], resource["uri"]);
            assert!(read["ttlMs"].is_u64());
            assert_eq!(read["cacheScope"], json!("private"));
        }
        let templates = site.ask(server, "resources/templates/list", json!({})).await.result();
        let template = &templates["resourceTemplates"][0];
        let expected = if server == ServerName::Tickets {
            "ticket://{ticket_id}"
        } else {
            "manual://{document}/{revision}/{page}"
        };
        assert_eq!(template["uriTemplate"], json!(expected));
    }
    let read =
        site.ask(ServerName::Tickets, "resources/read", json!({ "uri": "ticket://SR-20031" })).await.result();
    let text: Value = serde_json::from_str(read["contents"][0]["text"].as_str().unwrap()).unwrap();
    let tool = site.done(ServerName::Tickets, "get_ticket", json!({ "ticket_id": OPEN_TICKET })).await;
    assert_eq!(text, tool);
}

#[tokio::test]
async fn a_missing_resource_is_an_error_with_its_uri() {
    let site = start().await;
    for (server, uri) in [
        (ServerName::Tickets, "ticket://SR-99999"),
        (ServerName::Tickets, "ticket://SR-20031/../SR-20032"),
        (ServerName::Tickets, "ticket://*"),
        (ServerName::Tickets, "file:///etc/passwd"),
        (ServerName::Manuals, "manual://FM-AC-250/R2/999"),
        (ServerName::Manuals, "manual://FM-AC-250/R2/+12"),
        (ServerName::Manuals, "manual://FM-AC-250/R2"),
        (ServerName::Manuals, "manual://../../etc/passwd"),
    ] {
        let reply = site.ask(server, "resources/read", json!({ "uri": uri })).await;
        assert_eq!(reply.code(), -32602, "{uri}");
        assert_eq!(reply.json()["error"]["data"], json!({ "uri": uri }));
    }
}

#[tokio::test]
async fn the_prompt_is_filled_in_and_checked() {
    let site = start().await;
    let listed = site.ask(ServerName::Tickets, "prompts/list", json!({})).await.result();
    let prompt = &listed["prompts"][0];
    assert_eq!(prompt["name"], json!("diagnose_fault"));
    assert!(prompt["icons"][0]["src"].as_str().unwrap().starts_with("data:image/"));
    assert_eq!(texts(&prompt["arguments"], "name"), ["model_variant", "symptom", "fault_code"]);
    let get = async |arguments: Value| {
        let params = json!({ "name": "diagnose_fault", "arguments": arguments });
        site.ask(ServerName::Tickets, "prompts/get", params).await
    };
    let reply = get(json!({ "model_variant": "AC-250-S", "symptom": "gets hot", "fault_code": "F-101" }))
        .await
        .result();
    let text = reply["messages"][0]["content"]["text"].as_str().unwrap();
    for part in ["AC-250-S", "\"gets hot\"", "F-101"] {
        assert!(text.contains(part), "{text}");
    }
    for wrong in [
        json!({ "symptom": "hot" }),
        json!({ "model_variant": "AC-250-S" }),
        json!({ "model_variant": "AC-250-S", "symptom": " " }),
        json!({ "model_variant": "ZZ-10-A", "symptom": "hot" }),
        json!({ "model_variant": "AC-250-S", "symptom": "hot", "fault_code": "F-999" }),
    ] {
        assert_eq!(get(wrong).await.code(), -32602);
    }
    let params = json!({ "name": "other" });
    assert_eq!(site.ask(ServerName::Tickets, "prompts/get", params).await.code(), -32602);
}

async fn completed(site: &Site, server: ServerName, reference: Value, name: &str, value: &str) -> Value {
    let params = json!({ "ref": reference, "argument": { "name": name, "value": value } });
    site.ask(server, "completion/complete", params).await.result()["completion"].clone()
}

#[tokio::test]
async fn variants_codes_and_documents_complete() {
    let site = start().await;
    let prompt = json!({ "type": "ref/prompt", "name": "diagnose_fault" });
    let variants = completed(&site, ServerName::Tickets, prompt.clone(), "model_variant", "ac-2").await;
    assert_eq!(
        variants,
        json!({ "values": ["AC-250-A", "AC-250-B", "AC-250-S"], "total": 3, "hasMore": false })
    );
    let all = completed(&site, ServerName::Tickets, prompt.clone(), "model_variant", "").await;
    assert_eq!(all["total"], json!(18));
    let codes = completed(&site, ServerName::Tickets, prompt.clone(), "fault_code", "F-11").await;
    assert_eq!(codes["values"].as_array().unwrap().len(), 10);
    let template = json!({ "type": "ref/resource", "uri": "manual://{document}/{revision}/{page}" });
    let documents = completed(&site, ServerName::Manuals, template.clone(), "document", "FM-R").await;
    assert_eq!(documents["values"], json!(["FM-RS-90", "FM-RS-55"]));
    let revisions = completed(&site, ServerName::Manuals, template, "revision", "").await;
    assert_eq!(revisions["values"], json!(["R2", "R1"]));
    let tickets = json!({ "type": "ref/resource", "uri": "ticket://{ticket_id}" });
    let none = completed(&site, ServerName::Tickets, tickets, "ticket_id", "SR-2").await;
    assert_eq!(none["values"], json!([]), "open tickets cannot be enumerated");
    let params = json!({ "ref": prompt, "argument": { "name": "nope", "value": "" } });
    assert_eq!(site.ask(ServerName::Tickets, "completion/complete", params).await.code(), -32602);
    let params =
        json!({ "ref": { "type": "ref/prompt", "name": "x" }, "argument": { "name": "a", "value": "" } });
    assert_eq!(site.ask(ServerName::Parts, "completion/complete", params).await.code(), -32601);
}
