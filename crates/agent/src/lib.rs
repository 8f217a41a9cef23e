//! The host loop of an agent that works through one MCP endpoint.
//!
//! A [`Connection`] speaks MCP 2026-07-28 to the endpoint and drives the rounds of one call: it answers
//! `input_required` through an [`Asker`], waits for a pending approval, and repeats only what the host marked
//! read-only. It also reads resources, gets prompts and listens, each in one request. [`run()`] puts a [`Planner`] on
//! top: the planner says which tool to call next, the loop calls it and hands back what came of it. [`Scripted`] is the
//! planner that works a field-service ticket without a model; [`ModelPlanner`] asks a model, by the Messages API of
//! Anthropic or by chat completions.
//!
//! **Invariant:** what a tool wrote reaches a planner only as [`FromTool`], never as plain text of the host.
//!
//! **Invariant:** before a model it stands between two lines with a random mark of the run, and nothing else does.
//!
//! **Invariant:** a model's key is sent to its service alone, over TLS or on this machine; no redirect is followed.
//!
//! **Invariant:** a call of a tool that is not marked read-only by the host is sent once for each round; when its
//! answer is lost, the fault says that it may have run.

mod answer;
mod ask;
mod call;
mod connection;
mod endpoint;
mod event;
mod exchange;
mod http;
mod model;
mod outcome;
mod pace;
mod planner;
mod reading;
mod refused;
mod run;
mod scripted;
mod tool;
mod trace;

pub use ask::{AskKind, AskReply, Asker, InputAsk, PendingApproval, WaitReply};
pub use call::CallEvent;
pub use connection::Connection;
pub use endpoint::{ClientProfile, ConnectionFault, Endpoint, Renewal, ServerIdentity};
pub use event::RunEvent;
pub use model::{Answered, Api, Key, ModelConfig, ModelEvent, ModelFault, ModelLimits, ModelPlanner};
pub use outcome::{CallFault, CallOutcome, Complete, PENDING_CODE, Refusal};
pub use pace::CallLimits;
pub use planner::{Finding, FromTool, Observation, PlanFault, PlannedCall, Planner, RunState, Step};
pub use reading::{Change, Ended, Hearing, ListOf};
pub use run::{RunFault, RunLimits, RunReport, Tokens, run};
pub use scripted::Scripted;
pub use tool::{ContractMark, Hints, ToolSummary};
pub use trace::Within;
