"""Calls the tool of traced_server.py through a gateway, once well and once not, in one trace that goes to a collector.

Usage: OTEL_EXPORTER_OTLP_ENDPOINT=URL python traced_client.py GATEWAY_URL TOKEN
"""

from __future__ import annotations

from typing import Any

from opentelemetry.trace import format_trace_id

from check import check, check_equal, main
from connect import connect
from traced import send_spans_as


async def no_form(_form: Any) -> Any:
    check(False, "no question", _form)


async def run(arguments: list[str]) -> dict[str, Any]:
    url, token = arguments
    tracer = send_spans_as("python-client")
    async with connect(url, token, no_form) as session:
        with tracer.start_as_current_span("invoke_agent python") as span:
            added = await session.call("add", {"a": 2, "b": 3})
            check_equal(added.is_error, False, "is_error of a sum")
            failed = await session.call("add", {"a": -1, "b": 3})
            check_equal(failed.is_error, True, "is_error of what is not added")
            trace_id = format_trace_id(span.get_span_context().trace_id)
    return {"trace": trace_id}


if __name__ == "__main__":
    main(run)
