//! The fourth step: which tool is meant, and whether its arguments and the state that comes with them are good.

use std::collections::BTreeMap;
use std::sync::Arc;

use aldgate_approval::state::Presented;
use aldgate_approval::{ApprovalId, Purpose, RequestState};
use aldgate_wire::arguments::check_case;
use aldgate_wire::elicitation::{self, Action};
use aldgate_wire::header::{check_params, make_params, unrecognised_params};
use aldgate_wire::request::{Method, Request};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Answer, Tool, Validator, form, listing};
use crate::clock;
use crate::gate::Gate;
use crate::refusal::Refusal;
use crate::trail::Trail;

/// `Mcp-Param-*` headers that are passed on though the contract does not name them: how many, and how many bytes.
const PASSED_PARAMS: (usize, usize) = (32, 8 << 10);

/// What a request means.
pub(crate) enum Resolved {
    /// The host answers by itself.
    Host(Answer),
    /// A tool is to be called.
    Call(Box<Call>),
}

/// A call of a known tool with arguments that its pinned contract allows.
pub(crate) struct Call {
    pub(crate) tool: Arc<Tool>,
    pub(crate) request: Box<Request>,
    /// Digest of the arguments in normal form.
    pub(crate) arguments: String,
    pub(crate) progress: Progress,
    /// `Mcp-Param-*` for the upstream: those of the pinned contract, made anew.
    pub(crate) params: Vec<(HeaderName, HeaderValue)>,
    /// `Mcp-Param-*` that nobody here knows, to be passed on.
    pub(crate) passed: Vec<(HeaderName, HeaderValue)>,
}

/// Where a call stands.
pub(crate) enum Progress {
    /// It begins.
    Fresh,
    /// It comes back to see whether a person has decided.
    Waiting {
        /// The approval that it waits for.
        approval: ApprovalId,
        /// Whether the client's user still wants to wait.
        goes_on: bool,
    },
    /// It comes back with what the upstream asked for.
    Round {
        /// The upstream's own state.
        upstream_state: Option<String>,
        /// The answers, valid under the schemas that were asked with.
        responses: Option<Box<RawValue>>,
        /// The approval that was redeemed for this call.
        approval: Option<String>,
    },
}

/// Finds what a request means.
pub(crate) fn resolve(
    gate: &Gate,
    trail: &mut Trail,
    request: Box<Request>,
    headers: &HeaderMap,
) -> Result<Resolved, Refusal> {
    let principal =
        trail.principal.clone().ok_or_else(|| Refusal::host("AG-INTERNAL", "nobody was identified"))?;
    match request.method {
        Method::Discover => return Ok(Resolved::Host(listing::discover())),
        Method::ListTools => {
            if request.params.cursor.is_some() {
                return Err(Refusal::params("the cursor was not given out here; list again without one"));
            }
            return Ok(Resolved::Host(listing::tools(&trail.snapshot, &principal)));
        }
        _ => {}
    }
    let name = request.params.name.as_deref().unwrap_or_default();
    let Some(tool) = trail.snapshot.catalog.tools.get(name).cloned() else {
        trail.tool = Some(name.chars().filter(|letter| !letter.is_control()).take(128).collect());
        return Err(Refusal::unknown_tool(name));
    };
    trail.tool = Some(tool.key.clone());
    trail.contract = Some(tool.contract.clone());
    let arguments = request.params.arguments.as_deref();
    trail.arguments = Some(trail.digests.of(arguments.map_or("{}", RawValue::get).as_bytes()));
    trail.responses =
        request.params.input_responses.as_deref().map(|raw| trail.digests.of(raw.get().as_bytes()));
    if let Some(arguments) = arguments {
        let declared: Vec<&str> = tool.declared.iter().map(String::as_str).collect();
        check_case(arguments, &declared).map_err(|fault| Refusal::invalid_arguments(fault.to_string()))?;
    }
    check_arguments(&tool, arguments)?;
    check_params(headers, &tool.params, arguments)
        .map_err(|fault| Refusal::header_mismatch(fault.to_string()))?;
    let digest = aldgate_approval::arguments::digest(arguments)
        .map_err(|fault| Refusal::invalid_arguments(fault.to_string()))?;
    let progress = match request.params.request_state.as_deref() {
        None => Progress::Fresh,
        Some(state) => {
            let method = request.method.as_str();
            let presented = Presented { caller: &principal, method, name, arguments: &digest };
            let opened = RequestState::open(state, &gate.seal, presented, clock::now())
                .map_err(|fault| Refusal::state(fault.to_string()))?;
            progress(trail, &tool, opened, request.params.input_responses.as_deref())?
        }
    };
    let params = make_params(&tool.params, arguments)
        .map_err(|fault| Refusal::invalid_arguments(fault.to_string()))?;
    let passed = unrecognised_params(headers, &tool.params, PASSED_PARAMS.0, PASSED_PARAMS.1);
    Ok(Resolved::Call(Box::new(Call { tool, arguments: digest, progress, params, passed, request })))
}

fn check_arguments(tool: &Tool, arguments: Option<&RawValue>) -> Result<(), Refusal> {
    let value: Value = match arguments {
        Some(raw) => serde_json::from_str(raw.get())
            .map_err(|fault| Refusal::invalid_arguments("the arguments cannot be read").because(fault))?,
        None => Value::Object(serde_json::Map::new()),
    };
    tool.input.check(&value).map_err(|places| {
        Refusal::invalid_arguments(format!(
            "the arguments do not fit the contract of `{}`: {places}",
            tool.visible
        ))
    })
}

fn progress(
    trail: &mut Trail,
    tool: &Tool,
    state: RequestState,
    responses: Option<&RawValue>,
) -> Result<Progress, Refusal> {
    match state.purpose {
        Purpose::Approval { approval, call } => {
            trail.call = call;
            trail.approval = Some(approval.to_string());
            let answers = responses.map(elicitation::responses).transpose();
            let answers = answers.map_err(|fault| Refusal::params(fault.to_string()))?.unwrap_or_default();
            let left = answers
                .iter()
                .any(|(_, answer)| matches!(answer.action, Some(Action::Decline | Action::Cancel)));
            Ok(Progress::Waiting { approval, goes_on: !left })
        }
        Purpose::Relay { call, round, upstream, upstream_state, asked, approval } => {
            if upstream != tool.source.upstream.name() {
                return Err(Refusal::state("the request state belongs to another upstream"));
            }
            trail.call = call;
            trail.round = round;
            trail.approval.clone_from(&approval);
            let responses = checked_responses(&asked, responses)?;
            Ok(Progress::Round { upstream_state, responses, approval })
        }
    }
}

/// The answers to what was asked, and to nothing else, valid under the schemas that were asked with.
pub(crate) fn checked_responses(
    asked: &BTreeMap<String, Option<Box<RawValue>>>,
    responses: Option<&RawValue>,
) -> Result<Option<Box<RawValue>>, Refusal> {
    let Some(responses) = responses else { return Ok(None) };
    let answers = elicitation::responses(responses).map_err(|fault| Refusal::params(fault.to_string()))?;
    let mut kept = indexmap::IndexMap::new();
    for (key, answer) in answers {
        let Some(schema) = asked.get(&key) else { continue };
        if let Some(schema) = schema {
            check_form(&key, schema, &answer)?;
        }
        kept.insert(key, answer.raw);
    }
    serde_json::value::to_raw_value(&kept)
        .map(Some)
        .map_err(|fault| Refusal::params("`inputResponses` cannot be read").because(fault))
}

fn check_form(key: &str, schema: &RawValue, answer: &elicitation::InputResponse) -> Result<(), Refusal> {
    let shown: String = key.chars().filter(|letter| !letter.is_control()).take(64).collect();
    match (answer.action, &answer.content) {
        (Some(Action::Accept), Some(content)) => {
            let unusable = || Refusal::state("the upstream asked with a schema that cannot be used");
            let held = form(schema).and_then(|held| serde_json::value::to_raw_value(&held).ok());
            let validator =
                Validator::compile(&held.ok_or_else(unusable)?).map_err(|fault| unusable().because(fault))?;
            let value: Value = serde_json::from_str(content.get())
                .map_err(|fault| Refusal::params("`inputResponses` cannot be read").because(fault))?;
            validator.check(&value).map_err(|places| {
                Refusal::params(format!(
                    "the answer `{shown}` does not fit the form that was asked with: {places}"
                ))
            })
        }
        (Some(Action::Decline | Action::Cancel), _) => Ok(()),
        (Some(Action::Accept), None) | (None, _) => Err(Refusal::params(format!(
            "the answer `{shown}` must have `action`, and `content` where the action is `accept`"
        ))),
    }
}
