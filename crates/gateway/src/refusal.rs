//! Why a journey ended early. [`crate::reply`] turns a refusal into a response, [`crate::record`] into evidence.

mod form;

use aldgate_identity::{DPOP_NONCE, Protected, Scopes, Unauthenticated, lacks_scope};
use aldgate_wire::request::Rejection;
use axum::response::Response;
use http::HeaderValue;
use http::header::WWW_AUTHENTICATE;
use serde_json::{Value, json};

pub(crate) use form::Form;

/// A boxed cause, for the log alone.
type Cause = Box<dyn std::error::Error + Send + Sync>;

/// A refusal: what the caller is told, and the cause that only the log gets.
#[derive(Debug)]
pub(crate) struct Refusal(Box<Told>);

#[derive(Debug)]
struct Told {
    code: &'static str,
    rule: Option<String>,
    message: String,
    form: Form,
    challenge: Option<Challenge>,
    cause: Option<Cause>,
}

/// What a client is told of the credentials that it needs.
#[derive(Debug)]
pub(crate) struct Challenge {
    /// The value of `WWW-Authenticate`.
    pub(crate) value: String,
    /// The nonce that the next proof of possession has to hold.
    pub(crate) nonce: Option<String>,
}

/// Names the request to open the page on which an account is connected, and the answer to it.
pub(crate) const CONNECTION: &str = "io.github.aldgate/connection";

/// JSON-RPC codes of our own, outside the range that JSON-RPC and MCP reserve.
mod rpc {
    pub(super) const REFUSED: i64 = 7403;
    pub(super) const BUSY: i64 = 7429;
    pub(super) const CONTRACT: i64 = 7409;
    pub(super) const UPSTREAM: i64 = 7502;
    pub(super) const UNKNOWN: i64 = 7504;
    pub(super) const HOST: i64 = 7500;
}

impl Challenge {
    /// The challenge of a request that stands for nobody.
    pub(crate) fn of(cause: &Unauthenticated, of: Option<&Protected>) -> Option<Self> {
        let nonce = match cause {
            Unauthenticated::Nonce(nonce) => Some(nonce.clone()),
            _ => None,
        };
        cause.challenge(of).map(|value| Self { value, nonce })
    }

    /// The challenge of a token that lacks a scope: with those that it has, so that a client that asks for them loses none.
    pub(crate) fn scope(needs: &str, has: &Scopes, message: &str, of: &Protected) -> Self {
        let needed = Scopes::parse(needs).unwrap_or_default().and(has);
        Self { value: of.insufficient_scope(&needed, message), nonce: None }
    }

    /// Puts it into a response.
    pub(crate) fn tell(&self, response: &mut Response) {
        let own = [(WWW_AUTHENTICATE, Some(&self.value)), (DPOP_NONCE, self.nonce.as_ref())];
        for (name, value) in own {
            if let Some(Ok(value)) = value.map(|value| HeaderValue::from_str(value)) {
                response.headers_mut().insert(name, value);
            }
        }
    }
}

impl Refusal {
    fn new(code: &'static str, message: impl Into<String>, form: Form) -> Self {
        Self(Box::new(Told { code, rule: None, message: message.into(), form, challenge: None, cause: None }))
    }

    fn rpc(code: &'static str, number: i64, message: impl Into<String>) -> Self {
        Self::new(code, message, Form::Rpc { http: 200, code: number, data: None, id: None })
    }

    /// An HTTP error before the body was read.
    pub(crate) fn http(status: u16, code: &'static str, message: impl Into<String>) -> Self {
        Self::new(code, message, Form::Http(status))
    }

    /// A body over the limit.
    pub(crate) fn too_large(found: impl std::fmt::Display, limit: usize) -> Self {
        let message = format!(
            "the body has {found} bytes, at most {limit} are taken; send less, or raise `body_bytes`"
        );
        Self::http(413, "AG-HEAD-SIZE", message)
    }

    /// No principal.
    pub(crate) fn unauthenticated(cause: &Unauthenticated, of: Option<&Protected>) -> Self {
        let mut refusal = Self::http(cause.status(), cause.code(), cause.to_string());
        refusal.0.challenge = Challenge::of(cause, of);
        refusal
    }

    /// A principal whose credentials were not made for this: it needs one scope, or several with a space between two.
    pub(crate) fn scope(what: &str, needs: &str, has: &Scopes, of: Option<&Protected>) -> Self {
        let message = lacks_scope(what, needs, has);
        let form = Form::Rpc { http: 403, code: rpc::REFUSED, data: Some(json!({"scope": needs})), id: None };
        let challenge = of.map(|of| Challenge::scope(needs, has, &message, of));
        let mut refusal = Self::new("AG-SCOPE", message, form);
        refusal.0.challenge = challenge;
        refusal
    }

    /// An envelope that was not accepted.
    pub(crate) fn rejected(rejection: Rejection) -> Self {
        let Rejection { http, code, message, data, id, ag } = rejection;
        Self::new(ag, message, Form::Rpc { http, code, data: data.map(|data| *data), id })
    }

    /// A name that the caller's list does not hold.
    pub(crate) fn unknown_tool(name: &str) -> Self {
        let shown: String = name.chars().filter(|letter| !letter.is_control()).take(128).collect();
        let message = format!("there is no tool `{shown}`; `tools/list` names those that there are");
        Self::rpc("AG-TOOL-UNKNOWN", aldgate_wire::code::INVALID_PARAMS, message)
    }

    /// A prompt that the caller's list does not hold.
    pub(crate) fn unknown_prompt(name: &str) -> Self {
        let shown: String = name.chars().filter(|letter| !letter.is_control()).take(128).collect();
        let message = format!("there is no prompt `{shown}`; `prompts/list` names those that there are");
        Self::rpc("AG-PROMPT-UNKNOWN", aldgate_wire::code::INVALID_PARAMS, message)
    }

    /// A URI that no resource of the registry has (MCP 2026-07-28, server/resources#error-handling).
    pub(crate) fn unknown_resource(uri: &str) -> Self {
        let shown: String = uri.chars().filter(|letter| !letter.is_control()).take(200).collect();
        let message = format!(
            "there is no resource `{shown}`; `resources/list` and `resources/templates/list` name those that there are"
        );
        Self::rpc("AG-RESOURCE-UNKNOWN", aldgate_wire::code::INVALID_PARAMS, message)
            .with_data(json!({"uri": uri}))
    }

    /// A URI that could be read in two ways, or in none.
    pub(crate) fn resource_uri(uri: &str, fault: &aldgate_authority::UriFault) -> Self {
        let message = format!("the URI is not one that a resource can have: {fault}");
        Self::rpc("AG-RESOURCE-URI", aldgate_wire::code::INVALID_PARAMS, message)
            .with_data(json!({"uri": uri}))
    }

    /// Parameters that the method does not take.
    pub(crate) fn params(message: impl Into<String>) -> Self {
        Self::rpc("AG-PARAMS", aldgate_wire::code::INVALID_PARAMS, message)
    }

    /// A header that does not repeat the argument that it mirrors.
    pub(crate) fn header_mismatch(message: impl Into<String>) -> Self {
        let form = Form::Rpc { http: 400, code: aldgate_wire::code::HEADER_MISMATCH, data: None, id: None };
        Self::new("AG-WIRE-HEADER", message, form)
    }

    /// Arguments that the pinned input schema does not allow.
    pub(crate) fn invalid_arguments(message: impl Into<String>) -> Self {
        Self::new("AG-ARGUMENTS", message, Form::Tool)
    }

    /// A ruling of `prohibited`. The rule's short name is shown, its text never.
    pub(crate) fn prohibited(code: &'static str, rule: &str) -> Self {
        let message = "the host does not allow this call; it was not made. Do not repeat it";
        Self::new(code, message, Form::Tool).by(rule)
    }

    /// A ruling that does not let a request happen.
    pub(crate) fn ruled(ruling: &aldgate_authority::Ruling) -> Self {
        Self::prohibited(ruling.code().unwrap_or("AG-PROHIBITED"), ruling.rule())
    }

    /// A person said no.
    pub(crate) fn denied(approval: &str, by: &str, note: &str) -> Self {
        let said = if note.is_empty() { String::new() } else { format!(", saying: {note}") };
        let message = format!(
            "approval `{approval}` was denied by {by}{said}. The call was not made; the denial is final for these arguments"
        );
        Self::new("AG-APPROVAL-DENIED", message, Form::Tool).by("approval")
    }

    /// A person has not decided yet.
    pub(crate) fn pending(approval: &str, hint: &str) -> Self {
        let message = format!(
            "a person must approve this call first. Approval `{approval}` is pending; it is decided with {hint}. \
             The call was not made; repeat the same call after the decision"
        );
        Self::new("AG-APPROVAL-PENDING", message, Form::Tool).by("approval")
    }

    /// More approvals of one principal than may be pending.
    pub(crate) fn too_many_pending(most: u32) -> Self {
        let message = format!(
            "{most} calls of this principal wait for a person already; the call was not made. Repeat it after some of \
             them were decided"
        );
        Self::new("AG-APPROVAL-TOO-MANY", message, Form::Tool).by("approval")
    }

    /// The same, as a notice in an `input_required` result.
    pub(crate) fn notice(approval: &str, hint: &str, state: String) -> Self {
        let message = format!(
            "A person must approve this call. Approval {approval} is pending and is decided elsewhere, with {hint}. \
             Accept to wait for the decision; decline to stop waiting."
        );
        let form = Form::Notice { key: "approval", page: None, state: Some(state) };
        Self::new("AG-APPROVAL-PENDING", message, form).by("approval")
    }

    /// The same, with a page on which the caller's own user sees how it stands.
    pub(crate) fn page_notice(approval: &str, page: String, state: String) -> Self {
        let message = format!(
            "A person must approve this call. Approval {approval} is pending and is decided by somebody else. The page shows \
             how it stands; accept to wait for the decision, decline to stop waiting."
        );
        let form = Form::Notice { key: "approval", page: Some(page), state: Some(state) };
        Self::new("AG-APPROVAL-PENDING", message, form).by("approval")
    }

    /// The caller can have no credential at the upstream.
    pub(crate) fn unfit_caller(upstream: &str, why: &str) -> Self {
        let message = format!("upstream `{upstream}`: {why}; the call was not made");
        Self::new("AG-CREDENTIAL-CALLER", message, Form::Tool).by("credential")
    }

    /// The caller's user has not connected an account to the upstream. `asks` says whether the client can be asked to open
    /// the page.
    pub(crate) fn unconnected(upstream: &str, url: String, asks: bool) -> Self {
        let (then, form) = match asks {
            true => {
                let form = Form::Notice { key: CONNECTION, page: Some(url.clone()), state: None };
                ("accept once that is done, to go on", form)
            }
            false => ("repeat the same call once that is done", Form::Tool),
        };
        let message = format!(
            "the upstream `{upstream}` is used with an account of yours, which has to be connected first: open {url} in a \
             browser and sign in as who calls here; {then}. The call was not made"
        );
        Self::new("AG-CONNECTION-NEEDED", message, form).by("credential")
    }

    /// An approval that is no good any more.
    pub(crate) fn spent(message: impl Into<String>) -> Self {
        Self::new("AG-APPROVAL-SPENT", message, Form::Tool).by("approval")
    }

    /// A request state that is not accepted.
    pub(crate) fn state(message: impl Into<String>) -> Self {
        Self::rpc("AG-STATE", aldgate_wire::code::INVALID_PARAMS, message)
    }

    /// The live contract is not the pinned one.
    pub(crate) fn changed(visible: &str, what: &str) -> Self {
        let message = format!(
            "`{visible}` is quarantined: its contract is not the reviewed one any more, or is not kept ({what}); the call \
             was not made. An operator looks at it with `aldgate status`"
        );
        Self::rpc("AG-CONTRACT-CHANGED", rpc::CONTRACT, message)
    }

    /// The upstream failed, and the call was not executed or changes nothing.
    pub(crate) fn upstream(code: &'static str, message: impl Into<String>) -> Self {
        Self::rpc(code, rpc::UPSTREAM, message)
    }

    /// The upstream failed after a consequential call was dispatched.
    pub(crate) fn unknown(message: &str) -> Self {
        let message = format!("executed or unknown, do not retry: {message}");
        Self::rpc("AG-OUTCOME-UNKNOWN", rpc::UNKNOWN, message)
    }

    /// An upstream's own error, passed on.
    pub(crate) fn upstream_error(http: u16, code: i64, message: impl Into<String>) -> Self {
        Self::new("AG-UPSTREAM-ERROR", message, Form::Rpc { http, code, data: None, id: None })
    }

    /// The same refusal with members of its error's `data`; `code` and `call` are always the gateway's own.
    pub(crate) fn with_data(mut self, members: Value) -> Self {
        if let Form::Rpc { data, .. } = &mut self.0.form {
            *data = Some(members);
        }
        self
    }

    /// More requests than the gateway works on at once.
    pub(crate) fn busy(message: impl Into<String>) -> Self {
        Self::new("AG-BUSY", message, Form::Rpc { http: 503, code: rpc::BUSY, data: None, id: None })
    }

    /// More than one principal, or one upstream, may take.
    pub(crate) fn too_many(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(code, message, Form::Rpc { http: 429, code: rpc::BUSY, data: None, id: None })
    }

    /// The host itself failed.
    pub(crate) fn host(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(code, message, Form::Rpc { http: 500, code: rpc::HOST, data: None, id: None })
    }

    /// The same refusal with a cause for the log.
    pub(crate) fn because(mut self, cause: impl Into<Cause>) -> Self {
        self.0.cause = Some(cause.into());
        self
    }

    /// The same refusal with the short name of what decided.
    fn by(mut self, rule: &str) -> Self {
        self.0.rule = Some(rule.to_owned());
        self
    }

    /// The JSON-RPC code of what a tool's caller is told in a result: other methods have no result for it.
    pub(crate) fn rpc_code(&self) -> i64 {
        if self.0.code == "AG-ARGUMENTS" { aldgate_wire::code::INVALID_PARAMS } else { rpc::REFUSED }
    }

    /// What the client is told of the credentials that it needs, where it needs others.
    pub(crate) fn challenge(&self) -> Option<&Challenge> {
        self.0.challenge.as_ref()
    }

    /// The stable code.
    pub(crate) fn code(&self) -> &'static str {
        self.0.code
    }

    /// The short name of what decided.
    pub(crate) fn rule(&self) -> Option<&str> {
        self.0.rule.as_deref()
    }

    /// How the caller is told.
    pub(crate) fn form(&self) -> &Form {
        &self.0.form
    }

    /// The cause, for the log.
    pub(crate) fn cause(&self) -> Option<&Cause> {
        self.0.cause.as_ref()
    }

    /// The HTTP status of the response.
    pub(crate) fn http_status(&self) -> u16 {
        match &self.0.form {
            Form::Http(status) | Form::Rpc { http: status, .. } => *status,
            Form::Tool | Form::Notice { .. } => 200,
        }
    }

    /// The members of a JSON-RPC error's `data`: those of the refusal and the stable code.
    pub(crate) fn data(&self) -> Value {
        let mut data = match &self.0.form {
            Form::Rpc { data: Some(Value::Object(members)), .. } => Value::Object(members.clone()),
            _ => json!({}),
        };
        if let Value::Object(members) = &mut data {
            members.insert("code".to_owned(), Value::from(self.0.code));
        }
        data
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.0.message)
    }
}
