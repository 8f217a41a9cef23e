//! The fourth step: what is meant, and whether the arguments and the state that come with it are good.

use std::collections::BTreeMap;
use std::sync::Arc;

use aldgate_approval::state::Presented;
use aldgate_approval::{ApprovalId, Purpose, RequestState};
use aldgate_authority::{Principal, Uri};
use aldgate_contract::Validator;
use aldgate_wire::arguments::check_case;
use aldgate_wire::elicitation::{self, Action};
use aldgate_wire::header::{check_params, make_params, unrecognised_params};
use aldgate_wire::list::ListKind;
use aldgate_wire::request::{Method, Request};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use super::{Answer, Completion, Target, Tool, form, listing};
use crate::clock;
use crate::gate::Gate;
use crate::listen::Wanted;
use crate::refusal::{CONNECTION, Refusal};
use crate::scope;
use crate::trail::Trail;

/// `Mcp-Param-*` headers that are passed on though the contract does not name them: how many, and how many bytes.
const PASSED_PARAMS: (usize, usize) = (32, 8 << 10);

/// What a request means.
pub(crate) enum Resolved {
    /// The host answers by itself.
    Host(Answer),
    /// Something of an upstream is to be used.
    Call(Box<Call>),
    /// The client wants to hear of changes.
    Listen(Wanted),
}

/// A request about something known, with arguments that its pinned contract allows.
pub(crate) struct Call {
    pub(crate) target: Target,
    pub(crate) request: Box<Request>,
    /// What the client named: a visible name, or a URI.
    pub(crate) named: String,
    pub(crate) progress: Progress,
    /// `Mcp-Param-*` for the upstream: those of the pinned contract, made anew.
    pub(crate) params: Vec<(HeaderName, HeaderValue)>,
    /// `Mcp-Param-*` that nobody here knows, to be passed on.
    pub(crate) passed: Vec<(HeaderName, HeaderValue)>,
    /// What is to be completed.
    pub(crate) completion: Option<Completion>,
    /// What the client's user answered to the request to connect an account. It was for the gateway: it is in no
    /// `inputResponses` any more.
    pub(crate) connecting: Option<Action>,
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
    match request.method {
        Method::Discover => Ok(Resolved::Host(listing::discover())),
        Method::ListTools => list(gate, trail, &request, ListKind::Tools),
        Method::ListResources => list(gate, trail, &request, ListKind::Resources),
        Method::ListTemplates => list(gate, trail, &request, ListKind::Templates),
        Method::ListPrompts => list(gate, trail, &request, ListKind::Prompts),
        Method::Listen => Wanted::read(&request, gate.settings.bounds.listen_uris).map(Resolved::Listen),
        Method::ReadResource => read(gate, trail, request, headers),
        Method::GetPrompt => prompt(gate, trail, request, headers),
        Method::Complete => complete(trail, request, headers),
        Method::CallTool => tool(gate, trail, request, headers),
        Method::GetTask | Method::UpdateTask | Method::CancelTask => {
            Err(Refusal::host("AG-INTERNAL", "the method is not served"))
        }
    }
}

fn caller(trail: &Trail) -> Result<Arc<Principal>, Refusal> {
    trail.principal.clone().ok_or_else(|| Refusal::host("AG-INTERNAL", "nobody was identified"))
}

fn list(gate: &Gate, trail: &Trail, request: &Request, kind: ListKind) -> Result<Resolved, Refusal> {
    let principal = caller(trail)?;
    let cursor = request.params.cursor.as_deref();
    listing::page(gate, &trail.snapshot, &principal, kind, cursor).map(Resolved::Host)
}

fn tool(
    gate: &Gate,
    trail: &mut Trail,
    request: Box<Request>,
    headers: &HeaderMap,
) -> Result<Resolved, Refusal> {
    let name = request.params.name.clone().unwrap_or_default();
    let caller = caller(trail)?;
    let Some(tool) = trail.snapshot.catalog.tool(&caller.tenant, &name).cloned() else {
        trail.tool = Some(shown(&name).into());
        return Err(Refusal::unknown_tool(&name));
    };
    let arguments = request.params.arguments.as_deref();
    let target = Target::Tool(tool.clone());
    trail.about(&target, arguments);
    scope::covers_target(gate, trail, &target)?;
    if let Some(arguments) = arguments {
        let declared: Vec<&str> = tool.declared.iter().map(String::as_str).collect();
        check_case(arguments, &declared).map_err(|fault| Refusal::invalid_arguments(fault.to_string()))?;
    }
    check_arguments(&tool, arguments)?;
    check_params(headers, &tool.params, arguments)
        .map_err(|fault| Refusal::header_mismatch(fault.to_string()))?;
    let params = make_params(&tool.params, arguments)
        .map_err(|fault| Refusal::invalid_arguments(fault.to_string()))?;
    let passed = unrecognised_params(headers, &tool.params, PASSED_PARAMS.0, PASSED_PARAMS.1);
    call(gate, trail, request, target, name, (params, passed))
}

fn prompt(
    gate: &Gate,
    trail: &mut Trail,
    request: Box<Request>,
    headers: &HeaderMap,
) -> Result<Resolved, Refusal> {
    let name = request.params.name.clone().unwrap_or_default();
    let caller = caller(trail)?;
    let Some(prompt) = trail.snapshot.catalog.prompt(&caller.tenant, &name).cloned() else {
        trail.tool = Some(shown(&name).into());
        return Err(Refusal::unknown_prompt(&name));
    };
    let arguments = request.params.arguments.as_deref();
    let target = Target::Prompt(prompt.clone());
    trail.about(&target, arguments);
    scope::covers_target(gate, trail, &target)?;
    prompt.check(arguments)?;
    call(gate, trail, request, target, name, (Vec::new(), passed(headers)))
}

fn read(
    gate: &Gate,
    trail: &mut Trail,
    mut request: Box<Request>,
    headers: &HeaderMap,
) -> Result<Resolved, Refusal> {
    let text = request.params.uri.clone().unwrap_or_default();
    let caller = caller(trail)?;
    let found = Uri::parse(&text).map_err(|fault| Refusal::resource_uri(&text, &fault)).and_then(|uri| {
        let registry = trail.snapshot.authorizer.registry();
        let found = trail.snapshot.catalog.resource(&caller.tenant, registry, &uri);
        found.ok_or_else(|| Refusal::unknown_resource(&text))
    });
    let resource = found.inspect_err(|_| trail.tool = Some(shown(&text).into()))?;
    // The URI is what this request is about: what a person approves, and what is digested.
    let arguments = to_raw_value(&serde_json::json!({"uri": text}))
        .map_err(|fault| Refusal::host("AG-INTERNAL", "the URI cannot be written").because(fault))?;
    let target = Target::Resource(resource);
    trail.about(&target, Some(&arguments));
    request.params.arguments = Some(arguments);
    call(gate, trail, request, target, text, (Vec::new(), passed(headers)))
}

fn complete(trail: &mut Trail, request: Box<Request>, headers: &HeaderMap) -> Result<Resolved, Refusal> {
    let (target, named, completion) =
        Completion::read(&trail.snapshot, &caller(trail)?.tenant, &request.params)?;
    let digested = completion
        .digested()
        .map_err(|fault| Refusal::host("AG-INTERNAL", "the completion cannot be written").because(fault))?;
    trail.about(&target, Some(&digested));
    Ok(Resolved::Call(Box::new(Call {
        target,
        named,
        progress: Progress::Fresh,
        params: Vec::new(),
        passed: passed(headers),
        completion: Some(completion),
        connecting: None,
        request,
    })))
}

type ParamHeaders = Vec<(HeaderName, HeaderValue)>;

fn passed(headers: &HeaderMap) -> ParamHeaders {
    unrecognised_params(headers, &[], PASSED_PARAMS.0, PASSED_PARAMS.1)
}

/// What may come in several rounds: the state that it comes back with is opened and checked.
fn call(
    gate: &Gate,
    trail: &mut Trail,
    mut request: Box<Request>,
    target: Target,
    named: String,
    (params, passed): (ParamHeaders, ParamHeaders),
) -> Result<Resolved, Refusal> {
    let principal = caller(trail)?;
    trail.responses =
        request.params.input_responses.as_deref().map(|raw| trail.digests.of(raw.get().as_bytes()));
    let progress = match request.params.request_state.as_deref() {
        None => Progress::Fresh,
        Some(state) => {
            let method = request.method.as_str();
            let digest = digest(request.params.arguments.as_deref())?;
            let presented = Presented { caller: &principal, method, name: &named, arguments: &digest };
            let opened = RequestState::open(state, &gate.seal, presented, clock::now())
                .map_err(|fault| Refusal::state(fault.to_string()))?;
            progress(trail, &target, opened, request.params.input_responses.as_deref())?
        }
    };
    let mut connecting = None;
    if target.offer().source.upstream.is_of_callers() && !matches!(progress, Progress::Round { .. }) {
        connecting = take_connecting(&mut request)?;
        // What nobody behind the gateway gets is in no ruling and no evidence either.
        trail.responses =
            request.params.input_responses.as_deref().map(|raw| trail.digests.of(raw.get().as_bytes()));
    }
    let completion = None;
    Ok(Resolved::Call(Box::new(Call {
        target,
        named,
        progress,
        params,
        passed,
        completion,
        connecting,
        request,
    })))
}

/// Takes out what was answered to the request to connect an account.
fn take_connecting(request: &mut Request) -> Result<Option<Action>, Refusal> {
    let Some(responses) = request.params.input_responses.as_deref() else { return Ok(None) };
    let answers = elicitation::responses(responses).map_err(|fault| Refusal::params(fault.to_string()))?;
    let mut others = indexmap::IndexMap::new();
    let mut ours = None;
    for (key, answer) in answers {
        match key == CONNECTION {
            true => ours = Some(answer.action),
            false => drop(others.insert(key, answer.raw)),
        }
    }
    let Some(action) = ours else { return Ok(None) };
    request.params.input_responses = match others.is_empty() {
        true => None,
        false => Some(
            to_raw_value(&others)
                .map_err(|fault| Refusal::params("`inputResponses` cannot be read").because(fault))?,
        ),
    };
    Ok(action)
}

impl Call {
    /// Digest of the arguments in normal form. Most calls need none.
    pub(crate) fn digest(&self) -> Result<String, Refusal> {
        digest(self.request.params.arguments.as_deref())
    }
}

fn digest(arguments: Option<&RawValue>) -> Result<String, Refusal> {
    aldgate_approval::arguments::digest(arguments)
        .map_err(|fault| Refusal::invalid_arguments(fault.to_string()))
}

/// What a peer named, cut to what fits in a row.
fn shown(name: &str) -> String {
    name.chars().filter(|letter| !letter.is_control()).take(128).collect()
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
            tool.offer.visible
        ))
    })
}

fn progress(
    trail: &mut Trail,
    target: &Target,
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
            if upstream != target.offer().source.upstream.name() {
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
