"""What a client hears while it listens."""

from __future__ import annotations

from collections.abc import Iterable

import anyio
from mcp.client.subscriptions import ServerEvent, Subscription

from check import Deviation

PATIENCE_S = 20.0


async def hear(subscription: Subscription, expected: Iterable[ServerEvent]) -> list[str]:
    """Waits until all of this was heard, in whatever order; what was heard."""
    left = set(expected)
    heard: list[str] = []
    with anyio.move_on_after(PATIENCE_S):
        while left:
            event = await anext(subscription)
            heard.append(repr(event))
            left.discard(event)
    if left:
        raise Deviation(f"expected to hear {left!r} in {PATIENCE_S} s; heard {heard!r}")
    return heard
