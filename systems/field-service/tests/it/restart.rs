//! What the servers wrote survives a restart, and a store is filled once.

use aldgate_field_service::{FieldService, OpenFault, Options, ServerName};
use serde_json::{Value, json};

use crate::site::{OPEN_TICKET, Site, copied_store, meta, options, serve};

async fn open(folder: tempfile::TempDir, store: &std::path::Path) -> Site {
    let service = FieldService::open(options(Some(store.to_owned()))).await.unwrap();
    let address = serve(service.router()).await;
    Site::of(address, service, store.to_owned(), folder)
}

#[tokio::test]
async fn orders_notes_and_outbox_survive() {
    let (folder, store) = copied_store();
    let site = open(folder, &store).await;
    let note = json!({ "ticket_id": OPEN_TICKET, "note": "written before the restart" });
    site.done(ServerName::Tickets, "post_ticket_update", note).await;
    let export = json!({ "recipient": "a@b.example", "model_variant": "AC-250-S" });
    site.done(ServerName::Tickets, "export_service_records", export.clone()).await;
    let order = json!({ "part_no": "AC250-TV-S1", "quantity": 1, "ticket_id": OPEN_TICKET });
    let params = |state: Option<&Value>| {
        let mut params = json!({ "name": "raise_parts_order", "arguments": order, "_meta": meta(json!({ "elicitation": {} })) });
        if let Some(state) = state {
            params["requestState"] = state.clone();
            params["inputResponses"] = json!({ "approval": { "action": "accept",
                "content": { "decision": "approve", "approver": "Rosa Quinn" } } });
        }
        params
    };
    let asked = site.ask(ServerName::Parts, "tools/call", params(None)).await.result();
    let pending = site.ask(ServerName::Parts, "tools/call", params(None)).await.result();
    let raised =
        site.ask(ServerName::Parts, "tools/call", params(Some(&asked["requestState"]))).await.result();
    assert_eq!(raised["structuredContent"]["order_id"], json!("PO-000001"));
    let folder = site.stop().await;

    let site = open(folder, &store).await;
    let ticket = site.done(ServerName::Tickets, "get_ticket", json!({ "ticket_id": OPEN_TICKET })).await;
    let notes = ticket["notes"].as_array().unwrap();
    assert_eq!(notes.last().unwrap()["note"], json!("written before the restart"));
    let again = site.ask(ServerName::Parts, "tools/call", params(Some(&asked["requestState"]))).await;
    assert_eq!(again.code(), -32602, "a decision stays spent");
    // A form that was open over the restart is still good: nothing of it was in memory.
    let raised =
        site.ask(ServerName::Parts, "tools/call", params(Some(&pending["requestState"]))).await.result();
    assert_eq!(raised["structuredContent"]["order_id"], json!("PO-000002"));
    let export = site.done(ServerName::Tickets, "export_service_records", export).await;
    assert_eq!(export["outbox_entry"], json!(2));
}

#[tokio::test]
async fn a_folder_is_filled_once_even_by_three_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("data");
    let small = || Options { tickets: 100, ..options(Some(store.clone())) };
    let services = futures::future::join_all((0..3).map(|_| FieldService::open(small()))).await;
    let services: Vec<FieldService> = services.into_iter().map(Result::unwrap).collect();
    assert!(store.join("field-service.sqlite").is_file());
    let pool = sqlx::SqlitePool::connect(&format!("sqlite://{}/field-service.sqlite", store.display()))
        .await
        .unwrap();
    let tickets: i64 = sqlx::query_scalar("SELECT count(*) FROM tickets").fetch_one(&pool).await.unwrap();
    assert_eq!(tickets, 100);
    for service in &services {
        service.close().await;
    }
    // Asking for more later does not change what is there.
    let mut reports = 0;
    let again =
        FieldService::open_with(Options { tickets: 5000, ..small() }, |_| reports += 1).await.unwrap();
    again.close().await;
    let tickets: i64 = sqlx::query_scalar("SELECT count(*) FROM tickets").fetch_one(&pool).await.unwrap();
    assert_eq!((tickets, reports), (100, 0));
}

#[tokio::test]
async fn a_private_store_is_removed() {
    let before = private_stores();
    let service = FieldService::open(Options { tickets: 100, ..options(None) }).await.unwrap();
    let during: Vec<_> = private_stores().into_iter().filter(|path| !before.contains(path)).collect();
    assert!(!during.is_empty());
    service.close().await;
    drop(service);
    let left = private_stores();
    assert!(during.iter().any(|path| !left.contains(path)), "{left:?}");
}

fn private_stores() -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(std::env::temp_dir()).unwrap().map(|entry| entry.unwrap().path());
    entries
        .filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("aldgate-field-service-"))
        .collect()
}

#[tokio::test]
async fn impossible_options_are_refused_with_what_is_possible() {
    for tickets in [0, 99, 100_001] {
        let fault = FieldService::open(Options { tickets, ..options(None) }).await.unwrap_err();
        assert!(matches!(fault, OpenFault::Size { asked } if asked == tickets));
        assert_eq!(
            fault.to_string(),
            format!("`{tickets}` tickets cannot be generated, expected 100 to 100000")
        );
    }
    let access = aldgate_field_service::Access::Bearer(String::new());
    let fault = FieldService::open(Options { access, ..options(None) }).await.unwrap_err();
    assert!(matches!(fault, OpenFault::EmptySecret));
    let file = tempfile::NamedTempFile::new().unwrap();
    let store = file.path().join("below-a-file").join("x.sqlite");
    let fault = FieldService::open(options(Some(store))).await.unwrap_err();
    assert!(matches!(fault, OpenFault::Store(_)), "{fault:?}");
}
