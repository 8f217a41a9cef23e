//! Who decides in the demonstration: a person who signs in, or the person at the terminal, or what the command line says. For
//! these the program signs in as the approver, and says so. It never decides by itself.

use std::time::Duration;

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

/// The agent's user, who looks at the approval with what the agent may see, and the approver, who decides with a token of a
/// sign-in of its own.
pub(super) struct Decider<'a> {
    mode: Mode,
    admin: Admin,
    stage: &'a Stage,
    screen: &'a Screen,
}

impl<'a> Decider<'a> {
    /// A decider on this stage.
    pub(super) async fn new(mode: Mode, stage: &'a Stage, screen: &'a Screen) -> miette::Result<Self> {
        let admin = Admin::at(stage.admin(), Some(stage.people().asker().await?));
        Ok(Self { mode, admin, stage, screen })
    }

    /// Returns once somebody has decided elsewhere.
    async fn decided_elsewhere(&self, id: &str) {
        loop {
            tokio::time::sleep(Duration::from_millis(500)).await;
            let found = self.admin.get(&format!("/v1/approvals/{id}")).await;
            let state = found.as_ref().ok().and_then(|found| found.get("state")?.as_str());
            if state.is_some_and(|state| state != "pending") {
                return;
            }
        }
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
            Mode::Ask => {
                let shown = self.stage.people().shown().await;
                self.screen.how_to_decide(self.stage, id, &shown);
                tokio::select! {
                    decision = ask() => decision?,
                    () = self.decided_elsewhere(id) => {
                        note!("");
                        return Some(());
                    }
                }
            }
        };
        self.screen.signs_in();
        let token = match self.stage.people().decider().await {
            Ok(token) => token,
            Err(fault) => {
                self.screen.trouble(&format!("the decision was not taken: {fault}"));
                return None;
            }
        };
        let body = json!({"decision": decision, "note": ""});
        let approver = Admin::at(self.stage.admin(), Some(token));
        if let Err(fault) = approver.post(&format!("/v1/approvals/{id}/decision"), &body).await {
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
            prompt!("   or here: this program signs in as the approver for you. [a]pprove, [d]eny: ");
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
