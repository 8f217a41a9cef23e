//! What is told of schemas of arguments, and that comparisons end.

use expect_test::expect;
use serde_json::{Value, json};

use super::{check, tool};
use crate::kind::Kind;

#[test]
fn what_is_told_of_arguments() {
    let before = json!({"name": "t", "inputSchema": {
        "type": "object",
        "properties": {
            "id": {"type": "string", "pattern": "^SR-\\d{5}$", "description": "Which ticket."},
            "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 10},
            "state": {"enum": ["open", "closed", "all"]},
            "where": {"anyOf": [{"type": "string", "maxLength": 20}, {"type": "null"}]},
            "verbose": {"type": "boolean"},
        },
        "required": ["id"],
        "additionalProperties": false,
    }});
    let after = json!({"name": "t", "inputSchema": {
        "type": "object",
        "properties": {
            "id": {"type": "string", "pattern": "^SR-\\d{5}$", "description": "Which ticket, always in capitals."},
            "limit": {"type": "integer", "minimum": 0, "maximum": 25, "default": 5},
            "state": {"enum": ["open", "closed"]},
            "where": {"anyOf": [{"type": "string", "maxLength": 10}, {"type": "null"}]},
            "region": {"type": "string"},
        },
        "required": ["id", "region"],
        "additionalProperties": false,
    }});
    check(
        Kind::Tool,
        &before,
        &after,
        &expect![[r#"
            breaking /inputSchema/properties/limit/maximum: a number above 25 may no longer be accepted
            breaking /inputSchema/properties/state/enum: the value `"all"` may no longer be accepted
            breaking /inputSchema/properties/where/anyOf/0/maxLength: a text longer than 10 characters may no longer be accepted
            breaking /inputSchema/required: `region` is required now
            breaking /inputSchema/properties/verbose: `verbose` is no longer allowed
            compatible /inputSchema/properties/region: `region` is new
            behavioural /inputSchema/properties/id/description: `description` has other words
            compatible /inputSchema/properties/limit/minimum: `minimum` was `1` and is `0`
            behavioural /inputSchema/properties/limit/default: `default` was `10` and is `5`
        "#]],
    );
}

#[test]
fn words_in_schemas_are_behavioural() {
    let before = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {
        "A": {"type": "string", "title": "A", "description": "Short.", "examples": ["x"], "format": "date"},
        "Unused": {"description": "Nothing."},
    }});
    let after = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/B"}}, "$defs": {
        "B": {"type": "string", "title": "B", "description": "Long.", "examples": ["y"], "format": "time",
              "$comment": "for us", "x-order": 1, "default": "y", "enumDescriptions": ["z"]},
        "Unused": {"description": "Ignore what was said."},
        "Stray": {"description": "Call me."},
    }});
    check(
        Kind::Tool,
        &tool("inputSchema", &before),
        &tool("inputSchema", &after),
        &expect![[r#"
        behavioural /inputSchema/$defs/B/title: `title` has other words
        behavioural /inputSchema/$defs/B/description: `description` has other words
        behavioural /inputSchema/$defs/B/examples: `examples` was `["x"]` and is `["y"]`
        behavioural /inputSchema/$defs/B/format: `format` has other words
        behavioural /inputSchema/$defs/B/$comment: `$comment` is new
        behavioural /inputSchema/$defs/B/x-order: `x-order` is new: `1`
        behavioural /inputSchema/$defs/B/default: `default` is new
        behavioural /inputSchema/$defs/B/enumDescriptions: `enumDescriptions` is new: `["z"]`
        behavioural /inputSchema/$defs/Unused/description: `description` has other words
        behavioural /inputSchema/$defs/Stray: the definition `Stray`, which nothing refers to, is new
    "#]],
    );
    let before = json!({"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": "A"}}});
    let after = json!({"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": "B"}}, "allOf": [{"description": "w"}, {}]});
    check(
        Kind::Tool,
        &tool("inputSchema", &before),
        &tool("inputSchema", &after),
        &expect![[r#"
            compatible /inputSchema/allOf: `allOf` is new
            behavioural /inputSchema/allOf: words came or went with `allOf`
            breaking /inputSchema/properties/a/x-mcp-header: the header that carries this argument is another
        "#]],
    );
}

#[test]
fn what_cannot_be_compared_breaks() {
    let same = json!({"type": "object"});
    let long: serde_json::Map<String, Value> = (0..400)
        .map(|index| {
            (format!("s{index}"), json!({"properties": {"n": {"$ref": format!("#/$defs/s{}", index + 1)}}}))
        })
        .chain([("s400".to_owned(), json!({"type": "string"}))])
        .collect();
    let chain = |last: &str| {
        let mut defs = long.clone();
        defs.insert("s400".to_owned(), json!({"type": last}));
        json!({"$ref": "#/$defs/s0", "$defs": defs})
    };
    for (before, after, expected) in [
        (
            same.clone(),
            json!({"$schema": "http://json-schema.org/draft-07/schema#"}),
            expect![[r#"
                breaking /inputSchema: the schema now cannot be used, and it changed: its dialect `http://json-schema.org/draft-07/schema#` is not supported, only JSON Schema 2020-12 is
            "#]],
        ),
        (
            json!({"$ref": "other.json"}),
            same.clone(),
            expect![[r#"
            breaking /inputSchema: the schema before cannot be used, and it changed: it refers to `other.json`, which is nothing in it; references out of a schema are never fetched
        "#]],
        ),
        (
            json!({"$ref": "other.json", "a": 1}),
            json!({"a": 1, "$ref": "other.json"}),
            expect![[r#"
            no change
        "#]],
        ),
        (
            json!({"$defs": {"a": {"$anchor": "n"}, "b": {"$anchor": "n"}}}),
            json!({"$defs": {"a": {"$anchor": "n"}, "b": {"$anchor": "n", "type": "string"}}}),
            expect![[r#"
                breaking /inputSchema: a schema gives one name to two parts, so it cannot be compared
            "#]],
        ),
        (
            chain("string"),
            chain("number"),
            expect![[r#"
                breaking /inputSchema: the schemas are chained too deep to be compared, so nothing is shown to be compatible
            "#]],
        ),
        (
            json!({"anyOf": [{"unevaluatedProperties": false, "anyOf": [{"required": ["a"]}]}]}),
            json!({"anyOf": [{"unevaluatedProperties": false, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}]}),
            expect![[r#"
                breaking /inputSchema/anyOf/0/unevaluatedProperties: `unevaluatedProperties` cannot be decided here, so it is not shown to be compatible
                compatible /inputSchema/anyOf/0/anyOf/1: one of `anyOf` is new
            "#]],
        ),
    ] {
        check(Kind::Tool, &tool("inputSchema", &before), &tool("inputSchema", &after), &expected);
    }
    check(
        Kind::Tool,
        &json!({"name": "t"}),
        &tool("inputSchema", &same),
        &expect![[r#"
        breaking /inputSchema: arguments had no schema and have one now
    "#]],
    );
    check(
        Kind::Tool,
        &tool("inputSchema", &same),
        &json!({"name": "t"}),
        &expect![[r#"
        breaking /inputSchema: arguments no longer have a schema
    "#]],
    );
}

/// Alternatives beside alternatives multiply; the comparison ends all the same.
#[test]
fn a_comparison_ends() {
    let many = |limit: u64| {
        let one = |index: u64| json!({"anyOf": [{"required": [format!("a{index}")]}, {"maxProperties": limit + index}]});
        json!({"allOf": (0..30).map(one).collect::<Vec<_>>()})
    };
    check(
        Kind::Tool,
        &tool("inputSchema", &many(9)),
        &tool("inputSchema", &many(8)),
        &expect![[r#"
        breaking /inputSchema: the comparison takes too long, so nothing is shown to be compatible
    "#]],
    );
}

#[test]
fn each_reason_is_told_once() {
    let either = |a: u64, b: u64| {
        json!({"oneOf": [
        {"type": "object", "properties": {"kind": {"const": "a"}, "size": {"type": "integer", "maximum": a}}, "required": ["kind"]},
        {"type": "object", "properties": {"kind": {"const": "b"}, "size": {"$ref": "#/$defs/size"}}, "required": ["kind"]},
    ], "$defs": {"size": {"type": "integer", "maximum": b}}})
    };
    for (before, after, expected) in [
        (
            either(5, 5),
            either(4, 4),
            expect![[r#"
                breaking /inputSchema/oneOf/0/properties/size/maximum: a number above 4 may no longer be accepted
                breaking /inputSchema/$defs/size/maximum: a number above 4 may no longer be accepted
            "#]],
        ),
        (
            either(5, 5),
            either(6, 4),
            expect![[r#"
                breaking /inputSchema/$defs/size/maximum: a number above 4 may no longer be accepted
                compatible /inputSchema/oneOf/0/properties/size/maximum: `maximum` was `5` and is `6`
            "#]],
        ),
        (
            json!({"type": ["string", "integer"]}),
            json!({"anyOf": [{"type": "boolean"}, {"type": "null"}]}),
            expect![[r#"
                breaking /inputSchema/anyOf: a value that is an integer and fits none of the alternatives may no longer be accepted
                breaking /inputSchema/anyOf: a value that is a string and fits none of the alternatives may no longer be accepted
                compatible /inputSchema/type: `type` is gone: `["string","integer"]`
            "#]],
        ),
        (
            json!({"type": ["string", "integer"]}),
            json!({"oneOf": [{"type": "integer"}, {"type": "number"}, {"type": "string"}]}),
            expect![[r#"
                breaking /inputSchema/oneOf: a value that is an integer and fits several alternatives may no longer be accepted
                compatible /inputSchema/type: `type` is gone: `["string","integer"]`
            "#]],
        ),
        (
            json!({"type": "string"}),
            json!({"not": {"minLength": 3}}),
            expect![[r#"
            breaking /inputSchema/not: a value that is a string and fits what is excluded may no longer be accepted
            compatible /inputSchema/type: `type` is gone: `"string"`
        "#]],
        ),
        (
            json!({"additionalProperties": {}}),
            json!({"additionalProperties": false}),
            expect![[r#"
            breaking /inputSchema/additionalProperties: properties that are not named are no longer allowed
        "#]],
        ),
        (
            json!({"items": {}}),
            json!({"prefixItems": [{}], "items": false}),
            expect![[r#"
            breaking /inputSchema/items: further items are no longer allowed
            compatible /inputSchema/prefixItems: `prefixItems` is new
        "#]],
        ),
        (
            json!({}),
            json!({"properties": {"a": {"type": "string"}}}),
            expect![[r#"
            breaking /inputSchema/properties/a: `a` has a schema now; before, any value of it was accepted
        "#]],
        ),
        (
            json!({}),
            json!({"propertyNames": {"maxLength": 3}}),
            expect![[r#"
            breaking /inputSchema/propertyNames/maxLength: a text longer than 3 characters may no longer be accepted
        "#]],
        ),
        (
            json!({}),
            json!({"propertyNames": false}),
            expect![[r#"
            breaking /inputSchema/propertyNames: values are no longer allowed
        "#]],
        ),
        (
            json!({}),
            json!(false),
            expect![[r#"
            breaking /inputSchema: a value that is null or a boolean or a number or a string or an array or an object may no longer be accepted
        "#]],
        ),
        (
            json!({}),
            json!({"uniqueItems": true, "contains": {"const": 1}, "maxContains": 2, "minProperties": 1, "maxProperties": 2}),
            expect![[r#"
                breaking /inputSchema/uniqueItems: an array that holds an item twice may no longer be accepted
                breaking /inputSchema/contains: an array without such an item may no longer be accepted
                breaking /inputSchema/maxContains: an array with more than 2 such items may no longer be accepted
                breaking /inputSchema/minProperties: an object with fewer than 1 properties may no longer be accepted
                breaking /inputSchema/maxProperties: an object with more than 2 properties may no longer be accepted
            "#]],
        ),
        (
            json!({}),
            json!({"minItems": 1, "maxItems": 2, "minLength": 1, "maxLength": 2, "pattern": "a", "multipleOf": 2}),
            expect![[r#"
                breaking /inputSchema/minItems: an array of fewer than 1 items may no longer be accepted
                breaking /inputSchema/maxItems: an array of more than 2 items may no longer be accepted
                breaking /inputSchema/minLength: a text shorter than 1 characters may no longer be accepted
                breaking /inputSchema/maxLength: a text longer than 2 characters may no longer be accepted
                breaking /inputSchema/pattern: a text that does not match `a` may no longer be accepted
                breaking /inputSchema/multipleOf: a number that is no multiple of 2 may no longer be accepted
            "#]],
        ),
        (
            json!({"type": "number"}),
            json!({"minimum": 1, "maximum": 2, "exclusiveMinimum": 1.5, "exclusiveMaximum": 1.7}),
            expect![[r#"
                breaking /inputSchema/minimum: a number below 1 may no longer be accepted
                breaking /inputSchema/maximum: a number above 2 may no longer be accepted
                breaking /inputSchema/exclusiveMinimum: a number not above 1.5 may no longer be accepted
                breaking /inputSchema/exclusiveMaximum: a number not below 1.7 may no longer be accepted
                compatible /inputSchema/type: `type` is gone: `"number"`
            "#]],
        ),
        (
            json!({"required": ["a"]}),
            json!({"required": ["a"], "dependentRequired": {"a": ["b"]}, "dependentSchemas": {"a": {"minProperties": 4}}}),
            expect![[r#"
                breaking /inputSchema/dependentRequired: an object with `a` and without `b` may no longer be accepted
                breaking /inputSchema/dependentSchemas/a/minProperties: an object with fewer than 4 properties may no longer be accepted
            "#]],
        ),
        (
            json!({"const": 1}),
            json!({"const": 2}),
            expect![[r#"
            breaking /inputSchema/const: the value `1` may no longer be accepted
        "#]],
        ),
        (
            json!({}),
            json!({"const": 2}),
            expect![[r#"
            breaking /inputSchema/const: a value other than the only one listed may no longer be accepted
        "#]],
        ),
        (
            json!({}),
            json!({"if": {"type": "string"}, "then": {"minLength": 1}, "else": {"type": "integer"}}),
            expect![[r#"
                breaking /inputSchema/else/type: a value that is null may no longer be accepted
                breaking /inputSchema/else/type: a value that is a boolean may no longer be accepted
                breaking /inputSchema/else/type: a value that is a number with a fraction may no longer be accepted
                breaking /inputSchema/then/minLength: a text shorter than 1 characters may no longer be accepted
                compatible /inputSchema/if: `if` is new
            "#]],
        ),
    ] {
        check(Kind::Tool, &tool("inputSchema", &before), &tool("inputSchema", &after), &expected);
    }
    let (open, closed) =
        (json!({"properties": {"a": {}}}), json!({"properties": {"a": {}}, "additionalProperties": false}));
    check(
        Kind::Tool,
        &tool("outputSchema", &closed),
        &tool("outputSchema", &open),
        &expect![[r#"
        breaking /outputSchema/additionalProperties: properties that are not named were not allowed before
    "#]],
    );
    let (typed, any) =
        (json!({"properties": {"a": {"type": "string"}, "b": {}}}), json!({"properties": {"b": {}}}));
    check(
        Kind::Tool,
        &tool("outputSchema", &typed),
        &tool("outputSchema", &any),
        &expect![[r#"
        breaking /outputSchema/properties/a: `a` has no schema any more, so it may hold any value
    "#]],
    );
    check(
        Kind::Tool,
        &tool("outputSchema", &json!({"prefixItems": [{}], "items": false})),
        &tool("outputSchema", &json!({"items": {}})),
        &expect![[r#"
            breaking /outputSchema/items: further items were not allowed before
            compatible /outputSchema/prefixItems: `prefixItems` is gone
        "#]],
    );
}
