"""Reads and watches ticket SR-20031 through the gateway: resources, templates, the prompt, completion, a subscription.

Usage: python watch_ticket.py URL AGENT_TOKEN
"""

from __future__ import annotations

import json
import re
from typing import Any

import anyio
import mcp_types as types
from mcp import Client
from mcp.client.subscriptions import ResourceUpdated
from mcp.shared.exceptions import MCPError

from check import check, check_equal, main
from connect import connect
from hearing import hear

TICKET = "ticket://SR-20031"
TEMPLATES = ["manual://{document}/{revision}/{page}", "ticket://{ticket_id}"]
NOTE = "Seen by the Python client that watches."
CONTRACT = "io.github.aldgate/contract"


async def listed(client: Client) -> list[str]:
    """The URIs of the resources. A gateway that starts lists those of a server as soon as it has asked that server."""
    with anyio.fail_after(10):
        while True:
            uris = [str(resource.uri) for resource in (await client.list_resources()).resources]
            if TICKET in uris:
                return uris
            await anyio.sleep(0.1)


async def text(client: Client, uri: str) -> str:
    """The text of a resource that has one content."""
    # What is cached would not show a change.
    contents = (await client.read_resource(uri, cache_mode="bypass")).contents
    check_equal([str(content.uri) for content in contents], [uri], f"the contents of {uri}")
    check(isinstance(contents[0], types.TextResourceContents), f"{uri} to be text", contents)
    return contents[0].text


async def unknown(client: Client, uri: str) -> None:
    try:
        await client.read_resource(uri)
    except MCPError as error:
        found = (error.code, (error.error.data or {}).get("uri"))
        check_equal(found, (types.INVALID_PARAMS, uri), f"the error for {uri}")
        return
    check(False, f"{uri} not to be found", "a result")


async def no_form(form: types.ElicitRequestFormParams) -> types.ElicitResult:
    check(False, "no question", form)
    return types.ElicitResult(action="cancel")


async def run(arguments: list[str]) -> dict[str, Any]:
    check(len(arguments) == 2, "two arguments: URL AGENT_TOKEN", arguments)
    url, token = arguments
    async with connect(url, token, no_form) as session:
        client = session.client
        resources = await listed(client)
        templates = (await client.list_resource_templates()).resource_templates
        check_equal(sorted(template.uri_template for template in templates), TEMPLATES, "the templates")
        prompts = (await client.list_prompts()).prompts
        check_equal([prompt.name for prompt in prompts], ["diagnose_fault"], "the prompts")
        for offered in [*templates, *prompts]:
            digest = (offered.meta or {}).get(CONTRACT, {}).get("digest", "")
            check(re.fullmatch(r"sha256:[0-9a-f]{64}", digest), f"{offered.name} to carry its contract's digest", offered)

        ticket = json.loads(await text(client, TICKET))
        check_equal(ticket, await session.read("get_ticket", {"ticket_id": "SR-20031"}), "the ticket, as a resource")
        query = "torque of the thermostatic valve cover"
        manual = await session.read("search_manual", {"query": query, "product_family": "AC-250", "k": 1})
        passage = manual["passages"][0]
        page = await text(client, f"manual://{passage['document']}/{passage['revision']}/{passage['page']}")
        check(page, "a page of a manual with text", page)
        await unknown(client, "ticket://SR-99999")
        await unknown(client, "secret://SR-20031")

        given = {"model_variant": ticket["model_variant"], "symptom": ticket["symptom"]}
        messages = (await client.get_prompt("diagnose_fault", given)).messages
        check(ticket["symptom"] in messages[0].content.text, "a prompt with the symptom", messages)
        prompt = types.PromptReference(type="ref/prompt", name="diagnose_fault")
        completed = await client.complete(prompt, {"name": "model_variant", "value": "AC-250"})
        check("AC-250-S" in completed.completion.values, "a completion with AC-250-S", completed)
        template = types.ResourceTemplateReference(type="ref/resource", uri=TEMPLATES[0])
        completed = await client.complete(template, {"name": "document", "value": "FM-"})
        check(passage["document"] in completed.completion.values, "a completion of a template", completed)

        async with client.listen(
            tools_list_changed=True,
            prompts_list_changed=True,
            resources_list_changed=True,
            resource_subscriptions=[TICKET],
        ) as subscription:
            honoured = subscription.honored.model_dump(by_alias=True, exclude_none=True)
            lists = {f"{name}ListChanged": True for name in ("tools", "prompts", "resources")}
            check_equal(honoured, {**lists, "resourceSubscriptions": [TICKET]}, "what is honoured")
            await session.read("post_ticket_update", {"ticket_id": "SR-20031", "note": NOTE})
            heard = await hear(subscription, [ResourceUpdated(uri=TICKET)])
        after = await text(client, TICKET)
        check(NOTE in after, "the note in the ticket, read anew", after)
        return {"client": "python", "resources": len(resources), "heard": heard, "calls": session.calls}


if __name__ == "__main__":
    main(run)
