use std::collections::BTreeSet;

use super::*;

#[test]
fn there_are_five_definitions_and_each_has_its_checks() {
    let tools = Tools::new(None).unwrap();
    let listed: Vec<Value> = serde_json::from_str(tools.listed.get()).unwrap();
    let names: Vec<_> = listed.iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, Tool::ALL.map(Tool::name));
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), 5);
    for tool in Tool::ALL {
        assert!(tools.check_input(tool, &json!({ "unknown": 1 })).is_err());
        assert!(tools.check_output(tool, &json!({ "result": 7 })).is_err());
        assert!(tools.check_output(tool, &json!({})).is_err());
    }
    assert_eq!(tools.check_output(Tool::LookupContract, &json!({ "result": null })), Ok(()));
    assert_eq!(tools.check_output(Tool::QueryDrift, &json!({ "result": [] })), Ok(()));
    assert_eq!(tools.check_output(Tool::FetchAudit, &json!({ "result": null })), Ok(()));
}
