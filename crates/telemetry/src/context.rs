//! W3C trace context, as MCP requests carry it in `_meta` and HTTP requests in headers.

#[cfg(test)]
mod tests;

use opentelemetry::trace::{SpanContext, SpanId, TraceFlags, TraceId, TraceState};
use opentelemetry_sdk::trace::{IdGenerator as _, RandomIdGenerator};

/// Bytes of a `tracestate` that are looked at (W3C Trace Context §3.3.1.5 asks for 512 at least).
const STATE_BYTES: usize = 512;

/// The place of a span in a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceParent(pub(crate) SpanContext);

/// What a request says of the trace that it belongs to.
#[derive(Clone, Copy, Debug, Default)]
pub struct TraceContext<'a> {
    /// `traceparent`.
    pub parent: Option<&'a str>,
    /// `tracestate`.
    pub state: Option<&'a str>,
}

impl TraceContext<'_> {
    /// The span that made the request; `None` where the text is none (W3C Trace Context §3.2).
    #[must_use]
    pub fn parse(&self) -> Option<TraceParent> {
        let mut parts = self.parent?.split('-');
        let (version, trace, span, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let version = byte(version)?;
        // Later versions may append parts; the first one has exactly these.
        if version == 0xff || (version == 0 && parts.next().is_some()) {
            return None;
        }
        let trace = TraceId::from(u128::from_str_radix(hex_of(trace, 32)?, 16).ok()?);
        let span = SpanId::from(u64::from_str_radix(hex_of(span, 16)?, 16).ok()?);
        let flags = TraceFlags::new(byte(flags)?) & TraceFlags::SAMPLED;
        let state = self.state.filter(|state| !state.is_empty() && state.len() <= STATE_BYTES);
        let state = state.and_then(|state| state.parse::<TraceState>().ok()).unwrap_or_default();
        let context = SpanContext::new(trace, span, flags, true, state);
        context.is_valid().then_some(TraceParent(context))
    }
}

impl TraceParent {
    /// A trace that nobody is to keep: what asks under it is of interest to nobody's traces.
    #[must_use]
    pub fn unkept() -> Self {
        let ids = RandomIdGenerator::default();
        let (trace, span) = (ids.new_trace_id(), ids.new_span_id());
        Self(SpanContext::new(trace, span, TraceFlags::NOT_SAMPLED, false, TraceState::default()))
    }

    /// `traceparent`, as a request carries it.
    #[must_use]
    pub fn to_header(&self) -> String {
        let flags = self.0.trace_flags() & TraceFlags::SAMPLED;
        format!("00-{:032x}-{:016x}-{:02x}", self.0.trace_id(), self.0.span_id(), flags.to_u8())
    }

    /// `tracestate`; `None` where there is nothing to say.
    #[must_use]
    pub fn state(&self) -> Option<String> {
        Some(self.0.trace_state().header()).filter(|state| !state.is_empty())
    }

    /// The trace's id, 32 hexadecimal digits.
    #[must_use]
    pub fn trace_id(&self) -> String {
        self.0.trace_id().to_string()
    }
}

fn byte(text: &str) -> Option<u8> {
    u8::from_str_radix(hex_of(text, 2)?, 16).ok()
}

/// Text of exactly so many lower-case hexadecimal digits.
fn hex_of(text: &str, digits: usize) -> Option<&str> {
    let lower = text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    (text.len() == digits && lower).then_some(text)
}
