"""The second person: decides through the gateway's admin API, with a token of their own."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import anyio
import httpx2

from check import check, check_equal

PATIENCE_S = 20.0
PAUSE_S = 0.2


class Approver:
    """Approves pending calls."""

    def __init__(self, admin_url: str, token: str) -> None:
        self.admin_url = admin_url.rstrip("/")
        self.token = token
        self.decided: list[str] = []

    async def approve(self, tool: str, note: str) -> None:
        """Approves the one pending call of `tool`; waits a little for its record to be visible."""
        until = anyio.current_time() + PATIENCE_S
        pending = await self._pending(tool)
        while not pending and anyio.current_time() < until:
            await anyio.sleep(PAUSE_S)
            pending = await self._pending(tool)
        check_equal(len(pending), 1, f"the number of pending approvals of {tool}")
        approval = pending[0]["id"]
        path = f"/v1/approvals/{quote(approval, safe='')}/decision"
        await self._request("POST", path, {"decision": "approve", "note": note})
        self.decided.append(approval)

    async def _pending(self, tool: str) -> list[dict[str, Any]]:
        found = await self._request("GET", "/v1/approvals?state=pending", None)
        approvals = found.get("approvals") if isinstance(found, dict) else found
        check(isinstance(approvals, list), "a list of approvals", found)
        for approval in approvals:
            check(isinstance(approval.get("id"), str), "each approval to have an id", approval)
        named = [(approval, approval.get("tool")) for approval in approvals]
        return [a for a, name in named if not isinstance(name, str) or name.rsplit("/", 1)[-1] == tool]

    async def _request(self, method: str, path: str, body: dict[str, Any] | None) -> Any:
        headers = {"authorization": f"Bearer {self.token}"}
        async with httpx2.AsyncClient(timeout=30.0, trust_env=False) as http:
            response = await http.request(method, f"{self.admin_url}{path}", headers=headers, json=body)
        check(response.is_success, f"{method} {path} to succeed", (response.status_code, response.text))
        return response.json() if response.content else {}
