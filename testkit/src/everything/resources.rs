//! Contents of resources.

use rmcp::ErrorData;
use serde_json::{Value, json};

use super::content::PNG;

/// The result of reading a resource.
pub(super) fn read(uri: &str) -> Result<Value, ErrorData> {
    let contents = match uri {
        "test://static-text" => {
            json!({ "uri": uri, "mimeType": "text/plain", "text": "This is the content of the static text resource." })
        }
        "test://static-binary" => json!({ "uri": uri, "mimeType": "image/png", "blob": PNG }),
        "test://watched-resource" => {
            json!({ "uri": uri, "mimeType": "text/plain", "text": "This is the content of the watched resource." })
        }
        _ => match template_id(uri) {
            Some(id) => {
                let data = json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
                json!({ "uri": uri, "mimeType": "application/json", "text": data.to_string() })
            }
            None => {
                return Err(ErrorData::invalid_params(
                    format!("unknown resource `{uri}`, see resources/list"),
                    Some(json!({ "uri": uri })),
                ));
            }
        },
    };
    Ok(json!({ "resultType": "complete", "ttlMs": 0, "cacheScope": "private", "contents": [contents] }))
}

/// The `id` of `test://template/{id}/data`.
fn template_id(uri: &str) -> Option<&str> {
    let id = uri.strip_prefix("test://template/")?.strip_suffix("/data")?;
    (!id.is_empty() && !id.contains('/')).then_some(id)
}
