//! Prompts, and the completion of their arguments.

use rmcp::ErrorData;
use serde_json::{Map, Value, json};

use super::asking::Asking;
use super::content::{embedded, image, said};
use super::rounds;

/// What the arguments of prompts and templates are completed to.
const WORDS: [&str; 6] = ["paris", "park", "party", "test", "testing", "123"];

/// The result of a prompt.
pub(super) fn get(
    name: &str,
    arguments: &Map<String, Value>,
    asking: &Asking<'_>,
) -> Result<Value, ErrorData> {
    let argument = |name: &str| match arguments.get(name).and_then(Value::as_str) {
        Some(value) => Ok(value),
        None => {
            Err(ErrorData::invalid_params(format!("the argument `{name}` is missing, give a text"), None))
        }
    };
    let messages = match name {
        "test_simple_prompt" => vec![said("This is a simple prompt for testing.")],
        "test_prompt_with_arguments" => {
            let (first, second) = (argument("arg1")?, argument("arg2")?);
            vec![said(&format!("Prompt with arguments: arg1='{first}', arg2='{second}'"))]
        }
        "test_prompt_with_embedded_resource" => vec![
            embedded(argument("resourceUri")?, "text/plain", "Embedded resource content for testing."),
            said("Please process the embedded resource above."),
        ],
        "test_prompt_with_image" => vec![image(), said("Please analyse the image above.")],
        "test_input_required_result_prompt" => match rounds::context(asking)? {
            rounds::Asked::Answer(context) => vec![said(&format!("Answer in this context: {context}"))],
            rounds::Asked::Question(question) => return Ok(question),
        },
        _ => {
            return Err(ErrorData::invalid_params(
                format!("unknown prompt `{name}`, see prompts/list"),
                Some(json!({ "name": name })),
            ));
        }
    };
    let messages: Vec<Value> =
        messages.into_iter().map(|content| json!({ "role": "user", "content": content })).collect();
    Ok(json!({ "resultType": "complete", "messages": messages }))
}

/// The values that begin with what is there already, the best first.
pub(super) fn complete(begun: &str) -> Value {
    let values: Vec<&str> = WORDS.into_iter().filter(|word| word.starts_with(begun)).collect();
    json!({ "resultType": "complete", "completion": { "total": values.len(), "hasMore": false, "values": values } })
}
