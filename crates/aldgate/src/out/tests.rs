use expect_test::{Expect, expect};

use super::{is_shown, plain, plain_lines, shown_in_json};

/// The format characters of Unicode 16.0 (general category Cf).
const FORMAT: [(u32, u32); 21] = [
    (0xad, 0xad),
    (0x600, 0x605),
    (0x61c, 0x61c),
    (0x6dd, 0x6dd),
    (0x70f, 0x70f),
    (0x890, 0x891),
    (0x8e2, 0x8e2),
    (0x180e, 0x180e),
    (0x200b, 0x200f),
    (0x202a, 0x202e),
    (0x2060, 0x2064),
    (0x2066, 0x206f),
    (0xfeff, 0xfeff),
    (0xfff9, 0xfffb),
    (0x110bd, 0x110bd),
    (0x110cd, 0x110cd),
    (0x13430, 0x1343f),
    (0x1bca0, 0x1bca3),
    (0x1d173, 0x1d17a),
    (0xe0001, 0xe0001),
    (0xe0020, 0xe007f),
];

#[test]
fn no_control_and_no_format_character_is_written() {
    let format = FORMAT.iter().flat_map(|(first, last)| *first..=*last);
    let control = (0..0x20).chain(0x7f..0xa0).chain([0x2028, 0x2029]);
    for number in format.chain(control) {
        let letter = char::from_u32(number).expect("a character");
        assert!(!is_shown(letter), "{number:x}");
        let shown = plain(&format!("a{letter}b"));
        assert!(shown.is_ascii() && shown.len() > 3 && shown.starts_with("a\\"), "{number:x}: {shown}");
        let json = serde_json::to_string(&format!("a{letter}b")).expect("JSON");
        let shown = shown_in_json(&json);
        assert!(shown.is_ascii() && shown.len() > 5, "{number:x}: {shown}");
        let read: String = serde_json::from_str(&shown).expect("JSON");
        assert_eq!(read, format!("a{letter}b"), "the value stays the same");
    }
}

fn check(text: &str, expected: &Expect) {
    expected.assert_eq(&format!("{}\n{}", plain(text), plain_lines(text)));
}

#[test]
fn what_hides_or_reorders_is_seen() {
    check(
        "pay 1\u{202e}00 €",
        &expect![[r"
        pay 1\u{202e}00 €
        pay 1\u{202e}00 €"]],
    );
    check(
        "ad\u{200b}min \u{1b}[2J",
        &expect![[r"
        ad\u{200b}min \u{1b}[2J
        ad\u{200b}min \u{1b}[2J"]],
    );
    check(
        "one\ncaller     someone else\r",
        &expect![[r"
        one\ncaller     someone else\r
        one
        caller     someone else\r"]],
    );
    check(
        "tag \u{e0041} selector \u{fe0f} filler \u{3164}",
        &expect![[r"
        tag \u{e0041} selector \u{fe0f} filler \u{3164}
        tag \u{e0041} selector \u{fe0f} filler \u{3164}"]],
    );
    check(
        "braille \u{2800} notehead \u{1d159} object \u{fffc}",
        &expect![[r"
        braille \u{2800} notehead \u{1d159} object \u{fffc}
        braille \u{2800} notehead \u{1d159} object \u{fffc}"]],
    );
}

#[test]
fn the_words_of_every_language_stay() {
    for text in
        ["Łódź, 10 °C – “quoted” \\ 'x'", "हिन्दी", "ภาษาไทย", "e\u{301}", "日本語、中文", "🙂", "10\u{a0}€"]
    {
        assert_eq!(plain(text), text);
    }
}
