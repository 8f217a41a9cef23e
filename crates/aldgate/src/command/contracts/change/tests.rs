use expect_test::{Expect, expect};
use serde_json::json;

use super::*;

fn fields(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn check(pinned: &str, live: &str, names: &[&str], expected: Expect) {
    let lines: Vec<_> = changes(pinned, live, &fields(names)).iter().flat_map(Change::lines).collect();
    expected.assert_eq(&lines.join("\n"));
}

#[test]
fn old_and_new_text_stand_below_each_other() {
    check(
        r#"{"name":"a","description":"Reads.","title":"A"}"#,
        r#"{"name":"a","description":"Reads and writes.","icons":[]}"#,
        &["description", "icons", "title"],
        expect![[r#"
            /description
              - "Reads."
              + "Reads and writes."
            /icons
              + []
            /title
              - "A""#]],
    );
}

#[test]
fn of_a_schema_only_what_differs_is_shown() {
    check(
        r#"{"inputSchema":{"type":"object","properties":{"k":{"type":"integer","maximum":5},"a/b":{}}}}"#,
        r#"{"inputSchema":{"type":"object","properties":{"k":{"type":"integer","maximum":50},"to":{"type":"string"}}}}"#,
        &["inputSchema"],
        expect![[r#"
            /inputSchema/properties/k/maximum
              - 5
              + 50
            /inputSchema/properties/a~1b
              - {}
            /inputSchema/properties/to
              + {"type":"string"}"#]],
    );
}

#[test]
fn long_texts_are_shown_around_the_place_where_they_differ() {
    let text = |middle: &str| {
        let same = "one two three four five six seven eight nine ten ".repeat(3);
        json!({"description": format!("{same}{middle}{same}")}).to_string()
    };
    check(
        &text("never "),
        &text("always, and "),
        &["description"],
        expect![[r#"
            /description
              - "… seven eight nine ten never one two three four …"
              + "… seven eight nine ten always, and one two three four …""#]],
    );
    // Words that both begin and end with are not counted twice.
    check(
        &text(""),
        &text("one two three four five six seven eight nine ten "),
        &["description"],
        expect![[r#"
            /description
              - "… seven eight nine ten "
              + "… seven eight nine ten one two three four five six seven eight nine ten ""#]],
    );
}

#[test]
fn numbers_that_differ_only_as_text_are_shown_as_text() {
    check(
        r#"{"x":1.00000000000000001}"#,
        r#"{"x":1.00000000000000002}"#,
        &["x"],
        expect![[r#"
            /x
              - "1.00000000000000001"
              + "1.00000000000000002""#]],
    );
}

#[test]
fn whole_members_of_both_sides_are_there_for_programs() {
    let found = both(
        r#"{"description":"a","title":"t"}"#,
        r#"{"description":"b"}"#,
        &fields(&["description", "title"]),
    );
    assert_eq!(found, json!({"description": {"pinned": "a", "live": "b"}, "title": {"pinned": "t"}}));
}
