use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::super::{Confirmed, THRESHOLD, of_tools};
use super::lines;

fn tool(description: &str, properties: &Value) -> Value {
    json!({"description": description, "inputSchema": {"type": "object", "properties": properties}})
}

fn check(gone: &[(&str, &Value)], new: &[(&str, &Value)], confirmed: &[Confirmed], expected: &Expect) {
    expected.assert_eq(&lines(&of_tools(gone, new, confirmed)));
}

#[test]
fn a_tool_under_a_new_name_is_found_among_others() {
    let ticket = json!({"ticket_id": {"type": "string"}, "history": {"type": "boolean"}});
    let query = json!({"query": {"type": "string"}, "limit": {"type": "integer"}});
    check(
        &[
            ("get_ticket", &tool("Get one ticket with its history.", &ticket)),
            ("search_docs", &tool("Search the manuals.", &query)),
            ("add_note", &tool("Add a note to a ticket.", &json!({"text": {"type": "string"}}))),
        ],
        &[
            ("searchDocuments", &tool("Full-text search in the manuals.", &query)),
            ("fetch_ticket", &tool("Fetch one ticket and its history.", &ticket)),
            ("export_report", &tool("Export a report as a file.", &json!({"format": {"type": "string"}}))),
        ],
        &[],
        &expect![[r#"
            search_docs=searchDocuments 0.99
            get_ticket=fetch_ticket 0.99
        "#]],
    );
}

#[test]
fn tools_that_do_something_else_are_no_renames() {
    let path = json!({"path": {"type": "string"}});
    let page = json!({"limit": {"type": "integer"}, "cursor": {"type": "string"}});
    let pairs = [
        ("read_file", "Read a file.", "write_file", "Write a file.", &path),
        ("create_issue", "Create an issue.", "delete_issue", "Delete an issue.", &path),
        (
            "list_users",
            "List the users of the account.",
            "list_teams",
            "List the teams of the account.",
            &page,
        ),
        ("enable_rule", "Turn a rule on.", "disable_rule", "Turn a rule off.", &path),
        ("list_users", "List users.", "get_user", "Get one user.", &page),
        ("upload_file", "Move a file.", "download_file", "Move a file.", &path),
        ("get_weather", "Weather of a place.", "send_mail", "Send a mail.", &path),
        ("lock_door", "Door control.", "unlock_door", "Door control.", &path),
        ("get_user_email", "Contact data of a user.", "get_user_phone", "Contact data of a user.", &path),
    ];
    for (from, words, to, other_words, properties) in pairs {
        let (gone, new) = (tool(words, properties), tool(other_words, properties));
        let found = of_tools(&[(from, &gone)], &[(to, &new)], &[]);
        assert!(found.iter().all(|one| one.confidence < THRESHOLD), "{}", lines(&found));
    }
}

#[test]
fn annotations_that_turn_keep_a_tool_below_the_threshold() {
    let mut gone = tool("Look at a ticket.", &json!({"id": {"type": "string"}}));
    let mut new = gone.clone();
    gone["annotations"] = json!({"readOnlyHint": true});
    new["annotations"] = json!({"readOnlyHint": false});
    check(
        &[("get_ticket", &gone)],
        &[("fetch_ticket", &new)],
        &[],
        &expect![[r#"
            get_ticket=fetch_ticket 0.7
        "#]],
    );
}

#[test]
fn a_confirmed_tool_excludes_other_candidates() {
    let definition = tool("Get one ticket.", &json!({"id": {"type": "string"}}));
    let confirmed = |from: &str, to: &str| Confirmed { from: from.to_owned(), to: to.to_owned() };
    let (gone, new) = ([("get_ticket", &definition)], [("fetch_ticket", &definition), ("case", &definition)]);
    check(
        &gone,
        &new,
        &[confirmed("get_ticket", "case"), confirmed("get_ticket", "fetch_ticket"), confirmed("x", "case")],
        &expect![[r#"
            get_ticket=case 1 confirmed
        "#]],
    );
    check(
        &gone,
        &new,
        &[confirmed("get_ticket", "none")],
        &expect![[r#"
            get_ticket=fetch_ticket 0.98
        "#]],
    );
}
