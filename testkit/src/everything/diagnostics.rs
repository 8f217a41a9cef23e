//! Tools that show what a server does beside answering: progress, log messages, changes, refusals.

use std::time::Duration;

use rmcp::model::{ProgressNotificationParam, ServerNotification};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Map, Value, json};

use super::asking::{Asking, missing};
use super::changes::{Change, Changes};
use super::content::text;

/// Between two messages, so that whoever holds them back until the end can be told from whoever passes them on.
const PAUSE: Duration = Duration::from_millis(50);

/// The levels of log messages, the least important first.
const LEVELS: [&str; 8] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/// The result of one of these tools; `None` for any other name.
pub(super) async fn answer(
    tool: &str,
    arguments: &Map<String, Value>,
    asking: &Asking<'_>,
    changes: &Changes,
    context: &RequestContext<RoleServer>,
) -> Option<Result<Value, ErrorData>> {
    let result = match tool {
        "test_tool_with_progress" => progress(context).await,
        "test_logging_tool" => log(context).await,
        "test_missing_capability" if asking.declares("sampling") => Ok(text("Sampling is declared")),
        "test_missing_capability" => Err(missing("sampling")),
        "test_trigger_tool_change" => {
            changes.announce(Change::Tools);
            Ok(text("Listeners were told that the tools changed"))
        }
        "test_trigger_prompt_change" => {
            changes.announce(Change::Prompts);
            Ok(text("Listeners were told that the prompts changed"))
        }
        "test_trigger_resource_change" => {
            let uri = arguments.get("uri").and_then(Value::as_str).unwrap_or("test://watched-resource");
            changes.announce(Change::Resources);
            changes.announce(Change::Contents { uri: uri.to_owned() });
            Ok(text("Listeners were told that the resources changed"))
        }
        _ => return None,
    };
    Some(result)
}

async fn progress(context: &RequestContext<RoleServer>) -> Result<Value, ErrorData> {
    let token = context.meta.get_progress_token();
    for (progress, message) in [(0.0, "begun"), (50.0, "half done"), (100.0, "done")] {
        if let Some(token) = &token {
            let notification = ProgressNotificationParam::new(token.clone(), progress)
                .with_total(100.0)
                .with_message(message);
            context.peer.notify_progress(notification).await.map_err(gone)?;
        }
        tokio::time::sleep(PAUSE).await;
    }
    Ok(text("The work is done"))
}

/// Nothing is logged for a request that does not name a level.
async fn log(context: &RequestContext<RoleServer>) -> Result<Value, ErrorData> {
    let least = context.meta.0.0.get("io.modelcontextprotocol/logLevel").and_then(Value::as_str);
    let least = least.and_then(|least| LEVELS.iter().position(|level| *level == least));
    let wanted = least.and_then(|least| LEVELS.get(least..)).unwrap_or_default();
    for level in wanted {
        let notification: ServerNotification = serde_json::from_value(json!({
            "method": "notifications/message",
            "params": { "level": level, "logger": "everything", "data": format!("a message of level {level}") },
        }))
        .map_err(|_| ErrorData::internal_error("a log message cannot be written", None))?;
        context.peer.send_notification(notification).await.map_err(gone)?;
    }
    Ok(text(&format!("{} messages were logged", wanted.len())))
}

fn gone(_: rmcp::ServiceError) -> ErrorData {
    ErrorData::internal_error("the caller is gone", None)
}
