//! `aldgate dev`: one server behind the gateway, on this machine alone.

use serde_json::Value;

use crate::commands::FieldService;
use crate::running::{Dev, json_of, run};

#[test]
fn a_server_is_behind_the_gateway_without_a_review_and_a_banner_says_so() {
    let service = FieldService::start();
    let dev = Dev::start(&format!("{}/tickets/mcp", service.base));
    assert!(dev.said.iter().any(|line| line.contains("NOT A REVIEWED CONFIGURATION")), "{:?}", dev.said);
    let arguments = r#"{"model_variant": "AC-250-S", "limit": 2}"#;
    let answer: Value = json_of(&dev.run(&["call", "search_tickets", "--json", "--args", arguments]));
    assert_eq!(answer["isError"], false, "{answer}");
    let names = json_of(&dev.run(&["tools", "list", "--json"]));
    // Nothing is prohibited in `dev`, the export neither.
    assert_eq!(names.as_array().expect("tools").len(), 4, "{names}");
}

#[test]
fn it_listens_on_loopback_only() {
    let output = run(&["dev", "--upstream", "http://127.0.0.1:1/mcp", "--listen", "0.0.0.0:0"]);
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("loopback only"), "{output:?}");
}

#[test]
fn an_upstream_that_is_not_there_is_told() {
    let output = run(&[
        "dev",
        "--upstream",
        "http://127.0.0.1:1/mcp",
        "--listen",
        "127.0.0.1:0",
        "--admin-listen",
        "127.0.0.1:0",
    ]);
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("could not be asked"), "{output:?}");
}

#[test]
fn its_settings_are_a_configuration_error_anywhere_else() {
    let folder = tempfile::tempdir().expect("a folder");
    for text in [
        "default_authority = \"automatic\"\n",
        "[upstreams.a]\nkind = \"http\"\nurl = \"http://127.0.0.1:1/\"\npin_on_first_use = true\n",
    ] {
        let path = folder.path().join("aldgate.toml");
        std::fs::write(&path, text).expect("written");
        let output = run(&["config", "check", "--config", path.to_str().expect("UTF-8")]);
        assert!(!output.status.success());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let flat = said.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
        assert!(flat.contains("only `aldgate dev` does"), "{said}");
    }
}
