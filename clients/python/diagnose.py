"""What most of the similar closed tickets agree on."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from check import check


@dataclass(frozen=True)
class Diagnosis:
    """A fault, the part fitted for it, and the tickets that say so."""

    fault_code: str
    part_no: str
    category: str
    sources: list[str]


def diagnose(tickets: list[dict[str, Any]]) -> Diagnosis:
    """Of equally frequent values the one that comes first counts."""
    check(tickets, "closed tickets with a similar symptom", tickets)
    fault_code = _most_common([ticket["fault_code"] for ticket in tickets])
    same = [ticket for ticket in tickets if ticket["fault_code"] == fault_code]
    return Diagnosis(
        fault_code=fault_code,
        part_no=_most_common([ticket["part_no"] for ticket in same]),
        category=_most_common([ticket["part_category"] for ticket in same]),
        sources=[ticket["ticket_id"] for ticket in same],
    )


def _most_common(values: list[str]) -> str:
    # `most_common` keeps the order of first sight among equals.
    return Counter(values).most_common(1)[0][0]
