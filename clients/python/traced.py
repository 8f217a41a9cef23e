"""Spans of a Python program, sent to the collector that OTEL_EXPORTER_OTLP_ENDPOINT names."""

from __future__ import annotations

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor


def send_spans_as(service: str) -> trace.Tracer:
    """Each span is sent when it ends. The MCP SDK makes spans of its own from here on."""
    provider = TracerProvider(resource=Resource.create({"service.name": service}))
    provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    return trace.get_tracer("aldgate-clients-python")
