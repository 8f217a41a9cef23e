//! Passing on what an upstream asks the client for.

use std::collections::BTreeMap;

use aldgate_approval::{Purpose, RequestState};
use aldgate_wire::elicitation::{self, InputKind};
use aldgate_wire::response::ResultView;
use indexmap::IndexMap;
use serde_json::value::{RawValue, to_raw_value};

use super::dispatch::Fault;
use crate::catalog::is_flat_form;
use crate::clock;
use crate::gate::Gate;
use crate::permit::Spent;
use crate::reply;
use crate::settings::MayAsk;
use crate::trail::Trail;

/// How long a client may take for one round, in milliseconds.
const ROUND_MS: u64 = 60 * 60 * 1000;
/// Rounds of one call.
const MAX_ROUNDS: u32 = 16;
/// Requests for input in one round.
const MAX_ASKED: usize = 16;

type Members = IndexMap<String, Box<RawValue>>;

/// The capabilities that are declared to the upstream: what the client declared, the host allows and the gateway can
/// relay, and the form that the gateway answers by itself.
pub(super) fn capabilities(spent: &Spent) -> &'static str {
    if declares_form(spent) { r#"{"elicitation":{"form":{}}}"# } else { "{}" }
}

/// Whether elicitation by form is declared to the upstream.
pub(super) fn declares_form(spent: &Spent) -> bool {
    let relayed =
        spent.meta.capabilities.elicitation_form && spent.tool.source.may_ask.contains(&MayAsk::Form);
    let own = spent.decision.is_some() && spent.tool.entry.answer.is_some();
    relayed || own
}

/// The upstream's request for input as the client gets it: the messages say who asks, and the state is sealed together
/// with the call that it belongs to.
pub(super) fn asked(gate: &Gate, trail: &Trail, spent: &Spent, view: &ResultView) -> Result<Vec<u8>, Fault> {
    let upstream = spent.tool.source.upstream.name();
    let round = trail.round + 1;
    if round > MAX_ROUNDS {
        return Err(Fault::MayNotAsk(format!("it asks for more than {MAX_ROUNDS} rounds of input")));
    }
    let mut schemas = BTreeMap::new();
    let mut relayed = Members::new();
    if let Some(raw) = &view.input_requests {
        let requests = elicitation::requests(raw)?;
        if requests.len() > MAX_ASKED {
            return Err(Fault::MayNotAsk(format!("it asks for more than {MAX_ASKED} inputs at once")));
        }
        for (key, request) in requests {
            let InputKind::ElicitForm { message, requested_schema } = &request.kind else {
                return Err(Fault::MayNotAsk("it asks for a kind of input that is not relayed".to_owned()));
            };
            let allowed = spent.tool.source.may_ask.contains(&MayAsk::Form);
            if !allowed || !spent.meta.capabilities.elicitation_form {
                let why =
                    if allowed { "the client did not declare forms" } else { "`may_ask` does not allow it" };
                return Err(Fault::MayNotAsk(format!("it asks for a form, but {why}")));
            }
            if !is_flat_form(requested_schema) {
                return Err(Fault::MayNotAsk("it asks with a form that is not flat".to_owned()));
            }
            let named = format!("[{upstream}] {message}");
            relayed.insert(key.clone(), with_message(&request.raw, &named).map_err(Fault::Own)?);
            schemas.insert(key, Some(requested_schema.clone()));
        }
    }
    let state = sealed(gate, trail, spent, view, round, schemas)?;
    let mut members = Members::new();
    let mut put = |key: &str, value: Result<Box<RawValue>, serde_json::Error>| {
        value.map(|value| members.insert(key.to_owned(), value)).map_err(Fault::Own)
    };
    put("resultType", to_raw_value("input_required"))?;
    if !relayed.is_empty() {
        put("inputRequests", to_raw_value(&relayed))?;
    }
    put("requestState", to_raw_value(&state))?;
    let mut meta = reply::own_meta();
    if let serde_json::Value::Object(meta) = &mut meta {
        meta.insert("io.github.aldgate/call".to_owned(), trail.call.as_str().into());
    }
    put("_meta", to_raw_value(&meta))?;
    serde_json::to_vec(&members).map_err(Fault::Own)
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
    let state = RequestState {
        tenant: caller.tenant.clone(),
        principal: caller.id(),
        client: caller.client.clone(),
        method: "tools/call".to_owned(),
        name: spent.name.clone(),
        arguments: spent.digest.clone(),
        expires_at: clock::now().plus(ROUND_MS),
        purpose: Purpose::Relay {
            call: trail.call.clone(),
            round,
            upstream: spent.tool.source.upstream.name().to_owned(),
            upstream_state: view.request_state.clone(),
            asked,
            approval: spent.approval.clone(),
        },
    };
    let nonce = clock::random().map_err(|_| invalid("no random source"))?;
    state.seal(&gate.seal, nonce).map_err(|_| invalid("the state could not be sealed"))
}

/// The request with another `params.message`, every other member as it came.
fn with_message(request: &RawValue, message: &str) -> Result<Box<RawValue>, serde_json::Error> {
    let mut members: Members = serde_json::from_str(request.get())?;
    let mut params: Members = match members.get("params") {
        Some(params) => serde_json::from_str(params.get())?,
        None => Members::new(),
    };
    params.insert("message".to_owned(), to_raw_value(message)?);
    members.insert("params".to_owned(), to_raw_value(&params)?);
    to_raw_value(&members)
}
