use http::{HeaderMap, HeaderName};
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Method, Params, Rejection, Request, RequestId, RequestMeta};
use crate::code;
use crate::guard::{self, GuardFault, Limits};
use crate::header;
use crate::json::{Kind, Members, kind, string};
use crate::quote::Quoted;

/// One message from a client.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "nearly every message is a request")]
pub enum Incoming {
    /// A request, which gets exactly one answer.
    Request(Request),
    /// A notification, which gets none; its parameters mean nothing to a stateless server.
    Notification {
        /// `notifications/…`
        method: String,
    },
}

/// Reads one message. The order of the checks is the one that the specification's tests expect: the guard, the shape,
/// the version header's presence, `_meta`, versions equal, version supported, `Mcp-Method` and `Mcp-Name`, method
/// served, `params`. `Mcp-Param-*` and capabilities need a tool's contract and come later.
///
/// `served` are the methods that answer here, `versions` the protocol revisions.
///
/// # Errors
/// A [`Rejection`], complete with status, codes, and the id where one could be read.
pub fn accept(
    headers: &HeaderMap,
    body: &[u8],
    limits: &Limits,
    served: &[Method],
    versions: &[&str],
) -> Result<Incoming, Rejection> {
    read(Some(headers), body, limits, served, versions)
}

/// Reads one message of a transport without headers, such as a line of stdio; all else is checked as [`accept`] does.
///
/// # Errors
/// As [`accept`].
pub fn accept_line(
    body: &[u8],
    limits: &Limits,
    served: &[Method],
    versions: &[&str],
) -> Result<Incoming, Rejection> {
    read(None, body, limits, served, versions)
}

fn read(
    headers: Option<&HeaderMap>,
    body: &[u8],
    limits: &Limits,
    served: &[Method],
    versions: &[&str],
) -> Result<Incoming, Rejection> {
    guarded(body, limits)?;
    let envelope = Envelope::read(body)?;
    match &envelope.id {
        Some(id) => request(headers, &envelope, id, served, versions)
            .map(Incoming::Request)
            .map_err(|rejection| told_to_older(&envelope.method, versions, rejection).answering(id)),
        None => notification(&envelope),
    }
}

/// The guard's word about a body, with the id where one can be read.
pub(super) fn guarded(body: &[u8], limits: &Limits) -> Result<(), Rejection> {
    guard::check(body, limits).map_err(|fault| {
        let rejection = Rejection::guard(&fault);
        match recovered_id(&fault, body) {
            Some(id) => rejection.answering(&id),
            None => rejection,
        }
    })
}

/// A client of an older revision begins with `initialize`: whatever is wrong with it, it is told what is spoken here
/// (MCP 2026-07-28, basic/versioning).
fn told_to_older(method: &str, versions: &[&str], rejection: Rejection) -> Rejection {
    let spoken = versions.join("`, `");
    if method != "initialize" || versions.iter().any(|version| rejection.message.contains(version)) {
        return rejection;
    }
    let message = format!(
        "{}; `initialize` is of an older revision of MCP, spoken here is `{spoken}`",
        rejection.message
    );
    Rejection { message, ..rejection }
}

/// The id of a request whose body the guard refused. Only an id that can be read without doubt counts: the body is
/// JSON and holds one.
fn recovered_id(fault: &GuardFault, body: &[u8]) -> Option<RequestId> {
    match fault {
        GuardFault::TooDeep { .. }
        | GuardFault::DuplicateKey { .. }
        | GuardFault::LoneSurrogate { .. }
        | GuardFault::InexactNumber { .. } => {
            let members = Members::read(std::str::from_utf8(body).ok()?)?;
            RequestId::from_raw(members.get("id").ok()??)
        }
        GuardFault::TooLarge { .. }
        | GuardFault::NotUtf8 { .. }
        | GuardFault::ByteOrderMark
        | GuardFault::Syntax { .. }
        | GuardFault::TrailingData { .. } => None,
    }
}

pub(super) struct Envelope<'a> {
    pub(super) id: Option<RequestId>,
    pub(super) method: String,
    pub(super) params: Option<&'a RawValue>,
}

const ENVELOPE: &[&str] = &["jsonrpc", "id", "method", "params"];

impl<'a> Envelope<'a> {
    pub(super) fn read(body: &'a [u8]) -> Result<Self, Rejection> {
        let not_object =
            || Rejection::shape("expected one JSON object; send one message for each POST, no batch");
        let text = std::str::from_utf8(body).map_err(|_| not_object())?;
        let members = Members::read(text).ok_or_else(not_object)?;
        // The guard found no repeated key.
        let get = |key| members.get(key).ok().flatten();
        let id = get("id").map(|raw| RequestId::from_raw(raw).ok_or(raw));
        let Ok(id) = id.transpose() else {
            return Err(Rejection::new(
                400,
                code::INVALID_REQUEST,
                code::ID,
                "`id` must be a string or an integer without fraction or exponent, of 256 bytes at most",
            ));
        };
        let refuse = |message: String| {
            let rejection = Rejection::shape(message);
            Err(match &id {
                Some(id) => rejection.answering(id),
                None => rejection,
            })
        };
        if let Some((found, meant)) = members.miscased(ENVELOPE) {
            return refuse(format!("the member {} differs from `{meant}` only by case", Quoted(&found)));
        }
        if get("jsonrpc").and_then(string).as_deref() != Some("2.0") {
            return refuse("`jsonrpc` must be the string `2.0`".to_owned());
        }
        let Some(method) = get("method") else {
            return refuse(
                "expected `method`; a client sends requests and notifications, no responses".to_owned(),
            );
        };
        let Some(method) = string(method) else {
            return refuse(format!("`method` must be a string, found {}", kind(method).described()));
        };
        let params = get("params");
        if let Some(params) = params
            && kind(params) != Kind::Object
        {
            return refuse(format!("`params` must be an object, found {}", kind(params).described()));
        }
        Ok(Self { id, method, params })
    }
}

fn notification(envelope: &Envelope<'_>) -> Result<Incoming, Rejection> {
    if envelope.method.starts_with("notifications/") {
        Ok(Incoming::Notification { method: envelope.method.clone() })
    } else {
        Err(Rejection::shape(format!(
            "expected `id`: {} is not a notification, and a request needs one",
            Quoted(&envelope.method)
        )))
    }
}

fn request(
    headers: Option<&HeaderMap>,
    envelope: &Envelope<'_>,
    id: &RequestId,
    served: &[Method],
    versions: &[&str],
) -> Result<Request, Rejection> {
    let version = headers.map(|headers| single(headers, &header::PROTOCOL_VERSION)).transpose()?;
    let version = version.map(String::from_utf8_lossy);

    let Some(params) = envelope.params.and_then(|raw| Members::read(raw.get())) else {
        return Err(Rejection::meta("expected `params` with `_meta`, as every request has"));
    };
    let meta = RequestMeta::read(&params)?;

    if let Some(version) = version.filter(|version| *version != meta.protocol_version) {
        return Err(Rejection::header(format!(
            "`MCP-Protocol-Version` is {}, but `_meta` says {}; send the same version in both",
            Quoted(&version),
            Quoted(&meta.protocol_version)
        )));
    }
    if !versions.contains(&meta.protocol_version.as_str()) {
        return Err(Rejection::new(
            400,
            code::UNSUPPORTED_PROTOCOL_VERSION,
            code::VERSION,
            format!(
                "the protocol version {} is not supported; use one of: {}",
                Quoted(&meta.protocol_version),
                versions.join(", ")
            ),
        )
        .with("supported", versions.iter().map(|v| Value::from(*v)).collect())
        .with("requested", Value::from(meta.protocol_version.as_str())));
    }

    let known = Method::parse(&envelope.method);
    if let Some(headers) = headers {
        check_method(headers, &envelope.method)?;
        if let Some(method) = known {
            check_name(headers, method, &params)?;
        }
    }
    let method = known.filter(|method| served.contains(method));
    let method = method.ok_or_else(|| unknown_method(&envelope.method, versions))?;
    let params = Params::read(method, &params)?;
    Ok(Request { id: id.clone(), method, params, meta })
}

fn unknown_method(method: &str, versions: &[&str]) -> Rejection {
    let message = if method == "initialize" {
        format!(
            "method not found: `initialize`; no session is opened here, send the version with each request, one of: {}",
            versions.join(", ")
        )
    } else {
        format!("method not found: {}", Quoted(method))
    };
    Rejection::new(404, code::METHOD_NOT_FOUND, code::METHOD, message)
}

fn check_method(headers: &HeaderMap, method: &str) -> Result<(), Rejection> {
    let mirrored = single(headers, &header::METHOD)?;
    if mirrored == method.as_bytes() {
        return Ok(());
    }
    Err(Rejection::header(format!(
        "`Mcp-Method` is {}, but the body's method is {}; send the same in both",
        Quoted(&String::from_utf8_lossy(mirrored)),
        Quoted(method)
    )))
}

/// A name that the body lacks, or that is no string, is left to the check of `params`: the request is malformed then,
/// whatever the header says.
fn check_name(headers: &HeaderMap, method: Method, params: &Members<'_>) -> Result<(), Rejection> {
    let Some(member) = method.name_member() else { return Ok(()) };
    let Some(name) = params.get(member).ok().flatten().and_then(string) else { return Ok(()) };
    let mirrored = single(headers, &header::NAME)?;
    let mirrored = header::decode_value(mirrored)
        .map_err(|fault| Rejection::header(format!("`Mcp-Name` is malformed: {fault}")))?;
    if mirrored == name {
        Ok(())
    } else {
        Err(Rejection::header(format!(
            "`Mcp-Name` is {}, but the body's `{member}` is {}; send the same in both",
            Quoted(&mirrored),
            Quoted(&name)
        )))
    }
}

/// The value of a header that must be there once, without the white space around it (RFC 9110 §5.5).
fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<&'a [u8], Rejection> {
    let mut values = headers.get_all(name).iter();
    let shown = header::display_name(name);
    match (values.next(), values.next()) {
        (Some(value), None) => Ok(header::trimmed(value.as_bytes())),
        (None, _) => {
            Err(Rejection::header(format!("the header `{shown}` is missing; mirror the body in it")))
        }
        (Some(_), Some(_)) => {
            Err(Rejection::header(format!("the header `{shown}` is repeated; send it once")))
        }
    }
}
