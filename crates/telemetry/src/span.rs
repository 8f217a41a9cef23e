//! Spans.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::time::SystemTime;

use opentelemetry::trace::{
    Link, Span as _, SpanBuilder, SpanContext, SpanKind, Status, TraceContextExt as _, Tracer as _,
};
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::trace::SdkTracer;

use crate::context::TraceParent;
use crate::ended::{Ended, Side};
use crate::names;

/// Bytes of one attribute's text, a result for instance.
const TEXT_BYTES: usize = 8 << 10;

/// Attributes that a span mostly has at the most.
const ATTRIBUTES: usize = 24;

/// Which side a span is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Serves a request.
    Server,
    /// Makes a request.
    Client,
    /// Neither.
    Internal,
}

/// What a span is made of.
#[derive(Debug)]
pub struct Describe<'a> {
    /// Its name.
    pub name: Cow<'static, str>,
    /// Which side it is on.
    pub kind: Kind,
    /// The span that it is a part of; without one it begins a trace.
    pub parent: Option<&'a TraceParent>,
    /// Another span that it has to do with.
    pub link: Option<TraceParent>,
    /// When it began, where that is not now.
    pub began: Option<SystemTime>,
}

impl<'a> Describe<'a> {
    /// A span of this name and kind, and no more.
    pub fn new(name: impl Into<Cow<'static, str>>, kind: Kind) -> Self {
        Self { name: name.into(), kind, parent: None, link: None, began: None }
    }

    /// As a part of another span.
    #[must_use]
    pub fn within(mut self, parent: &'a TraceParent) -> Self {
        self.parent = Some(parent);
        self
    }
}

/// A span that is under way. One that is dropped before it was ended was given up, and says so.
#[derive(Debug)]
pub struct Span {
    inner: opentelemetry_sdk::trace::Span,
    /// The SDK would keep a name twice that is set twice, and OTLP forbids that.
    attributes: Vec<KeyValue>,
    parent: TraceParent,
    side: Side,
    /// Whether it may show what peers wrote.
    content: bool,
    ended: bool,
}

impl Span {
    pub(crate) fn start(tracer: &SdkTracer, content: bool, what: Describe<'_>) -> Self {
        let mut builder = SpanBuilder::from_name(what.name);
        builder.span_kind = Some(match what.kind {
            Kind::Server => SpanKind::Server,
            Kind::Client => SpanKind::Client,
            Kind::Internal => SpanKind::Internal,
        });
        builder.start_time = what.began;
        builder.links = what.link.map(|link| vec![Link::with_context(link.0)]);
        let context = match what.parent {
            Some(parent) => Context::new().with_remote_span_context(parent.0.clone()),
            None => Context::new(),
        };
        let inner = tracer.build_with_context(builder, &context);
        let parent = TraceParent(inner.span_context().clone());
        let side = if what.kind == Kind::Server { Side::Server } else { Side::Client };
        let attributes = Vec::with_capacity(if inner.is_recording() { ATTRIBUTES } else { 0 });
        Self { inner, attributes, parent, side, content, ended: false }
    }

    /// The span as the parent of others.
    #[must_use]
    pub fn as_parent(&self) -> &TraceParent {
        &self.parent
    }

    /// Whether what is set is kept. Attributes that cost something to make are made only then.
    #[must_use]
    pub fn is_recording(&self) -> bool {
        self.inner.is_recording()
    }

    /// Sets attributes; a name that is set twice has the later value.
    pub fn set(&mut self, attributes: impl IntoIterator<Item = KeyValue>) {
        if self.inner.is_recording() {
            for attribute in attributes {
                match self.attributes.iter_mut().find(|known| known.key == attribute.key) {
                    Some(known) => *known = attribute,
                    None => self.attributes.push(attribute),
                }
            }
        }
    }

    /// Sets a text that a peer wrote, cut where it is long.
    pub fn set_text(&mut self, name: &'static str, text: &str) {
        if self.inner.is_recording() {
            self.set([KeyValue::new(name, cut(text).into_owned())]);
        }
    }

    /// Gives it another name, once more is known.
    pub fn rename(&mut self, name: impl Into<Cow<'static, str>>) {
        if self.inner.is_recording() {
            self.inner.update_name(name);
        }
    }

    /// Ends it. What the end says in words is content: where that is off, the status says the code of a refusal, or the kind of
    /// the failure.
    pub fn end(mut self, ended: &Ended<'_>) {
        self.finish(ended);
    }

    fn status(&self, ended: &Ended<'_>) -> Status {
        if self.content {
            return ended.status(self.side);
        }
        let Some(kind) = ended.error_type(self.side) else { return Status::Unset };
        let refusal = self.attributes.iter().find(|known| known.key.as_str() == names::REFUSAL);
        match refusal {
            Some(code) => Status::error(code.value.as_str().into_owned()),
            None => Status::error(kind),
        }
    }

    fn finish(&mut self, ended: &Ended<'_>) {
        self.ended = true;
        if self.inner.is_recording() {
            self.set(ended.attributes(self.side));
            self.inner.set_status(self.status(ended));
            self.inner.set_attributes(std::mem::take(&mut self.attributes));
        }
        self.inner.end();
    }
}

impl Drop for Span {
    fn drop(&mut self) {
        if !self.ended {
            self.finish(&Ended::given_up());
        }
    }
}

/// Text with at most [`TEXT_BYTES`].
pub(crate) fn cut(text: &str) -> Cow<'_, str> {
    if text.len() <= TEXT_BYTES {
        return Cow::Borrowed(text);
    }
    let end = text.floor_char_boundary(TEXT_BYTES);
    Cow::Owned(format!("{}… ({} bytes in all)", text.get(..end).unwrap_or_default(), text.len()))
}

/// Whether two contexts name the same span.
pub(crate) fn same(a: &SpanContext, b: &SpanContext) -> bool {
    a.trace_id() == b.trace_id() && a.span_id() == b.span_id()
}
