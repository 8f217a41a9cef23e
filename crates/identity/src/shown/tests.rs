use super::shown;

#[test]
fn nothing_that_turns_text_around_or_breaks_it_is_shown() {
    let odd = ['\u{61C}', '\u{200E}', '\u{200F}', '\u{2028}', '\u{2029}', '\u{202A}', '\u{202E}'];
    for letter in odd.into_iter().chain(['\u{2066}', '\u{2069}', '\n', '\u{1b}', '\u{9b}', '\0']) {
        assert_eq!(shown(&format!("a{letter}b"), 10), "ab", "{letter:?}");
    }
    assert_eq!(shown("h\u{e9}llo \u{5d0}", 10), "h\u{e9}llo \u{5d0}");
    assert_eq!(shown("abcd", 4), "abcd");
    assert_eq!(shown("abcde", 4), "abcd…");
}
