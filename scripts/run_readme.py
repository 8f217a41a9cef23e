#!/usr/bin/env python3
"""Runs the blocks of a document that begin with ```bash run, in order, in one shell, and fails where a command fails.

The shell has the program on its PATH and a demonstration on free ports beside it, already decided by `--approve` and
serving. It knows ALDGATE_URL, ALDGATE_ADMIN_URL, and as AGENT and APPROVER the tokens that the demonstration shows. It
works in an empty folder. What the blocks leave running is ended with the shell's process group.
"""

import argparse
import json
import os
import re
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BLOCK = re.compile(r"^```bash run\n(.*?)^```$", re.MULTILINE | re.DOTALL)
START_WITHIN = 120
RUN_WITHIN = 180


def blocks(document: Path) -> list[tuple[int, str]]:
    """The runnable blocks, each with the line on which it begins."""
    text = document.read_text(encoding="utf-8")
    return [(text.count("\n", 0, found.start()) + 2, found.group(1)) for found in BLOCK.finditer(text)]


def environment(binaries: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ALDGATE_")}
    return kept | {"PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}", "NO_COLOR": "1"}


def start(known: dict[str, str], log) -> tuple[subprocess.Popen, dict]:
    """Starts the demonstration and waits until it serves. Returns it and its first event."""
    command = ["aldgate", "demo", "--json", "--approve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"]
    demo = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, env=known, start_new_session=True)
    selector = selectors.DefaultSelector()
    selector.register(demo.stdout, selectors.EVENT_READ)
    until = time.monotonic() + START_WITHIN
    stage = None
    while (left := until - time.monotonic()) > 0:
        if not selector.select(left):
            break
        line = demo.stdout.readline()
        if not line:
            break
        event = json.loads(line)
        if event.get("event") == "stage":
            stage = event
        if event.get("event") == "serving" and stage is not None:
            return demo, stage
    end(demo)
    log.seek(0)
    raise SystemExit(f"the demonstration did not begin to serve:\n{log.read()}")


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


def script(found: list[tuple[int, str]], name: str) -> str:
    lines = ["set -euo pipefail"]
    for number, (line, text) in enumerate(found, start=1):
        lines.append(f"echo '== block {number}, {name}:{line}'")
        lines.append(text)
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
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as log:
        demo, stage = start(known, log)
        shell = None
        try:
            known |= {
                "ALDGATE_URL": stage["url"],
                "ALDGATE_ADMIN_URL": stage["admin"],
                "AGENT": stage["agent_token"],
                "APPROVER": stage["approver_token"],
            }
            output = Path(folder) / "output"
            work = Path(folder) / "work"
            work.mkdir()
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
            if status == 0 and printed.count("== block ") < len(found):
                status = "0 before the last block"
            if arguments.show or status != 0:
                print(printed)
            if status != 0:
                print(f"the blocks of {arguments.document} failed: exit code {status}", file=sys.stderr)
                return 1
            print(f"{len(found)} blocks of {arguments.document}")
            return 0
        finally:
            if shell is not None:
                end(shell)
            end(demo)


if __name__ == "__main__":
    sys.exit(main())
