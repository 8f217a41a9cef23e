//! `rmcp`'s own client against each server, and the whole ticket worked through it.

use aldgate_field_service::ServerName;
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult,
    ElicitationAction, GetPromptRequestParams, Implementation, ProtocolVersion, ReadResourceRequestParams,
};
use rmcp::service::{ClientLifecycleMode, RequestContext, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{ClientHandler, ClientServiceExt as _, ErrorData, RoleClient};
use serde_json::{Value, json};

use crate::site::{OPEN_TICKET, Site, start};

/// A client whose user approves every form.
#[derive(Clone)]
struct Approver;

impl ClientHandler for Approver {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(
            ClientCapabilities::builder().enable_elicitation().build(),
            Implementation::new("test-client", "1.0.0"),
        )
    }

    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let content = json!({ "decision": "approve", "approver": "Rosa Quinn", "note": "go" });
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(content))
    }
}

async fn connect(site: &Site, server: ServerName) -> RunningService<RoleClient, Approver> {
    let transport = StreamableHttpClientTransport::from_uri(format!("http://{}/{server}/mcp", site.address));
    let discover = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
    Approver.serve_with_lifecycle(transport, discover).await.unwrap()
}

async fn call(client: &RunningService<RoleClient, Approver>, tool: &'static str, arguments: Value) -> Value {
    let params = CallToolRequestParams::new(tool).with_arguments(arguments.as_object().unwrap().clone());
    let result = client.call_tool(params).await.unwrap();
    assert_ne!(result.is_error, Some(true), "{result:?}");
    result.structured_content.unwrap()
}

#[tokio::test]
async fn the_client_works_a_whole_ticket() {
    let site = start().await;
    let tickets = connect(&site, ServerName::Tickets).await;
    let parts = connect(&site, ServerName::Parts).await;
    let manuals = connect(&site, ServerName::Manuals).await;
    for (client, tools) in [(&tickets, 4), (&parts, 3), (&manuals, 1)] {
        assert_eq!(client.list_all_tools().await.unwrap().len(), tools);
    }
    let ticket = call(&tickets, "get_ticket", json!({ "ticket_id": OPEN_TICKET })).await;
    let arguments = json!({ "model_variant": ticket["model_variant"], "symptom": ticket["symptom"] });
    let history = call(&tickets, "search_tickets", arguments).await;
    let category = &history["tickets"][0]["part_category"];
    let arguments = json!({ "model_variant": ticket["model_variant"], "category": category });
    let found = call(&parts, "find_part", arguments).await;
    let part_no = &found["parts"][0]["part_no"];
    call(&parts, "check_availability", json!({ "part_no": part_no })).await;
    let arguments =
        json!({ "query": "replace the thermostatic valve", "product_family": "AC-250", "variant": "S" });
    let manual = call(&manuals, "search_manual", arguments).await;
    assert_eq!(manual["passages"].as_array().unwrap().len(), 5, "the default of `k`");
    let arguments = json!({ "part_no": part_no, "quantity": 1, "ticket_id": OPEN_TICKET });
    let order = call(&parts, "raise_parts_order", arguments).await;
    assert_eq!(order["approver"], json!("Rosa Quinn"));
    let note = format!("Ordered {part_no} as {}", order["order_id"]);
    call(&tickets, "post_ticket_update", json!({ "ticket_id": OPEN_TICKET, "note": note })).await;
}

#[tokio::test]
async fn the_client_reads_resources_and_prompts() {
    let site = start().await;
    let tickets = connect(&site, ServerName::Tickets).await;
    let listed = tickets.list_all_resources().await.unwrap();
    assert_eq!(listed.first().unwrap().uri, "ticket://SR-20031");
    let read = tickets.read_resource(ReadResourceRequestParams::new("ticket://SR-20031")).await.unwrap();
    assert_eq!(read.contents.len(), 1);
    let arguments = json!({ "model_variant": "AC-250-S", "symptom": "hot" });
    let prompt =
        GetPromptRequestParams::new("diagnose_fault").with_arguments(arguments.as_object().unwrap().clone());
    assert_eq!(tickets.get_prompt(prompt).await.unwrap().messages.len(), 1);
    let refused = tickets.read_resource(ReadResourceRequestParams::new("ticket://SR-99999")).await;
    assert!(refused.is_err());
}
