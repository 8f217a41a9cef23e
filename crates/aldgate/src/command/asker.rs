//! The host's user at a terminal, who is asked what a tool or the gateway wants to know.

use std::io::IsTerminal as _;

use aldgate_agent::{AskKind, AskReply, Asker, InputAsk};
use async_trait::async_trait;
use serde_json::{Map, Value};

use crate::out;

/// Asks on the terminal. Without one, it waits for decisions that are made elsewhere and declines everything else.
pub(crate) struct TerminalAsker;

#[async_trait]
impl Asker for TerminalAsker {
    async fn answer(&self, ask: InputAsk) -> AskReply {
        tokio::task::spawn_blocking(move || answer(&ask)).await.unwrap_or(AskReply::Cancel)
    }
}

fn answer(ask: &InputAsk) -> AskReply {
    let AskKind::Form { message, requested_schema } = &ask.kind else { return AskReply::Decline };
    let fields = requested_schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    note!("    {} asks ({}): {}", out::plain(&ask.server), out::plain(&ask.tool), out::plain_lines(message));
    if fields.is_empty() {
        // A notice: the decision is made elsewhere, the call waits for it.
        return AskReply::Accept(Map::new());
    }
    if !std::io::stdin().is_terminal() {
        note!("    there is no terminal to ask at: declined");
        return AskReply::Decline;
    }
    let mut content = Map::new();
    for (name, field) in &fields {
        match field_value(name, field) {
            Some(Some(value)) => {
                content.insert(name.clone(), value);
            }
            Some(None) => {}
            None => return AskReply::Cancel,
        }
    }
    AskReply::Accept(content)
}

/// A field's value; `Some(None)` where it is left out, `None` at the end of input.
fn field_value(name: &str, field: &Value) -> Option<Option<Value>> {
    let choices = field.get("enum").map(|choices| format!(" {choices}")).unwrap_or_default();
    loop {
        prompt!("    {}{}: ", out::plain(name), out::plain(&choices));
        let mut line = String::new();
        if std::io::stdin().read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim();
        if line.is_empty() {
            return Some(None);
        }
        let value = match field.get("type").and_then(Value::as_str) {
            Some("integer" | "number" | "boolean") => serde_json::from_str(line).ok(),
            _ => Some(Value::from(line)),
        };
        match value {
            Some(value) => return Some(Some(value)),
            None => note!("    `{}` is not of the type that is asked for", out::plain(line)),
        }
    }
}
