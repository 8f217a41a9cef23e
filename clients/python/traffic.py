"""What an HTTP client asked, and what it was answered."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

import httpx2


@dataclass
class Exchange:
    method: str
    url: str
    sent: httpx2.Headers
    body: bytes
    status: int
    headers: httpx2.Headers
    answer: Any
    """The JSON of a short answer."""

    def form(self) -> dict[str, str]:
        return dict(parse_qsl(self.body.decode()))

    def __str__(self) -> str:
        return f"{self.method} {httpx2.URL(self.url).path} {self.status}"


class Traffic:
    """Notes each exchange, those of the authentication included."""

    def __init__(self) -> None:
        self.exchanges: list[Exchange] = []
        self.hooks = {"response": [self._note]}

    def to(self, url: str) -> list[Exchange]:
        return [exchange for exchange in self.exchanges if exchange.url == url]

    async def _note(self, response: httpx2.Response) -> None:
        request = response.request
        answer = None
        if response.headers.get("content-type", "").startswith("application/json"):
            answer = json.loads(await response.aread())
        self.exchanges.append(
            Exchange(
                request.method,
                str(request.url),
                httpx2.Headers(request.headers),
                request.content,
                response.status_code,
                response.headers,
                answer,
            )
        )
