//! A permitted call, from the request to the upstream to how it ended.

use std::time::{Duration, Instant};

use aldgate_telemetry::{Ended as Seen, TraceParent};
use aldgate_wire::outbound::OutboundCall;
use aldgate_wire::request::Method;
use aldgate_wire::response::{Answer, ResultKind, ResultView};
use aldgate_wire::{code, elicitation};
use bytes::Bytes;
use serde_json::value::RawValue;
use tokio::sync::mpsc;

use super::exchange::{Outgoing, Patience};
use super::notices::Notices;
use super::shown::Whose;
use super::{ExchangeFault, answer, client_info, error, raw, relay, result};
use crate::gate::Gate;
use crate::line::Line;
use crate::permit::{Permit, Spent};
use crate::receive::VERSIONS;
use crate::refusal::Refusal;
use crate::trail::Trail;
use crate::{observe, reply};

/// How a dispatched call ended.
pub struct Outcome {
    pub(crate) ended: Ended,
    pub(crate) took_ms: u64,
    /// Whether the result does not fit the pinned output schema.
    pub(crate) violation: bool,
}

impl Outcome {
    /// Lets traces see it.
    pub(crate) fn show(&self, trail: &mut Trail) {
        let (Ended::Complete { result, .. } | Ended::Asked { result }) = &self.ended else { return };
        observe::result(trail, result);
        if matches!(self.ended, Ended::Complete { is_error: true, .. }) {
            trail.seen.ended = Seen::ToolError { message: None };
        }
    }
}

/// The ways in which a call ends.
pub(crate) enum Ended {
    /// A complete result, ready to be sent.
    Complete { result: Vec<u8>, is_error: bool },
    /// The upstream asks the client for input; a result ready to be sent.
    Asked { result: Vec<u8> },
    /// The upstream's own JSON-RPC error, and what the caller is told of it.
    Error { error: Box<RawValue>, code: i64, told: Refusal },
    /// No answer that could be passed on.
    Failed(Refusal),
}

/// What all exchanges of one call share.
struct Way {
    patience: Patience,
    notices: Notices,
}

impl Gate {
    /// Calls the upstream that the permit names, with the bytes that the permit holds. The permit is used up whatever
    /// happens.
    pub async fn dispatch(&self, trail: &Trail, permit: Permit, line: Line) -> Outcome {
        let begun = Instant::now();
        let spent = permit.spend();
        let read_only = spent.offer().read_only();
        // A later round follows one that was sent.
        let mut sent = trail.round > 0;
        let (client, left) = line.split();
        let attempt = self.attempt(trail, &spent, &mut sent, client);
        let ended = tokio::select! {
            ended = attempt => ended,
            // A read is given up with the client that wanted it, which closes the upstream's stream. What may change
            // something is seen through to its end: somebody will want to know how it ended.
            _ = left, if read_only => Err(Fault::ClientLeft),
        };
        let violation = matches!(ended, Err(Fault::Unfit(_)));
        let ended = match ended {
            Ok(ended) => ended,
            Err(fault) => Ended::Failed(fault.told(&spent, read_only, sent)),
        };
        let took_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        Outcome { ended, took_ms, violation }
    }

    async fn attempt(
        &self,
        trail: &Trail,
        spent: &Spent,
        sent: &mut bool,
        client: mpsc::Sender<Bytes>,
    ) -> Result<Ended, Fault> {
        let (token, level) = (spent.meta.progress_token.as_deref(), spent.meta.log_level.as_deref());
        let mut way = Way { patience: self.patience(spent), notices: Notices::new(client, token, level) };
        // Since it was ruled, the evidence was written, and meanwhile the contract may have been quarantined.
        if let Some(what) = spent.offer().change() {
            return Err(Fault::Changed(what));
        }
        let mut first = self.send(trail, spent, None, &mut way).await?;
        if is_header_mismatch(&first) {
            // The server did not begin, and its contract may be another one by now: that is looked up, and where it is
            // the pinned one still, the same request is made once more (basic/transports/streamable-http).
            let source = &spent.offer().source;
            // It counts against the time of the call.
            let compared = way.patience.wait(Box::pin(source.verify_anew(&self.settings.bounds))).await?;
            if let Some(what) = spent.offer().change() {
                return Err(Fault::Changed(what));
            }
            if compared {
                first = Box::pin(self.send(trail, spent, None, &mut way)).await?;
            }
        }
        *sent = true;
        let result = match first {
            Answer::Result(view) if view.kind == ResultKind::InputRequired => {
                if !spent.method.may_ask() {
                    let what = format!("`{}` may not ask for input", spent.method.as_str());
                    return Err(Fault::Invalid(what));
                }
                match answer::own_answer(spent, &view).or_else(|| relay::early_answer(spent, &view)) {
                    Some(responses) => {
                        let state = view.request_state.as_deref();
                        Box::pin(self.send(trail, spent, Some((responses?.as_ref(), state)), &mut way))
                            .await?
                    }
                    None => Answer::Result(view),
                }
            }
            other => other,
        };
        match result {
            Answer::Error { raw, code, message, data } => {
                let told = error::told(spent, code, &message, data.as_deref());
                Ok(Ended::Error { error: raw, code, told })
            }
            Answer::Result(view) => match view.kind {
                ResultKind::Complete => {
                    result::check(spent, &view)?;
                    let view = result::cached_by_caller(spent, view)?;
                    Ok(Ended::Complete { result: self.signed(trail, &view)?, is_error: view.failed() })
                }
                ResultKind::InputRequired => {
                    Ok(Ended::Asked { result: relay::asked(self, trail, spent, &view)? })
                }
                ResultKind::Task => Err(Fault::Invalid("a task, which was not negotiated".to_owned())),
            },
        }
    }

    async fn send(
        &self,
        trail: &Trail,
        spent: &Spent,
        own: Option<(&RawValue, Option<&str>)>,
        way: &mut Way,
    ) -> Result<Answer, Fault> {
        let offer = spent.offer();
        let upstream = &offer.source.upstream;
        let id = upstream.new_id();
        let (responses, state) = match own {
            Some((responses, state)) => (Some(responses), state),
            None => (spent.responses.as_deref(), spent.upstream_state.as_deref()),
        };
        let capabilities = match spent.method.may_ask() {
            true => relay::capabilities(spent).to_string(),
            false => "{}".to_owned(),
        };
        let is_read = spent.method == Method::ReadResource;
        let name = if is_read { &spent.named } else { &offer.name };
        // Which resource it is of those that a template stands for is content.
        let shown = if is_read && !self.telemetry.content() { &offer.visible } else { name };
        let sent = observe::Sent { method: spent.method, id, upstream, name: shown };
        let sending = observe::sends(self, trail, sent);
        let traceparent = sending.context().map(TraceParent::to_header);
        let tracestate = sending.context().and_then(TraceParent::state);
        let theirs = spent.meta.progress_token.as_deref();
        let ours = theirs.map(|_| id.to_string());
        let ours = ours.as_deref().map(raw).transpose()?;
        let log_level = spent.meta.log_level.as_deref();
        let call = OutboundCall {
            id,
            method: spent.method,
            name: Some(name),
            // The URI of a read stands in its place; as arguments it is for approvals and digests.
            arguments: spent.arguments.as_deref().filter(|_| spent.method != Method::ReadResource),
            input_responses: responses,
            request_state: state,
            cursor: None,
            capabilities: raw(&capabilities)?,
            client_info: client_info()?,
            log_level,
            progress_token: ours,
            traceparent: traceparent.as_deref(),
            tracestate: tracestate.as_deref(),
            extra_meta: &spent.meta.other,
            version: VERSIONS.first().copied().unwrap_or_default(),
        };
        let headers = call.headers(&[spent.params.as_slice(), spent.passed.as_slice()].concat());
        way.notices.expect(id);
        let members = match &spent.completion {
            Some(completion) => completion.members(&spent.target).map_err(Fault::Own)?,
            None => Vec::new(),
        };
        let members: Vec<(&str, &RawValue)> = members.iter().map(|(key, raw)| (*key, &**raw)).collect();
        let most = self.settings.bounds.response_bytes;
        let body = call.body_with(&members);
        let (patience, notices) = (&mut way.patience, Some(&mut way.notices));
        let message = Outgoing { body, headers, id, whose: Whose::Caller(trail.caller.as_deref()) };
        let answer = upstream.wire.exchange(message, most, patience, notices).await;
        sending.answered(&seen(&answer));
        Ok(answer?)
    }

    /// The result with the gateway's own `_meta` members; every byte outside of `_meta` as it came.
    pub(super) fn signed(&self, trail: &Trail, view: &ResultView) -> Result<Vec<u8>, Fault> {
        let server = reply::server_info().map_err(Fault::Own)?;
        let call = serde_json::value::to_raw_value(trail.call.as_str()).map_err(Fault::Own)?;
        view.with_meta(
            &[("io.modelcontextprotocol/serverInfo", server), ("io.github.aldgate/call", &call)],
            &[aldgate_wire::OWN_META_PREFIX],
        )
        .map(|bytes| if view.kind_stated { bytes } else { with_kind(bytes) })
        .map_err(|fault| Fault::Invalid(fault.to_string()))
    }

    /// How long this request may take: the registry's time for it, else the gateway's, and never more than the longest.
    fn patience(&self, spent: &Spent) -> Patience {
        let bounds = &self.settings.bounds;
        let own = spent.offer().entry.timeout_s.map(|seconds| Duration::from_secs(seconds.into()));
        Patience::new(own.unwrap_or(bounds.call_timeout), bounds.longest_call)
    }
}

/// An older server's result, with the `resultType` that a missing one stands for.
fn with_kind(bytes: Vec<u8>) -> Vec<u8> {
    let members = bytes.strip_prefix(b"{").unwrap_or_default();
    [br#"{"resultType":"complete","#.as_slice(), members].concat()
}

/// Whether the upstream did not begin because of the headers.
fn is_header_mismatch(answer: &Answer) -> bool {
    matches!(answer, Answer::Error { code: code::HEADER_MISMATCH, .. })
}

/// Why there is nothing to pass on.
pub(super) enum Fault {
    /// No answer.
    Exchange(ExchangeFault),
    /// An answer that cannot be passed on.
    Invalid(String),
    /// A result that the pinned output schema does not allow.
    Unfit(String),
    /// The upstream asked for what it may not ask for.
    MayNotAsk(String),
    /// The gateway could not write its own part.
    Own(serde_json::Error),
    /// The contract is not the pinned one any more; the upstream did not begin.
    Changed(String),
    /// The client of a read has left.
    ClientLeft,
}

impl From<ExchangeFault> for Fault {
    fn from(fault: ExchangeFault) -> Self {
        Self::Exchange(fault)
    }
}

impl From<elicitation::InputFault> for Fault {
    fn from(fault: elicitation::InputFault) -> Self {
        Self::Invalid(fault.to_string())
    }
}

impl From<aldgate_wire::replace::ReplaceFault> for Fault {
    fn from(fault: aldgate_wire::replace::ReplaceFault) -> Self {
        Self::Invalid(fault.to_string())
    }
}

impl Fault {
    /// What the caller is told. After a consequential call was sent, every failure says the same: executed or unknown.
    fn told(self, spent: &Spent, read_only: bool, sent_before: bool) -> Refusal {
        if let Self::Changed(what) = &self
            && !sent_before
        {
            return Refusal::changed(&spent.offer().visible, what);
        }
        let upstream = spent.offer().source.upstream.name();
        let sent = sent_before
            || match &self {
                Self::Exchange(fault) => fault.was_sent(),
                Self::Changed(_) => false,
                Self::Invalid(_) | Self::Unfit(_) | Self::MayNotAsk(_) | Self::Own(_) | Self::ClientLeft => {
                    true
                }
            };
        let (code, what) = match &self {
            Self::Exchange(ExchangeFault::Connect(_)) => {
                ("AG-UPSTREAM-UNREACHABLE", "cannot be reached".to_owned())
            }
            Self::Exchange(fault @ ExchangeFault::TimedOut { .. }) => {
                ("AG-UPSTREAM-TIMEOUT", fault.to_string())
            }
            Self::Exchange(fault @ (ExchangeFault::Credential { .. } | ExchangeFault::NoCredential(_))) => {
                ("AG-UPSTREAM-CREDENTIAL", fault.to_string())
            }
            Self::Exchange(fault) => ("AG-UPSTREAM-ANSWER", fault.to_string()),
            Self::Invalid(what) | Self::Unfit(what) => {
                ("AG-UPSTREAM-ANSWER", format!("its answer is not valid: {what}"))
            }
            Self::MayNotAsk(what) => ("AG-UPSTREAM-ASKS", what.clone()),
            Self::Changed(what) => ("AG-CONTRACT-CHANGED", what.clone()),
            Self::ClientLeft => ("AG-CLIENT-LEFT", "the client left, the request was given up".to_owned()),
            Self::Own(_) => ("AG-INTERNAL", "its answer could not be passed on".to_owned()),
        };
        let message = format!("upstream `{upstream}`: {what}{}", spent.used_up());
        let refusal =
            if sent && !read_only { Refusal::unknown(&message) } else { Refusal::upstream(code, message) };
        match self {
            Self::Exchange(fault) => refusal.because(fault),
            Self::Own(fault) => refusal.because(fault),
            Self::Invalid(_) | Self::Unfit(_) | Self::MayNotAsk(_) | Self::Changed(_) | Self::ClientLeft => {
                refusal
            }
        }
    }
}

/// How an answer is seen.
fn seen(answer: &Result<Answer, ExchangeFault>) -> Seen<'_> {
    match answer {
        Ok(Answer::Error { code, message, .. }) => {
            Seen::Rpc { code: *code, message: message.as_str().into() }
        }
        Ok(Answer::Result(view)) if view.failed() => Seen::ToolError { message: None },
        Ok(Answer::Result(_)) => Seen::Well,
        Err(fault) => Seen::Failed { kind: fault.kind(), message: fault.to_string().into() },
    }
}
