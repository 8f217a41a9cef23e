use expect_test::{Expect, expect};
use serde_json::{Value, json};

use crate::contracts;

fn check(tool: &str, arguments: Value, expected: Expect) {
    let servers = [".tickets", ".parts", ".manuals"].map(|suffix| contracts::server(suffix).unwrap());
    let contract =
        servers.iter().flat_map(|server| &server.tools).find(|contract| contract.tool.name == tool).unwrap();
    let outcome = contract.arguments.check(arguments.as_object().unwrap());
    expected.assert_eq(&outcome.map_or_else(|fault| fault, |()| "valid".to_owned()));
}

#[test]
fn faults_say_what_was_expected() {
    check("get_ticket", json!({ "ticket_id": "SR-20031" }), expect!["valid"]);
    check("search_tickets", json!({ "model_variant": "AC-250-S", "limit": 25.0 }), expect!["valid"]);
    check(
        "get_ticket",
        json!({ "ticket_id": "SR-1" }),
        expect![[
            r#"invalid arguments: `ticket_id`: "SR-1" does not match "^SR-\d{5}$", expected {"type":"string","pattern":"^SR-\\d{5}$"}"#
        ]],
    );
    check(
        "get_ticket",
        json!({}),
        expect![[r#"invalid arguments: "ticket_id" is a required property, known arguments: `ticket_id`"#]],
    );
    check(
        "get_ticket",
        json!({ "ticket_id": "SR-20031", "all": true }),
        expect![
            "invalid arguments: Additional properties are not allowed ('all' was unexpected), known arguments: `ticket_id`"
        ],
    );
    check(
        "search_tickets",
        json!({ "model_variant": 5, "limit": 26 }),
        expect![[
            r#"invalid arguments: `model_variant`: 5 is not of type "string", expected {"type":"string","pattern":"^[A-Z]{2}-\\d{2,3}-[ABS]$"}; `limit`: 26 is greater than the maximum of 25, expected {"type":"integer","minimum":1,"maximum":25}"#
        ]],
    );
    check(
        "search_manual",
        json!({ "query": "x", "variant": "C" }),
        expect![[
            r#"invalid arguments: `variant`: "C" is not one of "A", "B" or "S", expected {"type":"string","enum":["A","B","S"]}"#
        ]],
    );
}
