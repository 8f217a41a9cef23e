use super::*;

fn call(index: usize, id: &str) -> Piece {
    Piece::Call { index, id: id.to_owned(), name: "t".to_owned() }
}

fn fault(pieces: impl IntoIterator<Item = Piece>) -> ModelFault {
    let limits = ModelLimits { max_calls: 2, max_arguments: 4, ..ModelLimits::default() };
    let mut reply = Reply::default();
    let fault = pieces.into_iter().find_map(|piece| reply.take(piece, &limits).err());
    fault.unwrap()
}

#[test]
fn what_a_peer_can_make_grow_has_a_bound() {
    let arguments = |text: &str| Piece::Arguments { index: 0, text: text.to_owned() };
    for fault in [
        fault([call(0, "a"), call(1, "b"), call(2, "c")]),
        fault([call(0, "a"), arguments("1234"), arguments("5")]),
        fault([call(0, &"x".repeat(MAX_WORD + 1))]),
        fault([Piece::Call { index: 0, id: "a".to_owned(), name: "x".repeat(MAX_WORD + 1) }]),
    ] {
        assert_eq!(fault.code(), "AG-MODEL-BOUND", "{fault}");
    }
}

#[test]
fn calls_that_cannot_be_told_apart_are_a_fault() {
    let arguments = Piece::Arguments { index: 7, text: String::new() };
    for fault in
        [fault([call(0, "a"), call(0, "b")]), fault([call(0, "a"), call(1, "a")]), fault([arguments])]
    {
        assert_eq!(fault.code(), "AG-MODEL-STREAM", "{fault}");
    }
}

#[test]
fn text_and_calls_keep_their_order() {
    let mut reply = Reply::default();
    let text = |text: &str| Piece::Text(text.to_owned());
    for piece in [text("a"), text("b"), call(1, "x"), text("c")] {
        reply.take(piece, &ModelLimits::default()).unwrap();
    }
    assert!(
        matches!(reply.blocks.as_slice(), [Block::Text(ab), Block::Call(_), Block::Text(_)] if ab == "ab")
    );
    assert_eq!(reply.text(), "ab\nc");
}
