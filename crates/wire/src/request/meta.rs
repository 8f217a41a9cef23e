use serde_json::value::RawValue;

use super::Rejection;
use crate::code;
use crate::json::{Kind, Members, has_prefix, is_integer, kind, string};
use crate::quote::Quoted;
use crate::{OWN_META_PREFIX, PROTOCOL_META_PREFIX};

/// What a request says about itself in `params._meta` (basic/index#meta).
#[derive(Debug, Clone)]
pub struct RequestMeta {
    /// The revision that the request follows.
    pub protocol_version: String,
    /// The client's capabilities as sent, an object.
    pub client_capabilities: Box<RawValue>,
    /// The capabilities that we look at.
    pub capabilities: DeclaredCapabilities,
    /// The client's description of itself, an object; only for display.
    pub client_info: Option<Box<RawValue>>,
    /// `clientInfo.name`, only for display.
    pub client_name: Option<String>,
    /// The least severe level of log messages that the client asks for.
    pub log_level: Option<String>,
    /// Under which progress is reported: a string or an integer.
    pub progress_token: Option<Box<RawValue>>,
    /// W3C trace context; `None` where it was malformed, because such a trace starts anew (W3C Trace Context §4.3).
    pub traceparent: Option<String>,
    /// W3C trace state, kept only beside a valid `traceparent`.
    pub tracestate: Option<String>,
    /// Unknown keys in order, without `baggage`, the protocol's keys and ours.
    pub other: Vec<(String, Box<RawValue>)>,
}

/// What the client can do, as this request declares it. A member of the wrong type counts as not declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DeclaredCapabilities {
    /// Forms; an empty `elicitation` declares them.
    pub elicitation_form: bool,
    /// Pages to open.
    pub elicitation_url: bool,
    /// Sampling.
    pub sampling: bool,
    /// Sampling with tools.
    pub sampling_tools: bool,
    /// Roots.
    pub roots: bool,
    /// The Tasks extension.
    pub tasks: bool,
}

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const INFO: &str = "io.modelcontextprotocol/clientInfo";
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
const PROGRESS: &str = "progressToken";
const TRACE_PARENT: &str = "traceparent";
const TRACE_STATE: &str = "tracestate";
const BAGGAGE: &str = "baggage";
const KNOWN: &[&str] =
    &[VERSION, CAPABILITIES, INFO, LOG_LEVEL, PROGRESS, TRACE_PARENT, TRACE_STATE, BAGGAGE];

const LOG_LEVELS: [&str; 8] =
    ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
const TASKS: &str = "io.modelcontextprotocol/tasks";

/// Whether `params._meta` has the key that names a revision, whatever its value.
pub(super) fn names_a_version(params: &Members<'_>) -> bool {
    object_in(params, "_meta").is_some_and(|meta| has(&meta, VERSION))
}

impl RequestMeta {
    pub(super) fn read(params: &Members<'_>) -> Result<Self, Rejection> {
        let Some(raw) = params.get("_meta").ok().flatten() else {
            return Err(Rejection::meta("expected `params._meta`, as every request has"));
        };
        let Some(meta) = Members::read(raw.get()) else {
            return Err(Rejection::meta(format!(
                "`params._meta` must be an object, found {}",
                kind(raw).described()
            )));
        };
        if let Some((found, meant)) = meta.miscased(KNOWN) {
            return Err(Rejection::new(
                400,
                code::INVALID_PARAMS,
                code::KEY_CASE,
                format!("the key {} of `params._meta` differs from `{meant}` only by case", Quoted(&found)),
            ));
        }
        let get = |key| meta.get(key).ok().flatten();

        let protocol_version = required(VERSION, get(VERSION))?;
        let protocol_version = string(protocol_version)
            .ok_or_else(|| wrong(VERSION, "a string such as `2026-07-28`", protocol_version))?;
        let client_capabilities = required(CAPABILITIES, get(CAPABILITIES))?;
        let capabilities = Members::read(client_capabilities.get())
            .ok_or_else(|| wrong(CAPABILITIES, "an object", client_capabilities))?;
        let client_info = get(INFO)
            .map(|raw| {
                Members::read(raw.get()).map(|info| (raw, info)).ok_or_else(|| wrong(INFO, "an object", raw))
            })
            .transpose()?;
        let client_name =
            client_info.as_ref().and_then(|(_, info)| info.get("name").ok().flatten().and_then(string));
        let log_level = get(LOG_LEVEL).map(log_level).transpose()?;
        let progress_token = get(PROGRESS)
            .map(|raw| match kind(raw) {
                Kind::String => Ok(raw.to_owned()),
                Kind::Number if is_integer(raw) => Ok(raw.to_owned()),
                _ => Err(wrong(PROGRESS, "a string or an integer", raw)),
            })
            .transpose()?;
        let traceparent = get(TRACE_PARENT).and_then(string).filter(|text| is_traceparent(text));
        let tracestate =
            get(TRACE_STATE).and_then(string).filter(|text| traceparent.is_some() && is_tracestate(text));

        let other = meta
            .iter()
            .filter(|(key, _)| {
                !KNOWN.contains(&key.as_ref())
                    && !has_prefix(key, OWN_META_PREFIX)
                    && !has_prefix(key, PROTOCOL_META_PREFIX)
            })
            .map(|(key, raw)| (key.into_owned(), raw.to_owned()))
            .collect();

        Ok(Self {
            protocol_version,
            client_capabilities: client_capabilities.to_owned(),
            capabilities: DeclaredCapabilities::read(&capabilities),
            client_info: client_info.map(|(raw, _)| raw.to_owned()),
            client_name,
            log_level,
            progress_token,
            traceparent,
            tracestate,
            other,
        })
    }
}

impl DeclaredCapabilities {
    fn read(capabilities: &Members<'_>) -> Self {
        let elicitation = object_in(capabilities, "elicitation");
        let sampling = object_in(capabilities, "sampling");
        let elicitation_url = elicitation.as_ref().is_some_and(|modes| object_in(modes, "url").is_some());
        Self {
            elicitation_form: elicitation.as_ref().is_some_and(|modes| {
                object_in(modes, "form").is_some() || (!elicitation_url && !has(modes, "form"))
            }),
            elicitation_url,
            sampling_tools: sampling.as_ref().is_some_and(|parts| object_in(parts, "tools").is_some()),
            sampling: sampling.is_some(),
            roots: object_in(capabilities, "roots").is_some(),
            tasks: object_in(capabilities, "extensions")
                .is_some_and(|extensions| object_in(&extensions, TASKS).is_some()),
        }
    }
}

fn object_in<'a>(members: &Members<'a>, key: &str) -> Option<Members<'a>> {
    Members::read(members.get(key).ok().flatten()?.get())
}

fn has(members: &Members<'_>, key: &str) -> bool {
    members.get(key).ok().flatten().is_some()
}

fn required<'a>(key: &str, found: Option<&'a RawValue>) -> Result<&'a RawValue, Rejection> {
    found.ok_or_else(|| Rejection::meta(format!("`params._meta` lacks `{key}`; send it with every request")))
}

fn wrong(key: &str, expected: &str, found: &RawValue) -> Rejection {
    Rejection::meta(format!(
        "`{key}` in `params._meta` must be {expected}, found {}",
        kind(found).described()
    ))
}

fn log_level(raw: &RawValue) -> Result<String, Rejection> {
    let level = string(raw).ok_or_else(|| wrong(LOG_LEVEL, "a string", raw))?;
    if LOG_LEVELS.contains(&level.as_str()) {
        Ok(level)
    } else {
        Err(Rejection::meta(format!(
            "`{LOG_LEVEL}` is {}; use one of: {}",
            Quoted(&level),
            LOG_LEVELS.join(", ")
        )))
    }
}

/// Version 00 of W3C Trace Context §3.2, the only one there is: lower-case hex, ids not all zero.
fn is_traceparent(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [version, trace, parent, flags] = parts.as_slice() else { return false };
    let hex = |part: &str, length| {
        part.len() == length && part.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
    };
    let set = |part: &str| part.bytes().any(|b| b != b'0');
    *version == "00" && hex(trace, 32) && hex(parent, 16) && hex(flags, 2) && set(trace) && set(parent)
}

/// W3C Trace Context §3.3: at most 32 members of printable ASCII; 512 characters is what must be propagated.
fn is_tracestate(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 512
        && text.bytes().all(|b| matches!(b, 0x20..=0x7E))
        && text.split(',').filter(|member| !member.trim().is_empty()).count() <= 32
        && text.split(',').all(|member| member.trim().is_empty() || member.contains('='))
}
