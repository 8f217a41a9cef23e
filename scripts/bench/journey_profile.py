#!/usr/bin/env python3
"""Where the CPU time of a governed call goes, by step of the journey, beside the budget.

perf samples the gateway under the load of `tools/call` on 16 connections. The innermost frame of a sample's stack that belongs
to a step names the step. What lies in no step is told by where it came from: the connection of the client, that to the
upstream, the store's thread, the runtime. A function that the compiler put into another one counts as the other, unless the
program has line tables: `CARGO_PROFILE_RELEASE_DEBUG=line-tables-only make profile`.
"""

import argparse
import collections
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bed import Bed, Programs
from gateway import Setup
from load import Shape, apply

# CPU µs beside a bare pass-through, from the design.
BUDGET = {"head, guard": 4.0, "resolve, validate": 3.0, "rule": 5.0, "record": 6.0, "spans": 8.0, "reply": 2.0}
# The innermost frame that matches names the row. Earlier patterns are tried first on each frame.
STEPS = [
    ("spans", r"^(tracing|opentelemetry|aldgate_telemetry)|aldgate_gateway::observe\b"),
    ("head, guard", r"aldgate_gateway::(head|identify|receive)\b|^aldgate_(identity|wire::(guard|request|header))"),
    ("resolve, validate", r"aldgate_gateway::catalog\b|^jsonschema|^aldgate_contract"),
    ("rule", r"aldgate_gateway::(rule|kept|snapshot)\b|^aldgate_authority|^cedar_policy"),
    ("approve", r"aldgate_gateway::(approve|permit)\b|^aldgate_approval"),
    ("record", r"aldgate_gateway::(record|trail)\b|^aldgate_(evidence|store)|^sqlx"),
    ("reply", r"aldgate_gateway::(reply|line)\b"),
    ("dispatch", r"aldgate_gateway::(upstream|gate)\b"),
    ("connection to the upstream", r"^hyper(_util)?::client|^hyper::proto::h1::dispatch::Client"),
    ("journey, other", r"aldgate_gateway::journey\b"),
    ("connection of the client", r"aldgate_gateway::serving\b|^hyper::(server|proto)|^axum"),
    ("runtime", r"^tokio::runtime"),
]
COMPILED = [(name, re.compile(pattern)) for name, pattern in STEPS]
STORE = "record, the store's thread"


def sample(programs: Programs, recorded: str, seconds: float) -> dict:
    with Bed(programs) as bed:
        direct = bed.echo()
        setup = Setup(direct.url)
        target = bed.aldgate(direct, setup)
        shape = Shape("call", 16, seconds, tool=setup.tool())
        apply(programs.load, target, Shape("call", 16, 1, tool=setup.tool()))
        command = ["perf", "record", "-o", recorded, "-F", "499", "--call-graph", "dwarf,24576", "-p", str(target.processes[0])]
        perf = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        measured = apply(programs.load, target, shape)
        perf.send_signal(signal.SIGINT)
        said = perf.communicate(timeout=60)[1]
        if not Path(recorded).exists():
            raise SystemExit(f"perf recorded nothing:\n{said}")
        return measured


def stacks(recorded: str) -> Iterator[tuple[str, list[tuple[str, str, int | None]]]]:
    """Of each sample the thread's name, and its frames from the innermost: function, where it is from, offset there."""
    command = ["perf", "script", "-i", recorded, "--no-inline", "-F", "comm,ip,sym,symoff,dso"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    for block in text.split("\n\n"):
        lines = block.strip("\n").split("\n")
        if len(lines) < 2:
            continue
        frames = []
        for line in lines[1:]:
            if found := re.match(r"\s*[0-9a-f]+ (.*) \((.*)\)$", line):
                name, _, offset = found[1].rpartition("+0x")
                frames.append((name or found[1], found[2], int(offset, 16) if name else None))
        yield lines[0].strip(), frames


class Inlined:
    """The functions that the compiler put into one another at a place of the program."""

    def __init__(self, program: Path) -> None:
        self.program = program
        listed = subprocess.run(["nm", "-C", program], check=True, capture_output=True, text=True).stdout
        self.starts: dict[str, int] = {}
        for line in listed.splitlines():
            address, _, rest = line.partition(" ")
            if address.strip() and len(rest) > 2:
                self.starts.setdefault(rest[2:], int(address, 16))
        self.known: dict[int, list[str]] = {}

    def address(self, name: str, offset: int | None) -> int | None:
        start = self.starts.get(name)
        return None if start is None or offset is None else start + offset

    def learn(self, addresses: set[int]) -> None:
        wanted = sorted(addresses)
        asked = "".join(f"{address:#x}\n" for address in wanted)
        command = ["addr2line", "-e", str(self.program), "-a", "-f", "-i", "-C"]
        said = subprocess.run(command, input=asked, check=True, capture_output=True, text=True).stdout
        current: list[str] = []
        function = True
        for line in said.splitlines():
            if line.startswith("0x"):
                current = self.known[int(line, 16)] = []
                function = True
            else:
                if function:
                    current.append(line)
                function = not function


def row_of(thread: str, names: list[str]) -> str:
    if thread.startswith("sqlx"):
        return STORE
    for name in names:
        # `<a::B as c::D>::e` is of `a`.
        plain = name.lstrip("<&").removeprefix("mut ")
        for row, pattern in COMPILED:
            if pattern.search(plain):
                return row
    return "other"


def attribute(recorded: str, program: Path) -> tuple[collections.Counter, int]:
    inlined = Inlined(program)
    all_stacks = list(stacks(recorded))
    # The return address of a call is after it, and may belong to another line.
    places = {
        address - (depth > 0)
        for _, frames in all_stacks
        for depth, (name, dso, offset) in enumerate(frames)
        if dso.endswith(program.name) and (address := inlined.address(name, offset)) is not None
    }
    inlined.learn(places)
    rows: collections.Counter = collections.Counter()
    for thread, frames in all_stacks:
        names: list[str] = []
        kernel = bool(frames) and "kernel" in frames[0][1]
        for depth, (name, dso, offset) in enumerate(frames):
            address = inlined.address(name, offset) if dso.endswith(program.name) else None
            names += inlined.known.get(address - (depth > 0), [name]) if address is not None else [name]
        rows[row_of(thread, names), kernel] += 1
    return rows, len(all_stacks)


def table(rows: collections.Counter, samples: int, cpu_us: float) -> list[str]:
    said = [f"{'step':<28}{'µs':>8}{'kernel µs':>11}{'share':>8}{'budget µs':>11}"]
    names = sorted({name for name, _ in rows}, key=lambda name: -(rows[name, False] + rows[name, True]))
    for name in names + [name for name in BUDGET if name not in names]:
        user, kernel = (rows[name, which] / samples * cpu_us for which in (False, True))
        budget = f"{BUDGET[name]:g}" if name in BUDGET else "-"
        said.append(f"{name:<28}{user + kernel:>8.1f}{kernel:>11.1f}{(user + kernel) / cpu_us:>8.1%}{budget:>11}")
    return said


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binaries", type=Path, required=True, help="such as target/release")
    parser.add_argument("--seconds", type=float, default=8)
    arguments = parser.parse_args()
    for tool in ("perf", "nm", "addr2line"):
        if shutil.which(tool) is None:
            raise SystemExit(f"`{tool}` is missing; on Debian it is in linux-perf or binutils")
    programs = Programs.of(arguments.binaries.resolve())
    with tempfile.TemporaryDirectory(prefix="aldgate-bench-") as folder:
        recorded = str(Path(folder, "perf.data"))
        measured = sample(programs, recorded, arguments.seconds)
        rows, samples = attribute(recorded, programs.aldgate)
    print(f"one governed call, 16 connections, {measured['cpu_us']:.0f} µs of CPU while sampled, {samples} samples")
    print("\n".join(table(rows, samples, measured["cpu_us"])))


if __name__ == "__main__":
    main()
