"""Checks that end the script with exit code 1 and say what was expected and what was found."""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Awaitable, Callable
from typing import Any

import anyio


class Deviation(Exception):
    """A deviation from what the servers promise."""


def check(holds: object, expected: str, found: object) -> None:
    """Raises a `Deviation` unless `holds`."""
    if not holds:
        raise Deviation(f"expected {expected}; found {found!r}")


def check_equal(found: object, expected: object, what: str) -> None:
    """Raises a `Deviation` unless both are equal."""
    check(found == expected, f"{what} to be {expected!r}", found)


def main(run: Callable[[list[str]], Awaitable[dict[str, Any]]]) -> None:
    """Runs the script: its result is the one line on stdout."""
    try:
        result = anyio.run(run, sys.argv[1:])
    except BaseException:
        traceback.print_exc()
        sys.exit(1)
    print(json.dumps(result, ensure_ascii=False))
