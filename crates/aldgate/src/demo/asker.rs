//! Who decides in the demonstration: the person at the terminal, or what the command line says. Never the program by
//! itself.

use aldgate_agent::{AskReply, Asker, InputAsk, Refusal};
use async_trait::async_trait;
use serde_json::{Map, Value, json};

use super::events::Screen;
use super::stage::Stage;
use crate::admin::Admin;
use crate::command::approvals::segment;

/// Where the decision comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// `a` or `d` at the terminal.
    Ask,
    /// `--approve`
    Approve,
    /// `--deny`
    Deny,
    /// There is no terminal, and the command line says nothing: nobody decides.
    Nobody,
}

/// The agent's user and the second principal, who decides over the admin API with a token of its own.
pub(super) struct Decider<'a> {
    mode: Mode,
    admin: Admin,
    screen: &'a Screen,
}

impl<'a> Decider<'a> {
    /// A decider on this stage.
    pub(super) fn new(mode: Mode, stage: &Stage, screen: &'a Screen) -> Self {
        Self { mode, admin: Admin::at(stage.admin(), Some(stage.approver_token().to_owned())), screen }
    }

    /// Decides the approval that the notice names, and no other. `None` where nobody decides.
    async fn decide(&self, notice: &Refusal) -> Option<()> {
        let Some(id) = notice.approval.as_deref().and_then(|id| segment(id).ok()) else {
            self.screen.trouble("the notice names no approval: nothing is decided");
            return None;
        };
        let approval = match self.admin.get(&format!("/v1/approvals/{id}")).await {
            Ok(found) => found,
            Err(fault) => {
                self.screen.trouble(&format!("the approval `{id}` could not be read: {fault}"));
                return None;
            }
        };
        match approval.get("state").and_then(Value::as_str) {
            Some("pending") => {}
            // Decided meanwhile, by somebody else: the call comes again and learns what was decided.
            Some(_) => return Some(()),
            None => {
                self.screen.trouble(&format!("the approval `{id}` has no state: nothing is decided"));
                return None;
            }
        }
        self.screen.pending(&approval);
        let decision = match self.mode {
            Mode::Approve => "approve",
            Mode::Deny => "deny",
            Mode::Nobody => {
                self.screen.trouble(
                    "nobody decides: there is no terminal to ask at, and neither `--approve` nor `--deny` was given",
                );
                return None;
            }
            Mode::Ask => ask().await?,
        };
        let body = json!({"decision": decision, "note": ""});
        if let Err(fault) = self.admin.post(&format!("/v1/approvals/{id}/decision"), &body).await {
            self.screen.trouble(&format!("the decision was not taken: {fault}"));
            return None;
        }
        Some(())
    }
}

#[async_trait]
impl Asker for Decider<'_> {
    async fn answer(&self, ask: InputAsk) -> AskReply {
        let Some(notice) = ask.notice.as_deref().filter(|notice| notice.is_pending()) else {
            self.screen
                .trouble(&format!("`{}` asks for input that the demonstration has no answer to", ask.tool));
            return AskReply::Decline;
        };
        match self.decide(notice).await {
            Some(()) => AskReply::Accept(Map::new()),
            None => AskReply::Cancel,
        }
    }
}

/// `a` or `d` from the terminal; `None` at the end of input.
async fn ask() -> Option<&'static str> {
    let (tell, told) = tokio::sync::oneshot::channel();
    // A thread of its own: the program does not wait for a line that never comes.
    std::thread::spawn(move || {
        let read = || loop {
            prompt!("   approve as the second principal? [a]pprove, [d]eny: ");
            let mut line = String::new();
            if std::io::stdin().read_line(&mut line).ok()? == 0 {
                return None;
            }
            match line.trim().to_ascii_lowercase().as_str() {
                "a" | "approve" => return Some("approve"),
                "d" | "deny" => return Some("deny"),
                _ => note!("   `a` or `d`"),
            }
        };
        // Nobody waits for the answer any more when the program ends.
        let _ = tell.send(read());
    });
    told.await.ok().flatten()
}
