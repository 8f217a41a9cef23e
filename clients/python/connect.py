"""One client of the official SDK that speaks revision 2026-07-28."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import mcp_types as types
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from check import check, check_equal

REVISION = "2026-07-28"
CALL_TIMEOUT_S = 90.0

OnForm = Callable[[types.ElicitRequestFormParams], Awaitable[types.ElicitResult]]


class Session:
    """A connected client that counts its calls."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.calls = 0
        self.succeeded: Counter[str] = Counter()

    def server_name(self) -> str | None:
        info = self.client.server_info
        return info.name if info else None

    async def tools(self) -> list[dict[str, Any]]:
        """All tools, as JSON."""
        tools: list[types.Tool] = []
        cursor: str | None = None
        for _ in range(64):
            page = await self.client.list_tools(cursor=cursor)
            tools.extend(page.tools)
            cursor = page.next_cursor
            if cursor is None:
                return [tool.model_dump(mode="json", by_alias=True, exclude_unset=True) for tool in tools]
        check(False, "the list of tools to end", cursor)
        return []

    async def call(self, name: str, arguments: dict[str, Any]) -> types.CallToolResult:
        """Any result, an error result included."""
        self.calls += 1
        return await self.client.call_tool(name, arguments, read_timeout_seconds=CALL_TIMEOUT_S)

    async def read(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """The structured content of a result that is no error."""
        result = await self.call(name, arguments)
        check(not result.is_error, f"{name} to succeed", result.content)
        check(isinstance(result.structured_content, dict), f"{name} to give structured content", result)
        self.succeeded[name] += 1
        return result.structured_content

    async def fail(self, name: str, arguments: dict[str, Any]) -> types.CallToolResult:
        """A result that must be an error result."""
        result = await self.call(name, arguments)
        check_equal(result.is_error, True, f"is_error of {name} with {arguments!r}")
        return result


@asynccontextmanager
async def connect(url: str, token: str | None, on_form: OnForm) -> AsyncIterator[Session]:
    """Connects by `server/discover`. `on_form` answers each form elicitation."""
    headers = {"authorization": f"Bearer {token}"} if token else None
    async with connect_with(url, on_form, headers=headers) as session:
        yield session


@asynccontextmanager
async def connect_with(url: str, on_form: OnForm, **of_http: Any) -> AsyncIterator[Session]:
    """As `connect`, with more for the HTTP client."""

    async def elicit(_context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        check(isinstance(params, types.ElicitRequestFormParams), "a question by form", params)
        return await on_form(params)

    # No proxy may see the token; a held answer takes up to half a minute.
    timeout = httpx2.Timeout(30.0, read=CALL_TIMEOUT_S)
    async with httpx2.AsyncClient(timeout=timeout, trust_env=False, **of_http) as http:
        client = Client(
            streamable_http_client(url, http_client=http),
            mode="auto",
            elicitation_callback=elicit,
            input_required_max_rounds=50,
            client_info=types.Implementation(name="aldgate-clients-python", version="0.1.0"),
        )
        async with client:
            check_equal(client.protocol_version, REVISION, "the negotiated revision")
            yield Session(client)
