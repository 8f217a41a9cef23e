use expect_test::{Expect, expect};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::value::RawValue;

use super::{
    ParamHeader, ValueFault, check_params, decode_value, encode_value, make_params, param_headers,
    unrecognised_params,
};

#[test]
fn encodes_what_a_header_cannot_hold() {
    for (text, value) in [
        ("", ""),
        ("us-west1", "us-west1"),
        ("a b", "a b"),
        ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
        (" a", "=?base64?IGE=?="),
        ("a ", "=?base64?YSA=?="),
        ("a\tb", "=?base64?YQli?="),
        ("a\r\nb", "=?base64?YQ0KYg==?="),
        ("\u{7f}", "=?base64?fw==?="),
        ("=?base64?YQ==?=", "=?base64?PT9iYXNlNjQ/WVE9PT89?="),
        ("=?base64?=", "=?base64?PT9iYXNlNjQ/PQ==?="),
        ("=?BASE64?YQ==?=", "=?BASE64?YQ==?="),
        ("=?base64?YQ==", "=?base64?YQ=="),
    ] {
        assert_eq!(encode_value(text), value, "{text:?}");
        assert_eq!(decode_value(value.as_bytes()).as_deref(), Ok(text), "{value}");
    }
}

#[test]
fn decodes_strictly() {
    assert_eq!(decode_value(b"\t files.search  ").as_deref(), Ok("files.search"));
    assert_eq!(decode_value(b"   ").as_deref(), Ok(""));
    assert_eq!(decode_value(b"a\tb").as_deref(), Ok("a\tb"));
    for value in [&b"caf\xc3\xa9"[..], b"caf\xe9", b"a\0b", b"a\nb", b"\x7f"] {
        assert_eq!(decode_value(value), Err(ValueFault::Characters), "{value:?}");
    }
    for value in ["=?base64?YQ?=", "=?base64?YR==?=", "=?base64?Y-_=?=", "=?base64?Y Q==?=", "=?base64?***?="]
    {
        assert_eq!(decode_value(value.as_bytes()), Err(ValueFault::Base64), "{value}");
    }
    assert_eq!(decode_value(b"=?base64?/w==?="), Err(ValueFault::NotUtf8));
    assert_eq!(decode_value(b"=?base64??=").as_deref(), Ok(""));
}

fn annotations(schema: &str, expected: Expect) {
    let schema = serde_json::from_str(schema).unwrap();
    let shown = match param_headers(&schema) {
        Ok(params) => params
            .iter()
            .map(|param| format!("{} = {} ({:?})\n", param.header, param.path.join("."), param.kind))
            .collect(),
        Err(fault) => format!("{fault}\n"),
    };
    expected.assert_eq(&shown);
}

#[test]
fn finds_annotations_on_properties_at_any_depth() {
    annotations(
        r#"{"type":"object","properties":{
            "region":{"type":"string","x-mcp-header":"Region"},
            "limit":{"type":"integer","x-mcp-header":"Limit"},
            "plain":{"type":"number"},
            "where":{"type":"object","properties":{"exact":{"type":"boolean","x-mcp-header":"Exact"}}}}}"#,
        expect![[r#"
            mcp-param-region = region (String)
            mcp-param-limit = limit (Integer)
            mcp-param-exact = where.exact (Boolean)
        "#]],
    );
}

#[test]
fn a_property_may_be_called_like_the_keyword_and_data_may_hold_it() {
    annotations(
        r#"{"type":"object","properties":{
            "x-mcp-header":{"type":"string"},
            "a":{"type":"object","default":{"x-mcp-header":1},"const":{"x-mcp-header":1},"enum":[{"x-mcp-header":1}]},
            "properties":{"type":"string","x-mcp-header":"P"}},
            "$defs":{"x-mcp-header":{"type":"string"}}}"#,
        expect![[r#"
            mcp-param-p = properties (String)
        "#]],
    );
}

#[test]
fn refuses_annotations_that_break_a_rule() {
    let property = |schema: &str| format!(r#"{{"type":"object","properties":{{"a/b":{schema}}}}}"#);
    annotations(
        &property(r#"{"type":"number","x-mcp-header":"A"}"#),
        expect![[r#"
            the property at `/properties/a~1b` has `x-mcp-header` and must have `type` string, integer or boolean
        "#]],
    );
    for schema in [
        r#"{"x-mcp-header":"A"}"#,
        r#"{"type":["string","null"],"x-mcp-header":"A"}"#,
        r#"{"type":"object","x-mcp-header":"A"}"#,
        r#"{"type":"array","x-mcp-header":"A"}"#,
    ] {
        let schema = serde_json::from_str(&property(schema)).unwrap();
        assert!(matches!(param_headers(&schema), Err(super::AnnotationFault::Type { .. })), "{schema}");
    }
    annotations(
        &property(r#"{"type":"string","x-mcp-header":"A B"}"#),
        expect![[r#"
            `x-mcp-header` at `/properties/a~1b` must be a header name part (RFC 9110 token), found `"A B"`
        "#]],
    );
    for name in [r#""""#, r#""é""#, r#""a:b""#, r#""a\r\nb""#, "1", "null", "true"] {
        let schema = property(&format!(r#"{{"type":"string","x-mcp-header":{name}}}"#));
        let schema = serde_json::from_str(&schema).unwrap();
        assert!(matches!(param_headers(&schema), Err(super::AnnotationFault::NotToken { .. })), "{schema}");
    }
    annotations(
        r#"{"type":"object","properties":{
            "a":{"type":"string","x-mcp-header":"Region"},"b":{"type":"string","x-mcp-header":"rEGION"}}}"#,
        expect![[r#"
            `x-mcp-header` `region` occurs twice; use each header for one property
        "#]],
    );
}

#[test]
fn refuses_annotations_that_are_not_reached_through_properties() {
    let annotated = r#"{"type":"string","x-mcp-header":"A"}"#;
    let inner = format!(r#"{{"type":"object","properties":{{"a":{annotated}}}}}"#);
    for schema in [
        r#"{"type":"string","x-mcp-header":"A"}"#.to_owned(),
        format!(r#"{{"properties":{{"l":{{"type":"array","items":{annotated}}}}}}}"#),
        format!(r#"{{"properties":{{"l":{{"type":"array","prefixItems":[{annotated}]}}}}}}"#),
        format!(r#"{{"properties":{{"l":{{"type":"array","items":{inner}}}}}}}"#),
        format!(r#"{{"oneOf":[{inner}]}}"#),
        format!(r#"{{"anyOf":[{inner}]}}"#),
        format!(r#"{{"allOf":[{inner}]}}"#),
        format!(r#"{{"not":{inner}}}"#),
        format!(r#"{{"if":{inner}}}"#),
        format!(r#"{{"then":{inner}}}"#),
        format!(r#"{{"else":{inner}}}"#),
        format!(r#"{{"$defs":{{"d":{annotated}}}}}"#),
        format!(r#"{{"$defs":{{"const":{annotated}}}}}"#),
        format!(r#"{{"patternProperties":{{"a":{annotated}}}}}"#),
        format!(r#"{{"dependentSchemas":{{"a":{inner}}}}}"#),
        format!(r#"{{"additionalProperties":{annotated}}}"#),
        format!(r#"{{"vendor-keyword":{inner}}}"#),
    ] {
        let schema = serde_json::from_str(&schema).unwrap();
        assert!(
            matches!(param_headers(&schema), Err(super::AnnotationFault::Unreachable { .. })),
            "{schema}"
        );
    }
}

fn declared() -> Vec<ParamHeader> {
    let schema = serde_json::json!({"type": "object", "properties": {
        "s": {"type": "string", "x-mcp-header": "S"},
        "i": {"type": "integer", "x-mcp-header": "I"},
        "o": {"type": "object", "properties": {"b": {"type": "boolean", "x-mcp-header": "B"}}},
    }});
    param_headers(&schema).unwrap()
}

fn headers(list: &[(&str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in list {
        headers.append(HeaderName::try_from(*name).unwrap(), HeaderValue::try_from(*value).unwrap());
    }
    headers
}

fn compare(list: &[(&str, &str)], arguments: &str) -> String {
    let arguments: &RawValue = serde_json::from_str(arguments).unwrap();
    match check_params(&headers(list), &declared(), Some(arguments)) {
        Ok(()) => "agrees".to_owned(),
        Err(fault) => fault.to_string(),
    }
}

#[test]
fn headers_agree_with_arguments() {
    for (list, arguments) in [
        (
            &[("Mcp-Param-S", "x"), ("mcp-param-i", "42"), ("MCP-PARAM-B", "true")][..],
            r#"{"s":"x","i":42,"o":{"b":true}}"#,
        ),
        (&[("mcp-param-i", "42.0")], r#"{"i":42}"#),
        (&[("mcp-param-i", "42")], r#"{"i":42.0}"#),
        (&[("mcp-param-i", "4.2e1")], r#"{"i":42}"#),
        (&[("mcp-param-i", "-9007199254740991")], r#"{"i":-9007199254740991}"#),
        (&[("mcp-param-s", "=?base64?5LiW?=")], r#"{"s":"世"}"#),
        (&[("mcp-param-s", "")], r#"{"s":""}"#),
        (&[], r#"{"s":null,"o":null}"#),
        (&[], r#"{"o":{}}"#),
        (&[], "{}"),
        (&[("mcp-param-unknown", "1")], "{}"),
    ] {
        assert_eq!(compare(list, arguments), "agrees", "{list:?} {arguments}");
    }
    assert_eq!(check_params(&headers(&[]), &declared(), None), Ok(()));
}

#[test]
fn headers_disagree_with_arguments() {
    let check =
        |list: &[(&str, &str)], arguments, expected: Expect| expected.assert_eq(&compare(list, arguments));
    check(&[], r#"{"s":"x"}"#, expect!["the header `mcp-param-s` is missing; mirror the argument `s` in it"]);
    check(
        &[("mcp-param-s", "X")],
        r#"{"s":"x"}"#,
        expect!["the header `mcp-param-s` differs from the argument `s`; send the same in both"],
    );
    check(
        &[("mcp-param-b", "TRUE")],
        r#"{"o":{"b":true}}"#,
        expect!["the header `mcp-param-b` differs from the argument `o.b`; send the same in both"],
    );
    check(
        &[("mcp-param-i", "43")],
        r#"{"i":42}"#,
        expect!["the header `mcp-param-i` differs from the argument `i`; send the same in both"],
    );
    check(
        &[("mcp-param-i", "0x2a")],
        r#"{"i":42}"#,
        expect!["the header `mcp-param-i` differs from the argument `i`; send the same in both"],
    );
    check(
        &[("mcp-param-s", "x")],
        "{}",
        expect!["the header `mcp-param-s` is there, but the argument `s` is not; leave the header out"],
    );
    check(
        &[("mcp-param-s", "x")],
        r#"{"s":null}"#,
        expect!["the header `mcp-param-s` is there, but the argument `s` is not; leave the header out"],
    );
    check(
        &[("mcp-param-s", "x"), ("mcp-param-s", "x")],
        r#"{"s":"x"}"#,
        expect!["the header `mcp-param-s` is repeated; send it once"],
    );
    check(
        &[("mcp-param-s", "=?base64?x?=")],
        r#"{"s":"x"}"#,
        expect!["the header `mcp-param-s` is malformed; send printable ASCII, or UTF-8 as `=?base64?…?=`"],
    );
    check(
        &[("mcp-param-i", "9007199254740992")],
        r#"{"i":9007199254740992}"#,
        expect![
            "the argument `i` cannot stand in the header `mcp-param-i`; send the type that the schema names, integers within ±(2^53−1)"
        ],
    );
    check(
        &[("mcp-param-s", "1")],
        r#"{"s":1}"#,
        expect![
            "the argument `s` cannot stand in the header `mcp-param-s`; send the type that the schema names, integers within ±(2^53−1)"
        ],
    );
    check(
        &[],
        r#"{"o":[true]}"#,
        expect![
            "the argument `o.b` cannot stand in the header `mcp-param-b`; send the type that the schema names, integers within ±(2^53−1)"
        ],
    );
}

#[test]
fn makes_headers_that_its_own_check_takes() {
    let arguments = r#"{"s":" Hello, 世界","i":4.2e1,"o":{"b":false}}"#;
    let arguments: &RawValue = serde_json::from_str(arguments).unwrap();
    let made = make_params(&declared(), Some(arguments)).unwrap();
    let shown: Vec<String> =
        made.iter().map(|(name, value)| format!("{name}: {}", value.to_str().unwrap())).collect();
    assert_eq!(
        shown,
        ["mcp-param-s: =?base64?IEhlbGxvLCDkuJbnlYw=?=", "mcp-param-i: 42", "mcp-param-b: false"]
    );
    let headers = HeaderMap::from_iter(made);
    assert_eq!(check_params(&headers, &declared(), Some(arguments)), Ok(()));
    assert_eq!(make_params(&declared(), None), Ok(Vec::new()));
}

#[test]
fn forwards_what_it_does_not_recognise_within_limits() {
    let headers = headers(&[
        ("mcp-param-s", "declared"),
        ("mcp-param-x", "one"),
        ("mcp-param-y", "two"),
        ("mcp-name", "no parameter"),
        ("authorization", "never"),
    ]);
    let names = |max_headers, max_bytes| -> Vec<String> {
        let found = unrecognised_params(&headers, &declared(), max_headers, max_bytes);
        found.iter().map(|(name, _)| name.to_string()).collect()
    };
    assert_eq!(names(8, 100), ["mcp-param-x", "mcp-param-y"]);
    assert_eq!(names(1, 100), ["mcp-param-x"]);
    assert_eq!(names(8, 27), ["mcp-param-x"]);
    assert!(names(8, 3).is_empty());
}
