//! What of a client's request reaches the upstream.

use aldgate_testkit::Call;
use serde_json::json;

use super::Rule;
use super::cut::value;
use crate::world::{World, code, text};

/// Arguments that reach the upstream byte by byte.
const PASSING: [(&str, &str); 6] = [
    ("numbers", r#"{"text":"t","n":[1.10,-0,-0.0,1E5,18446744073709551615,0.1,5e-324]}"#),
    ("white space", "{\t\"text\" :\r\n \"t\" , \"a\":[ ] }"),
    ("escapes", r#"{"te\u0078t":"\u0041\/\u2603\ud83d\uDE00"}"#),
    ("order and empty keys", r#"{"z":1,"text":"t","":{"":[null]},"a":2}"#),
    ("separators and NUL", "{\"text\":\"\u{2028}\u{7f}\u{feff}\\u0000\"}"),
    ("prototypes", r#"{"text":"t","__proto__":{"text":"u"},"constructor":{}}"#),
];

/// Arguments that are refused.
fn refused() -> Vec<(&'static str, String, Rule)> {
    let number = Rule("AG-WIRE-NUMBER", "is not exact in 64 bits; send it as a string, or with fewer digits");
    let twice = Rule("AG-WIRE-DUPLICATE-KEY", "repeats one of the same object; send each key once");
    let deep = format!(r#"{{"text":"t","d":{}{}}}"#, "[".repeat(70), "]".repeat(70));
    vec![
        ("digits beyond a double", r#"{"text":"t","n":12345678901234567890123}"#.to_owned(), number),
        ("beyond every double", r#"{"text":"t","n":1e400}"#.to_owned(), number),
        ("a member twice", r#"{"text":"t","x":{"a":1,"\u0061":2}}"#.to_owned(), twice),
        (
            "half of a pair",
            r#"{"text":"\ud83d"}"#.to_owned(),
            Rule(
                "AG-WIRE-SURROGATE",
                "is half of a surrogate pair; send both halves or the character itself",
            ),
        ),
        ("too deep", deep, Rule("AG-WIRE-DEPTH", "objects and arrays are nested more than 64 deep")),
        (
            "null",
            "null".to_owned(),
            Rule("AG-WIRE-PARAMS", "`arguments` in `params` of `tools/call` must be an object"),
        ),
        (
            "another case",
            r#"{"text":"t","Text":"u"}"#.to_owned(),
            Rule("AG-ARGUMENTS", "differs from `text` only by case"),
        ),
    ]
}

pub(super) fn rules() -> Vec<Rule> {
    refused().into_iter().map(|(_, _, rule)| rule).collect()
}

#[tokio::test]
async fn arguments_keep_their_bytes_or_are_refused_by_a_rule() {
    let world = World::plain().await;
    for (what, arguments) in PASSING {
        let reply = world.call("note", arguments).await;
        assert_eq!(code(&reply), "-", "{what}: {}", reply.text());
        let seen = world.up.calls("note").pop().unwrap();
        let params = value(&seen.body, "params").unwrap();
        assert_eq!(value(params, "arguments"), Some(arguments), "{what}");
    }
    for (what, arguments, Rule(expected, sentence)) in refused() {
        let reply = world.call("note", &arguments).await;
        assert_eq!(code(&reply), expected, "{what}: {}", reply.text());
        assert!(text(&reply).contains(sentence), "{what}: {sentence} in {}", text(&reply));
    }
    assert_eq!(world.up.calls("note").len(), PASSING.len());
}

#[tokio::test]
async fn of_params_only_what_the_method_has_goes_on() {
    let world = World::plain().await;
    let call = Call::tool("note", r#"{"text":"t"}"#).meta("com.example/odd", json!("%ODD%"));
    let odd = r#"{ "n":1.10,"u":"\u0041", "":[ ]}"#;
    let body =
        call.text().replace("\"%ODD%\"", odd).replace(r#""params":{"#, r#""params":{"cursor":"c","x":1,"#);
    let reply = world.send(&call.body(body)).await;
    assert_eq!(code(&reply), "-", "{}", reply.text());
    let seen = world.up.calls("note").pop().unwrap();
    let params = value(&seen.body, "params").unwrap();
    assert_eq!(value(value(params, "_meta").unwrap(), "com.example/odd"), Some(odd));
    let members = seen.params.as_object().unwrap().keys().map(String::as_str).collect::<Vec<_>>();
    assert_eq!(members, ["name", "arguments", "_meta"]);
}
