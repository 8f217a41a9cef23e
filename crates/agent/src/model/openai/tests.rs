use super::super::config::ModelLimits;
use super::super::reply::Reply;
use super::*;

/// A recorded stream, put together.
fn read(stream: &str) -> Result<Reply, ModelFault> {
    let mut reply = Reply::default();
    for data in stream.lines().filter_map(|line| line.strip_prefix("data: ")).filter(|data| *data != "[DONE]")
    {
        for piece in pieces(&serde_json::from_str(data).unwrap(), reply.calls().count())? {
            reply.take(piece, &ModelLimits::default())?;
        }
    }
    Ok(reply)
}

macro_rules! recorded {
    ($name:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testkit/recorded/openai/", $name))
    };
}

fn calls(reply: &Reply) -> Vec<(&str, &str)> {
    reply.calls().map(|call| (call.name.as_str(), call.arguments.as_str())).collect()
}

#[test]
fn a_sentence_and_two_calls_are_read_from_a_stream() {
    let reply = read(recorded!("calls.sse")).unwrap();
    assert_eq!(reply.text(), "I read the ticket and look at the stock – at once.");
    assert_eq!(
        calls(&reply),
        [
            ("get_ticket", r#"{"ticket_id": "SR-20031"}"#),
            ("check_availability", r#"{"part_no": "AC250-TV-S1"}"#)
        ]
    );
    let ids: Vec<_> = reply.calls().map(|call| call.id.as_str()).collect();
    assert_eq!(ids, ["call_AldgateTicket", "call_AldgateStock"]);
    assert_eq!(
        (reply.id.as_deref(), reply.model.as_deref()),
        (Some("chatcmpl-AldgateCalls"), Some("gpt-5-mini-2025-08-07"))
    );
    assert_eq!((reply.input, reply.output), (Some(2004), Some(97)));
    assert_eq!(reply.stopped.as_deref(), Some("tool_calls"));
}

#[test]
fn services_that_give_no_index_and_no_id_are_read_too() {
    let reply = read(recorded!("others.sse")).unwrap();
    assert_eq!(
        calls(&reply),
        [
            ("get_ticket", r#"{"ticket_id":"SR-20031"}"#),
            ("check_availability", r#"{"part_no":"AC250-TV-S1"}"#)
        ]
    );
    let ids: std::collections::BTreeSet<_> = reply.calls().map(|call| call.id.as_str()).collect();
    assert!(ids.len() == 2 && ids.iter().all(|id| !id.is_empty()), "{ids:?}");
    assert_eq!((reply.id.as_deref(), reply.input, reply.output), (None, None, None));
}

#[test]
fn each_finish_reason_is_read_for_what_it_is() {
    assert_eq!(read(recorded!("cut.sse")).unwrap().stopped.as_deref(), Some("length"));
    assert_eq!(stop("length"), Stop::Cut(LONGER));
    assert_eq!(stop("content_filter"), Stop::Declined);
    assert_eq!(
        (stop("stop"), stop("tool_calls"), stop("something_new")),
        (Stop::Done, Stop::Done, Stop::Unknown)
    );
    let declined = read(recorded!("declined.sse")).unwrap();
    assert_eq!((declined.refusal.as_str(), declined.text().as_str()), ("I cannot help with this.", ""));
    assert_eq!(read(recorded!("answer.sse")).unwrap().output, Some(41));
}

#[test]
fn an_error_in_a_stream_is_told_with_the_services_words() {
    let fault = read(recorded!("error.sse")).unwrap_err();
    assert_eq!(fault.code(), "AG-MODEL-STREAM");
    assert!(fault.to_string().contains("The server had an error"), "{fault}");
}

#[test]
fn a_long_description_is_whole_in_the_system_message() {
    let long = "ä".repeat(3000);
    let tools =
        [Definition { name: "t".to_owned(), description: long.clone(), schema: json!({"type": "object"}) }];
    let request = Request { model: "m", max_answer_tokens: 7, system: "rules", tools: &tools, messages: &[] };
    let body = body(&request, false);
    let there = body["tools"][0]["function"]["description"].as_str().unwrap();
    assert!(there.chars().count() <= 1024 && there.contains("system message"));
    let system = body["messages"][0]["content"].as_str().unwrap();
    assert!(system.starts_with("rules") && system.contains(&long));
}

#[test]
fn the_bound_on_an_answer_has_the_name_that_the_service_knows() {
    let request = Request { model: "m", max_answer_tokens: 7, system: "s", tools: &[], messages: &[] };
    let (newer, others) = (body(&request, true), body(&request, false));
    assert_eq!((&newer["max_completion_tokens"], newer.get("max_tokens")), (&json!(7), None));
    assert_eq!((&others["max_tokens"], others.get("max_completion_tokens")), (&json!(7), None));
    assert_eq!(newer.get("tools"), None, "an empty list is refused");
}
