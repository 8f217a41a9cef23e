use super::{Code, refuse};

#[test]
fn what_was_sent_cannot_turn_the_text_of_a_refusal_around() {
    let sent = refuse(Code::InvalidRequest, "step", "a\u{202e}b\u{200f}\n\u{2066}c", "d").sent;
    assert_eq!(sent, "abc");
    assert_eq!(refuse(Code::InvalidRequest, "step", "\u{202e}", "d").sent, "nothing");
}
