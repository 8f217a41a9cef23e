use super::super::config::ModelLimits;
use super::super::reply::Reply;
use super::*;

/// A recorded stream, put together.
fn read(stream: &str) -> Result<Reply, ModelFault> {
    let mut reply = Reply::default();
    for data in stream.lines().filter_map(|line| line.strip_prefix("data: ")) {
        for piece in pieces(&serde_json::from_str(data).unwrap())? {
            reply.take(piece, &ModelLimits::default())?;
        }
    }
    Ok(reply)
}

macro_rules! recorded {
    ($name:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testkit/recorded/anthropic/", $name))
    };
}

#[test]
fn a_sentence_and_two_calls_are_read_from_a_stream() {
    let reply = read(recorded!("calls.sse")).unwrap();
    assert_eq!(reply.text(), "I read the ticket and look at the stock – at once.");
    let calls: Vec<_> =
        reply.calls().map(|call| (call.id.as_str(), call.name.as_str(), call.arguments.as_str())).collect();
    assert_eq!(
        calls,
        [
            ("toolu_01AldgateTicket", "get_ticket", r#"{"ticket_id": "SR-20031"}"#),
            ("toolu_01AldgateStock", "check_availability", r#"{"part_no": "AC250-TV-S1"}"#)
        ]
    );
    assert_eq!(
        (reply.id.as_deref(), reply.model.as_deref()),
        (Some("msg_01AldgateCalls"), Some("claude-sonnet-4-5-20250929"))
    );
    // What was read from a cache and written to it went in too.
    assert_eq!((reply.input, reply.output), (Some(2004), Some(97)));
    assert_eq!((reply.stopped.as_deref(), reply.ended), (Some("tool_use"), true));
}

#[test]
fn each_stop_reason_is_read_for_what_it_is() {
    for (stream, reason, meaning) in [
        (recorded!("answer.sse"), "end_turn", Stop::Done),
        (recorded!("cut.sse"), "max_tokens", Stop::Cut(LONGER)),
        (recorded!("declined.sse"), "refusal", Stop::Declined),
        (recorded!("pause.sse"), "pause_turn", Stop::Paused),
    ] {
        let reply = read(stream).unwrap();
        assert_eq!(reply.stopped.as_deref(), Some(reason));
        assert_eq!(stop(reason), meaning);
        assert!(reply.ended);
    }
    assert_eq!(stop("tool_use"), Stop::Done);
    assert!(matches!(stop("model_context_window_exceeded"), Stop::Cut(what) if what != LONGER));
    assert_eq!(stop("something_new"), Stop::Unknown);
}

#[test]
fn an_error_in_a_stream_is_told_with_the_services_words() {
    let fault = read(recorded!("error.sse")).unwrap_err();
    assert_eq!(fault.code(), "AG-MODEL-STREAM");
    assert!(fault.to_string().contains("`overloaded_error`: Overloaded"), "{fault}");
}

#[test]
fn events_and_blocks_of_unknown_kinds_are_passed_over() {
    for event in [
        json!({"type": "something_new", "index": 0}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "x"}}),
        json!({}),
        json!(null),
    ] {
        assert_eq!(pieces(&event).unwrap(), [], "{event}");
    }
}

#[test]
fn input_that_comes_whole_is_read_too() {
    let event = json!({"type": "content_block_start", "index": 3,
        "content_block": {"type": "tool_use", "id": "t", "name": "n", "input": {"a": 1}}});
    let expected = [
        Piece::Call { index: 3, id: "t".to_owned(), name: "n".to_owned() },
        Piece::Arguments { index: 3, text: r#"{"a":1}"#.to_owned() },
    ];
    assert_eq!(pieces(&event).unwrap(), expected);
}

#[test]
fn a_block_without_what_it_needs_is_a_fault() {
    for event in [
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "name": "n"}}),
        json!({"type": "content_block_start", "content_block": {"type": "tool_use", "id": "t", "name": "n"}}),
        json!({"type": "content_block_delta", "index": -1, "delta": {"type": "input_json_delta", "partial_json": ""}}),
    ] {
        assert_eq!(pieces(&event).unwrap_err().code(), "AG-MODEL-STREAM", "{event}");
    }
}
