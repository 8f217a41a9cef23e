//! The host's user at a terminal, who is asked what a tool or the gateway wants to know.

use std::collections::BTreeSet;
use std::io::IsTerminal as _;
use std::sync::Mutex;

use aldgate_agent::{AskKind, AskReply, Asker, InputAsk, Refusal};
use async_trait::async_trait;
use serde_json::{Map, Value};

use crate::out;

/// Asks on the terminal. Without one, it waits for decisions that are made elsewhere and declines everything else.
#[derive(Default)]
pub(crate) struct TerminalAsker {
    /// The approvals of which somebody was told that they are waited for.
    told: Mutex<BTreeSet<String>>,
    /// Held by the question that stands on the terminal: calls that are made at once ask one after the other.
    asking: tokio::sync::Mutex<()>,
}

impl TerminalAsker {
    /// Says once for each approval that it is waited for.
    fn waits(&self, ask: &InputAsk, notice: &Refusal) {
        let approval = notice.approval.clone().unwrap_or_default();
        if !self.told.lock().is_ok_and(|mut told| told.insert(approval.clone())) {
            return;
        }
        let (tool, approval) = (out::plain(&ask.tool), out::plain(&approval));
        note!("    {tool} waits for a person: somebody who may decide does so with");
        note!("        aldgate approvals approve {approval}      (or deny)");
        note!("    Ctrl-C ends the waiting; the approval stays until it is decided or runs out");
    }
}

#[async_trait]
impl Asker for TerminalAsker {
    async fn answer(&self, ask: InputAsk) -> AskReply {
        if let Some(notice) = ask.notice.as_deref().filter(|notice| notice.is_pending())
            && fields(&ask.kind).is_some_and(|fields| fields.is_empty())
        {
            // The decision is made elsewhere, the call waits for it.
            self.waits(&ask, notice);
            return AskReply::Accept(Map::new());
        }
        let _one = self.asking.lock().await;
        tokio::task::spawn_blocking(move || answer(&ask)).await.unwrap_or(AskReply::Cancel)
    }
}

/// The fields of a form; `None` where it is none.
fn fields(kind: &AskKind) -> Option<Map<String, Value>> {
    let AskKind::Form { requested_schema, .. } = kind else { return None };
    Some(requested_schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default())
}

fn asks(ask: &InputAsk, message: &str) {
    note!("    {} asks ({}): {}", out::plain(&ask.server), out::plain(&ask.tool), out::plain_lines(message));
}

fn answer(ask: &InputAsk) -> AskReply {
    let Some(fields) = fields(&ask.kind) else { return AskReply::Decline };
    asks(ask, ask.kind.message());
    if fields.is_empty() {
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
