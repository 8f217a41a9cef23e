//! Passing on what an upstream asks the client for.

use std::collections::BTreeMap;

use aldgate_approval::{Purpose, RequestState};
use aldgate_wire::elicitation::{self, InputKind, InputRequest};
use aldgate_wire::replace::{replaced, replaced_at};
use aldgate_wire::response::ResultView;
use indexmap::IndexMap;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

use super::dispatch::Fault;
use crate::catalog::{checked_responses, form};
use crate::clock;
use crate::gate::Gate;
use crate::permit::Spent;
use crate::settings::{MayAsk, origin_of};
use crate::trail::Trail;

/// How long a client may take for one round, in milliseconds.
const ROUND_MS: u64 = 60 * 60 * 1000;
/// Requests for input in one round.
const MAX_ASKED: usize = 16;

type Members = IndexMap<String, Box<RawValue>>;

/// The capabilities that are declared to the upstream: what the client declared, the host allows and the gateway can
/// relay, and the form that the gateway answers by itself.
pub(super) fn capabilities(spent: &Spent) -> serde_json::Value {
    let mut declared = serde_json::Map::new();
    let mut elicitation = serde_json::Map::new();
    if declares(spent, MayAsk::Form) || answers_by_itself(spent) {
        elicitation.insert("form".to_owned(), json!({}));
    }
    if declares(spent, MayAsk::Url) {
        elicitation.insert("url".to_owned(), json!({}));
    }
    if !elicitation.is_empty() {
        declared.insert("elicitation".to_owned(), elicitation.into());
    }
    if declares(spent, MayAsk::Sampling) {
        let tools = spent.meta.capabilities.sampling_tools;
        declared.insert("sampling".to_owned(), if tools { json!({"tools": {}}) } else { json!({}) });
    }
    if declares(spent, MayAsk::Roots) {
        declared.insert("roots".to_owned(), json!({}));
    }
    declared.into()
}

/// Whether a kind of input that the client declared is not declared to the upstream.
pub(super) fn withholds(spent: &Spent, kind: MayAsk) -> bool {
    let answered = kind == MayAsk::Form && answers_by_itself(spent);
    of_client(spent, kind) && !declares(spent, kind) && !answered
}

/// Whether a kind of input is declared to the upstream because it can be relayed: the client declared it, and the host
/// allows it.
fn declares(spent: &Spent, kind: MayAsk) -> bool {
    spent.offer().source.asking.kinds.contains(&kind) && of_client(spent, kind)
}

/// Whether the client declared a kind of input on this request.
fn of_client(spent: &Spent, kind: MayAsk) -> bool {
    let declared = &spent.meta.capabilities;
    match kind {
        MayAsk::Form => declared.elicitation_form,
        MayAsk::Url => declared.elicitation_url,
        MayAsk::Sampling => declared.sampling,
        MayAsk::Roots => declared.roots,
    }
}

fn answers_by_itself(spent: &Spent) -> bool {
    spent.decision.is_some() && spent.offer().entry.answer.is_some()
}

/// Checks that the upstream may ask for this, and that this client can be asked.
fn may_ask(spent: &Spent, kind: MayAsk, what: &str) -> Result<(), Fault> {
    let allowed = spent.offer().source.asking.kinds.contains(&kind);
    if allowed && of_client(spent, kind) {
        return Ok(());
    }
    let why = if allowed { "the client did not declare it" } else { "`may_ask` does not allow it" };
    Err(Fault::MayNotAsk(format!("it asks for {what}, but {why}")))
}

/// Checks one request for input, and gives it as the client gets it, with the schema that its answer is held to.
fn relayed(spent: &Spent, request: &InputRequest) -> Result<(Box<RawValue>, Option<Box<RawValue>>), Fault> {
    let upstream = spent.offer().source.upstream.name();
    match &request.kind {
        InputKind::ElicitForm { message, requested_schema } => {
            may_ask(spent, MayAsk::Form, "a form")?;
            if form(requested_schema).is_none() {
                return Err(Fault::MayNotAsk("it asks with a form that is not flat".to_owned()));
            }
            let named = with_message(&request.raw, &format!("[{upstream}] {message}"))?;
            Ok((named, Some(requested_schema.clone())))
        }
        InputKind::ElicitUrl { message, url } => {
            may_ask(spent, MayAsk::Url, "a URL to be opened")?;
            let origin = origin_of(url).filter(|origin| spent.offer().source.asking.origins.contains(origin));
            if origin.is_none() {
                let what = "it asks for a URL to be opened whose origin `ask_origins` does not list";
                return Err(Fault::MayNotAsk(what.to_owned()));
            }
            let named = with_message(&request.raw, &format!("[{upstream}] {message}"))?;
            Ok((named, None))
        }
        InputKind::Sampling => {
            may_ask(spent, MayAsk::Sampling, "a message of the client's model")?;
            if !spent.meta.capabilities.sampling_tools && offers_tools(&request.raw) {
                let what = "it asks the client's model to use tools, but the client did not declare that";
                return Err(Fault::MayNotAsk(what.to_owned()));
            }
            Ok((request.raw.clone(), None))
        }
        InputKind::Roots => {
            may_ask(spent, MayAsk::Roots, "the client's roots")?;
            Ok((request.raw.clone(), None))
        }
    }
}

/// Whether a request for sampling has a member that needs `sampling.tools` (client/sampling#capabilities). One whose
/// members cannot be told apart might have it.
fn offers_tools(request: &RawValue) -> bool {
    let read = |raw: &RawValue| serde_json::from_str::<Members>(raw.get());
    let Ok(mut request) = read(request) else { return true };
    let Some(params) = request.swap_remove("params") else { return false };
    read(&params).map_or(true, |params| params.contains_key("tools") || params.contains_key("toolChoice"))
}

/// The answer to what the upstream asks, where the client sent it along with its first request: all of it, to questions
/// that the upstream may ask, and valid under the schemas that it asks with.
pub(super) fn early_answer(spent: &Spent, view: &ResultView) -> Option<Result<Box<RawValue>, Fault>> {
    let early = spent.early.as_deref()?;
    let requests = elicitation::requests(view.input_requests.as_deref()?).ok()?;
    if requests.is_empty() || requests.len() > MAX_ASKED {
        return None;
    }
    let mut asked = BTreeMap::new();
    for (key, request) in requests {
        asked.insert(key, relayed(spent, &request).ok()?.1);
    }
    let answers = checked_responses(&asked, Some(early)).ok()??;
    let given: Members = serde_json::from_str(answers.get()).ok()?;
    (given.len() == asked.len()).then_some(Ok(answers))
}

/// The upstream's request for input as the client gets it: the messages say who asks, and the state is sealed together
/// with the call that it belongs to. Every other byte outside of `_meta` is as it came.
pub(super) fn asked(gate: &Gate, trail: &Trail, spent: &Spent, view: &ResultView) -> Result<Vec<u8>, Fault> {
    let round = trail.round + 1;
    let most = gate.settings.bounds.rounds;
    if round > most {
        return Err(Fault::MayNotAsk(format!("it asks for more than {most} rounds of input")));
    }
    let mut schemas = BTreeMap::new();
    let mut requests_for_client = None;
    if let Some(raw) = &view.input_requests {
        let requests = elicitation::requests(raw)?;
        if requests.len() > MAX_ASKED {
            return Err(Fault::MayNotAsk(format!("it asks for more than {MAX_ASKED} inputs at once")));
        }
        let mut named = Vec::with_capacity(requests.len());
        for (key, request) in requests {
            let (request, schema) = relayed(spent, &request)?;
            named.push((key.clone(), request));
            schemas.insert(key, schema);
        }
        let set: Vec<_> = named.iter().map(|(key, request)| (key.as_str(), &**request)).collect();
        requests_for_client = Some(replaced(raw, &set)?);
    }
    let state = sealed(gate, trail, spent, view, round, schemas)?;
    let state = to_raw_value(&state).map_err(Fault::Own)?;
    let mut set: Vec<(&str, &RawValue)> = vec![("requestState", &state)];
    if let Some(requests) = &requests_for_client {
        set.push(("inputRequests", requests));
    }
    let signed = gate.signed(trail, view)?;
    let signed: &RawValue = serde_json::from_slice(&signed).map_err(Fault::Own)?;
    let result = replaced(signed, &set)?;
    Ok(result.get().as_bytes().to_vec())
}

fn sealed(
    gate: &Gate,
    trail: &Trail,
    spent: &Spent,
    view: &ResultView,
    round: u32,
    asked: BTreeMap<String, Option<Box<RawValue>>>,
) -> Result<String, Fault> {
    let invalid = |what: &str| Fault::Invalid(what.to_owned());
    let caller = trail.principal.as_ref().ok_or_else(|| invalid("nobody was identified"))?;
    let arguments = aldgate_approval::arguments::digest(spent.arguments.as_deref())
        .map_err(|_| invalid("the arguments cannot be digested"))?;
    let state = RequestState {
        tenant: caller.tenant.clone(),
        principal: caller.id(),
        client: caller.client.clone(),
        method: spent.method.as_str().to_owned(),
        name: spent.named.clone(),
        arguments,
        expires_at: clock::now().plus(ROUND_MS),
        purpose: Purpose::Relay {
            call: trail.call.clone(),
            round,
            upstream: spent.offer().source.upstream.name().to_owned(),
            upstream_state: view.request_state.clone(),
            asked,
            approval: spent.approval.clone(),
        },
    };
    let nonce = clock::random().map_err(|_| invalid("no random source"))?;
    state.seal(&gate.seal, nonce).map_err(|_| invalid("the state could not be sealed"))
}

/// The request with another `params.message`, every other byte as it came.
fn with_message(request: &RawValue, message: &str) -> Result<Box<RawValue>, Fault> {
    let message = to_raw_value(message).map_err(Fault::Own)?;
    Ok(replaced_at(request, &["params", "message"], &message)?)
}
