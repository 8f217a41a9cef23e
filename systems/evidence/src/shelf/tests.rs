use aldgate_contract::UpstreamIdentity;
use expect_test::{Expect, expect};

use super::*;

fn shelf(upstream: &str, tenants: Option<&[&str]>, tool: &str, seen: &str) -> Shelf {
    let identity =
        UpstreamIdentity { name: upstream.to_owned(), endpoint: "inproc:test".to_owned(), server: None };
    let definition = format!(r#"{{"name":"{tool}","inputSchema":{{"type":"object"}}}}"#);
    let lock = Lock::pin(identity, vec![(tool, definition.as_str())], "2026-11-01T00:00:00Z").unwrap();
    Shelf {
        tenants: tenants.map(|tenants| tenants.iter().map(|one| (*one).to_owned()).collect()),
        lock: Arc::new(lock),
        visible: BTreeMap::from([(seen.to_owned(), tool.to_owned())]),
    }
}

fn check(tenant: &str, name: &str, expected: Expect) {
    let shelves = [
        shelf("a", Some(&["one"]), "go", "a_go"),
        shelf("b", Some(&["two"]), "go", "b_go"),
        shelf("c", None, "x/go", "c_go"),
    ];
    let shown = match find(&shelves, tenant, name) {
        None => "none".to_owned(),
        Some(Found { key, pin }) => format!("{key} {}", pin.map_or("unpinned", |pin| pin.name.as_str())),
    };
    expected.assert_eq(&shown);
}

#[test]
fn a_tool_is_found_under_both_names_by_tenants_that_its_upstream_serves() {
    check("one", "a_go", expect!["a/go go"]);
    check("one", "a/go", expect!["a/go go"]);
    check("one", "b_go", expect!["none"]);
    check("one", "b/go", expect!["none"]);
    check("two", "b/go", expect!["b/go go"]);
    check("three", "a/go", expect!["none"]);
    check("three", "c_go", expect!["c/x/go x/go"]);
    check("", "a/go", expect!["none"]);
}

#[test]
fn a_full_name_is_parted_at_the_first_slash() {
    check("one", "c/x/go", expect!["c/x/go x/go"]);
    check("one", "c/go", expect!["c/go unpinned"]);
    check("one", "c/", expect!["c/ unpinned"]);
    check("one", "/c_go", expect!["none"]);
    check("one", "go", expect!["none"]);
}
