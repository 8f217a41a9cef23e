//! `aldgate dev`: one server behind the gateway, on this machine alone.

use std::io::BufRead as _;
use std::process::Stdio;

use serde_json::Value;

use crate::commands::FieldService;
use crate::running::{aldgate, json_of, run};

#[test]
fn a_server_is_behind_the_gateway_without_a_review_and_a_banner_says_so() {
    let service = FieldService::start();
    let mut child = aldgate()
        .args(["dev", "--upstream", &format!("{}/tickets/mcp", service.base)])
        .args(["--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"])
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut said = Vec::new();
    let lines = std::io::BufReader::new(child.stderr.take().expect("its messages")).lines();
    for line in lines.map_while(Result::ok) {
        let last = line.starts_with("export ");
        said.push(line);
        if last {
            break;
        }
    }
    assert!(said.iter().any(|line| line.contains("NOT A REVIEWED CONFIGURATION")), "{said:?}");
    let exports = said.last().expect("how to connect").clone();
    let variables: Vec<(&str, &str)> =
        exports.trim_start_matches("export ").split(' ').filter_map(|pair| pair.split_once('=')).collect();
    let output = aldgate()
        .args(["call", "search_tickets", "--json", "--args", r#"{"model_variant": "AC-250-S", "limit": 2}"#])
        .envs(variables.clone())
        .output()
        .expect("the binary runs");
    let answer: Value = json_of(&output);
    assert_eq!(answer["isError"], false, "{answer}");
    let listed =
        aldgate().args(["tools", "list", "--json"]).envs(variables).output().expect("the binary runs");
    let names = json_of(&listed);
    // Nothing is prohibited in `dev`, the export neither.
    assert_eq!(names.as_array().expect("tools").len(), 4, "{names}");
    child.kill().expect("killed");
    child.wait().expect("it ends");
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
