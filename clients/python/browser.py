"""What a browser does for a program on this machine: signs in, consents, and goes where it is sent, unless it is to stay.

Usage: python browser.py AUTHORIZATION_URL NAME PASSWORD [--stay]
"""

from __future__ import annotations

from typing import Any

import httpx2

from check import check, main
from person import Person


async def run(arguments: list[str]) -> dict[str, Any]:
    stays = arguments[3:] == ["--stay"]
    check(len(arguments) == 3 or stays, "AUTHORIZATION_URL NAME PASSWORD [--stay]", len(arguments))
    url, name, password = arguments[:3]
    person = Person(name, password)
    target = await person.visit(url)
    if not stays:
        async with httpx2.AsyncClient(follow_redirects=False, trust_env=False, timeout=30.0) as http:
            answer = await http.get(target)
        # A program that was refused says so on its page, and has a status for it.
        check(answer.status_code in (200, 400), "a page of the program", answer.status_code)
    return {"pages": person.titles, "consent": person.consent, "password": person.password, "answer": target}


if __name__ == "__main__":
    main(run)
