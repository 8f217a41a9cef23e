//! The definitions on the wire are those of the contract file, member for member.

use aldgate_field_service::{CONTRACTS, ServerName};
use serde_json::{Map, Value, json};

use crate::site::start;

fn contract(server: ServerName) -> Value {
    let file: Value = serde_json::from_str(CONTRACTS).unwrap();
    let servers = file["servers"].as_array().unwrap();
    let wanted = format!("atlas.field-service.{server}");
    servers.iter().find(|entry| entry["server"] == json!(wanted)).unwrap().clone()
}

/// The served form of a definition: remarks gone, empty annotations gone.
fn served(definition: &Value) -> Value {
    let members: Map<String, Value> = definition
        .as_object()
        .unwrap()
        .iter()
        .filter(|(name, _)| !name.starts_with('_'))
        .filter(|(name, value)| *name != "annotations" || **value != json!({}))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    Value::Object(members)
}

#[tokio::test]
async fn tools_list_equals_the_contract_file() {
    let site = start().await;
    let mut tools = 0;
    for server in ServerName::ALL {
        let contract = contract(server);
        let listed = site.ask(server, "tools/list", json!({})).await.result();
        let expected: Vec<Value> = contract["tools"].as_array().unwrap().iter().map(served).collect();
        assert_eq!(listed["tools"], json!(expected), "{server}");
        tools += expected.len();
    }
    assert_eq!(tools, 8);
}

#[tokio::test]
async fn tools_without_annotations_have_no_such_member() {
    let site = start().await;
    for (server, tool) in
        [(ServerName::Tickets, "export_service_records"), (ServerName::Parts, "raise_parts_order")]
    {
        let listed = site.ask(server, "tools/list", json!({})).await.result();
        let tool =
            listed["tools"].as_array().unwrap().iter().find(|entry| entry["name"] == json!(tool)).unwrap();
        assert!(tool.get("annotations").is_none(), "{tool}");
        assert!(tool.get("outputSchema").is_none(), "{tool}");
        assert!(tool.get("icons").is_none(), "{tool}");
    }
}

#[tokio::test]
async fn server_info_has_name_and_title_of_the_file_and_an_icon() {
    let site = start().await;
    for server in ServerName::ALL {
        let contract = contract(server);
        let discovered = site.ask(server, "server/discover", json!({})).await.result();
        let info = &discovered["_meta"]["io.modelcontextprotocol/serverInfo"];
        assert_eq!(info["name"], contract["server"]);
        assert_eq!(info["title"], contract["title"]);
        assert!(info["icons"][0]["src"].as_str().unwrap().starts_with("data:image/"), "{info}");
    }
}
