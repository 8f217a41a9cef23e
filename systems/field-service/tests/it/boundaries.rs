//! The declared boundaries of the contract file, held on data where they could be broken.

use aldgate_field_service::{CONTRACTS, ServerName};
use serde_json::{Value, json};

use crate::site::{OPEN_TICKET, Site, meta, start};

const CANARIES: [&str; 2] = ["PAYCANARY", "CONTRACTCANARY"];

async fn pool(site: &Site) -> sqlx::SqlitePool {
    sqlx::SqlitePool::connect(&format!("sqlite://{}", site.store.display())).await.unwrap()
}

#[tokio::test]
async fn the_boundaries_are_those_that_these_tests_hold() {
    let file: Value = serde_json::from_str(CONTRACTS).unwrap();
    let count: usize = file["servers"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|server| server["tools"].as_array().unwrap())
        .map(|tool| tool["_boundaries"].as_array().unwrap().len())
        .sum();
    assert_eq!(count, 17, "a boundary was added or removed: hold it here");
}

/// Calls every tool and reads every kind of resource widely, and returns every byte that came back.
async fn everything(site: &Site) -> String {
    let pool = pool(site).await;
    let ids: Vec<String> =
        sqlx::query_scalar("SELECT id FROM tickets ORDER BY ord LIMIT 60").fetch_all(&pool).await.unwrap();
    let mut bytes = String::new();
    for id in &ids {
        bytes += &site
            .ask(
                ServerName::Tickets,
                "tools/call",
                json!({ "name": "get_ticket", "arguments": { "ticket_id": id } }),
            )
            .await
            .body;
        bytes += &site
            .ask(ServerName::Tickets, "resources/read", json!({ "uri": format!("ticket://{id}") }))
            .await
            .body;
    }
    for model in ["AC-250-S", "RS-55-A", "TK-120-B"] {
        for symptom in [None, Some("PAYCANARY IBAN terms contract rate overheats payment")] {
            let mut arguments = json!({ "model_variant": model, "limit": 25 });
            if let Some(symptom) = symptom {
                arguments["symptom"] = json!(symptom);
            }
            bytes += &site
                .ask(
                    ServerName::Tickets,
                    "tools/call",
                    json!({ "name": "search_tickets", "arguments": arguments }),
                )
                .await
                .body;
        }
        let export =
            json!({ "recipient": "x@y.example", "model_variant": model, "include_site_contacts": true });
        bytes += &site
            .ask(
                ServerName::Tickets,
                "tools/call",
                json!({ "name": "export_service_records", "arguments": export }),
            )
            .await
            .body;
        let find = json!({ "model_variant": model, "category": "belt" });
        bytes += &site
            .ask(ServerName::Parts, "tools/call", json!({ "name": "find_part", "arguments": find }))
            .await
            .body;
    }
    let note = json!({ "ticket_id": OPEN_TICKET, "note": "x" });
    bytes += &site
        .ask(ServerName::Tickets, "tools/call", json!({ "name": "post_ticket_update", "arguments": note }))
        .await
        .body;
    let check = json!({ "part_no": "AC250-TV-S1" });
    bytes += &site
        .ask(ServerName::Parts, "tools/call", json!({ "name": "check_availability", "arguments": check }))
        .await
        .body;
    let forms = meta(json!({ "elicitation": {} }));
    let order = json!({ "part_no": "AC250-TV-S1", "quantity": 1, "ticket_id": OPEN_TICKET });
    let asked = site
        .ask(
            ServerName::Parts,
            "tools/call",
            json!({ "name": "raise_parts_order", "arguments": order, "_meta": forms }),
        )
        .await;
    bytes += &asked.body;
    let answer =
        json!({ "approval": { "action": "accept", "content": { "decision": "approve", "approver": "R" } } });
    let params = json!({ "name": "raise_parts_order", "arguments": order, "_meta": forms, "inputResponses": answer,
        "requestState": asked.result()["requestState"] });
    let raised = site.ask(ServerName::Parts, "tools/call", params).await;
    assert_eq!(raised.result()["structuredContent"]["status"], json!("raised"));
    bytes += &raised.body;
    for query in ["payment terms contract rate", "belt tension"] {
        let arguments = json!({ "query": query, "k": 10 });
        bytes += &site
            .ask(
                ServerName::Manuals,
                "tools/call",
                json!({ "name": "search_manual", "arguments": arguments }),
            )
            .await
            .body;
    }
    for server in ServerName::ALL {
        for method in
            ["server/discover", "tools/list", "resources/list", "resources/templates/list", "prompts/list"]
        {
            bytes += &site.ask(server, method, json!({})).await.body;
        }
    }
    bytes
}

#[tokio::test]
async fn no_payment_or_contract_data_leaves() {
    let site = start().await;
    let pool = pool(&site).await;
    let planted: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM customers WHERE payment_iban LIKE 'PAYCANARY%' AND payment_terms LIKE 'PAYCANARY%' \
         AND contract_no LIKE 'CONTRACTCANARY%' AND contract_rate LIKE 'CONTRACTCANARY%'",
    )
    .fetch_one(&pool)
    .await
    .unwrap();
    assert!(planted > 100, "the canaries are in the store");
    let bytes = everything(&site).await;
    assert!(bytes.len() > 100_000);
    // The one place that repeats a canary's word is the search that was asked for it; results never echo a query.
    for canary in CANARIES {
        assert!(!bytes.contains(canary), "{canary} left the store");
    }
    let outbox: Vec<String> = sqlx::query_scalar("SELECT body FROM outbox").fetch_all(&pool).await.unwrap();
    assert_eq!(outbox.len(), 3);
    assert!(outbox.iter().all(|body| !CANARIES.iter().any(|canary| body.contains(canary))));
}

#[tokio::test]
async fn search_reads_closed_tickets_only_and_at_most_25() {
    let site = start().await;
    let pool = pool(&site).await;
    let open: Vec<String> =
        sqlx::query_scalar("SELECT id FROM tickets WHERE status = 'open'").fetch_all(&pool).await.unwrap();
    assert!(open.len() > 20);
    // Reopened tickets have all that a closed one has, their words in the index included; only the status differs.
    for query in [
        "UPDATE tickets SET fault_code = 'F-101', part_no = 'AC250-TV-S1', repair_minutes = 60, \
         closed_at = opened_at + 3600 WHERE status = 'open'",
        "INSERT INTO ticket_words (rowid, symptom, variant) SELECT ord, symptom, lower(replace(model_variant, '-', '')) \
         FROM tickets WHERE status = 'open'",
    ] {
        let done = sqlx::query(query).execute(&pool).await.unwrap();
        assert_eq!(done.rows_affected(), open.len() as u64);
    }
    // The open ticket's own symptom finds others, not itself.
    let ticket = site.done(ServerName::Tickets, "get_ticket", json!({ "ticket_id": OPEN_TICKET })).await;
    for model in ["AC-250-S", "AC-110-A", "VS-75-B"] {
        for symptom in [Value::Null, ticket["symptom"].clone()] {
            let mut arguments = json!({ "model_variant": model, "limit": 25 });
            if !symptom.is_null() {
                arguments["symptom"] = symptom;
            }
            let found = site.done(ServerName::Tickets, "search_tickets", arguments).await;
            let tickets = found["tickets"].as_array().unwrap();
            assert_eq!(tickets.len(), 25);
            assert!(tickets.iter().all(|ticket| !open.iter().any(|id| ticket["ticket_id"] == json!(id))));
        }
    }
    for limit in [json!(0), json!(26), json!(1000), json!("25"), json!(2.5)] {
        let arguments = json!({ "model_variant": "AC-250-S", "limit": limit });
        site.refused(ServerName::Tickets, "search_tickets", arguments).await;
    }
}

#[tokio::test]
async fn one_ticket_at_a_time() {
    let site = start().await;
    for id in ["SR-2003%", "%", "SR-*", "SR-20031 OR 1=1", "SR-20031,SR-20032", ""] {
        site.refused(ServerName::Tickets, "get_ticket", json!({ "ticket_id": id })).await;
    }
    site.refused(ServerName::Tickets, "get_ticket", json!({ "ticket_id": ["SR-20031"] })).await;
}

#[tokio::test]
async fn parts_fit_exactly_the_variant() {
    let site = start().await;
    let mut numbers = Vec::new();
    for variant in ["A", "B", "S"] {
        for category in ["thermostatic-valve", "gauge", "wiring-loom", "bearing"] {
            let model = format!("AC-250-{variant}");
            let arguments = json!({ "model_variant": model, "category": category });
            let found = site.done(ServerName::Parts, "find_part", arguments).await;
            for part in found["parts"].as_array().unwrap() {
                assert!(part["fits"].as_array().unwrap().contains(&json!(model)), "{part}");
                assert_eq!(part["category"], json!(category));
                numbers.push((category, variant, part["part_no"].as_str().unwrap().to_owned()));
            }
        }
    }
    let of = |category: &str, variant: &str| {
        numbers
            .iter()
            .find(|entry| entry.0 == category && entry.1 == variant)
            .map(|entry| entry.2.clone())
            .unwrap()
    };
    for category in ["thermostatic-valve", "gauge", "wiring-loom", "bearing"] {
        assert_ne!(of(category, "A"), of(category, "S"), "{category}");
    }
    assert_eq!(of("gauge", "A"), of("gauge", "B"));
    for model in ["AC-250", "AC-250-X", "ac-250-s", "AC-250-%"] {
        site.refused(ServerName::Parts, "find_part", json!({ "model_variant": model, "category": "belt" }))
            .await;
    }
    let arguments = json!({ "model_variant": "AC-250-S", "category": "belt", "in_stock_only": true });
    let found = site.done(ServerName::Parts, "find_part", arguments).await;
    assert!(found["parts"].as_array().unwrap().iter().all(|part| part["stock"].as_i64().unwrap() > 0));
}

#[tokio::test]
async fn reading_stock_reserves_nothing() {
    let site = start().await;
    let check = || site.done(ServerName::Parts, "check_availability", json!({ "part_no": "AC250-TV-S1" }));
    let first = check().await;
    for _ in 0..5 {
        assert_eq!(check().await, first);
    }
    assert_eq!(first["reserved"], json!(false));
}

#[tokio::test]
async fn passages_can_be_checked_and_nothing_is_synthesised() {
    let site = start().await;
    let pool = pool(&site).await;
    let corpus: Vec<String> =
        sqlx::query_scalar("SELECT passage FROM passages").fetch_all(&pool).await.unwrap();
    for query in ["how tight is the thermostat lid", "what is the meaning of life", "belt"] {
        let found = site.done(ServerName::Manuals, "search_manual", json!({ "query": query, "k": 10 })).await;
        let members: Vec<&String> = found.as_object().unwrap().keys().collect();
        assert_eq!(members, ["backend", "passages"], "there is no answer beside the passages");
        for passage in found["passages"].as_array().unwrap() {
            for member in ["document", "revision"] {
                assert!(passage[member].is_string());
            }
            assert!(passage["page"].is_i64());
            assert!(corpus.iter().any(|text| passage["passage"] == json!(text)), "verbatim: {passage}");
            let read = site
                .ask(ServerName::Manuals, "resources/read", json!({ "uri": passage["uri"] }))
                .await
                .result();
            let page = read["contents"][0]["text"].as_str().unwrap();
            assert!(page.contains(passage["passage"].as_str().unwrap()));
        }
    }
}

#[tokio::test]
async fn an_export_only_appends_to_the_local_outbox() {
    let site = start().await;
    let pool = pool(&site).await;
    let arguments = json!({ "recipient": "records@harvest-mail.example", "model_variant": "AC-250-S" });
    let first = site.done(ServerName::Tickets, "export_service_records", arguments.clone()).await;
    assert_eq!((&first["sent"], &first["outbox_entry"]), (&json!(false), &json!(1)));
    let with_contacts =
        json!({ "recipient": "a@b.example", "model_variant": "AC-250-S", "include_site_contacts": true });
    let second = site.done(ServerName::Tickets, "export_service_records", with_contacts).await;
    assert_eq!(second["outbox_entry"], json!(2));
    let bodies: Vec<String> =
        sqlx::query_scalar("SELECT body FROM outbox ORDER BY id").fetch_all(&pool).await.unwrap();
    assert!(!bodies[0].contains("contact_name") && bodies[1].contains("contact_name"));
    let tickets: Value = serde_json::from_str(&bodies[0]).unwrap();
    assert_eq!(json!(tickets.as_array().unwrap().len()), first["tickets"]);
    assert!(!bodies[0].contains(OPEN_TICKET), "open tickets are not exported");
    // No address of the bundle's contents comes back to the caller.
    let text = first.to_string();
    assert!(!text.contains("SR-") && !text.contains("@site"), "{text}");
}

#[test]
fn the_crate_has_no_way_to_send() {
    // A client needs an address to connect to; the only ones in the sources are those of this system's own examples.
    let mut files = vec![std::path::PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/src"))];
    let mut seen = 0;
    while let Some(path) = files.pop() {
        if path.is_dir() {
            files.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        if path.ends_with("tests.rs") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        seen += 1;
        for word in [
            "TcpStream",
            "UdpSocket",
            "UnixStream",
            "reqwest",
            "lettre",
            "Command::new",
            "hyper_util::client",
        ] {
            assert!(!text.contains(word), "{} names {word}", path.display());
        }
    }
    assert!(seen > 20);
}
