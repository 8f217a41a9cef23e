#!/usr/bin/env python3
"""Compares docs/conformance.md with the protocol's requirements and with the tests that there are.

The page has a table with one row for each requirement of MCP 2026-07-28, under an id: `8a.…` what a server owes, `8b.…` a
client, `8c.…` an intermediary. A row names the tests that show the requirement, as `package path::of::test`; the path
begins with the name of the test target where that is not the library or the program itself. Which requirements need none
is said here and not on the page, so that nobody puts one out of scope by editing the page alone.
"""

import argparse
import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "conformance.md"

# How many requirements each part has.
PARTS = {"8a": 57, "8b": 25, "8c": 20}

# What a requirement may be out of scope for.
REASONS = {
    "stdio": "of the stdio transport, which the gateway does not speak",
    "tasks": "of the Tasks extension, which the gateway does not have",
    "authorization": "of OAuth, which the conformance suite looks at, and tests of identity",
    "extension": "of other extensions, which the gateway does not have",
    "user interface": "of a host that shows things to its user, which an intermediary does not",
}

OUT_OF_SCOPE = {
    "8a.28": "stdio",
    "8a.29": "stdio",
    "8a.49": "tasks",
    "8a.50": "tasks",
    "8a.51": "tasks",
    "8a.52": "tasks",
    "8a.53": "tasks",
    "8a.54": "authorization",
    "8a.55": "authorization",
    "8a.56": "authorization",
    "8b.12": "stdio",
    "8b.17": "user interface",
    "8b.21": "tasks",
    "8b.22": "authorization",
    "8b.23": "authorization",
    "8b.25": "extension",
    "8c.4": "authorization",
    "8c.11": "tasks",
}

# Requirements that are recommendations as a whole. Of the others at least a part is a MUST.
SHOULD = {"8a.5", "8a.15", "8a.25", "8a.39", "8b.5", "8b.23", "8c.2", "8c.10", "8c.17", "8c.18"}

# What stands in the place of tests that do not exist yet.
MISSING = "MISSING"
ROW = re.compile(r"^\|\s*(8[a-z]\.\d+)\s*\|(.*)\|\s*$", re.MULTILINE)
NAME = re.compile(r"`([^`]+)`")


def ids() -> list[str]:
    return [f"{part}.{number}" for part, count in PARTS.items() for number in range(1, count + 1)]


def explained(reason: str) -> str:
    """A reason as the page explains it."""
    return f"- **{reason}**: {REASONS[reason]}."


def faults(page: str, tests: set[str]) -> list[str]:
    """What is wrong with the page, given the tests that there are."""
    rows = [(found[1], [cell.strip() for cell in found[2].split("|")]) for found in ROW.finditer(page)]
    count = Counter(name for name, _ in rows)
    wrong = [f"{name} has no row" for name in ids() if not count[name]]
    wrong += [f"{name} has {number} rows" for name, number in count.items() if number > 1]
    wrong += [f"{name} is not a requirement" for name in count if name not in ids()]
    wrong += [f"`{told}` is missing" for reason in REASONS if (told := explained(reason)) not in page]
    for name, cells in rows:
        if len(cells) != 3:
            wrong.append(f"{name} has {len(cells) + 1} cells, expected id, level, requirement and tests")
        elif name in ids():
            wrong += [f"{name} {fault}" for fault in faults_of_row(name, *cells, tests)]
    return wrong


def faults_of_row(name: str, level: str, requirement: str, shown: str, tests: set[str]) -> list[str]:
    wrong = []
    if level != (expected := "SHOULD" if name in SHOULD else "MUST"):
        wrong.append(f"is called {level}, expected {expected}")
    if not requirement:
        wrong.append("does not say what is required")
    if reason := OUT_OF_SCOPE.get(name):
        if shown != f"out of scope: {reason}":
            wrong.append(f"must say `out of scope: {reason}`, found `{shown}`")
        return wrong
    if MISSING in shown:
        wrong.append(f"is {MISSING}: there is no test yet")
    named = NAME.findall(shown)
    wrong += [f"names `{test}`, which is no test" for test in named if test not in tests]
    wrong += [f"names `{test}` twice" for test, number in Counter(named).items() if number > 1]
    rest = NAME.sub("", shown).replace(MISSING, "").replace("<br>", "").strip()
    if rest:
        wrong.append(f"has other words where tests stand: `{rest}`")
    if not named and MISSING not in shown:
        wrong.append("names no test")
    return wrong


def tests_of_workspace() -> set[str]:
    """The tests that cargo would run, but for those in documentation. They are built if need be."""
    command = ["cargo", "test", "--workspace", "--no-run", "--message-format=json-render-diagnostics"]
    built = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if built.returncode:
        raise SystemExit("the tests cannot be built")
    tests = set()
    for message in map(json.loads, built.stdout.splitlines()):
        if message["reason"] != "compiler-artifact" or not message["executable"] or not message["profile"]["test"]:
            continue
        package = package_of(message["package_id"])
        target = f"{message['target']['name']}::" if "test" in message["target"]["kind"] else ""
        listed = subprocess.run([message["executable"], "--list"], check=True, capture_output=True, text=True)
        ignored = subprocess.run(
            [message["executable"], "--list", "--ignored"], check=True, capture_output=True, text=True
        )
        named = [set(re.findall(r"^(\S+): test$", one.stdout, re.MULTILINE)) for one in (listed, ignored)]
        # A test that is not run shows nothing.
        tests.update(f"{package} {target}{test}" for test in named[0] - named[1])
    return tests


def package_of(package_id: str) -> str:
    """The name of a package of the workspace; an id ends with `/name#version` or with `#name@version`."""
    place, _, version = package_id.partition("#")
    return version.partition("@")[0] if "@" in version else place.rpartition("/")[2]


def self_test() -> None:
    """Breaks a good page in each way that is looked for."""
    tests = {"aldgate-gateway it::a", "aldgate-wire b::c"}

    def row(name: str, level: str = "", shown: str = "") -> str:
        out = f"out of scope: {OUT_OF_SCOPE.get(name)}" if name in OUT_OF_SCOPE else "`aldgate-gateway it::a`"
        return f"| {name} | {level or ('SHOULD' if name in SHOULD else 'MUST')} | Something. | {shown or out} |\n"

    def check(expected: list[str], changed: str = "", by: str = "") -> None:
        reasons = "".join(f"{explained(reason)}\n" for reason in REASONS)
        page = f"# A page\n\n{reasons}\n| id | level | requirement | tests |\n|---|---|---|---|\n"
        found = faults(page + "".join(by if name == changed else row(name) for name in ids()), tests)
        assert found == expected, f"{changed}: expected {expected}, found {found}"

    check([])
    check([], "8a.1", row("8a.1", shown="`aldgate-gateway it::a`<br>`aldgate-wire b::c`"))
    check(["8a.1 has no row"], "8a.1")
    check(["8a.1 has 2 rows"], "8a.1", row("8a.1") * 2)
    check(["8c.21 is not a requirement"], "8a.1", row("8a.1") + row("8c.21"))
    check(["8a.1 names no test"], "8a.1", "| 8a.1 | MUST | Something. | |\n")
    check(["8a.1 names `aldgate-wire it::a`, which is no test"], "8a.1", row("8a.1", shown="`aldgate-wire it::a`"))
    check(["8a.1 names `aldgate-wire b::c` twice"], "8a.1", row("8a.1", shown="`aldgate-wire b::c` `aldgate-wire b::c`"))
    check(["8a.1 is MISSING: there is no test yet"], "8a.1", row("8a.1", shown="`aldgate-wire b::c`<br>MISSING"))
    check(["8a.1 is called SHOULD, expected MUST"], "8a.1", row("8a.1", level="SHOULD"))
    check(["8a.5 is called MUST, expected SHOULD"], "8a.5", row("8a.5", level="MUST"))
    words = ["8a.1 has other words where tests stand: `out of scope: stdio`", "8a.1 names no test"]
    check(words, "8a.1", row("8a.1", shown="out of scope: stdio"))
    other = ["8a.28 must say `out of scope: stdio`, found `out of scope: tasks`"]
    check(other, "8a.28", row("8a.28", shown="out of scope: tasks"))
    check(["8a.1 has 3 cells, expected id, level, requirement and tests"], "8a.1", "| 8a.1 | MUST | `a` |\n")
    check(["8a.1 does not say what is required"], "8a.1", "| 8a.1 | MUST | | `aldgate-gateway it::a` |\n")
    assert package_of("path+file:///a/crates/aldgate#0.1.0") == "aldgate"
    assert package_of("path+file:///a/crates/wire#aldgate-wire@0.1.0") == "aldgate-wire"
    assert set(OUT_OF_SCOPE) | SHOULD <= set(ids()) and set(OUT_OF_SCOPE.values()) <= set(REASONS)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--self-test", action="store_true", help="check this script, without a look at page and tests")
    if parser.parse_args().self_test:
        self_test()
        print("the checklist's own rules hold")
        return 0
    found = faults(PAGE.read_text(encoding="utf-8"), tests_of_workspace())
    for fault in found:
        print(fault, file=sys.stderr)
    if not found:
        print(f"{len(ids()) - len(OUT_OF_SCOPE)} requirements shown by tests, {len(OUT_OF_SCOPE)} out of scope")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
