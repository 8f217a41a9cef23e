"""Allocations per request, in a run of their own with programs that count them: the other figures are not touched by it."""

import os
import signal

from bed import Bed, Programs
from gateway import Setup
from load import Shape, Target, apply
from processes import wait_for

REQUESTS = 4000


def measure(counting: Programs, report: dict) -> None:
    """Writes `allocs` into the cells of `call` and `list`; nothing is known of programs that do not count."""
    with Bed(counting) as bed:
        direct = bed.echo()
        setup = Setup(direct.url)
        targets = [bed.hyper(direct), bed.aldgate(direct, setup)]
        for what in ("call", "list"):
            for concurrency, cells in report[what].items():
                for cell in cells.values():
                    cell["allocs"] = None
                connections = int(concurrency.removeprefix("c"))
                shape = Shape(what, connections, 30, REQUESTS, tool=setup.tool(), tools=setup.tools)
                for target in targets:
                    cells[target.name]["allocs"] = per_request(bed, target, shape)


def per_request(bed: Bed, target: Target, shape: Shape) -> float:
    before = counted(bed, target)
    sent = apply(bed.programs.load, target, shape)["sent"]
    # What telling it takes is a few allocations among thousands of requests.
    return round((counted(bed, target) - before) / sent, 1)


def counted(bed: Bed, target: Target) -> int:
    process = bed.started[target.processes[0]]
    os.kill(process.pid, signal.SIGUSR1)
    return int(wait_for(process, r"allocations: (\d+)", 10)[1])
