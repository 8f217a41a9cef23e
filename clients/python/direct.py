"""Uses one of the three field-service servers without a gateway.

Usage: python direct.py URL [TOKEN]
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import mcp_types as types
from mcp.shared.exceptions import MCPError

from check import check, check_equal, main
from connect import Session, connect
from form import fill

CONTRACTS = Path(__file__).resolve().parents[2] / "systems" / "field-service" / "contracts.json"


class Person:
    """Fills in the order form with the answers that an exercise prepared, one for each question."""

    def __init__(self) -> None:
        self.asked = 0
        self.answers: list[dict[str, Any]] = []

    async def answer(self, form: types.ElicitRequestFormParams) -> types.ElicitResult:
        self.asked += 1
        check(form.message, "a form with a message", form)
        check(self.answers, "no further question", form)
        return fill(form.requested_schema, self.answers.pop(0))


def contracts(name: str) -> list[dict[str, Any]]:
    """The wire contracts: without our own keys, and an empty `annotations` is left out."""
    servers = json.loads(CONTRACTS.read_text("utf-8"))["servers"]
    tools = next(server["tools"] for server in servers if server["server"] == name)
    return [
        {key: value for key, value in tool.items() if not key.startswith("_") and (key, value) != ("annotations", {})}
        for tool in tools
    ]


async def tickets(session: Session, _person: Person) -> None:
    ticket = await session.read("get_ticket", {"ticket_id": "SR-20031"})
    check_equal(ticket["ticket_id"], "SR-20031", "the ticket")
    found = await session.read(
        "search_tickets", {"model_variant": "AC-250-S", "symptom": ticket["symptom"], "limit": 5}
    )
    check(0 < len(found["tickets"]) <= 5, "one to five closed tickets", found["count"])
    check_equal(found["count"], len(found["tickets"]), "the count")
    await session.read("post_ticket_update", {"ticket_id": "SR-20031", "note": "Seen by the Python client."})
    await session.fail("get_ticket", {"ticket_id": "SR-99999"})
    await session.fail("search_tickets", {"model_variant": "AC-250-S", "limit": 26})


async def parts(session: Session, person: Person) -> None:
    machine = "AC-250-S"
    found = await session.read("find_part", {"model_variant": machine, "category": "thermostatic-valve"})
    check(found["parts"], f"a valve for {machine}", found)
    part_no = found["parts"][0]["part_no"]
    stock = await session.read("check_availability", {"part_no": part_no})
    check_equal(stock["part_no"], part_no, "the part")
    await session.fail("check_availability", {"part_no": "NO-SUCH-PART"})

    order = {"part_no": part_no, "quantity": 1, "ticket_id": "SR-20031", "justification": "direct client test"}
    person.answers = [{"decision": "deny", "approver": "Ada Byron", "note": "not now"}]
    await session.fail("raise_parts_order", order)
    check_equal(person.asked, 1, "the number of questions before the denial")

    # A blank name is asked again; the second answer counts.
    person.answers = [
        {"decision": "approve", "approver": "   ", "note": ""},
        {"decision": "approve", "approver": "Ada Byron", "note": "go on"},
    ]
    ordered = await session.read("raise_parts_order", order)
    check_equal(person.asked, 3, "the number of questions")
    check("Ada Byron" in json.dumps(ordered), "the order to name its approver", ordered)


async def manuals(session: Session, _person: Person) -> None:
    query = "torque of the thermostatic valve cover"
    found = await session.read(
        "search_manual", {"query": query, "product_family": "AC-250", "variant": "S", "k": 3}
    )
    check(found.get("backend"), "the name of the search engine", found)
    check(0 < len(found["passages"]) <= 3, "one to three passages", len(found["passages"]))
    for passage in found["passages"]:
        for member in ("document", "revision", "page"):
            check(passage.get(member), f"a passage with its {member}", passage)
    await session.fail("search_manual", {"query": "x", "k": 11})


async def unknown_tool(session: Session) -> None:
    try:
        await session.call("no_such_tool", {})
    except MCPError as error:
        check_equal(error.code, -32602, "the code for an unknown tool")
        return
    check(False, "an unknown tool to be refused", "a result")


EXERCISES = {
    "atlas.field-service.tickets": tickets,
    "atlas.field-service.parts": parts,
    "atlas.field-service.manuals": manuals,
}


async def run(arguments: list[str]) -> dict[str, Any]:
    check(len(arguments) in (1, 2), "one or two arguments: URL [TOKEN]", arguments)
    url, token = arguments[0], arguments[1] if len(arguments) == 2 else None
    person = Person()
    async with connect(url, token, person.answer) as session:
        name = session.server_name()
        check(name in EXERCISES, f"a server of {', '.join(EXERCISES)}", name)
        check_equal(await session.tools(), contracts(name), f"the tools of {name}")
        await EXERCISES[name](session, person)
        await unknown_tool(session)
        return {"client": "python", "server": name, "calls": session.calls, "elicitations": person.asked}


if __name__ == "__main__":
    main(run)
