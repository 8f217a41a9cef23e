//! Schemas of arguments: what was valid before has to be valid after.

use expect_test::expect;
use serde_json::{Value, json};

use super::rows;

/// Pairs of the narrower and the wider schema, and their severities as input and in reverse.
pub(super) fn narrow_and_wide(pairs: &[(Value, Value)], expected: &expect_test::Expect) {
    let both: Vec<(Value, Value)> = pairs
        .iter()
        .flat_map(|(narrow, wide)| [(narrow.clone(), wide.clone()), (wide.clone(), narrow.clone())])
        .collect();
    rows("inputSchema", &both, expected);
}

#[test]
fn types_and_numbers() {
    narrow_and_wide(
        &[
            (json!({"type": "integer"}), json!({"type": "number"})),
            (json!({"type": "string"}), json!({"type": ["string", "null"]})),
            (json!({"type": "string"}), json!({})),
            (json!({"minimum": 2}), json!({"minimum": 1})),
            (json!({"exclusiveMinimum": 1}), json!({"minimum": 1})),
            (json!({"type": "integer", "exclusiveMinimum": 1}), json!({"type": "integer", "minimum": 2})),
            (json!({"type": "integer", "minimum": 0.5}), json!({"type": "integer", "minimum": 1})),
            (json!({"maximum": 9_007_199_254_740_992_i64}), json!({"maximum": 9_007_199_254_740_993_i64})),
            (json!({"maximum": 1e30}), json!({"maximum": 1e31})),
            (json!({"multipleOf": 6}), json!({"multipleOf": 3})),
            (json!({"multipleOf": 1}), json!({"multipleOf": 0.25})),
            (json!({"type": "number", "multipleOf": 2}), json!({"type": "integer"})),
            (json!({"type": "integer", "minimum": 1, "maximum": 3}), json!({"enum": [1, 2, 3]})),
            (
                json!({"maximum": 3}),
                json!({"type": ["number", "string", "null", "object", "array", "boolean"]}),
            ),
        ],
        &expect![[r#"
            compatible   {"type":"integer"}  =>  {"type":"number"}
            breaking     {"type":"number"}  =>  {"type":"integer"}
            compatible   {"type":"string"}  =>  {"type":["string","null"]}
            breaking     {"type":["string","null"]}  =>  {"type":"string"}
            compatible   {"type":"string"}  =>  {}
            breaking     {}  =>  {"type":"string"}
            compatible   {"minimum":2}  =>  {"minimum":1}
            breaking     {"minimum":1}  =>  {"minimum":2}
            compatible   {"exclusiveMinimum":1}  =>  {"minimum":1}
            breaking     {"minimum":1}  =>  {"exclusiveMinimum":1}
            compatible   {"type":"integer","exclusiveMinimum":1}  =>  {"type":"integer","minimum":2}
            compatible   {"type":"integer","minimum":2}  =>  {"type":"integer","exclusiveMinimum":1}
            compatible   {"type":"integer","minimum":0.5}  =>  {"type":"integer","minimum":1}
            compatible   {"type":"integer","minimum":1}  =>  {"type":"integer","minimum":0.5}
            compatible   {"maximum":9007199254740992}  =>  {"maximum":9007199254740993}
            breaking     {"maximum":9007199254740993}  =>  {"maximum":9007199254740992}
            compatible   {"maximum":1e+30}  =>  {"maximum":1e+31}
            breaking     {"maximum":1e+31}  =>  {"maximum":1e+30}
            compatible   {"multipleOf":6}  =>  {"multipleOf":3}
            breaking     {"multipleOf":3}  =>  {"multipleOf":6}
            compatible   {"multipleOf":1}  =>  {"multipleOf":0.25}
            breaking     {"multipleOf":0.25}  =>  {"multipleOf":1}
            compatible   {"type":"number","multipleOf":2}  =>  {"type":"integer"}
            breaking     {"type":"integer"}  =>  {"type":"number","multipleOf":2}
            compatible   {"type":"integer","minimum":1,"maximum":3}  =>  {"enum":[1,2,3]}
            compatible   {"enum":[1,2,3]}  =>  {"type":"integer","minimum":1,"maximum":3}
            compatible   {"maximum":3}  =>  {"type":["number","string","null","object","array","boolean"]}
            breaking     {"type":["number","string","null","object","array","boolean"]}  =>  {"maximum":3}
        "#]],
    );
}

#[test]
fn texts_lists_and_constants() {
    narrow_and_wide(
        &[
            (json!({"minLength": 2, "maxLength": 4}), json!({"minLength": 1, "maxLength": 5})),
            (json!({"type": "string", "pattern": "^a"}), json!({"type": "string"})),
            (json!({"pattern": "^a$"}), json!({"pattern": "^a"})),
            (json!({"enum": ["a", "b"]}), json!({"enum": ["b", "a", "c"]})),
            (json!({"const": "a"}), json!({"enum": ["a", "b"]})),
            (json!({"const": 1}), json!({"const": 1.0, "title": "one"})),
            (json!({"enum": ["ab", "abc"]}), json!({"type": "string", "pattern": "^a", "maxLength": 3})),
            (json!({"enum": ["ab"]}), json!({"type": "string", "pattern": "^(?=a)"})),
            (json!({"const": {"a": 1}}), json!({"enum": [{"a": 1}, {}]})),
            (json!({"type": "boolean"}), json!({"enum": [true, false, null]})),
            (json!({"const": 9_007_199_254_740_993_i64}), json!({"const": 9_007_199_254_740_992_i64})),
        ],
        &expect![[r#"
            compatible   {"minLength":2,"maxLength":4}  =>  {"minLength":1,"maxLength":5}
            breaking     {"minLength":1,"maxLength":5}  =>  {"minLength":2,"maxLength":4}
            compatible   {"type":"string","pattern":"^a"}  =>  {"type":"string"}
            breaking     {"type":"string"}  =>  {"type":"string","pattern":"^a"}
            breaking     {"pattern":"^a$"}  =>  {"pattern":"^a"}
            breaking     {"pattern":"^a"}  =>  {"pattern":"^a$"}
            compatible   {"enum":["a","b"]}  =>  {"enum":["b","a","c"]}
            breaking     {"enum":["b","a","c"]}  =>  {"enum":["a","b"]}
            compatible   {"const":"a"}  =>  {"enum":["a","b"]}
            breaking     {"enum":["a","b"]}  =>  {"const":"a"}
            behavioural  {"const":1}  =>  {"const":1.0,"title":"one"}
            behavioural  {"const":1.0,"title":"one"}  =>  {"const":1}
            compatible   {"enum":["ab","abc"]}  =>  {"type":"string","pattern":"^a","maxLength":3}
            breaking     {"type":"string","pattern":"^a","maxLength":3}  =>  {"enum":["ab","abc"]}
            compatible   {"enum":["ab"]}  =>  {"type":"string","pattern":"^(?=a)"}
            breaking     {"type":"string","pattern":"^(?=a)"}  =>  {"enum":["ab"]}
            compatible   {"const":{"a":1}}  =>  {"enum":[{"a":1},{}]}
            breaking     {"enum":[{"a":1},{}]}  =>  {"const":{"a":1}}
            compatible   {"type":"boolean"}  =>  {"enum":[true,false,null]}
            breaking     {"enum":[true,false,null]}  =>  {"type":"boolean"}
            breaking     {"const":9007199254740993}  =>  {"const":9007199254740992}
            breaking     {"const":9007199254740992}  =>  {"const":9007199254740993}
        "#]],
    );
}

#[test]
fn objects() {
    let two = json!({"a": {"type": "string"}, "b": {"type": "integer"}});
    narrow_and_wide(
        &[
            (
                json!({"type": "object", "properties": two, "required": ["a"]}),
                json!({"type": "object", "properties": two}),
            ),
            (
                json!({"properties": {"a": {"type": "string"}}, "additionalProperties": false}),
                json!({"properties": two, "additionalProperties": false}),
            ),
            (json!({"properties": two}), json!({"properties": {"a": {"type": "string"}}})),
            (json!({"properties": {"a": {"minimum": 2}}}), json!({"properties": {"a": {"minimum": 1}}})),
            (json!({"additionalProperties": false}), json!({"additionalProperties": {"type": "string"}})),
            (
                json!({"additionalProperties": {"type": "integer"}}),
                json!({"additionalProperties": {"type": "number"}}),
            ),
            (
                json!({"patternProperties": {"^x-": {"type": "string"}}, "additionalProperties": false}),
                json!({"patternProperties": {"^x-": {}}, "additionalProperties": false}),
            ),
            (
                json!({"properties": {"x-a": {"type": "string"}}, "additionalProperties": false}),
                json!({"patternProperties": {"^x-": {"type": "string"}}, "additionalProperties": false}),
            ),
            (json!({"minProperties": 2}), json!({"minProperties": 1})),
            (json!({"required": ["a", "b"]}), json!({"minProperties": 2})),
            (json!({"properties": two, "additionalProperties": false}), json!({"maxProperties": 2})),
            (json!({"propertyNames": {"maxLength": 3}}), json!({"propertyNames": {"maxLength": 4}})),
            (
                json!({"properties": {"ab": {}}, "additionalProperties": false}),
                json!({"propertyNames": {"maxLength": 3}}),
            ),
            (json!({"required": ["a", "b"]}), json!({"dependentRequired": {"a": ["b"]}})),
            (json!({"dependentRequired": {"a": ["b", "c"]}}), json!({"dependentRequired": {"a": ["b"]}})),
            (
                json!({"dependentSchemas": {"a": {"minProperties": 3}}}),
                json!({"dependentSchemas": {"a": {"minProperties": 2}}}),
            ),
            // An array has no properties, so nothing depends on one.
            (
                json!({"required": ["a"], "dependentSchemas": {"a": {"type": "null"}}}),
                json!({"required": ["a"], "dependentSchemas": {"a": {"type": "null"}}, "uniqueItems": true}),
            ),
            (json!({"dependencies": {"a": ["b"]}}), json!({"dependentRequired": {"a": ["b"]}})),
            (
                json!({"patternProperties": {"^a": {"type": "string"}}, "additionalProperties": {"type": "integer"}}),
                json!({"patternProperties": {"^a": {"type": ["string", "null"]}}, "additionalProperties": {"type": "number"}}),
            ),
            // A property may match either pattern, or both.
            (
                json!({"patternProperties": {"^a": {"type": "string"}, "b$": {"type": "integer"}}, "additionalProperties": false}),
                json!({"additionalProperties": {"type": ["string", "integer"]}}),
            ),
            (
                json!({"patternProperties": {"^a": {"type": "string"}}}),
                json!({"patternProperties": {"^a": {"type": "string"}, "^b": {"type": "string"}}}),
            ),
            (
                json!({"properties": {"ab": {"type": "string"}}, "additionalProperties": {"type": "integer"}}),
                json!({"patternProperties": {"^a": {"type": ["string", "integer"]}}}),
            ),
            (json!({"maxProperties": 0}), json!({"additionalProperties": false})),
            (json!({"propertyNames": {"enum": ["a"]}}), json!({"properties": {"b": false}})),
            (
                json!({"properties": {"a": {"const": 1}}, "required": ["a"]}),
                json!({"dependentSchemas": {"a": {"required": ["a"]}}}),
            ),
            (
                json!({"type": "object", "required": ["a"], "dependentSchemas": {"a": {"required": ["b"]}}, "dependentRequired": {"b": ["c"]}}),
                json!({"type": "object", "required": ["a", "b", "c"]}),
            ),
            (
                json!({"allOf": [{"$ref": "#/$defs/x"}], "unevaluatedProperties": {"type": "integer"}, "$defs": {"x": {"properties": {"a": {}}, "patternProperties": {"^p": {}}}}}),
                json!({"properties": {"a": {}}, "patternProperties": {"^p": {}}, "additionalProperties": {"type": "number"}}),
            ),
            (
                json!({"anyOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}], "unevaluatedProperties": false, "minProperties": 2}),
                json!({"anyOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}], "unevaluatedProperties": false}),
            ),
            (
                json!({"allOf": [{"additionalProperties": {"type": "integer"}}], "unevaluatedProperties": false}),
                json!({"allOf": [{"additionalProperties": {"type": "number"}}], "unevaluatedProperties": false}),
            ),
            (
                json!({"allOf": [{"properties": two}], "unevaluatedProperties": false}),
                json!({"allOf": [{"properties": {"a": {}, "b": {}, "c": {}}}], "unevaluatedProperties": false}),
            ),
            (
                json!({"properties": two, "additionalProperties": false}),
                json!({"properties": two, "unevaluatedProperties": false}),
            ),
        ],
        &expect![[r##"
            compatible   {"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}},"required":["a"]}  =>  {"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}}}
            breaking     {"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}}}  =>  {"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}},"required":["a"]}
            compatible   {"properties":{"a":{"type":"string"}},"additionalProperties":false}  =>  {"properties":{"a":{"type":"string"},"b":{"type":"integer"}},"additionalProperties":false}
            breaking     {"properties":{"a":{"type":"string"},"b":{"type":"integer"}},"additionalProperties":false}  =>  {"properties":{"a":{"type":"string"}},"additionalProperties":false}
            compatible   {"properties":{"a":{"type":"string"},"b":{"type":"integer"}}}  =>  {"properties":{"a":{"type":"string"}}}
            breaking     {"properties":{"a":{"type":"string"}}}  =>  {"properties":{"a":{"type":"string"},"b":{"type":"integer"}}}
            compatible   {"properties":{"a":{"minimum":2}}}  =>  {"properties":{"a":{"minimum":1}}}
            breaking     {"properties":{"a":{"minimum":1}}}  =>  {"properties":{"a":{"minimum":2}}}
            compatible   {"additionalProperties":false}  =>  {"additionalProperties":{"type":"string"}}
            breaking     {"additionalProperties":{"type":"string"}}  =>  {"additionalProperties":false}
            compatible   {"additionalProperties":{"type":"integer"}}  =>  {"additionalProperties":{"type":"number"}}
            breaking     {"additionalProperties":{"type":"number"}}  =>  {"additionalProperties":{"type":"integer"}}
            compatible   {"patternProperties":{"^x-":{"type":"string"}},"additionalProperties":false}  =>  {"patternProperties":{"^x-":{}},"additionalProperties":false}
            breaking     {"patternProperties":{"^x-":{}},"additionalProperties":false}  =>  {"patternProperties":{"^x-":{"type":"string"}},"additionalProperties":false}
            compatible   {"properties":{"x-a":{"type":"string"}},"additionalProperties":false}  =>  {"patternProperties":{"^x-":{"type":"string"}},"additionalProperties":false}
            breaking     {"patternProperties":{"^x-":{"type":"string"}},"additionalProperties":false}  =>  {"properties":{"x-a":{"type":"string"}},"additionalProperties":false}
            compatible   {"minProperties":2}  =>  {"minProperties":1}
            breaking     {"minProperties":1}  =>  {"minProperties":2}
            compatible   {"required":["a","b"]}  =>  {"minProperties":2}
            breaking     {"minProperties":2}  =>  {"required":["a","b"]}
            compatible   {"properties":{"a":{"type":"string"},"b":{"type":"integer"}},"additionalProperties":false}  =>  {"maxProperties":2}
            breaking     {"maxProperties":2}  =>  {"properties":{"a":{"type":"string"},"b":{"type":"integer"}},"additionalProperties":false}
            compatible   {"propertyNames":{"maxLength":3}}  =>  {"propertyNames":{"maxLength":4}}
            breaking     {"propertyNames":{"maxLength":4}}  =>  {"propertyNames":{"maxLength":3}}
            compatible   {"properties":{"ab":{}},"additionalProperties":false}  =>  {"propertyNames":{"maxLength":3}}
            breaking     {"propertyNames":{"maxLength":3}}  =>  {"properties":{"ab":{}},"additionalProperties":false}
            compatible   {"required":["a","b"]}  =>  {"dependentRequired":{"a":["b"]}}
            breaking     {"dependentRequired":{"a":["b"]}}  =>  {"required":["a","b"]}
            compatible   {"dependentRequired":{"a":["b","c"]}}  =>  {"dependentRequired":{"a":["b"]}}
            breaking     {"dependentRequired":{"a":["b"]}}  =>  {"dependentRequired":{"a":["b","c"]}}
            compatible   {"dependentSchemas":{"a":{"minProperties":3}}}  =>  {"dependentSchemas":{"a":{"minProperties":2}}}
            breaking     {"dependentSchemas":{"a":{"minProperties":2}}}  =>  {"dependentSchemas":{"a":{"minProperties":3}}}
            breaking     {"required":["a"],"dependentSchemas":{"a":{"type":"null"}}}  =>  {"required":["a"],"dependentSchemas":{"a":{"type":"null"}},"uniqueItems":true}
            compatible   {"required":["a"],"dependentSchemas":{"a":{"type":"null"}},"uniqueItems":true}  =>  {"required":["a"],"dependentSchemas":{"a":{"type":"null"}}}
            compatible   {"dependencies":{"a":["b"]}}  =>  {"dependentRequired":{"a":["b"]}}
            compatible   {"dependentRequired":{"a":["b"]}}  =>  {"dependencies":{"a":["b"]}}
            compatible   {"patternProperties":{"^a":{"type":"string"}},"additionalProperties":{"type":"integer"}}  =>  {"patternProperties":{"^a":{"type":["string","null"]}},"additionalProperties":{"type":"number"}}
            breaking     {"patternProperties":{"^a":{"type":["string","null"]}},"additionalProperties":{"type":"number"}}  =>  {"patternProperties":{"^a":{"type":"string"}},"additionalProperties":{"type":"integer"}}
            compatible   {"patternProperties":{"^a":{"type":"string"},"b$":{"type":"integer"}},"additionalProperties":false}  =>  {"additionalProperties":{"type":["string","integer"]}}
            breaking     {"additionalProperties":{"type":["string","integer"]}}  =>  {"patternProperties":{"^a":{"type":"string"},"b$":{"type":"integer"}},"additionalProperties":false}
            breaking     {"patternProperties":{"^a":{"type":"string"}}}  =>  {"patternProperties":{"^a":{"type":"string"},"^b":{"type":"string"}}}
            compatible   {"patternProperties":{"^a":{"type":"string"},"^b":{"type":"string"}}}  =>  {"patternProperties":{"^a":{"type":"string"}}}
            compatible   {"properties":{"ab":{"type":"string"}},"additionalProperties":{"type":"integer"}}  =>  {"patternProperties":{"^a":{"type":["string","integer"]}}}
            breaking     {"patternProperties":{"^a":{"type":["string","integer"]}}}  =>  {"properties":{"ab":{"type":"string"}},"additionalProperties":{"type":"integer"}}
            compatible   {"maxProperties":0}  =>  {"additionalProperties":false}
            compatible   {"additionalProperties":false}  =>  {"maxProperties":0}
            compatible   {"propertyNames":{"enum":["a"]}}  =>  {"properties":{"b":false}}
            breaking     {"properties":{"b":false}}  =>  {"propertyNames":{"enum":["a"]}}
            compatible   {"properties":{"a":{"const":1}},"required":["a"]}  =>  {"dependentSchemas":{"a":{"required":["a"]}}}
            breaking     {"dependentSchemas":{"a":{"required":["a"]}}}  =>  {"properties":{"a":{"const":1}},"required":["a"]}
            compatible   {"type":"object","required":["a"],"dependentSchemas":{"a":{"required":["b"]}},"dependentRequired":{"b":["c"]}}  =>  {"type":"object","required":["a","b","c"]}
            compatible   {"type":"object","required":["a","b","c"]}  =>  {"type":"object","required":["a"],"dependentSchemas":{"a":{"required":["b"]}},"dependentRequired":{"b":["c"]}}
            compatible   {"allOf":[{"$ref":"#/$defs/x"}],"unevaluatedProperties":{"type":"integer"},"$defs":{"x":{"properties":{"a":{}},"patternProperties":{"^p":{}}}}}  =>  {"properties":{"a":{}},"patternProperties":{"^p":{}},"additionalProperties":{"type":"number"}}
            breaking     {"properties":{"a":{}},"patternProperties":{"^p":{}},"additionalProperties":{"type":"number"}}  =>  {"allOf":[{"$ref":"#/$defs/x"}],"unevaluatedProperties":{"type":"integer"},"$defs":{"x":{"properties":{"a":{}},"patternProperties":{"^p":{}}}}}
            compatible   {"anyOf":[{"properties":{"a":{}}},{"properties":{"b":{}}}],"unevaluatedProperties":false,"minProperties":2}  =>  {"anyOf":[{"properties":{"a":{}}},{"properties":{"b":{}}}],"unevaluatedProperties":false}
            breaking     {"anyOf":[{"properties":{"a":{}}},{"properties":{"b":{}}}],"unevaluatedProperties":false}  =>  {"anyOf":[{"properties":{"a":{}}},{"properties":{"b":{}}}],"unevaluatedProperties":false,"minProperties":2}
            compatible   {"allOf":[{"additionalProperties":{"type":"integer"}}],"unevaluatedProperties":false}  =>  {"allOf":[{"additionalProperties":{"type":"number"}}],"unevaluatedProperties":false}
            breaking     {"allOf":[{"additionalProperties":{"type":"number"}}],"unevaluatedProperties":false}  =>  {"allOf":[{"additionalProperties":{"type":"integer"}}],"unevaluatedProperties":false}
            compatible   {"allOf":[{"properties":{"a":{"type":"string"},"b":{"type":"integer"}}}],"unevaluatedProperties":false}  =>  {"allOf":[{"properties":{"a":{},"b":{},"c":{}}}],"unevaluatedProperties":false}
            breaking     {"allOf":[{"properties":{"a":{},"b":{},"c":{}}}],"unevaluatedProperties":false}  =>  {"allOf":[{"properties":{"a":{"type":"string"},"b":{"type":"integer"}}}],"unevaluatedProperties":false}
            compatible   {"properties":{"a":{"type":"string"},"b":{"type":"integer"}},"additionalProperties":false}  =>  {"properties":{"a":{"type":"string"},"b":{"type":"integer"}},"unevaluatedProperties":false}
            compatible   {"properties":{"a":{"type":"string"},"b":{"type":"integer"}},"unevaluatedProperties":false}  =>  {"properties":{"a":{"type":"string"},"b":{"type":"integer"}},"additionalProperties":false}
        "##]],
    );
}

#[test]
fn arrays() {
    narrow_and_wide(
        &[
            (json!({"items": {"type": "integer"}}), json!({"items": {"type": "number"}})),
            (json!({"minItems": 1, "maxItems": 2}), json!({"maxItems": 3})),
            (json!({"uniqueItems": true}), json!({"uniqueItems": false})),
            (json!({"maxItems": 1}), json!({"uniqueItems": true})),
            (
                json!({"prefixItems": [{"const": 1}, {"const": 2}], "items": false}),
                json!({"items": {"type": "integer"}}),
            ),
            (json!({"prefixItems": [{"const": 1}], "items": false}), json!({"maxItems": 1})),
            (json!({"items": {"type": "string"}, "minItems": 1}), json!({"contains": {"type": "string"}})),
            (json!({"contains": {"const": 1}, "minContains": 2}), json!({"contains": {"type": "integer"}})),
            (
                json!({"contains": {"type": "integer"}, "maxContains": 1}),
                json!({"contains": {"const": 1}, "minContains": 0, "maxContains": 2}),
            ),
            (
                json!({"prefixItems": [{}], "items": false}),
                json!({"prefixItems": [true], "unevaluatedItems": false}),
            ),
            (
                json!({"allOf": [{"prefixItems": [{"type": "integer"}]}], "unevaluatedItems": {"type": "string"}}),
                json!({"prefixItems": [{"type": "number"}], "items": {"type": ["string", "null"]}}),
            ),
            (
                json!({"prefixItems": [{"type": "integer"}], "items": {"type": "string"}}),
                json!({"allOf": [{"prefixItems": [{"type": "integer"}]}], "unevaluatedItems": {"type": "string"}}),
            ),
            (
                json!({"contains": {"const": 1}, "unevaluatedItems": {"const": 2}}),
                json!({"contains": {"const": 1}, "unevaluatedItems": {}}),
            ),
            (
                json!({"allOf": [{"items": {"type": "integer"}}], "unevaluatedItems": false}),
                json!({"items": {"type": "number"}}),
            ),
            (
                json!({"prefixItems": [{"type": "string"}, {"type": "integer"}]}),
                json!({"prefixItems": [{"type": "string"}]}),
            ),
            (
                json!({"prefixItems": [{"type": "string"}], "items": {"type": "null"}}),
                json!({"prefixItems": [{"type": "string"}, {"type": "null"}]}),
            ),
            (
                json!({"maxItems": 1, "items": {"type": "string"}}),
                json!({"prefixItems": [{"type": "string"}, {"type": "integer"}]}),
            ),
            (
                json!({"minItems": 2, "items": {"type": "string"}}),
                json!({"contains": {"type": "string"}, "minContains": 2}),
            ),
            (
                json!({"minItems": 1, "items": {"type": "string"}}),
                json!({"contains": {"type": "string"}, "minContains": 2}),
            ),
            (
                json!({"maxItems": 2}),
                json!({"contains": {"type": "string"}, "minContains": 0, "maxContains": 2}),
            ),
            (
                json!({"contains": {"type": "integer"}, "minContains": 0}),
                json!({"contains": {"type": "number"}}),
            ),
        ],
        &expect![[r#"
            compatible   {"items":{"type":"integer"}}  =>  {"items":{"type":"number"}}
            breaking     {"items":{"type":"number"}}  =>  {"items":{"type":"integer"}}
            compatible   {"minItems":1,"maxItems":2}  =>  {"maxItems":3}
            breaking     {"maxItems":3}  =>  {"minItems":1,"maxItems":2}
            compatible   {"uniqueItems":true}  =>  {"uniqueItems":false}
            breaking     {"uniqueItems":false}  =>  {"uniqueItems":true}
            compatible   {"maxItems":1}  =>  {"uniqueItems":true}
            breaking     {"uniqueItems":true}  =>  {"maxItems":1}
            compatible   {"prefixItems":[{"const":1},{"const":2}],"items":false}  =>  {"items":{"type":"integer"}}
            breaking     {"items":{"type":"integer"}}  =>  {"prefixItems":[{"const":1},{"const":2}],"items":false}
            compatible   {"prefixItems":[{"const":1}],"items":false}  =>  {"maxItems":1}
            breaking     {"maxItems":1}  =>  {"prefixItems":[{"const":1}],"items":false}
            compatible   {"items":{"type":"string"},"minItems":1}  =>  {"contains":{"type":"string"}}
            breaking     {"contains":{"type":"string"}}  =>  {"items":{"type":"string"},"minItems":1}
            compatible   {"contains":{"const":1},"minContains":2}  =>  {"contains":{"type":"integer"}}
            breaking     {"contains":{"type":"integer"}}  =>  {"contains":{"const":1},"minContains":2}
            compatible   {"contains":{"type":"integer"},"maxContains":1}  =>  {"contains":{"const":1},"minContains":0,"maxContains":2}
            breaking     {"contains":{"const":1},"minContains":0,"maxContains":2}  =>  {"contains":{"type":"integer"},"maxContains":1}
            compatible   {"prefixItems":[{}],"items":false}  =>  {"prefixItems":[true],"unevaluatedItems":false}
            compatible   {"prefixItems":[true],"unevaluatedItems":false}  =>  {"prefixItems":[{}],"items":false}
            compatible   {"allOf":[{"prefixItems":[{"type":"integer"}]}],"unevaluatedItems":{"type":"string"}}  =>  {"prefixItems":[{"type":"number"}],"items":{"type":["string","null"]}}
            breaking     {"prefixItems":[{"type":"number"}],"items":{"type":["string","null"]}}  =>  {"allOf":[{"prefixItems":[{"type":"integer"}]}],"unevaluatedItems":{"type":"string"}}
            compatible   {"prefixItems":[{"type":"integer"}],"items":{"type":"string"}}  =>  {"allOf":[{"prefixItems":[{"type":"integer"}]}],"unevaluatedItems":{"type":"string"}}
            compatible   {"allOf":[{"prefixItems":[{"type":"integer"}]}],"unevaluatedItems":{"type":"string"}}  =>  {"prefixItems":[{"type":"integer"}],"items":{"type":"string"}}
            compatible   {"contains":{"const":1},"unevaluatedItems":{"const":2}}  =>  {"contains":{"const":1},"unevaluatedItems":{}}
            breaking     {"contains":{"const":1},"unevaluatedItems":{}}  =>  {"contains":{"const":1},"unevaluatedItems":{"const":2}}
            compatible   {"allOf":[{"items":{"type":"integer"}}],"unevaluatedItems":false}  =>  {"items":{"type":"number"}}
            breaking     {"items":{"type":"number"}}  =>  {"allOf":[{"items":{"type":"integer"}}],"unevaluatedItems":false}
            compatible   {"prefixItems":[{"type":"string"},{"type":"integer"}]}  =>  {"prefixItems":[{"type":"string"}]}
            breaking     {"prefixItems":[{"type":"string"}]}  =>  {"prefixItems":[{"type":"string"},{"type":"integer"}]}
            compatible   {"prefixItems":[{"type":"string"}],"items":{"type":"null"}}  =>  {"prefixItems":[{"type":"string"},{"type":"null"}]}
            breaking     {"prefixItems":[{"type":"string"},{"type":"null"}]}  =>  {"prefixItems":[{"type":"string"}],"items":{"type":"null"}}
            compatible   {"maxItems":1,"items":{"type":"string"}}  =>  {"prefixItems":[{"type":"string"},{"type":"integer"}]}
            breaking     {"prefixItems":[{"type":"string"},{"type":"integer"}]}  =>  {"maxItems":1,"items":{"type":"string"}}
            compatible   {"minItems":2,"items":{"type":"string"}}  =>  {"contains":{"type":"string"},"minContains":2}
            breaking     {"contains":{"type":"string"},"minContains":2}  =>  {"minItems":2,"items":{"type":"string"}}
            breaking     {"minItems":1,"items":{"type":"string"}}  =>  {"contains":{"type":"string"},"minContains":2}
            breaking     {"contains":{"type":"string"},"minContains":2}  =>  {"minItems":1,"items":{"type":"string"}}
            compatible   {"maxItems":2}  =>  {"contains":{"type":"string"},"minContains":0,"maxContains":2}
            breaking     {"contains":{"type":"string"},"minContains":0,"maxContains":2}  =>  {"maxItems":2}
            breaking     {"contains":{"type":"integer"},"minContains":0}  =>  {"contains":{"type":"number"}}
            compatible   {"contains":{"type":"number"}}  =>  {"contains":{"type":"integer"},"minContains":0}
        "#]],
    );
}
