//! Tools, and a prompt, that need answers from the caller before they are done.

use rmcp::ErrorData;
use serde_json::{Value, json};

use super::asking::{Answered, Asking, Question};
use super::content::text;

const NAME: Question = Question::Form { message: "What is your name?", field: "name", kind: "string" };
const CAPITAL: Question = Question::Sample { text: "What is the capital of France?" };
const GREETING: Question = Question::Sample { text: "Write a greeting" };
const ROOTS: Question = Question::Roots;
const CONFIRM: Question = Question::Form { message: "Please confirm", field: "ok", kind: "boolean" };
const STEP_1: Question =
    Question::Form { message: "Step 1: What is your name?", field: "name", kind: "string" };
const STEP_2: Question =
    Question::Form { message: "Step 2: What is your favourite colour?", field: "color", kind: "string" };
const CONTEXT: Question =
    Question::Form { message: "What context should the prompt use?", field: "context", kind: "string" };

/// What asking for one thing came to.
pub(super) enum Asked {
    Answer(String),
    /// The result that asks.
    Question(Value),
}

/// The result of one of these tools; `None` for any other name.
pub(super) fn answer(tool: &str, asking: &Asking<'_>) -> Option<Result<Value, ErrorData>> {
    let result = match tool {
        "test_input_required_result_elicitation" => {
            one(asking, "user_name", &NAME, |name| format!("Hello, {name}!"))
        }
        "test_input_required_result_sampling" => {
            one(asking, "capital_question", &CAPITAL, |said| format!("The model says: {said}"))
        }
        "test_input_required_result_list_roots" => {
            one(asking, "client_roots", &ROOTS, |roots| format!("The roots are {roots}"))
        }
        "test_streaming_elicitation" => one(asking, "confirm", &CONFIRM, |ok| format!("Confirmed: {ok}")),
        "test_input_required_result_request_state" | "test_input_required_result_tampered_state" => {
            confirmed(asking)
        }
        "test_input_required_result_multiple_inputs" => several(asking),
        "test_input_required_result_multi_round" => one_after_the_other(asking),
        "test_input_required_result_capabilities" => whatever_is_declared(asking),
        _ => return None,
    };
    Some(result)
}

/// The context of the prompt that asks for one.
pub(super) fn context(asking: &Asking<'_>) -> Result<Asked, ErrorData> {
    ask_for(asking, "user_context", &CONTEXT)
}

fn ask_for(asking: &Asking<'_>, key: &str, question: &Question) -> Result<Asked, ErrorData> {
    match asking.answer(key, question) {
        Answered::With(answer) => Ok(Asked::Answer(answer)),
        Answered::Refused => Ok(Asked::Answer("(not given)".to_owned())),
        Answered::Not => Ok(Asked::Question(asking.ask(&[(key, question)], None)?)),
    }
}

fn one(
    asking: &Asking<'_>,
    key: &str,
    question: &Question,
    say: impl FnOnce(&str) -> String,
) -> Result<Value, ErrorData> {
    match ask_for(asking, key, question)? {
        Asked::Answer(answer) => Ok(text(&say(&answer))),
        Asked::Question(result) => Ok(result),
    }
}

/// Done only with both the answer and the state.
fn confirmed(asking: &Asking<'_>) -> Result<Value, ErrorData> {
    let state = asking.opened()?;
    match (state, asking.answer("confirm", &CONFIRM)) {
        (Some(_), Answered::With(ok)) => Ok(text(&format!("state-ok, confirmed: {ok}"))),
        (Some(_), Answered::Refused) => Ok(text("state-ok, not confirmed")),
        (None, _) | (Some(_), Answered::Not) => {
            let state = asking.seal(&json!({ "asked": "confirm" }))?;
            asking.ask(&[("confirm", &CONFIRM)], Some(state))
        }
    }
}

fn several(asking: &Asking<'_>) -> Result<Value, ErrorData> {
    let questions = [("user_name", &NAME), ("greeting", &GREETING), ("client_roots", &ROOTS)];
    let state = asking.opened()?;
    let mut answers = Vec::new();
    for (key, question) in questions {
        match asking.answer(key, question) {
            Answered::With(answer) => answers.push(format!("{key}: {answer}")),
            Answered::Refused => answers.push(format!("{key}: (not given)")),
            Answered::Not => {}
        }
    }
    if state.is_some() && answers.len() == questions.len() {
        return Ok(text(&answers.join("; ")));
    }
    let state = asking.seal(&json!({ "asked": "several" }))?;
    asking.ask(&questions, Some(state))
}

/// The first answer travels in the state of the second round.
fn one_after_the_other(asking: &Asking<'_>) -> Result<Value, ErrorData> {
    let state = asking.opened()?.unwrap_or_default();
    let known = state.get("name").and_then(Value::as_str).map(str::to_owned);
    let begun = state.get("asked").is_some();
    let name = match known {
        Some(name) => name,
        None => match asking.answer("step1", &STEP_1) {
            Answered::With(name) if begun => name,
            Answered::Refused if begun => "(not given)".to_owned(),
            _ => {
                let state = asking.seal(&json!({ "asked": "step1" }))?;
                return asking.ask(&[("step1", &STEP_1)], Some(state));
            }
        },
    };
    match asking.answer("step2", &STEP_2) {
        Answered::With(colour) => Ok(text(&format!("{name} likes {colour}"))),
        Answered::Refused => Ok(text(&format!("{name} does not say"))),
        Answered::Not => {
            let state = asking.seal(&json!({ "asked": "step2", "name": name }))?;
            asking.ask(&[("step2", &STEP_2)], Some(state))
        }
    }
}

fn whatever_is_declared(asking: &Asking<'_>) -> Result<Value, ErrorData> {
    let open: Vec<_> = [("user_name", &NAME), ("capital_question", &CAPITAL), ("client_roots", &ROOTS)]
        .into_iter()
        .filter(|(_, question)| asking.can_ask(question))
        .filter(|(key, question)| matches!(asking.answer(key, question), Answered::Not))
        .collect();
    if open.is_empty() {
        return Ok(text("There is nothing to ask"));
    }
    asking.ask(&open, None)
}
