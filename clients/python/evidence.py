"""Uses an evidence server, once by `server/discover` and once by `initialize`.

Usage: python evidence.py TOOL CALL URL TOKEN
       python evidence.py TOOL CALL --stdio COMMAND [ARGUMENT…]

TOOL is a pinned tool, CALL the id of an audit artefact.
"""

from __future__ import annotations

import json
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx2
import jsonschema
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from check import check, check_equal, main

CONTRACT = Path(__file__).resolve().parents[2] / "systems" / "evidence" / "contract.json"
ERAS = {"2026-07-28": "auto", "2025-11-25": "legacy"}


async def exercise(client: Client, tool: str, call: str) -> int:
    listed = [
        one.model_dump(mode="json", by_alias=True, exclude_unset=True) for one in (await client.list_tools()).tools
    ]
    agreed = json.loads(CONTRACT.read_text("utf-8"))["tools"]

    def words(tools: list[dict[str, Any]]) -> list[list[Any]]:
        return [[one[member] for member in ("name", "inputSchema", "annotations")] for one in tools]

    check_equal(words(listed), words(agreed), "the tools")
    schemas = {one["name"]: one["outputSchema"] for one in listed}
    calls = 0

    async def value(name: str, arguments: dict[str, Any]) -> Any:
        nonlocal calls
        calls += 1
        result = await client.call_tool(name, arguments)
        check(not result.is_error, f"{name} to succeed", result.content)
        jsonschema.Draft202012Validator(schemas[name]).validate(result.structured_content)
        bare = result.structured_content["result"]
        check_equal(json.loads(result.content[0].text), bare, f"the text of {name}")
        return bare

    contract = await value("lookup_contract", {"tool": tool})
    check(contract and contract["schema"]["type"] == "object", f"the contract of {tool}", contract)
    check_equal(await value("lookup_contract", {"tool": "nobody/nothing"}), None, "the contract of nothing")
    events = await value("query_drift", {"tool": tool, "limit": 100})
    check(events, f"drift of {tool}", events)
    check_equal(await value("query_drift", {"tool": "nobody/nothing"}), [], "the drift of nothing")
    check_equal((await value("fetch_audit", {"id": call}))["id"], call, "the artefact")
    check_equal((await value("fetch_audit", {"id": events[0]["id"]}))["kind"], "drift", "the artefact of an event")
    check_equal(await value("fetch_audit", {"id": "nothing"}), None, "an artefact that there is not")
    check_equal((await value("simulate_repair", {"tool": tool, "args": {}}))["dispatched"], False, "dispatched")
    coverage = await value("coverage_report", {"tools": [tool, "nobody/nothing"]})
    check_equal(coverage["status"], "unvalidated", "the status of coverage")
    check_equal([one["contract"] for one in coverage["tools"]], [True, False], "whether there is a contract")

    for name, arguments in (
        ("query_drift", {"tool": tool, "limit": 0}),
        ("lookup_contract", {"tool": "x" * 257}),
        ("fetch_audit", {"id": call, "tenant": "another"}),
        ("nothing", {}),
    ):
        try:
            found: object = await client.call_tool(name, arguments)
        except MCPError as error:
            found = error.code
        check_equal(found, -32602, f"what {name} says to {sorted(arguments)}")
    return calls


async def run(arguments: list[str]) -> dict[str, Any]:
    check(len(arguments) >= 4, "TOOL CALL and a server", arguments)
    tool, call, first, *rest = arguments
    calls = 0
    for revision, mode in ERAS.items():
        async with AsyncExitStack() as stack:
            if first == "--stdio":
                server: Any = StdioServerParameters(command=rest[0], args=rest[1:])
            else:
                # No proxy may see the token.
                headers = {"authorization": f"Bearer {rest[0]}"}
                http = await stack.enter_async_context(httpx2.AsyncClient(headers=headers, trust_env=False))
                server = streamable_http_client(first, http_client=http)
            client = await stack.enter_async_context(Client(server, mode=mode))
            check_equal(client.protocol_version, revision, "the negotiated revision")
            info = client.server_info
            check_equal(info.name if info else None, "aldgate.evidence", "the name of the server")
            calls += await exercise(client, tool, call)
    return {"client": "python", "calls": calls}


if __name__ == "__main__":
    main(run)
