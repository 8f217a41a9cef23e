use serde_json::{Value, json};

use super::{on_the_wire, server};

#[test]
fn remarks_and_empty_annotations_are_not_served() {
    let definition = json!({ "name": "x", "_remark": 1, "annotations": {}, "inputSchema": {} });
    assert_eq!(Value::Object(on_the_wire(&definition)), json!({ "name": "x", "inputSchema": {} }));
    let definition = json!({ "annotations": { "readOnlyHint": true } });
    assert_eq!(Value::Object(on_the_wire(&definition)), definition);
}

#[test]
fn each_server_has_its_tools() {
    let names = |suffix: &str| -> Vec<String> {
        server(suffix).unwrap().tools.iter().map(|tool| tool.tool.name.to_string()).collect()
    };
    assert_eq!(
        names(".tickets"),
        ["export_service_records", "get_ticket", "post_ticket_update", "search_tickets"]
    );
    assert_eq!(names(".parts"), ["check_availability", "find_part", "raise_parts_order"]);
    assert_eq!(names(".manuals"), ["search_manual"]);
    let fault = server(".nope").unwrap_err();
    assert_eq!(fault.to_string(), "the contract file has no .nope; rebuild from an unmodified source tree");
}
