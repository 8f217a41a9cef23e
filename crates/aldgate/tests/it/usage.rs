//! What the command line takes and what it refuses.

use serde_json::Value;

use crate::running::{json_of, run};

/// What a command says when it fails, in one line.
fn refused(arguments: &[&str], code: &str) -> String {
    let output = run(arguments);
    assert!(!output.status.success(), "{arguments:?} succeeded");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains(code), "{said}");
    said.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ")
}

#[test]
fn tokens_are_for_names_that_the_gateway_takes() {
    for name in ["", "a b", "a/b", "a#b", "a\nb"] {
        refused(&["token", "new", name], "AG-CONFIG-PRINCIPALS");
    }
    for option in ["--role", "--tenant", "--display-name"] {
        refused(&["token", "new", "a", option, " "], "AG-CLI-USAGE");
    }
    let output =
        run(&["token", "new", "ann", "--tenant", "acme", "--display-name", "Ann \"B\" É", "--role", "r"]);
    let entry = String::from_utf8(output.stderr).expect("UTF-8");
    let read: toml::Table = toml::from_str(&entry).expect("TOML");
    let principal = &read["principals"][0];
    assert_eq!(principal["display_name"].as_str(), Some("Ann \"B\" É"));
    assert_eq!(principal["tenant"].as_str(), Some("acme"));
    assert_eq!(principal["roles"].as_array().map(Vec::len), Some(1));
}

#[test]
fn arguments_that_two_readers_read_differently_are_refused() {
    let twice = refused(&["call", "x", "--args", r#"{"a": 1, "a": 2}"#], "AG-CLI-USAGE");
    assert!(twice.contains("the key `a`"), "{twice}");
    refused(
        &["policy", "explain", "get_ticket", "--as", "agent", "--args", r#"{"a": 1, "a": 2}"#],
        "AG-CLI-USAGE",
    );
}

#[test]
fn an_unknown_kind_of_row_is_an_error_that_lists_the_kinds() {
    let said = refused(&["audit", "list", "--kind", "refusals"], "AG-CLI-USAGE");
    for kind in ["answer", "intent", "outcome", "refusal", "approval_asked", "approval_decided"] {
        assert!(said.contains(&format!("`{kind}`")), "{said}");
    }
}

#[test]
fn an_explanation_says_what_does_not_fit_and_names_a_policy_once() {
    let explain = |arguments: &str, more: &[&str]| {
        let fixed = ["policy", "explain", "get_ticket", "--as", "agent", "--args", arguments];
        run(&[&fixed, more].concat())
    };
    let unfit = json_of(&explain(r#"{"ticket": 7}"#, &["--json"]));
    assert!(!unfit["arguments_unfit"].as_array().expect("places").is_empty(), "{unfit}");
    let fits = explain(r#"{"ticket_id": "SR-20031"}"#, &[]);
    let printed = String::from_utf8_lossy(&fits.stdout).into_owned();
    assert!(!printed.contains("unfit"), "{printed}");
    let policies: Vec<_> = printed.lines().filter(|line| line.trim().starts_with("policy ")).collect();
    assert_eq!(policies.len(), 1, "{printed}");
    assert!(policies[0].contains("(permit call, call_unattended)"), "{printed}");
    let fits = json_of(&explain(r#"{"ticket_id": "SR-20031"}"#, &["--json"]));
    assert_eq!(fits["arguments_unfit"], Value::Array(Vec::new()));
}

#[test]
fn a_missing_setting_is_told_with_what_it_takes() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("aldgate.toml");
    std::fs::write(&path, "[registry.\"a/b\"]\nauthority = \"automatic\"\n").expect("written");
    let said = refused(&["config", "check", "--config", path.to_str().expect("UTF-8")], "AG-CONFIG-VALUE");
    for label in ["untrusted_input", "sensitive_data", "consequential", "exfiltration"] {
        assert!(said.contains(&format!("`\"{label}\"`")), "{said}");
    }
}

#[test]
fn help_promises_no_configuration_that_a_command_does_not_take() {
    for arguments in [["serve", "gateway"], ["contracts", "pin"], ["contracts", "verify"]] {
        let help = run(&[&arguments[..], &["--help"]].concat());
        let help = String::from_utf8_lossy(&help.stdout).into_owned();
        assert!(!help.contains("demonstration"), "{help}");
        let said = refused(&arguments, "AG-CLI-CONFIG");
        assert!(
            said.contains("no `aldgate.toml` here") && !said.contains("using the configuration"),
            "{said}"
        );
    }
    let help = String::from_utf8_lossy(&run(&["policy", "matrix", "--help"]).stdout).into_owned();
    assert!(help.contains("demonstration"), "{help}");
}
