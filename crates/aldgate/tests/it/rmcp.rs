//! The official Rust SDK through the gateway: it reads, completes, listens and hears of progress.

use std::time::Duration;

use aldgate_testkit::{RmcpClient, RmcpFault, RmcpHearing};
use serde_json::{Map, Value, json};

use crate::running::{Dev, Serving};
use crate::upstream::Everything;

const TICKET: &str = "ticket://SR-20031";
const WATCHED: &str = "test://watched-resource";

fn runs(test: impl Future<Output = Result<(), RmcpFault>>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let done = runtime.block_on(async { tokio::time::timeout(Duration::from_secs(60), test).await });
    done.expect("it ends").unwrap_or_else(|fault| panic!("{fault}: {fault:?}"));
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().expect("an object").clone()
}

fn named(listed: &[Value], member: &str) -> Vec<String> {
    listed.iter().map(|one| one[member].as_str().expect("a text").to_owned()).collect()
}

/// Waits until all of this was heard, in whatever order.
async fn hears(hearing: &mut RmcpHearing, expected: &[&str]) -> Result<(), RmcpFault> {
    let mut left: Vec<&str> = expected.to_vec();
    while !left.is_empty() {
        let told = hearing.next().await?;
        left.retain(|one| *one != told);
    }
    Ok(())
}

#[test]
fn rmcp_reads_a_ticket_and_a_manual_uses_the_prompt_and_watches_the_ticket() {
    let serving = Serving::start(&["--no-run"]);
    runs(async {
        let client = RmcpClient::connect(&serving.url, &serving.agent).await?;
        // Right after the start not every upstream was asked for its resources; such a list is not kept by the client.
        while !named(&client.resources().await?, "uri").contains(&TICKET.to_owned()) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let mut templates = named(&client.templates().await?, "uriTemplate");
        templates.sort();
        assert_eq!(templates, ["manual://{document}/{revision}/{page}", "ticket://{ticket_id}"]);
        assert_eq!(named(&client.prompts().await?, "name"), ["diagnose_fault"]);

        let ticket = client.read(TICKET).await?;
        let text = ticket["contents"][0]["text"].as_str().expect("text");
        let ticket: Value = serde_json::from_str(text)?;
        let call = client.call("get_ticket", object(json!({"ticket_id": "SR-20031"}))).await?;
        assert_eq!(ticket, call["structuredContent"]);
        let page = client.read("manual://FM-AC-250/R2/12").await?;
        assert_eq!(page["contents"][0]["uri"], "manual://FM-AC-250/R2/12");
        for unknown in ["ticket://SR-99999", "secret://SR-20031"] {
            let fault = client.read(unknown).await.expect_err("no such resource");
            assert!(
                matches!(&fault, RmcpFault::Rpc { code: -32602, data, .. } if data["uri"] == unknown),
                "{fault:?}"
            );
        }

        let symptom = ticket["symptom"].as_str().expect("a symptom");
        let prompt =
            client.prompt("diagnose_fault", &[("model_variant", "AC-250-S"), ("symptom", symptom)]).await?;
        let said = prompt["messages"][0]["content"]["text"].as_str().expect("text");
        assert!(said.contains(symptom), "{said}");
        let variants = client.complete_prompt("diagnose_fault", "model_variant", "AC-250").await?;
        assert!(variants.iter().any(|variant| variant == "AC-250-S"), "{variants:?}");
        let documents = client.complete_template(&templates[0], "document", "FM-").await?;
        assert!(documents.iter().any(|document| document == "FM-AC-250"), "{documents:?}");

        let mut hearing = client.listen(&[TICKET]).await?;
        assert_eq!(
            hearing.honoured()?,
            json!({
                "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true,
                "resourceSubscriptions": [TICKET],
            })
        );
        let note = json!({"ticket_id": "SR-20031", "note": "Seen by the Rust client that watches."});
        client.call("post_ticket_update", object(note)).await?;
        hears(&mut hearing, &["notifications/resources/updated ticket://SR-20031"]).await?;
        let after = client.read(TICKET).await?.to_string();
        assert!(after.contains("Seen by the Rust client that watches."), "{after}");
        Ok(())
    });
}

#[test]
fn rmcp_hears_of_progress_and_of_changes() {
    let everything = Everything::start();
    let dev = Dev::start(&everything.url);
    runs(async {
        let client = RmcpClient::connect(&dev.url, &dev.token).await?;
        client.call("test_tool_with_progress", Map::new()).await?;
        let told =
            |progress: f64, message: &str| json!({"progress": progress, "total": 100.0, "message": message});
        assert_eq!(client.progress(), [told(0.0, "begun"), told(50.0, "half done"), told(100.0, "done")]);

        let mut hearing = client.listen(&[WATCHED]).await?;
        for (tool, expected) in [
            ("test_trigger_tool_change", ["notifications/tools/list_changed"].as_slice()),
            ("test_trigger_prompt_change", &["notifications/prompts/list_changed"]),
            (
                "test_trigger_resource_change",
                &[
                    "notifications/resources/list_changed",
                    "notifications/resources/updated test://watched-resource",
                ],
            ),
        ] {
            client.call(tool, Map::new()).await?;
            hears(&mut hearing, expected).await?;
        }
        Ok(())
    });
}
