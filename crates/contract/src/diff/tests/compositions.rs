//! Schemas of arguments that are put together of others.

use expect_test::expect;
use serde_json::json;

use super::inputs::narrow_and_wide;
use super::rows;

#[test]
fn combinations() {
    let kind = |kind: &str, more: &str| json!({"type": "object", "properties": {"kind": {"const": kind}, (more): {"type": "string"}}, "required": ["kind"]});
    narrow_and_wide(
        &[
            (json!({"allOf": [{"minimum": 1}, {"maximum": 5}]}), json!({"minimum": 0, "maximum": 5})),
            (
                json!({"anyOf": [{"type": "string"}]}),
                json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
            ),
            (json!({"type": "string"}), json!({"anyOf": [{"type": "null"}, {"type": "string"}]})),
            (json!({"type": ["string", "null"]}), json!({"oneOf": [{"type": "null"}, {"type": "string"}]})),
            (json!({"oneOf": [kind("a", "x")]}), json!({"oneOf": [kind("a", "x"), kind("b", "y")]})),
            (
                json!({"oneOf": [{"type": "integer"}]}),
                json!({"oneOf": [{"type": "integer"}, {"type": "number"}]}),
            ),
            (json!({"not": {"type": "string"}}), json!({"not": {"const": "a"}})),
            (json!({"not": {"required": ["a"]}}), json!({"not": {"required": ["a", "b"]}})),
            (json!({"enum": ["b", "c"]}), json!({"not": {"const": "a"}})),
            // What a value does not fit says nothing in favour of itself.
            (json!({"not": {"minLength": 3}}), json!({"minLength": 3})),
            (
                json!({"not": {"properties": {"a": {"type": "string"}}}}),
                json!({"not": {"properties": {"a": {}}}}),
            ),
            (json!({"type": "integer", "not": {"minimum": 3}}), json!({"not": {"type": "string"}})),
            (json!({"properties": {"a": false}, "required": ["a"]}), json!({"type": ["array", "string"]})),
            (json!({"type": "array", "items": false, "minItems": 1}), json!({"type": "string"})),
            (
                json!({"type": "array", "prefixItems": [{}], "items": false, "minItems": 2}),
                json!({"type": "string"}),
            ),
            (json!({"anyOf": [{"type": "string"}, {"minimum": 3}], "type": "null"}), json!({"const": null})),
            (
                json!({"type": "object", "anyOf": [{"type": "string"}, {"minimum": 3, "type": "integer"}]}),
                json!({"const": 7}),
            ),
            (
                json!({"type": "object", "if": {"required": ["a"]}, "then": {"minProperties": 3}, "else": {"minProperties": 2}}),
                json!({"type": "object", "minProperties": 2}),
            ),
            (
                json!({"if": {"required": ["a"]}, "then": {"required": ["b", "c"]}}),
                json!({"if": {"required": ["a"]}, "then": {"required": ["b"]}}),
            ),
            (
                json!({"if": {"type": "string"}, "then": {"maxLength": 3}, "else": {"minimum": 3}}),
                json!({"minimum": 2}),
            ),
        ],
        &expect![[r#"
            compatible   {"allOf":[{"minimum":1},{"maximum":5}]}  =>  {"minimum":0,"maximum":5}
            breaking     {"minimum":0,"maximum":5}  =>  {"allOf":[{"minimum":1},{"maximum":5}]}
            compatible   {"anyOf":[{"type":"string"}]}  =>  {"anyOf":[{"type":"string"},{"type":"null"}]}
            breaking     {"anyOf":[{"type":"string"},{"type":"null"}]}  =>  {"anyOf":[{"type":"string"}]}
            compatible   {"type":"string"}  =>  {"anyOf":[{"type":"null"},{"type":"string"}]}
            breaking     {"anyOf":[{"type":"null"},{"type":"string"}]}  =>  {"type":"string"}
            compatible   {"type":["string","null"]}  =>  {"oneOf":[{"type":"null"},{"type":"string"}]}
            compatible   {"oneOf":[{"type":"null"},{"type":"string"}]}  =>  {"type":["string","null"]}
            compatible   {"oneOf":[{"type":"object","properties":{"kind":{"const":"a"},"x":{"type":"string"}},"required":["kind"]}]}  =>  {"oneOf":[{"type":"object","properties":{"kind":{"const":"a"},"x":{"type":"string"}},"required":["kind"]},{"type":"object","properties":{"kind":{"const":"b"},"y":{"type":"string"}},"required":["kind"]}]}
            breaking     {"oneOf":[{"type":"object","properties":{"kind":{"const":"a"},"x":{"type":"string"}},"required":["kind"]},{"type":"object","properties":{"kind":{"const":"b"},"y":{"type":"string"}},"required":["kind"]}]}  =>  {"oneOf":[{"type":"object","properties":{"kind":{"const":"a"},"x":{"type":"string"}},"required":["kind"]}]}
            breaking     {"oneOf":[{"type":"integer"}]}  =>  {"oneOf":[{"type":"integer"},{"type":"number"}]}
            breaking     {"oneOf":[{"type":"integer"},{"type":"number"}]}  =>  {"oneOf":[{"type":"integer"}]}
            compatible   {"not":{"type":"string"}}  =>  {"not":{"const":"a"}}
            breaking     {"not":{"const":"a"}}  =>  {"not":{"type":"string"}}
            compatible   {"not":{"required":["a"]}}  =>  {"not":{"required":["a","b"]}}
            breaking     {"not":{"required":["a","b"]}}  =>  {"not":{"required":["a"]}}
            compatible   {"enum":["b","c"]}  =>  {"not":{"const":"a"}}
            breaking     {"not":{"const":"a"}}  =>  {"enum":["b","c"]}
            breaking     {"not":{"minLength":3}}  =>  {"minLength":3}
            breaking     {"minLength":3}  =>  {"not":{"minLength":3}}
            breaking     {"not":{"properties":{"a":{"type":"string"}}}}  =>  {"not":{"properties":{"a":{}}}}
            compatible   {"not":{"properties":{"a":{}}}}  =>  {"not":{"properties":{"a":{"type":"string"}}}}
            compatible   {"type":"integer","not":{"minimum":3}}  =>  {"not":{"type":"string"}}
            breaking     {"not":{"type":"string"}}  =>  {"type":"integer","not":{"minimum":3}}
            breaking     {"properties":{"a":false},"required":["a"]}  =>  {"type":["array","string"]}
            compatible   {"type":["array","string"]}  =>  {"properties":{"a":false},"required":["a"]}
            compatible   {"type":"array","items":false,"minItems":1}  =>  {"type":"string"}
            breaking     {"type":"string"}  =>  {"type":"array","items":false,"minItems":1}
            compatible   {"type":"array","prefixItems":[{}],"items":false,"minItems":2}  =>  {"type":"string"}
            breaking     {"type":"string"}  =>  {"type":"array","prefixItems":[{}],"items":false,"minItems":2}
            compatible   {"anyOf":[{"type":"string"},{"minimum":3}],"type":"null"}  =>  {"const":null}
            compatible   {"const":null}  =>  {"anyOf":[{"type":"string"},{"minimum":3}],"type":"null"}
            compatible   {"type":"object","anyOf":[{"type":"string"},{"minimum":3,"type":"integer"}]}  =>  {"const":7}
            breaking     {"const":7}  =>  {"type":"object","anyOf":[{"type":"string"},{"minimum":3,"type":"integer"}]}
            compatible   {"type":"object","if":{"required":["a"]},"then":{"minProperties":3},"else":{"minProperties":2}}  =>  {"type":"object","minProperties":2}
            breaking     {"type":"object","minProperties":2}  =>  {"type":"object","if":{"required":["a"]},"then":{"minProperties":3},"else":{"minProperties":2}}
            compatible   {"if":{"required":["a"]},"then":{"required":["b","c"]}}  =>  {"if":{"required":["a"]},"then":{"required":["b"]}}
            breaking     {"if":{"required":["a"]},"then":{"required":["b"]}}  =>  {"if":{"required":["a"]},"then":{"required":["b","c"]}}
            compatible   {"if":{"type":"string"},"then":{"maxLength":3},"else":{"minimum":3}}  =>  {"minimum":2}
            breaking     {"minimum":2}  =>  {"if":{"type":"string"},"then":{"maxLength":3},"else":{"minimum":3}}
        "#]],
    );
}

#[test]
fn references() {
    let list = |next: &str, limit: u64| {
        json!({"$ref": format!("#/$defs/{next}"), "$defs": {(next): {"type": "object", "properties": {
            "value": {"type": "integer", "maximum": limit}, "next": {"$ref": format!("#/$defs/{next}")},
        }, "additionalProperties": false}}})
    };
    narrow_and_wide(
        &[
            (list("node", 5), list("other", 5)),
            (list("node", 5), list("other", 6)),
            // Values are looked at under a name that has to be escaped, behind a reference.
            (
                json!({"properties": {"a/b ~%é": {"enum": ["x", "xy"]}}}),
                json!({"properties": {"a/b ~%é": {"allOf": [{"$ref": "#/$defs/T"}], "pattern": "^x"}}, "$defs": {"T": {"maxLength": 2}}}),
            ),
            (
                json!({"properties": {"a/b ~%é": {"enum": ["x", "xyz"]}}}),
                json!({"properties": {"a/b ~%é": {"allOf": [{"$ref": "#/$defs/T"}], "pattern": "^x"}}, "$defs": {"T": {"maxLength": 2}}}),
            ),
            (json!({"$ref": "#a", "$defs": {"x": {"$anchor": "a", "minimum": 2}}}), json!({"minimum": 2})),
            (
                json!({"items": {"$ref": "#"}, "type": "array"}),
                json!({"items": {"items": {"$ref": "#"}, "type": "array"}, "type": "array"}),
            ),
            (
                json!({"$dynamicRef": "#a", "$defs": {"x": {"$dynamicAnchor": "a", "minimum": 2}}}),
                json!({"minimum": 1}),
            ),
        ],
        &expect![[r##"
            behavioural  {"$ref":"#/$defs/node","$defs":{"node":{"type":"object","properties":{"value":{"type":"integer","maximum":5},"next":{"$ref":"#/$defs/node"}},"additionalProperties":false}}}  =>  {"$ref":"#/$defs/other","$defs":{"other":{"type":"object","properties":{"value":{"type":"integer","maximum":5},"next":{"$ref":"#/$defs/other"}},"additionalProperties":false}}}
            behavioural  {"$ref":"#/$defs/other","$defs":{"other":{"type":"object","properties":{"value":{"type":"integer","maximum":5},"next":{"$ref":"#/$defs/other"}},"additionalProperties":false}}}  =>  {"$ref":"#/$defs/node","$defs":{"node":{"type":"object","properties":{"value":{"type":"integer","maximum":5},"next":{"$ref":"#/$defs/node"}},"additionalProperties":false}}}
            compatible   {"$ref":"#/$defs/node","$defs":{"node":{"type":"object","properties":{"value":{"type":"integer","maximum":5},"next":{"$ref":"#/$defs/node"}},"additionalProperties":false}}}  =>  {"$ref":"#/$defs/other","$defs":{"other":{"type":"object","properties":{"value":{"type":"integer","maximum":6},"next":{"$ref":"#/$defs/other"}},"additionalProperties":false}}}
            breaking     {"$ref":"#/$defs/other","$defs":{"other":{"type":"object","properties":{"value":{"type":"integer","maximum":6},"next":{"$ref":"#/$defs/other"}},"additionalProperties":false}}}  =>  {"$ref":"#/$defs/node","$defs":{"node":{"type":"object","properties":{"value":{"type":"integer","maximum":5},"next":{"$ref":"#/$defs/node"}},"additionalProperties":false}}}
            compatible   {"properties":{"a/b ~%é":{"enum":["x","xy"]}}}  =>  {"properties":{"a/b ~%é":{"allOf":[{"$ref":"#/$defs/T"}],"pattern":"^x"}},"$defs":{"T":{"maxLength":2}}}
            breaking     {"properties":{"a/b ~%é":{"allOf":[{"$ref":"#/$defs/T"}],"pattern":"^x"}},"$defs":{"T":{"maxLength":2}}}  =>  {"properties":{"a/b ~%é":{"enum":["x","xy"]}}}
            breaking     {"properties":{"a/b ~%é":{"enum":["x","xyz"]}}}  =>  {"properties":{"a/b ~%é":{"allOf":[{"$ref":"#/$defs/T"}],"pattern":"^x"}},"$defs":{"T":{"maxLength":2}}}
            breaking     {"properties":{"a/b ~%é":{"allOf":[{"$ref":"#/$defs/T"}],"pattern":"^x"}},"$defs":{"T":{"maxLength":2}}}  =>  {"properties":{"a/b ~%é":{"enum":["x","xyz"]}}}
            behavioural  {"$ref":"#a","$defs":{"x":{"$anchor":"a","minimum":2}}}  =>  {"minimum":2}
            behavioural  {"minimum":2}  =>  {"$ref":"#a","$defs":{"x":{"$anchor":"a","minimum":2}}}
            compatible   {"items":{"$ref":"#"},"type":"array"}  =>  {"items":{"items":{"$ref":"#"},"type":"array"},"type":"array"}
            compatible   {"items":{"items":{"$ref":"#"},"type":"array"},"type":"array"}  =>  {"items":{"$ref":"#"},"type":"array"}
            compatible   {"$dynamicRef":"#a","$defs":{"x":{"$dynamicAnchor":"a","minimum":2}}}  =>  {"minimum":1}
            breaking     {"minimum":1}  =>  {"$dynamicRef":"#a","$defs":{"x":{"$dynamicAnchor":"a","minimum":2}}}
        "##]],
    );
}

/// `a++` takes all and gives none back: `^a++a$` matches nothing.
#[test]
fn patterns_mean_what_they_mean_to_the_validator() {
    let hard = "^(?:(?=a)a|(?=a)aa)+$";
    let long = "a".repeat(60) + "b";
    rows(
        "inputSchema",
        &[
            (
                json!({"properties": {"aa": {}}, "patternProperties": {"^a++a$": {"type": "integer"}}}),
                json!({"properties": {"aa": {"type": "integer"}}}),
            ),
            (json!({"enum": ["aa"]}), json!({"pattern": "^a++a$"})),
            (json!({"enum": ["aa"]}), json!({"pattern": "^a+a$"})),
            // It takes going back too often to know.
            (json!({"enum": [long]}), json!({"not": {"pattern": hard}})),
            (json!({"enum": [long]}), json!({"pattern": hard})),
        ],
        &expect![[r#"
            breaking     {"properties":{"aa":{}},"patternProperties":{"^a++a$":{"type":"integer"}}}  =>  {"properties":{"aa":{"type":"integer"}}}
            breaking     {"enum":["aa"]}  =>  {"pattern":"^a++a$"}
            compatible   {"enum":["aa"]}  =>  {"pattern":"^a+a$"}
            breaking     {"enum":["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"]}  =>  {"not":{"pattern":"^(?:(?=a)a|(?=a)aa)+$"}}
            breaking     {"enum":["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"]}  =>  {"pattern":"^(?:(?=a)a|(?=a)aa)+$"}
        "#]],
    );
}
