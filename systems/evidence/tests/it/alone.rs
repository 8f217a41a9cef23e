//! The server has no way to an upstream: nothing that it is built of speaks to one.

use std::collections::BTreeSet;
use std::process::Command;

/// Crates that can speak to an upstream, or that hold the gateway's ways to its own.
const WAYS: [&str; 13] = [
    "aldgate-agent",
    "aldgate-gateway",
    "aldgate-identity",
    "aldgate-testkit",
    "curl",
    "hyper",
    "hyper-util",
    "isahc",
    "reqwest",
    "rmcp",
    "rustls",
    "tonic",
    "ureq",
];

/// The names of all crates that one is built of on this platform, tests left out.
fn built_of(name: &str) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "-p", name, "-e", "normal,build", "--prefix", "none", "--format", "{p}"])
        .args(["--offline", "--locked"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).unwrap();
    lines.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

fn ways(name: &str) -> Vec<&'static str> {
    let built_of = built_of(name);
    assert!(built_of.contains("aldgate-wire"));
    WAYS.into_iter().filter(|way| built_of.contains(*way)).collect()
}

#[test]
fn nothing_that_it_is_built_of_can_reach_an_upstream() {
    assert_eq!(ways("aldgate-evidence-server"), Vec::<&str>::new());
}

#[test]
fn a_way_would_be_found_where_there_is_one() {
    assert!(ways("aldgate-gateway").contains(&"hyper-util"));
}
