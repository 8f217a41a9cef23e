#!/usr/bin/env python3
"""Runs the blocks of a document that begin with ```bash run, in order, in one shell, and fails where a command fails.

A block that begins with ```text output shows what the last runnable block before it printed: each of its lines must be
there, in this order. Ids, digests, times and durations, addresses and the width of columns may differ, `…` alone stands for any lines,
at the end of a line for its rest.

The shell has the program on its PATH and a demonstration on free ports beside it, already decided by `--approve` and
serving. It knows ALDGATE_URL, ALDGATE_ADMIN_URL, and as AGENT the token that the demonstration shows. Where a command opens a
browser, the approver signs in there. It
works in an empty folder, which is its home too. What the blocks leave running is ended with the shell's process group.
"""

import argparse
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^```(bash run|text output)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# What differs from run to run, and what stands for it when lines are compared.
VARIES = [
    (re.compile(r"\b(ap|c|agt)_[0-9a-f]{32,}"), r"\1_ID"),
    (re.compile(r"sha256:[0-9a-f]{64}"), "sha256:DIGEST"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"), "TIME"),
    (re.compile(r"127\.0\.0\.1:\d+"), "ADDRESS"),
    (re.compile(r"\b\d+(\.\d)? (µs|ms|s)\b"), "TOOK"),
    (re.compile(r"\s+"), " "),
    (re.compile(r"^ ?\d+ (?=[a-z])"), "NUMBER "),
]
START_WITHIN = 120
RUN_WITHIN = 180


class Block(NamedTuple):
    """A runnable block, the line on which it begins, and the lines of output that are shown for it."""

    line: int
    script: str
    shown: list[str]


def blocks(document: Path) -> list[Block]:
    """The runnable blocks of a document."""
    text = document.read_text(encoding="utf-8")
    found: list[Block] = []
    for part in BLOCK.finditer(text):
        line = text.count("\n", 0, part.start()) + 2
        if part.group(1) == "bash run":
            found.append(Block(line, part.group(2), []))
        elif found:
            found[-1].shown.extend(part.group(2).splitlines())
        else:
            raise SystemExit(f"{document}:{line}: output of no block")
    return found


def comparable(line: str) -> str:
    for pattern, stands_for in VARIES:
        line = pattern.sub(stands_for, line)
    return line.strip()


def missing(shown: list[str], printed: str) -> str | None:
    """The first shown line that was not printed after the ones before it."""
    lines = iter([comparable(line) for line in printed.splitlines()])
    for line in shown:
        if line.strip() in ("…", ""):
            continue
        wanted = comparable(line.removesuffix("…"))
        fits = (lambda found: found.startswith(wanted)) if line.endswith("…") else (lambda found: found == wanted)
        if not any(fits(found) for found in lines):
            return line
    return None


def environment(binaries: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ALDGATE_")}
    return kept | {"PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}", "NO_COLOR": "1"}


def start(known: dict[str, str], log) -> tuple[subprocess.Popen, dict]:
    """Starts the demonstration and waits until it serves. Returns it and its first event."""
    command = ["aldgate", "demo", "--json", "--approve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"]
    demo = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, env=known, start_new_session=True)
    # Whatever comes too late is ended; its output ends with it.
    patience = threading.Timer(START_WITHIN, end, [demo])
    patience.start()
    try:
        stage = None
        for line in demo.stdout:
            event = json.loads(line)
            if event.get("event") == "stage":
                stage = event
            if event.get("event") == "serving" and stage is not None:
                return demo, stage
    finally:
        patience.cancel()
    end(demo)
    log.seek(0)
    raise SystemExit(f"the demonstration did not begin to serve:\n{log.read()}")


def browser(folder: Path, person: dict[str, str]) -> Path:
    """A folder with a program that opens pages: the person signs in there, and allows what is asked for."""
    interpreter = ROOT / ".venv/bin/python"
    if not interpreter.exists():
        raise SystemExit(f"{interpreter} is not there; run scripts/setup-tests.sh")
    words = [interpreter, ROOT / "clients/python/browser.py"]
    command = " ".join(shlex.quote(str(word)) for word in words)
    name, password = shlex.quote(person["name"]), shlex.quote(person["password"])
    programs = folder / "browser"
    programs.mkdir()
    program = programs / "xdg-open"
    program.write_text(f'#!/bin/sh\nexec {command} "$1" {name} {password}\n', encoding="utf-8")
    program.chmod(0o700)
    return programs


def end(process: subprocess.Popen) -> None:
    """Ends a process that leads a group, and the group."""
    for how, patience in [(signal.SIGTERM, 15), (signal.SIGKILL, 5)]:
        try:
            os.killpg(process.pid, how)
        except ProcessLookupError:
            pass
        try:
            process.wait(patience)
            break
        except subprocess.TimeoutExpired:
            continue


def script(found: list[Block], name: str) -> str:
    lines = ["set -euo pipefail"]
    for number, block in enumerate(found, start=1):
        lines.append(f"printf '\\n== block {number}, {name}:{block.line}\\n'")
        lines.append(block.script)
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("document", type=Path)
    parser.add_argument("--binaries", type=Path, required=True, help="folder of the program `aldgate`")
    parser.add_argument("--show", action="store_true", help="print what the blocks print")
    arguments = parser.parse_args()
    found = blocks(arguments.document)
    if not found:
        print(f"{arguments.document} has no block that begins with ```bash run", file=sys.stderr)
        return 1
    known = environment(arguments.binaries.resolve())
    # Ended from outside, it still ends what it started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as log:
        demo, stage = start(known, log)
        shell = None
        try:
            known |= {
                "ALDGATE_URL": stage["url"],
                "ALDGATE_ADMIN_URL": stage["admin"],
                "AGENT": stage["agent_token"],
                "PATH": f"{browser(Path(folder), stage['approver'])}{os.pathsep}{known['PATH']}",
            }
            output = Path(folder) / "output"
            work = Path(folder) / "work"
            work.mkdir()
            # What the blocks make at home is made, and removed, here.
            known["HOME"] = str(work)
            with output.open("w") as sink:
                shell = subprocess.Popen(
                    ["bash", "-c", script(found, arguments.document.name)],
                    cwd=work, env=known, stdin=subprocess.DEVNULL, stdout=sink, stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
                try:
                    status = shell.wait(RUN_WITHIN)
                except subprocess.TimeoutExpired:
                    status = f"none after {RUN_WITHIN} s"
            printed = output.read_text(encoding="utf-8", errors="replace")
            parts = re.split(r"^== block .*\n", printed, flags=re.MULTILINE)[1:]
            if status == 0 and len(parts) < len(found):
                status = "0 before the last block"
            if arguments.show or status != 0:
                print(printed)
            if status != 0:
                for left in sorted(work.rglob("*.log")):
                    print(f"{left.name}:\n{left.read_text(errors='replace')}")
                print(f"the blocks of {arguments.document} failed: exit code {status}", file=sys.stderr)
                return 1
            stale = [(block, line) for block, part in zip(found, parts) if (line := missing(block.shown, part))]
            for block, line in stale:
                where = f"{arguments.document}:{block.line}"
                print(f"{where}: the block did not print this line, or not here: `{line}`", file=sys.stderr)
            if not stale:
                shown = sum(len(block.shown) for block in found)
                print(f"{len(found)} blocks of {arguments.document}, {shown} lines of output compared")
            return 1 if stale else 0
        finally:
            if shell is not None:
                end(shell)
            end(demo)


if __name__ == "__main__":
    sys.exit(main())
