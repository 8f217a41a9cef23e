//! The fifth step: what the host's registry and policies say.

use std::sync::Arc;

use aldgate_authority::{Action, Argument, Question, Verdict};
use aldgate_wire::request::Method;

use crate::catalog::{Call, Progress};
use crate::gate::Gate;
use crate::kept::Reasoned;
use crate::observe;
use crate::refusal::Refusal;
use crate::trail::Trail;

/// How long a call waits for the contracts of its upstream to be compared.
const WAIT_FOR_COMPARISON: std::time::Duration = std::time::Duration::from_secs(10);

/// A call and the ruling on it, made for exactly these values.
pub(crate) struct Ruled {
    pub(crate) call: Box<Call>,
    pub(crate) ruling: Arc<Reasoned>,
}

/// Rules on a call. A contract that is not the pinned one refuses it first.
pub(crate) async fn decide(gate: &Gate, trail: &mut Trail, call: Box<Call>) -> Result<Ruled, Refusal> {
    let principal =
        trail.principal.clone().ok_or_else(|| Refusal::host("AG-INTERNAL", "nobody was identified"))?;
    let responses = match &call.progress {
        Progress::Round { responses, .. } => responses.as_deref(),
        Progress::Fresh => call.request.params.input_responses.as_deref(),
        Progress::Waiting { .. } => None,
    };
    let arguments = match &call.completion {
        Some(completion) => completion.chosen.as_deref(),
        None => call.request.params.arguments.as_deref(),
    };
    let span = observe::check(gate, trail, "ruling");
    let question = Question {
        principal: &principal,
        action: action(call.request.method),
        target: call.target.offer().item().into(),
        uri: call.request.params.uri.as_deref(),
        arguments,
        argument: call
            .completion
            .as_ref()
            .map(|completion| Argument { name: &completion.name, value: &completion.value }),
        input_responses: responses,
        client: &principal.client,
    };
    let ruling = trail.snapshot.reasoned(&principal, &question, &call.target);
    observe::ruled(gate, span, call.request.method, ruling.rule(), ruling.verdict());
    trail.ruling = Some(word(ruling.verdict()));
    trail.explanation.clone_from(&ruling.explanation);
    if ruling.verdict() == Verdict::Prohibited {
        return Err(Refusal::prohibited(ruling.code().unwrap_or("AG-PROHIBITED"), ruling.rule()));
    }
    contract_is_pinned(gate, trail, &call).await?;
    Ok(Ruled { call, ruling })
}

/// A call goes out only to an upstream whose live contract was compared with the lock and is the same.
pub(crate) async fn contract_is_pinned(gate: &Gate, trail: &Trail, call: &Call) -> Result<(), Refusal> {
    if call.target.offer().source.is_current() && call.target.offer().change().is_none() {
        return Ok(());
    }
    let span = observe::check(gate, trail, "contract");
    let compared = compared(gate, call).await;
    observe::compared(span, compared.is_ok());
    compared
}

async fn compared(gate: &Gate, call: &Call) -> Result<(), Refusal> {
    let offer = call.target.offer();
    let source = &offer.source;
    if !source.is_current() {
        // Whoever waits for a slow upstream here keeps a place: not for long.
        let _ = tokio::time::timeout(WAIT_FOR_COMPARISON, source.verify(&gate.settings.bounds)).await;
    }
    let standing = source.standing();
    let upstream = source.upstream.name();
    if !source.is_current() {
        let why = standing.unreachable.as_deref().unwrap_or("it has not answered yet").to_owned();
        let message = format!(
            "upstream `{upstream}` could not be asked for its contracts, so that nothing is called there; try again later"
        );
        return Err(Refusal::upstream("AG-UPSTREAM-UNREACHABLE", message).because(why));
    }
    match offer.change() {
        None => Ok(()),
        Some(what) => Err(Refusal::changed(&offer.visible, &what)),
    }
}

/// What a method does with what it names.
fn action(method: Method) -> Action {
    match method {
        Method::ReadResource => Action::Read,
        Method::GetPrompt => Action::GetPrompt,
        Method::Complete => Action::Complete,
        Method::Listen => Action::Listen,
        _ => Action::Call,
    }
}

/// The word that evidence uses.
pub(crate) fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Automatic => "automatic",
        Verdict::RequiresApproval => "requires_approval",
        Verdict::Prohibited => "prohibited",
    }
}
