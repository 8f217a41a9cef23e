//! Tools whose answers are always the same, or come from their arguments alone.

use serde_json::{Map, Value, json};

/// A red PNG of one pixel.
pub(super) const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/// A WAV file without samples.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";

/// The result of one of these tools; `None` for any other name.
pub(super) fn answer(tool: &str, arguments: &Map<String, Value>) -> Option<Value> {
    let content = match tool {
        "test_simple_text" => json!([said("This is a simple text response for testing.")]),
        "test_image_content" => json!([image()]),
        "test_audio_content" => json!([{"type": "audio", "data": WAV, "mimeType": "audio/wav"}]),
        "test_embedded_resource" => {
            json!([embedded("test://embedded-resource", "text/plain", "This is an embedded resource.")])
        }
        "test_multiple_content_types" => json!([
            said("Several types of content:"),
            image(),
            embedded("test://mixed-content-resource", "application/json", r#"{"test":"data","value":123}"#),
        ]),
        "test_error_handling" => {
            return Some(json!({
                "resultType": "complete",
                "isError": true,
                "content": [said("This tool intentionally returns an error for testing")],
            }));
        }
        "test_custom_header" => {
            let value = arguments.get("value").and_then(Value::as_str).unwrap_or_default();
            json!([said(&format!("The value is `{value}`"))])
        }
        "json_schema_2020_12_tool" => {
            json!([said(&format!("The arguments are {}", Value::Object(arguments.clone())))])
        }
        _ => return None,
    };
    Some(json!({ "resultType": "complete", "content": content }))
}

/// A result with one text.
pub(super) fn text(text: &str) -> Value {
    json!({ "resultType": "complete", "content": [said(text)] })
}

/// A text block.
pub(super) fn said(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

/// An image block.
pub(super) fn image() -> Value {
    json!({ "type": "image", "data": PNG, "mimeType": "image/png" })
}

/// A resource block.
pub(super) fn embedded(uri: &str, mime_type: &str, text: &str) -> Value {
    json!({ "type": "resource", "resource": { "uri": uri, "mimeType": mime_type, "text": text } })
}
