"""Hears what the everything-server tells through the gateway: progress, and that lists and a resource have changed.

Usage: python hear_everything.py URL TOKEN
"""

from __future__ import annotations

from typing import Any

from mcp.client.subscriptions import (
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    ToolsListChanged,
)

from check import check, check_equal, main
from connect import connect
from hearing import hear
from watch_ticket import no_form

WATCHED = "test://watched-resource"
CHANGES: list[tuple[str, list[ServerEvent]]] = [
    ("test_trigger_tool_change", [ToolsListChanged()]),
    ("test_trigger_prompt_change", [PromptsListChanged()]),
    ("test_trigger_resource_change", [ResourcesListChanged(), ResourceUpdated(uri=WATCHED)]),
]


async def run(arguments: list[str]) -> dict[str, Any]:
    check(len(arguments) == 2, "two arguments: URL TOKEN", arguments)
    url, token = arguments
    async with connect(url, token, no_form) as session:
        client = session.client
        progress: list[tuple[float, float | None, str | None, bool]] = []
        over = False

        async def on_progress(at: float, total: float | None, message: str | None) -> None:
            progress.append((at, total, message, over))

        await client.call_tool("test_tool_with_progress", {}, progress_callback=on_progress)
        over = True
        expected = [(0, 100, "begun", False), (50, 100, "half done", False), (100, 100, "done", False)]
        check_equal(progress, expected, "the progress before the result")

        heard: list[str] = []
        async with client.listen(
            tools_list_changed=True,
            prompts_list_changed=True,
            resources_list_changed=True,
            resource_subscriptions=[WATCHED],
        ) as subscription:
            check_equal(subscription.honored.resource_subscriptions, [WATCHED], "the resources that are honoured")
            for tool, told in CHANGES:
                await session.call(tool, {})
                heard += await hear(subscription, told)
        return {"client": "python", "progress": len(progress), "heard": heard}


if __name__ == "__main__":
    main(run)
