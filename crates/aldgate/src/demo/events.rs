//! What the demonstration shows: the agent's steps, and between them what the gateway wrote into its evidence.

use std::sync::Mutex;

use aldgate_agent::RunEvent;
use aldgate_evidence::{Kind, Row};
use aldgate_field_service::Progress;
use aldgate_telemetry::{SpanRecord, tree};
use serde_json::{Value, json};
use tokio::sync::broadcast;

use super::ledger::Facts;
use super::people::APPROVER;
use super::program;
use super::stage::Stage;
use crate::command::agent::short;
use crate::out;

/// Where everything is shown, for a person or as one JSON object a line.
pub(super) struct Screen {
    json: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    rows: Option<broadcast::Receiver<Row>>,
    search_backend: Option<String>,
    fault: Option<miette::Report>,
}

impl Screen {
    /// A screen.
    pub(super) fn new(json: bool) -> Self {
        Self { json, state: Mutex::default() }
    }

    /// Shows rows of evidence from now on.
    pub(super) fn watch(&self, rows: broadcast::Receiver<Row>) {
        self.with(|state| state.rows = Some(rows));
    }

    /// The search engine that the manuals server named in this run.
    pub(super) fn search_backend(&self) -> Option<String> {
        self.with(|state| state.search_backend.clone()).flatten()
    }

    /// The first failure to write, if there was one.
    pub(super) fn fault(&self) -> miette::Result<()> {
        self.with(|state| state.fault.take()).flatten().map_or(Ok(()), Err)
    }

    fn with<T>(&self, change: impl FnOnce(&mut State) -> T) -> Option<T> {
        self.state.lock().ok().map(|mut state| change(&mut state))
    }

    fn emit(&self, event: &Value, text: impl FnOnce() -> Option<String>) {
        let written = if self.json { out::json_line(event) } else { text().map_or(Ok(()), out::line) };
        if let Err(fault) = written {
            self.with(|state| state.fault.get_or_insert(fault).to_string());
        }
    }

    /// Data that is being generated.
    pub(super) fn progress(&self, progress: Progress) {
        self.emit(&json!({"event": "progress", "tickets": progress.tickets, "of": progress.of}), || {
            (progress.tickets == progress.of)
                .then(|| format!("· {} synthetic tickets generated", progress.of))
        });
    }

    /// What runs.
    pub(super) fn set(&self, stage: &Stage) -> miette::Result<()> {
        let transport = if stage.servers().is_some() { "http" } else { "inproc" };
        let mut event = json!({
            "event": "stage",
            "revision": "2026-07-28",
            "planner": "scripted",
            "data": "synthetic",
            "url": stage.url(),
            "admin": stage.admin(),
            "transport": transport,
        });
        // Whoever reads the events of a run that ends has no use for its tokens.
        if let Some(shown) = stage.shown()
            && let Value::Object(members) = &mut event
        {
            members.insert("agent_token".to_owned(), stage.agent_token().into());
            members.insert("approver_token".to_owned(), shown.approver.as_str().into());
            members.insert("decider_token".to_owned(), shown.decider.as_str().into());
            members.insert("auditor_token".to_owned(), shown.auditor.as_str().into());
            members.insert("approver".to_owned(), json!({"name": APPROVER, "password": shown.password}));
        }
        self.emit(&event, || {
            let servers = match stage.servers() {
                Some(base) => format!(
                    "tickets, parts and manuals at {base}, closed to everyone without this run's secret"
                ),
                None => "tickets, parts and manuals inside the gateway's process".to_owned(),
            };
            Some(format!(
                "Aldgate demonstration · MCP 2026-07-28 · planner: scripted (no model) · data: synthetic\n\
                 · servers: {servers}\n· gateway: {} · admin: {}\n\
                 · signed in: the agent, as a client of the gateway's authorization server (client credentials); \
                 no token stands in the configuration\n",
                stage.url(),
                stage.admin(),
            ))
        });
        self.fault()
    }

    /// A step of the agent; first what the gateway recorded meanwhile.
    pub(super) fn agent(&self, event: &RunEvent) {
        self.drain();
        match event {
            RunEvent::Connected { server, trace, conversation } => {
                let seen = json!({"event": "connected", "server": server.name, "protocol": server.protocol, "trace": trace, "conversation": conversation});
                self.emit(&seen, || None);
            }
            RunEvent::Listed { tools } => self.emit(&json!({"event": "listed", "tools": tools}), || {
                let names = tools.iter().map(|name| out::plain(name)).collect::<Vec<_>>().join(", ");
                Some(format!("the agent sees {} tools: {names}\n", tools.len()))
            }),
            RunEvent::Planned { step, tool, arguments, why, .. } => {
                let seen =
                    json!({"event": "plan", "step": step, "tool": tool, "arguments": arguments, "why": why});
                self.emit(&seen, || {
                    Some(format!(
                        "{step}. {}\n   why       {}\n   arguments {}",
                        out::plain(tool),
                        short(why),
                        short(&arguments.to_string())
                    ))
                });
            }
            RunEvent::Result { tool, is_error, structured, text, .. } => {
                if let Some(backend) =
                    structured.as_ref().and_then(|value| value.get("backend")).and_then(Value::as_str)
                {
                    self.with(|state| state.search_backend = Some(backend.to_owned()));
                }
                let seen = json!({"event": "result", "tool": tool, "isError": is_error, "structuredContent": structured});
                self.emit(&seen, || {
                    let word = if *is_error { "the tool refuses" } else { "result   " };
                    Some(format!("   {word} {}\n", short(text)))
                });
            }
            RunEvent::Refusal { tool, refusal, .. } => {
                let seen =
                    json!({"event": "refused", "tool": tool, "code": refusal.code, "text": refusal.text});
                self.emit(&seen, || Some(format!("   refused   {}\n", short(&refusal.text))));
            }
            RunEvent::Failed { tool, text, may_have_run, .. } => {
                let seen = json!({"event": "failed", "tool": tool, "text": text, "mayHaveRun": may_have_run});
                self.emit(&seen, || Some(format!("   failed    {}\n", short(text))));
            }
            RunEvent::Waiting { tool, .. } => self.emit(&json!({"event": "undecided", "tool": tool}), || {
                Some("   nobody decided; the agent goes on without the order\n".to_owned())
            }),
            RunEvent::Finished { summary, .. } => self
                .emit(&json!({"event": "finished", "summary": summary}), || {
                    Some(format!("done: {}\n", out::plain_lines(summary)))
                }),
            _ => {}
        }
    }

    /// An approval that waits, as the second principal sees it.
    pub(super) fn pending(&self, approval: &Value) {
        self.drain();
        let word =
            |pointer: &str| out::plain(approval.pointer(pointer).and_then(Value::as_str).unwrap_or("-"));
        let seen = json!({"event": "pending", "approval": word("/id"), "tool": bare(&word("/tool")), "arguments": approval.get("arguments")});
        self.emit(&seen, || {
            let arguments = approval.get("arguments").map(Value::to_string).unwrap_or_default();
            Some(format!(
                "   WAITING   {} for {}\n   it would  {}\n   approver  sees exactly these arguments; the approval holds for them alone, once",
                word("/id"),
                word("/caller/name"),
                out::plain(&arguments),
            ))
        });
    }

    /// How a person decides what waits, who is not at this terminal or would rather sign in.
    pub(super) fn how_to_decide(&self, stage: &Stage, approval: &str, shown: &str) {
        self.emit(&json!({"event": "sign_in", "name": APPROVER, "approval": approval}), || {
            Some(format!(
                "   decide    in a browser at {}/approvals, or in another terminal; both have you sign in as `{APPROVER}` with {shown}:\n             \
                 export ALDGATE_URL={} ALDGATE_ADMIN_URL={}\n             {} approvals approve {approval}",
                stage.url().trim_end_matches("/mcp"),
                stage.url(),
                stage.admin(),
                program::typed(),
            ))
        });
    }

    /// That this program signs in for the person.
    pub(super) fn signs_in(&self) {
        self.emit(&json!({"event": "signs_in", "name": APPROVER}), || {
            Some(format!(
                "   sign-in   this program goes through the pages as `{APPROVER}`, with the password that this run made: nobody else does"
            ))
        });
    }

    /// Something that did not go as it should.
    pub(super) fn trouble(&self, text: &str) {
        self.emit(&json!({"event": "trouble", "text": text}), || Some(format!("   !         {text}")));
    }

    fn drain(&self) {
        let mut seen = Vec::new();
        self.with(|state| {
            if let Some(rows) = &mut state.rows {
                loop {
                    match rows.try_recv() {
                        Ok(row) => seen.push(row),
                        Err(broadcast::error::TryRecvError::Lagged(_)) => {}
                        Err(_) => break,
                    }
                }
            }
        });
        for row in &seen {
            self.row(row);
        }
    }

    fn row(&self, row: &Row) {
        let key = row.tool.as_deref().unwrap_or(&row.method);
        let tool = bare(key);
        let call = row.call.as_str();
        let explained = row.explained();
        let why =
            explained.as_ref().and_then(|said| said.pointer("/reasons/0/message")).and_then(Value::as_str);
        let ruling = row.ruling.as_deref().unwrap_or_default();
        let ruled = || {
            self.emit(
                &json!({"event": "ruling", "tool": tool, "key": key, "call": call, "ruling": ruling, "why": why}),
                || Some(format!("   ruling    {ruling}: {}", short(why.unwrap_or_default()))),
            );
        };
        match row.kind {
            Kind::Intent => {
                ruled();
                self.emit(
                    &json!({"event": "dispatch", "tool": tool, "key": key, "call": call, "approval": row.approval}),
                    || Some(format!("   dispatch  {call}, intent recorded")),
                );
            }
            Kind::Outcome => self.emit(
                &json!({"event": "outcome", "tool": tool, "key": key, "call": call, "outcome": row.outcome, "code": row.code}),
                || {
                    let took = row.took_ms.map(|took| format!(" in {took} ms")).unwrap_or_default();
                    Some(format!("   outcome   {}{took}", row.outcome.as_deref().unwrap_or("-")))
                },
            ),
            Kind::Refusal => {
                let code = row.code.as_deref().unwrap_or_default();
                if code == "AG-APPROVAL-PENDING" {
                    return;
                }
                if row.ruling.is_some() {
                    ruled();
                }
                self.emit(&json!({"event": "refusal", "tool": tool, "key": key, "call": call, "code": code}), || {
                    Some(format!("   refusal   {code}, recorded"))
                });
            }
            Kind::ApprovalAsked => {
                ruled();
                self.emit(
                    &json!({"event": "approval", "tool": tool, "key": key, "state": "asked", "approval": row.approval}),
                    || Some("   approval  asked for, recorded".to_owned()),
                );
            }
            Kind::ApprovalDecided => {
                let state = row.outcome.as_deref().unwrap_or_default();
                self.emit(
                    &json!({"event": "approval", "tool": tool, "key": key, "state": state, "approval": row.approval, "by": row.principal.name}),
                    || Some(format!("   approval  {state} by {}, recorded", row.principal.name)),
                );
            }
            Kind::Drift => {
                self.emit(&json!({"event": "drift", "tool": tool, "key": key}), || {
                    Some(format!("   drift     {tool}, recorded"))
                });
            }
            Kind::Identity => {
                self.emit(&json!({"event": "identity", "what": row.outcome, "detail": row.detail}), || None);
            }
            Kind::Answer => {
                self.emit(&json!({"event": "answer", "method": row.method, "call": call}), || None);
            }
        }
    }

    /// The ledger, and what the run rested on.
    pub(super) fn finish(&self, facts: &Facts) -> miette::Result<()> {
        self.drain();
        let ledger = facts.ledger();
        let event = json!({
            "event": "ledger",
            "lines": ledger,
            "facts": facts,
            "planner": "scripted",
            "data": "synthetic",
            "search_backend": facts.search_backend,
            "revision": "2026-07-28",
        });
        self.emit(&event, || {
            let backend = facts.search_backend.as_deref().unwrap_or("not seen in this run");
            let mut text = format!(
                "planner: scripted · search backend: {} · data: synthetic · MCP 2026-07-28\n\nboundaries that this run crossed\n",
                out::plain(backend),
            );
            for line in ledger.iter().filter(|line| line.crossed) {
                text.push_str(&format!("  + {:<26}{}\n", line.boundary, line.what));
            }
            text.push_str("and those that it did not\n");
            for line in ledger.iter().filter(|line| !line.crossed) {
                text.push_str(&format!("  - {:<26}{}\n", line.boundary, line.what));
            }
            Some(text)
        });
        self.fault()
    }

    /// The trace of the run. What it holds of arguments and results is said beside it.
    pub(super) fn trace(&self, spans: &[SpanRecord]) -> miette::Result<()> {
        let Some(first) = spans.first() else { return Ok(()) };
        let event = json!({"event": "trace", "trace": first.trace_id, "content": true, "spans": spans});
        self.emit(&event, || {
            let lines: Vec<String> = tree(spans).iter().map(|line| format!("  {}", out::plain(line))).collect();
            Some(format!(
                "trace {} ({} spans, which hold arguments and results: this demonstration switched that on)\n{}\n",
                first.trace_id,
                spans.len(),
                lines.join("\n")
            ))
        });
        self.fault()
    }

    /// How to go on.
    pub(super) async fn serving(&self, stage: &Stage) -> miette::Result<()> {
        let event = json!({"event": "serving", "url": stage.url(), "admin": stage.admin()});
        let shown = stage.people().shown().await;
        self.emit(&event, || {
            Some(format!(
                "The gateway goes on serving; Ctrl-C ends it, and the data of this run is removed.\n\n\
                 Any MCP client (2026-07-28) connects with\n    URL     {url}\n    header  Authorization: Bearer {agent}\n\n\
                 In another terminal, as the agent (its token is good for an hour):\n    \
                 export ALDGATE_URL={url} ALDGATE_ADMIN_URL={admin} ALDGATE_TOKEN={agent}\n    \
                 {aldgate} tools list\n    {aldgate} call get_ticket --args '{{\"ticket_id\": \"SR-20031\"}}'\n\n\
                 As the person who decides, audits and operates: sign in as `{APPROVER}` with {shown}\n    \
                 unset ALDGATE_TOKEN; export ALDGATE_URL={url} ALDGATE_ADMIN_URL={admin}\n    \
                 {aldgate} login --admin --scope \"admin evidence:read tools:read\"\n    \
                 {aldgate} approvals list\n    {aldgate} audit list\n    {aldgate} trace list\n    {aldgate} status\n\n\
                 What waits is decided there, or in a browser at {pages}/approvals",
                pages = stage.url().trim_end_matches("/mcp"),
                aldgate = program::typed(),
                url = stage.url(),
                admin = stage.admin(),
                agent = stage.agent_token(),
            ))
        });
        self.fault()
    }
}

/// The tool's name without its upstream.
fn bare(key: &str) -> &str {
    key.split_once('/')
        .map_or(key, |(upstream, tool)| if upstream == "tools" || upstream == "server" { key } else { tool })
}
