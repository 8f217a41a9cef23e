//! What a run tells, as it happens: for people, or one JSON object a line.

use std::sync::{Mutex, PoisonError};

use aldgate_agent::{ModelEvent, RunEvent, Tokens};

use super::short;
use crate::out;

/// Tells of a run.
pub(super) struct Progress {
    json: bool,
    /// Whether a model plans: its text is shown as it comes, and not once more as the reason of a call.
    by_model: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Whether a model's text stands on a line that has not ended.
    open: bool,
    /// The turn of the last planned call, and how many calls it has.
    turn: usize,
    calls: usize,
    tokens: Tokens,
    turns: usize,
    /// The first event that could not be written.
    broken: Option<miette::Report>,
}

impl Progress {
    pub(super) fn new(json: bool, by_model: bool) -> Self {
        Self { json, by_model, state: Mutex::default() }
    }

    pub(super) fn tell(&self, event: &RunEvent) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let RunEvent::Model(ModelEvent::Answered(answered)) = event {
            state.tokens.add(answered);
            state.turns += 1;
        }
        let told = if self.json { out::json_line(event) } else { self.show(&mut state, event) };
        if let Err(fault) = told {
            state.broken.get_or_insert(fault);
        }
    }

    /// What a model took, and the first failure to write.
    pub(super) fn end(self) -> miette::Result<()> {
        let mut state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(fault) = state.broken.take() {
            return Err(fault);
        }
        if self.json || !self.by_model {
            return Ok(());
        }
        close(&mut state)?;
        let Tokens { input, output, .. } = state.tokens;
        out::line(format!("tokens: {input} in, {output} out, in {} answers of the model", state.turns))
    }

    fn show(&self, state: &mut State, event: &RunEvent) -> miette::Result<()> {
        if let RunEvent::Model(event) = event {
            return model(state, event);
        }
        close(state)?;
        match event {
            RunEvent::Connected { server, trace, .. } => out::line(format!(
                "connected to {} {}, MCP {}, trace {trace}",
                out::plain(&server.name),
                out::plain(&server.version),
                out::plain(&server.protocol)
            )),
            RunEvent::Listed { tools } => {
                let names = tools.iter().map(|name| out::plain(name)).collect::<Vec<_>>().join(", ");
                out::line(format!("{} tools: {names}", tools.len()))
            }
            RunEvent::Planned { step, turn, tool, arguments, why, .. } => {
                state.calls = if state.turn == *turn { state.calls + 1 } else { 1 };
                state.turn = *turn;
                out::line(format!("{step:>2}. {} {}", out::plain(tool), out::plain(&arguments.to_string())))?;
                if self.by_model { Ok(()) } else { out::line(format!("    {}", out::plain(why))) }
            }
            RunEvent::Result { step, is_error, text, .. } => {
                let word = if *is_error { "the tool says no" } else { "result" };
                state.line(*step, format!("{word}: {}", short(text)))
            }
            RunEvent::Refusal { step, refusal, .. } => {
                let code = out::plain(&refusal.code);
                state.line(*step, format!("refused by the host ({code}): {}", short(&refusal.text)))
            }
            RunEvent::Failed { step, text, .. } => state.line(*step, format!("failed: {}", short(text))),
            RunEvent::Retried { step, attempt, cause, .. } => {
                state.line(*step, format!("attempt {attempt}: {}", short(cause)))
            }
            RunEvent::Waited { step, attempt, .. } => {
                state.line(*step, format!("still waiting for a person ({attempt})"))
            }
            RunEvent::Waiting { step, .. } => {
                state.line(*step, "nobody decided; going on without it".to_owned())
            }
            // A model's last words were shown as they came.
            RunEvent::Finished { summary, .. } if !self.by_model => out::line(out::plain_lines(summary)),
            _ => Ok(()),
        }
    }
}

impl State {
    /// Of calls that were made at once, each line says which it is about.
    fn line(&self, step: usize, text: String) -> miette::Result<()> {
        if self.calls > 1 {
            out::line(format!("    {step}: {text}"))
        } else {
            out::line(format!("    {text}"))
        }
    }
}

fn model(state: &mut State, event: &ModelEvent) -> miette::Result<()> {
    match event {
        ModelEvent::Said { text, .. } => {
            state.open = !text.ends_with('\n');
            out::part(text)
        }
        ModelEvent::Retried { attempt, after_ms, cause, .. } => {
            close(state)?;
            let after = *after_ms as f64 / 1000.0;
            out::line(format!("    the model's service: {}; attempt {attempt} in {after:.1} s", short(cause)))
        }
        _ => close(state),
    }
}

/// Ends the line that a model's text stands on.
fn close(state: &mut State) -> miette::Result<()> {
    if std::mem::take(&mut state.open) { out::part("\n") } else { Ok(()) }
}
