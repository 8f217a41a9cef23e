"""What a browser does for a program on this machine: signs in, consents, and goes where it is sent.

Usage: python browser.py AUTHORIZATION_URL NAME PASSWORD
"""

from __future__ import annotations

from typing import Any

import httpx2

from check import check, main
from person import Person


async def run(arguments: list[str]) -> dict[str, Any]:
    check(len(arguments) == 3, "AUTHORIZATION_URL NAME PASSWORD", len(arguments))
    url, name, password = arguments
    person = Person(name, password)
    target = await person.visit(url)
    async with httpx2.AsyncClient(follow_redirects=False, trust_env=False, timeout=30.0) as http:
        answer = await http.get(target)
    # A program that was refused says so on its page, and has a status for it.
    check(answer.status_code in (200, 400), "a page of the program", answer.status_code)
    return {"pages": person.titles, "consent": person.consent, "password": person.password}


if __name__ == "__main__":
    main(run)
