//! One request to an upstream, made from parts; what passes through is spliced as bytes.

#[cfg(test)]
mod tests;

use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::value::RawValue;

use crate::header::{self, encode_value};
use crate::json;
use crate::request::Method;

/// W3C trace context, for proxies on the way that do not read bodies.
const TRACE_PARENT: HeaderName = HeaderName::from_static("traceparent");
const TRACE_STATE: HeaderName = HeaderName::from_static("tracestate");

/// The parts of one request. The protocol's keys of `_meta` are made here, for this hop.
#[derive(Debug, Clone, Copy)]
pub struct OutboundCall<'a> {
    /// Our own id on this hop.
    pub id: u64,
    /// What is asked.
    pub method: Method,
    /// What `Mcp-Name` mirrors, written as the member that the method has for it ([`Method::name_member`]): the name
    /// of a tool or prompt, a resource's URI, or a task's id. Not written for other methods.
    pub name: Option<&'a str>,
    /// The arguments, an object.
    pub arguments: Option<&'a RawValue>,
    /// Answers to an earlier `input_required`, an object.
    pub input_responses: Option<&'a RawValue>,
    /// The upstream's state of an earlier `input_required`, exactly.
    pub request_state: Option<&'a str>,
    /// Where to go on in a list.
    pub cursor: Option<&'a str>,
    /// The capabilities declared to this upstream for this request, an object.
    pub capabilities: &'a RawValue,
    /// Our own description, an object.
    pub client_info: &'a RawValue,
    /// From which level on log messages of this request are wanted.
    pub log_level: Option<&'a str>,
    /// Our own token on this hop, a string or integer.
    pub progress_token: Option<&'a RawValue>,
    /// W3C trace context with our own span.
    pub traceparent: Option<&'a str>,
    /// W3C trace state.
    pub tracestate: Option<&'a str>,
    /// Further keys of `_meta`. One that is made here already is left out.
    pub extra_meta: &'a [(String, Box<RawValue>)],
    /// The protocol revision.
    pub version: &'a str,
}

/// Members of `params` beside those that [`OutboundCall`] names, such as `ref` of a completion or `notifications` of
/// a subscription.
pub type Members<'a> = &'a [(&'a str, &'a RawValue)];

impl OutboundCall<'_> {
    /// The JSON-RPC request.
    pub fn body(&self) -> Vec<u8> {
        self.body_with(&[])
    }

    /// The JSON-RPC request with further members in `params`.
    pub fn body_with(&self, members: Members<'_>) -> Vec<u8> {
        let passed = [self.arguments, self.input_responses].into_iter().flatten();
        let size = passed.map(|raw| raw.get().len()).sum::<usize>() + 512;
        let mut params = Object::new(size);
        if let (Some(member), Some(name)) = (self.method.name_member(), self.name) {
            params.text(member, name);
        }
        params.optional_raw("arguments", self.arguments);
        params.optional_raw("inputResponses", self.input_responses);
        params.optional_text("requestState", self.request_state);
        params.optional_text("cursor", self.cursor);
        for (key, raw) in members {
            params.raw(key, raw.get());
        }
        params.raw("_meta", &self.meta());

        let mut body = Object::new(size + 128);
        body.text("jsonrpc", "2.0");
        body.raw("id", &self.id.to_string());
        body.text("method", self.method.as_str());
        body.raw("params", &params.finish());
        body.finish().into_bytes()
    }

    fn meta(&self) -> String {
        let mut meta = Object::new(512);
        meta.text("io.modelcontextprotocol/protocolVersion", self.version);
        meta.raw("io.modelcontextprotocol/clientCapabilities", self.capabilities.get());
        meta.raw("io.modelcontextprotocol/clientInfo", self.client_info.get());
        meta.optional_text("io.modelcontextprotocol/logLevel", self.log_level);
        meta.optional_raw("progressToken", self.progress_token);
        meta.optional_text("traceparent", self.traceparent);
        meta.optional_text("tracestate", self.tracestate);
        for (key, raw) in self.extra_meta {
            if !is_made_here(key) {
                meta.raw(key, raw.get());
            }
        }
        meta.finish()
    }

    /// The headers that go with the body, without authorization. A text that no header can hold is left out, and the
    /// upstream then refuses the request.
    pub fn headers(&self, param_headers: &[(HeaderName, HeaderValue)]) -> HeaderMap {
        let mut headers = HeaderMap::with_capacity(8 + param_headers.len());
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        if let Ok(version) = HeaderValue::from_str(self.version) {
            headers.insert(header::PROTOCOL_VERSION, version);
        }
        headers.insert(header::METHOD, HeaderValue::from_static(self.method.as_str()));
        if self.method.name_member().is_some()
            && let Some(Ok(name)) = self.name.map(|name| HeaderValue::try_from(encode_value(name)))
        {
            headers.insert(header::NAME, name);
        }
        for (name, value) in [(TRACE_PARENT, self.traceparent), (TRACE_STATE, self.tracestate)] {
            if let Some(Ok(value)) = value.map(HeaderValue::from_str) {
                headers.insert(name, value);
            }
        }
        headers.extend(param_headers.iter().cloned());
        headers
    }
}

fn is_made_here(key: &str) -> bool {
    json::has_prefix(key, crate::PROTOCOL_META_PREFIX)
        || ["progressToken", "traceparent", "tracestate"].iter().any(|made| made.eq_ignore_ascii_case(key))
}

/// An object under construction.
pub(crate) struct Object(String);

impl Object {
    pub(crate) fn new(size: usize) -> Self {
        let mut text = String::with_capacity(size);
        text.push('{');
        Self(text)
    }

    pub(crate) fn raw(&mut self, key: &str, value: &str) {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        quote(key, &mut self.0);
        self.0.push(':');
        self.0.push_str(value);
    }

    pub(crate) fn text(&mut self, key: &str, value: &str) {
        self.raw(key, "");
        quote(value, &mut self.0);
    }

    fn optional_raw(&mut self, key: &str, value: Option<&RawValue>) {
        if let Some(value) = value {
            self.raw(key, value.get());
        }
    }

    fn optional_text(&mut self, key: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.text(key, value);
        }
    }

    pub(crate) fn finish(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

/// A JSON string.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    quote(text, &mut out);
    out
}

/// Writes a JSON string. Most texts here have nothing to escape.
fn quote(text: &str, out: &mut String) {
    let plain = |byte: u8| byte >= 0x20 && byte != b'"' && byte != b'\\';
    if text.bytes().all(plain) {
        out.push('"');
        out.push_str(text);
        out.push('"');
    } else {
        out.push_str(&serde_json::Value::from(text).to_string());
    }
}
