//! The form that asks for a decision, and reading what came back.

use std::collections::BTreeMap;

use rmcp::model::{InputRequest, InputRequiredResult};
use serde_json::{Value, json};

/// The key of the input request under which `raise_parts_order` asks for the decision.
pub const ORDER_FORM_KEY: &str = "approval";

/// The `requestedSchema` of that request, always the same whatever is ordered, so that a gateway can pin its digest.
///
/// `decision` is `approve` or `deny`, `approver` the name of the person who decides, `note` an optional remark.
pub const ORDER_FORM_SCHEMA: &str = r#"{"type":"object","properties":{"decision":{"type":"string","title":"Decision","description":"Whether the order may be raised.","enum":["approve","deny"]},"approver":{"type":"string","title":"Approver","description":"Name of the person who decides.","maxLength":120},"note":{"type":"string","title":"Note","description":"Reason or remark, kept with the order.","maxLength":600}},"required":["decision","approver"]}"#;

const LONGEST_NAME: usize = 120;
const LONGEST_NOTE: usize = 600;

/// A decision with the name of the person who took it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Decision {
    pub(crate) approved: bool,
    pub(crate) approver: String,
    pub(crate) note: String,
}

/// What the client sent back for the form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Form {
    /// Filled in.
    Decided(Decision),
    /// Filled in, but without a name.
    Nameless,
    /// The person declined to decide: terminal, as a denial is.
    Declined,
    /// The person closed the form: terminal for this call.
    Cancelled,
    /// No answer for the form.
    Missing,
}

/// A result that asks for the decision.
pub(crate) fn ask(message: &str, state: String) -> Result<InputRequiredResult, serde_json::Error> {
    let schema: Value = serde_json::from_str(ORDER_FORM_SCHEMA)?;
    let request: InputRequest = serde_json::from_value(json!({
        "method": "elicitation/create",
        "params": { "mode": "form", "message": message, "requestedSchema": schema },
    }))?;
    let requests = BTreeMap::from([(ORDER_FORM_KEY.to_owned(), request)]);
    Ok(InputRequiredResult::new(Some(requests), Some(state)))
}

/// Reads the answer for the form. Answers under other keys are ignored.
///
/// # Errors
/// What is wrong with an answer that the form does not allow.
pub(crate) fn read(responses: Option<&BTreeMap<String, Value>>) -> Result<Form, String> {
    let Some(response) = responses.and_then(|responses| responses.get(ORDER_FORM_KEY)) else {
        return Ok(Form::Missing);
    };
    let action = response.get("action").and_then(Value::as_str);
    match action {
        Some("accept") => {}
        Some("decline") => return Ok(Form::Declined),
        Some("cancel") => return Ok(Form::Cancelled),
        _ => return Err("`action` must be accept, decline or cancel".to_owned()),
    }
    let content = response.get("content").and_then(Value::as_object);
    let content = content.ok_or("`content` must be an object with `decision` and `approver`")?;
    let approved = match content.get("decision").and_then(Value::as_str) {
        Some("approve") => true,
        Some("deny") => false,
        _ => return Err("`decision` must be approve or deny".to_owned()),
    };
    let text = |name: &str, longest: usize| match content.get(name) {
        None => Ok(String::new()),
        Some(Value::String(text)) if text.chars().count() <= longest => Ok(text.trim().to_owned()),
        Some(_) => Err(format!("`{name}` must be a text of at most {longest} characters")),
    };
    let approver = text("approver", LONGEST_NAME)?;
    let note = text("note", LONGEST_NOTE)?;
    if approver.is_empty() {
        return Ok(Form::Nameless);
    }
    Ok(Form::Decided(Decision { approved, approver, note }))
}
