//! Words, and what is shown of them.

use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::json;

use super::compared;
use crate::diff::show;
use crate::diff::words::words;
use crate::diff::{Severity, Word};
use crate::kind::Kind;

fn marked(before: &str, after: &str, left: &mut usize) -> String {
    words(before, after, left)
        .iter()
        .map(|word| match word {
            Word::Same(text) => text.clone(),
            Word::Gone(text) => format!("[-{text}-]"),
            Word::New(text) => format!("{{+{text}+}}"),
        })
        .collect()
}

fn check_words(before: &str, after: &str, expected: &Expect) {
    expected.assert_eq(&marked(before, after, &mut (1 << 30)));
}

#[test]
fn words_that_came_and_went() {
    check_words("Reads a ticket.", "Reads a ticket.", &expect!["Reads a ticket."]);
    check_words(
        "Reads a ticket.",
        "Reads one ticket, and closes it.",
        &expect!["Reads [-a-]{+one+} ticket{+, and closes it+}."],
    );
    check_words("Reads a ticket", "Reads  a\tticket", &expect!["Reads[- -]{+  +}a[- -]{+	+}ticket"]);
    check_words("", "New.", &expect!["{+New.+}"]);
    check_words("Gone.", "", &expect!["[-Gone.-]"]);
    check_words(
        "x_1 über-straße 東京",
        "x_2 über straße 東京",
        &expect!["[-x_1-]{+x_2+} über[---]{+ +}straße 東京"],
    );
    check_words("a b c d", "d a b c", &expect!["{+d +}a b c[- d-]"]);
    check_words("a a b", "a b b", &expect!["a [-a-]{+b+} b"]);
    check_words("Stop!?", "Stop!.", &expect!["Stop![-?-]{+.+}"]);
    check_words("#%#", "&#&", &expect!["[-#%-]{+&+}#{+&+}"]);
}

/// Two tokens that are gone and two that are new take six.
#[test]
fn as_many_cells_are_taken_as_are_left() {
    for (given, expected, rest) in [(7, "{+&+}#[-%-]", 1), (6, "{+&+}#[-%-]", 0), (5, "[-#%-]{+&#+}", 5)] {
        let mut left = given;
        assert_eq!((marked("#%", "&#", &mut left).as_str(), left), (expected, rest), "{given}");
    }
}

/// A definition of many texts, each short enough alone.
#[test]
fn of_many_texts_the_first_are_told_word_by_word() {
    let tool = |word: &str| {
        let text = format!("start {} end", vec![word; 500].join(" "));
        let notes = (0..9).map(|at| (format!("a{at}"), json!(text)));
        json!({"name": "t", "annotations": notes.collect::<serde_json::Map<_, _>>()})
    };
    let found = compared(Kind::Tool, &tool("old"), &tool("new"));
    let runs: Vec<usize> = found.changes().iter().map(|change| change.words.len()).collect();
    assert_eq!(runs, [1501, 1501, 1501, 1501, 4, 4, 4, 4, 4]);
}

#[test]
fn long_texts_are_told_as_a_whole() {
    let text = |word: &str| format!("start {} end", vec![word; 3000].join(" "));
    let found = words(&text("old"), &text("new"), &mut (1 << 30));
    let shape: Vec<(&str, usize)> = found
        .iter()
        .map(|word| match word {
            Word::Same(text) => ("same", text.len()),
            Word::Gone(text) => ("gone", text.len()),
            Word::New(text) => ("new", text.len()),
        })
        .collect();
    expect![[r#"[("same", 6), ("gone", 11999), ("new", 11999), ("same", 4)]"#]]
        .assert_eq(&format!("{shape:?}"));
}

#[test]
fn words_of_a_change_and_its_json() {
    let found = compared(
        Kind::Tool,
        &json!({"name": "t", "description": "Reads a ticket."}),
        &json!({"name": "t", "description": "Reads one ticket."}),
    );
    expect![[r#"
        [
          {
            "severity": "behavioural",
            "path": "/description",
            "what": "`description` has other words",
            "before": "Reads a ticket.",
            "after": "Reads one ticket.",
            "words": [
              {
                "is": "same",
                "text": "Reads "
              },
              {
                "is": "gone",
                "text": "a"
              },
              {
                "is": "new",
                "text": "one"
              },
              {
                "is": "same",
                "text": " ticket."
              }
            ]
          }
        ]"#]]
    .assert_eq(&serde_json::to_string_pretty(&found).unwrap());
}

#[test]
fn a_summary_is_one_printable_line() {
    let before = json!({"name": "t", "description": "a", "title": "b", "inputSchema": {"type": "object"}});
    let after = json!({"name": "t", "description": "b", "title": "c", "inputSchema": {"type": "object", "required": ["a\u{202e}b\nc", "x".repeat(200)]}});
    let found = compared(Kind::Tool, &before, &after);
    expect![[
        r#"2 breaking, 1 behavioural, 1 cosmetic: /inputSchema/required: `a\u{202e}b\u{a}c` is required now"#
    ]]
    .assert_eq(&found.summary());
    let found = compared(
        Kind::Tool,
        &before,
        &json!({"name": "t", "description": "b", "title": "b", "inputSchema": {"type": "object"}}),
    );
    expect!["1 behavioural: /description: `description` has other words"].assert_eq(&found.summary());
    assert_eq!(compared(Kind::Tool, &before, &before).summary(), "");
    let many = json!({"name": "t", "inputSchema": {"type": "object", "properties": {"\u{e0041}".repeat(300): false}}});
    let summary = compared(Kind::Tool, &before, &many).summary();
    assert!(
        summary.chars().count() <= 300
            && summary.chars().all(|c| c == '…' || c.is_ascii_graphic() || c == ' '),
        "{summary}"
    );
}

#[test]
fn what_is_quoted_is_bounded() {
    let long = |count: usize| show::quoted("é".repeat(count)).chars().count();
    assert_eq!([long(79), long(80), long(81), long(500)], [81, 82, 82, 82]);
    assert!(show::quoted("a".repeat(80)).ends_with("aa`"));
    assert!(show::quoted("a".repeat(81)).ends_with("a…`"));
    let escaped = show::quoted("a".repeat(73) + "\u{202e}b");
    assert!(escaped.ends_with("aa…`"), "{escaped}");
    expect![[r#"`\u{1f}\u{7f} ~¡\u{ad}\u{200b}\u{202e}\u{e0041}東\u{fe0f}`"#]]
        .assert_eq(&show::quoted("\u{1f}\u{7f} ~¡\u{ad}\u{200b}\u{202e}\u{e0041}東\u{fe0f}"));
    assert_eq!(show::quoted("a` is fine"), "`a\\u{60} is fine`");
    expect!["`a`, `b`"].assert_eq(&show::listed(&["a", "b"]));
    expect!["`1`, `2`, `3`, `4`, `5`"].assert_eq(&show::listed(&["1", "2", "3", "4", "5"]));
    expect!["`1`, `2`, `3`, `4`, `5` and 2 more"]
        .assert_eq(&show::listed(&["1", "2", "3", "4", "5", "6", "7"]));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Both texts are whole in the runs, and no run could be joined with the one before.
    #[test]
    fn words_hold_both_texts(before in "[ab ,.é\n]{0,30}", after in "[ab ,.é\n]{0,30}") {
        let found = words(&before, &after, &mut (1 << 30));
        let side = |other: fn(&Word) -> bool| -> String {
            found.iter().filter(|word| !other(word)).map(|word| match word {
                Word::Same(text) | Word::Gone(text) | Word::New(text) => text.as_str(),
            }).collect()
        };
        prop_assert_eq!(side(|word| matches!(word, Word::New(_))), before);
        prop_assert_eq!(side(|word| matches!(word, Word::Gone(_))), after);
        prop_assert!(found.windows(2).all(|two| std::mem::discriminant(&two[0]) != std::mem::discriminant(&two[1])));
    }

    #[test]
    fn a_summary_is_never_long(name in any::<String>(), text in any::<String>()) {
        let found = compared(
            Kind::Tool,
            &json!({"name": "t", "inputSchema": {"required": [name]}}),
            &json!({"name": "t", "inputSchema": {"required": [text], "properties": {(name): {"description": text}}}, (text): 1}),
        );
        let summary = found.summary();
        prop_assert!(summary.chars().count() <= 300 && !summary.chars().any(char::is_control));
        prop_assert!(found.severity() <= Some(Severity::Breaking));
    }
}
