use aldgate_contract::diff::Word;
use expect_test::expect;
use serde_json::Value;

use super::{Compared, Item, Kind, around, cut, implied_authority, words};

fn item(kind: Kind) -> Item {
    Item { kind, name: "t".to_owned() }
}

fn state(before: Option<&str>, after: Option<&str>) -> (String, Option<String>) {
    let one = Compared::of(item(Kind::Tool), before, after, &[]);
    (one.word(), one.severity().map(|severity| severity.word().to_owned()))
}

#[test]
fn sides_that_cannot_be_compared_are_breaking_and_those_that_are_spelled_otherwise_are_the_same() {
    let plain = r#"{"name":"t","inputSchema":{"type":"object"}}"#;
    let spelled = r#"{ "inputSchema": {"type": "object"}, "name": "t" }"#;
    assert_eq!(state(Some(plain), Some(plain)), ("same".to_owned(), None));
    assert_eq!(
        state(Some(plain), Some(spelled)),
        ("same (other bytes, the same canonical form)".to_owned(), None)
    );
    assert_eq!(state(None, Some(plain)), ("new".to_owned(), Some("compatible".to_owned())));
    assert_eq!(state(Some(plain), None), ("gone".to_owned(), Some("breaking".to_owned())));
    for broken in [r#"{"name":"t","name":"t"}"#, "[]"] {
        for (before, after) in
            [(Some(plain), Some(broken)), (Some(broken), Some(plain)), (None, Some(broken))]
        {
            let (word, severity) = state(before, after);
            assert!(word.starts_with("cannot be read: "), "{word}");
            assert_eq!(severity.as_deref(), Some("breaking"));
        }
    }
}

/// RFC 8785 reads numbers as `f64`, so these two have one canonical form.
#[test]
fn an_integer_above_2_to_the_53rd_is_told_apart() {
    let of = |number| format!(r#"{{"name":"t","inputSchema":{{"type":"object","maxProperties":{number}}}}}"#);
    let (_, severity) = state(Some(&of("9007199254740992")), Some(&of("9007199254740993")));
    assert!(severity.is_some());
}

#[test]
fn the_implied_authority_is_of_tools_alone_and_shown_on_both_sides() {
    let read_only = r#"{"name":"t","annotations":{"readOnlyHint":true,"openWorldHint":false}}"#;
    let nothing = r#"{"name":"t"}"#;
    assert_eq!(implied_authority(read_only).as_str(), "automatic");
    assert_eq!(implied_authority(nothing).as_str(), "prohibited");
    // A hint of another type is none.
    assert_eq!(
        implied_authority(r#"{"name":"t","annotations":{"readOnlyHint":"true"}}"#).as_str(),
        "prohibited"
    );
    let told = Compared::of(item(Kind::Tool), Some(read_only), Some(nothing), &[]).described();
    assert_eq!(told["implied_authority"]["before"], "automatic");
    assert_eq!(told["implied_authority"]["after"], "prohibited");
    let told = Compared::of(item(Kind::Prompt), Some(read_only), Some(nothing), &[]).described();
    assert_eq!(told["implied_authority"], Value::Null);
}

#[test]
fn words_stand_in_what_stays_around_them() {
    let same = |text: &str| Word::Same(text.to_owned());
    let long = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen ";
    let shown = [
        words(&[same("Reads "), Word::Gone("one ".to_owned()), Word::New("a ".to_owned()), same("ticket.")]),
        words(&[same(long), Word::New("and more".to_owned())]),
        words(&[Word::Gone("no ".to_owned()), same(long)]),
        words(&[Word::Gone("no ".to_owned()), same(long), Word::New("yes".to_owned())]),
    ];
    expect![[r#"
        Reads [-one -]{+a +}ticket.
        … nine ten eleven twelve thirteen fourteen {+and more+}
        [-no -]one two three four five six …
        [-no -]one two three four five six … nine ten eleven twelve thirteen fourteen {+yes+}
    "#]]
    .assert_eq(&shown.map(|line| format!("{line}\n")).concat());
    assert_eq!(around("", true, true), "");
}

#[test]
fn a_long_value_is_cut_between_characters() {
    let long = "ü".repeat(301);
    assert_eq!(cut(&"ü".repeat(300)), "ü".repeat(300));
    assert_eq!(cut(&long), format!("{}… (`--json` has the whole)", "ü".repeat(300)));
}
