"""Works ticket SR-20031 through the gateway, from symptom to order and note.

Usage: python work_ticket.py URL AGENT_TOKEN APPROVER_TOKEN ADMIN_URL
"""

from __future__ import annotations

import re
from typing import Any

import mcp_types as types

from approver import Approver
from check import check, check_equal, main
from connect import connect
from diagnose import diagnose
from form import fill

TICKET = "SR-20031"
LISTED = [
    "check_availability",
    "find_part",
    "get_ticket",
    "post_ticket_update",
    "raise_parts_order",
    "search_manual",
    "search_tickets",
]
CONTRACT = "io.github.aldgate/contract"
REFUSAL = "io.github.aldgate/refusal"


async def run(arguments: list[str]) -> dict[str, Any]:
    check(len(arguments) == 4, "four arguments: URL AGENT_TOKEN APPROVER_TOKEN ADMIN_URL", arguments)
    url, agent_token, approver_token, admin_url = arguments
    approver = Approver(admin_url, approver_token)
    elicitations = 0

    async def on_form(form: types.ElicitRequestFormParams) -> types.ElicitResult:
        nonlocal elicitations
        elicitations += 1
        check(form.message, "a form with a message", form)
        # The decision is made elsewhere, once; a form that comes again is accepted to go on waiting.
        if not approver.decided:
            await approver.approve("raise_parts_order", "approved by the Python client test")
        return fill(form.requested_schema, {})

    async with connect(url, agent_token, on_form) as session:
        tools = await session.tools()
        check_equal(sorted(tool["name"] for tool in tools), LISTED, "the listed tools")
        for tool in tools:
            digest = tool.get("_meta", {}).get(CONTRACT, {}).get("digest", "")
            check(re.fullmatch(r"sha256:[0-9a-f]{64}", digest), f"{tool['name']} to carry its contract's digest", tool)
        ticket = await session.read("get_ticket", {"ticket_id": TICKET})
        check_equal(ticket["ticket_id"], TICKET, "the ticket")
        check_equal(ticket["status"], "open", "the status of the ticket")
        machine = ticket["model_variant"]
        history = await session.read(
            "search_tickets", {"model_variant": machine, "symptom": ticket["symptom"], "limit": 10}
        )
        diagnosis = diagnose(history["tickets"])
        catalogue = await session.read("find_part", {"model_variant": machine, "category": diagnosis.category})
        listed = [part["part_no"] for part in catalogue["parts"]]
        check(diagnosis.part_no in listed, f"the part fitted before, {diagnosis.part_no}, in the catalogue", listed)
        stock = await session.read("check_availability", {"part_no": diagnosis.part_no})
        family, _, variant = machine.rpartition("-")
        query = f"{diagnosis.category.replace('-', ' ')} replacement and torque"
        manual = await session.read(
            "search_manual", {"query": query, "product_family": family, "variant": variant}
        )
        check(manual["passages"], "a passage of the manual", manual)
        passage = manual["passages"][0]
        for member in ("document", "revision", "page"):
            check(passage.get(member), f"a passage with its {member}", passage)

        order = await session.read(
            "raise_parts_order",
            {
                "part_no": diagnosis.part_no,
                "quantity": 1,
                "ticket_id": TICKET,
                "justification": f"{diagnosis.fault_code} as in {', '.join(diagnosis.sources[:3])}",
            },
        )
        check(elicitations > 0, "the order to ask by elicitation", elicitations)
        check_equal(len(approver.decided), 1, "the number of decisions")

        note = (
            f"Diagnosis {diagnosis.fault_code} ({', '.join(diagnosis.sources[:5])}). {diagnosis.part_no} ordered, "
            f"stock {stock['stock']}. Procedure: {passage['document']}, rev. {passage['revision']}, p. {passage['page']}."
        )
        await session.read("post_ticket_update", {"ticket_id": TICKET, "note": note})

        refused = await session.fail(
            "export_service_records", {"recipient": "records@example.org", "model_variant": machine}
        )
        refusal = (refused.meta or {}).get(REFUSAL, {})
        check(str(refusal.get("code", "")).startswith("AG-"), "the export to be refused with a code", refused)
        return {
            "client": "python",
            "tools": len(tools),
            "calls": session.calls,
            "elicitations": elicitations,
            "approvals": len(approver.decided),
            "orders": session.succeeded["raise_parts_order"],
            "notes": session.succeeded["post_ticket_update"],
            "exports": session.succeeded["export_service_records"],
            "refusal": refusal["code"],
            "fault_code": diagnosis.fault_code,
            "part_no": diagnosis.part_no,
            "order": order,
        }


if __name__ == "__main__":
    main(run)
