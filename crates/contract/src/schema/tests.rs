use expect_test::{Expect, expect};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::Validator;

fn compile(schema: &Value) -> Result<Validator, String> {
    let raw = RawValue::from_string(schema.to_string()).expect("JSON");
    Validator::compile(&raw).map_err(|fault| fault.to_string())
}

fn refused(schema: &Value, expected: &Expect) {
    expected.assert_eq(&compile(schema).err().unwrap_or_else(|| "compiled".to_owned()));
}

#[test]
fn a_value_is_checked_and_the_places_are_named() {
    let schema = json!({
        "type": "object",
        "properties": {"ticket_id": {"type": "string", "pattern": "^SR-\\d{5}$"}, "limit": {"maximum": 25}},
        "required": ["ticket_id"], "additionalProperties": false,
    });
    let validator = compile(&schema).expect("compiled");
    assert_eq!(validator.check(&json!({"ticket_id": "SR-20031"})), Ok(()));
    let said = validator.check(&json!({"ticket_id": "*", "limit": 26, "x": 1})).expect_err("refused");
    expect![[r#"`/ticket_id`: the value does not match "^SR-\d{5}$""#]].assert_eq(&said);
}

#[test]
fn other_dialects_and_outward_references_are_refused() {
    refused(
        &json!({"$schema": "http://json-schema.org/draft-07/schema#"}),
        &expect![[
            "its dialect `http://json-schema.org/draft-07/schema#` is not supported, only JSON Schema 2020-12 is"
        ]],
    );
    refused(
        &json!({"$ref": "http://127.0.0.1:1/x.json"}),
        &expect![
            "it refers to `http://127.0.0.1:1/x.json`, which is nothing in it; references out of a schema are never fetched"
        ],
    );
    assert!(compile(&json!({"properties": {"a": {"$ref": "other.json"}}})).is_err());
    assert!(compile(&json!({"properties": {"a": {"$ref": "#/$defs/none"}}})).is_err());
}

/// `prefixItems` means nothing to draft 6, and `$ref` hides what is beside it.
#[test]
fn a_part_has_no_dialect_of_its_own() {
    let part = |dialect: &str| json!({"properties": {"a": {"$schema": dialect, "prefixItems": [{"type": "integer"}]}}});
    refused(
        &part("http://json-schema.org/draft-06/schema#"),
        &expect![
            "its dialect `http://json-schema.org/draft-06/schema#` is not supported, only JSON Schema 2020-12 is"
        ],
    );
    let same = compile(&part("https://json-schema.org/draft/2020-12/schema")).expect("compiled");
    assert!(same.check(&json!({"a": ["x"]})).is_err());
    assert!(compile(&json!({"properties": {"$schema": {"type": "string"}}})).is_ok());
}

#[test]
fn a_schema_that_its_dialect_does_not_allow_is_refused() {
    for wrong in [
        json!({"type": "objekt"}),
        json!({"required": "a"}),
        json!({"minimum": "1"}),
        json!({"properties": []}),
        json!({"pattern": "("}),
        json!({"properties": {"a": {"additionalProperties": 1}}}),
    ] {
        assert!(compile(&wrong).is_err(), "{wrong}");
    }
}

#[test]
fn schemas_that_multiply_are_refused_before_they_are_compiled() {
    let chain = |length: usize| {
        let mut defs = serde_json::Map::new();
        for index in 0..length {
            let next = json!({"$ref": format!("#/$defs/s{}", index + 1)});
            defs.insert(format!("s{index}"), json!({"allOf": [next, next, next]}));
        }
        defs.insert(format!("s{length}"), json!({"type": "object"}));
        json!({"$ref": "#/$defs/s0", "$defs": defs})
    };
    assert!(compile(&chain(4)).is_ok());
    refused(
        &chain(10),
        &expect!["its references and combinations multiply to more than 4096 schemas for one value"],
    );
}

#[test]
fn the_bound_is_not_evaded_by_other_spellings_of_a_reference() {
    let chain = |reference: fn(usize) -> String| {
        let mut defs = serde_json::Map::new();
        for index in 0..10 {
            let next = json!({"$ref": reference(index + 1)});
            defs.insert(
                format!("s{index}"),
                json!({"$anchor": format!("s{index}"), "allOf": [next, next, next]}),
            );
        }
        defs.insert("s10".into(), json!({"$anchor": "s10", "type": "object"}));
        json!({"$ref": reference(0), "$defs": defs})
    };
    let multiplies =
        expect!["its references and combinations multiply to more than 4096 schemas for one value"];
    refused(&chain(|index| format!("#s{index}")), &multiplies);
    refused(&chain(|index| format!("#/%24defs/s{index}")), &multiplies);
    refused(&chain(|index| format!("#/$defs/s{index}")), &multiplies);
    assert!(compile(&json!({"$ref": "#a", "$defs": {"x": {"$anchor": "a", "type": "object"}}})).is_ok());
    for lost in ["#none", "#/%2", "#/$defs/x", "other"] {
        assert!(compile(&json!({"$ref": lost})).is_err(), "{lost}");
    }
}

#[test]
fn schemas_that_are_chained_too_deep_are_refused_however_they_are_ordered() {
    let chain = |length: usize, backward: bool| {
        let mut defs: Vec<(String, Value)> = (0..length)
            .map(|index| {
                (format!("s{index}"), json!({"allOf": [{"$ref": format!("#/$defs/s{}", index + 1)}]}))
            })
            .collect();
        defs.push((format!("s{length}"), json!({"type": "string"})));
        if backward {
            defs.reverse();
        }
        json!({"$ref": "#/$defs/s0", "$defs": defs.into_iter().collect::<serde_json::Map<_, _>>()})
    };
    for backward in [false, true] {
        assert!(compile(&chain(8, backward)).is_ok());
        for length in [30, 2000] {
            refused(
                &chain(length, backward),
                &expect!["its references and combinations are chained more than 24 deep, or in a circle"],
            );
        }
    }
}

#[test]
fn a_recursive_schema_is_compiled() {
    let tree =
        json!({"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#"}}}});
    let validator = compile(&tree).expect("compiled");
    assert!(validator.check(&json!({"children": [{"children": [{"children": 1}]}]})).is_err());
}

/// A chain of definitions, each of which `link` makes of the reference to the next.
fn linked(length: usize, link: fn(Value) -> Value, last: Value) -> Value {
    let mut defs = serde_json::Map::new();
    for index in 0..length {
        defs.insert(format!("s{index}"), link(json!({"$ref": format!("#/$defs/s{}", index + 1)})));
    }
    defs.insert(format!("s{length}"), last);
    json!({"$ref": "#/$defs/s0", "$defs": defs})
}

#[test]
fn what_the_library_follows_in_place_is_counted() {
    let chained = expect!["its references and combinations are chained more than 24 deep, or in a circle"];
    let dependencies: fn(Value) -> Value = |next| json!({"dependencies": {"x": next}});
    refused(&linked(3000, dependencies, json!({})), &chained);
    refused(&linked(3000, |next| json!({"dependentSchemas": {"x": next}}), json!({})), &chained);
    assert!(compile(&linked(5, dependencies, json!({}))).is_ok());
    assert!(compile(&json!({"dependencies": {"x": ["y"]}})).is_ok());
    refused(&json!({"$ref": "#"}), &chained);
    refused(&json!({"$ref": "#/$defs/a", "$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}]}}}), &chained);
    // The way back goes over a child.
    assert!(compile(&json!({"unevaluatedProperties": {"$ref": "#"}})).is_ok());
    assert!(compile(&json!({"items": {"$ref": "#"}})).is_ok());
}

#[test]
fn circles_cannot_hide_a_chain() {
    let mut defs = serde_json::Map::new();
    for index in 1..40 {
        let mut below = json!({"$ref": format!("#/$defs/x{}", index - 1)});
        for _ in 0..8 {
            below = json!({"allOf": [below]});
        }
        defs.insert(format!("x{index}"), json!({"allOf": [{"$ref": format!("#/$defs/a{index}")}]}));
        let again = json!({"$ref": format!("#/$defs/x{index}")});
        defs.insert(format!("a{index}"), json!({"allOf": [again, below]}));
    }
    defs.insert("x0".into(), json!({}));
    let schema = json!({"$ref": "#/$defs/a39", "$defs": defs});
    refused(
        &schema,
        &expect!["its references and combinations are chained more than 24 deep, or in a circle"],
    );
}

#[test]
fn only_the_whole_has_a_name_that_references_start_from() {
    refused(
        &json!({"$defs": {"a": {"$id": "https://a.example/", "$ref": "#/$defs/b", "$defs": {"b": {}}}, "b": {}}}),
        &expect!["a schema in it has an `$id` of its own, `https://a.example/`; only the whole may have one"],
    );
    assert!(
        compile(&json!({"$id": "https://a.example/", "properties": {"$id": {"type": "string"}}})).is_ok()
    );
}

#[test]
fn what_multiplies_with_the_depth_of_a_value_is_not_checked_on_a_deep_one() {
    let nested = |depth: usize, key: &str| (0..depth).fold(json!(1), |inner, _| json!({key: inner}));
    let slow = "the whole: with this schema, checking a value so large or so deep could take too long";
    let twice =
        json!({"allOf": [{"properties": {"x": {"$ref": "#"}}}, {"properties": {"x": {"$ref": "#"}}}]});
    let twice = compile(&twice).expect("compiled");
    assert_eq!(twice.check(&nested(8, "x")), Ok(()));
    assert_eq!(twice.check(&nested(60, "x")), Err(slow.to_owned()));
    let last = json!({"type": "integer"});
    let without_a_loop = linked(
        60,
        |next| json!({"allOf": [{"properties": {"x": next}}, {"patternProperties": {"x": next}}]}),
        last,
    );
    let without_a_loop = compile(&without_a_loop).expect("compiled");
    assert_eq!(without_a_loop.check(&nested(60, "x")), Err(slow.to_owned()));
    // A tree is deep, and every place of it is checked once.
    let tree = json!({"properties": {"l": {"$ref": "#"}, "r": {"$ref": "#"}}, "type": ["object", "integer"]});
    let tree = compile(&tree).expect("compiled");
    assert_eq!(tree.check(&nested(100, "l")), Ok(()));
    assert!(tree.check(&json!({"l": {"r": "no"}})).expect_err("refused").starts_with("`/l/r`: "));
    // Many places, few schemas: still checked. Many of both: not.
    let wide = Value::Array((0..200_000).map(Value::from).collect());
    assert_eq!(compile(&json!({"items": {"type": "integer"}})).expect("compiled").check(&wide), Ok(()));
    let dear = json!({"items": {"allOf": (0..500).map(|_| json!({"type": "integer"})).collect::<Vec<_>>()}});
    assert_eq!(compile(&dear).expect("compiled").check(&wide), Err(slow.to_owned()));
}

#[test]
fn patterns_that_take_long_to_compile_are_refused_before() {
    let pattern = |pattern: &str| json!({"properties": {"a": {"pattern": pattern}}});
    for usual in [
        "^[^<>]{0,4000}$",
        "^\\p{L}{1,255}$",
        "^([a-z0-9-]{1,63}\\.){1,8}[a-z]{2,24}$",
        "^.{1,8000}$",
        "^[]{1,9]{1,9}$",
        "^(?=.*[a-z])(?=.*\\d)[^\\s]{8,64}$",
        "^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$",
    ] {
        assert!(compile(&pattern(usual)).is_ok(), "{usual}");
    }
    let told = "its patterns are too large, or repeat classes such as `\\p{L}` too often, to be compiled";
    for large in [
        "^(\\p{L}{1,99}){1,99}$",
        "(((a{9}){99}){99}){99}",
        "[\\P{Lu}]{999}",
        "[^\\W]{999}",
        "\\p{Greek}{999}",
        "\\D{999}",
        "[[a]\\p{L}]{999}",
        "{(\\p{L}{99}){99}",
    ] {
        assert_eq!(compile(&pattern(large)).err().as_deref(), Some(told), "{large}");
        let named = json!({"patternProperties": {large: true}});
        assert_eq!(compile(&named).err().as_deref(), Some(told), "{large}");
    }
    let many: serde_json::Map<String, Value> =
        (0..9).map(|at| (at.to_string(), pattern(&format!("\\p{{L}}{{1,99}}{at}")))).collect();
    assert_eq!(compile(&json!({"$defs": many})).err().as_deref(), Some(told));
}

/// What repeats something that is repeated, or is spelled over several lines, repeats all the same.
#[test]
fn patterns_are_not_made_light_by_their_spelling() {
    let told = |pattern: &str| compile(&json!({"pattern": pattern})).err();
    let weighed = "its patterns are too large, or repeat classes such as `\\p{L}` too often, to be compiled";
    for spelled in ["(?:a\\p{L}+{99}){9}", "(?:a\\p{L}?{99}){9}", "(?x)\\p{L} {9}", "(?:(?i)[^a]{99}b){9}"] {
        assert_eq!(told(spelled).as_deref(), Some(weighed), "{spelled}");
    }
}

/// Each automaton has its share: what one alone may take, a hundred may not.
#[test]
fn patterns_share_what_automata_may_take() {
    let pattern = |at: usize| json!({"pattern": format!("^\\p{{L}}\\p{{L}}{at}")});
    assert!(compile(&pattern(0)).is_ok());
    let many: serde_json::Map<String, Value> = (0..100).map(|at| (at.to_string(), pattern(at))).collect();
    assert!(compile(&json!({"$defs": many})).is_ok());
    let looking = "\\p{L}{20}".to_owned() + &"(?=a)".repeat(100);
    refused(
        &json!({"pattern": looking}),
        &expect![[
            r#"its pattern `\p{L}{20}(?=a)(?=a)(?=a)(?=a)(?=a)(?=a)(?=a)(?=a)(?=a)(?=a)(?=a)(?=a)(?=a)(?=a)(` is no regular expression, or too large to be compiled beside its others"#
        ]],
    );
    refused(
        &json!({"pattern": "("}),
        &expect!["its pattern `(` is no regular expression, or too large to be compiled beside its others"],
    );
}

/// A kilobyte that took seconds and hundreds of megabytes.
#[test]
fn many_patterns_of_wide_classes_are_refused() {
    let many: serde_json::Map<String, Value> =
        (0..100).map(|at| (format!("p{at}"), json!({"pattern": format!("\\p{{L}}{{100}}a{at}")}))).collect();
    refused(
        &json!({"properties": many}),
        &expect!["its patterns are too large, or repeat classes such as `\\p{L}` too often, to be compiled"],
    );
}
