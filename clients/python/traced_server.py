"""A server with one tool whose spans, the SDK's own, go to a collector. Prints its URL as JSON, and serves until it is ended.

Usage: OTEL_EXPORTER_OTLP_ENDPOINT=URL python traced_server.py
"""

from __future__ import annotations

import json
import socket

import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from traced import send_spans_as

server = MCPServer("traced", version="0.1.0", log_level="ERROR")


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    if a < 0:
        raise ToolError("only what is not negative is added here")
    return a + b


def run() -> None:
    send_spans_as("python-server")
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    print(json.dumps({"url": f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"}), flush=True)
    app = server.streamable_http_app(stateless_http=True, json_response=True)
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])


if __name__ == "__main__":
    run()
