"""One load on one target, and what it cost."""

import json
import os
import resource
import statistics
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from processes import Spent, busy_seconds, family, forget_peak, memory_mib


@dataclass
class Target:
    """An endpoint, and the processes that stand between it and the upstream (none for the upstream itself)."""

    name: str
    url: str
    upstream: int
    processes: list[int] = field(default_factory=list)
    token: str | None = None

    def pids(self) -> list[int]:
        return [member for pid in self.processes for member in family(pid)]


@dataclass
class Shape:
    """What is sent, and for how long."""

    what: str
    connections: int = 1
    seconds: float = 2.0
    most: int = 1_000_000
    tool: str = "lookup_00000"
    tools: int = 10
    argument_bytes: int = 32

    def arguments(self) -> list[str]:
        return [
            "--what", self.what, "--connections", str(self.connections), "--seconds", str(self.seconds),
            "--requests", str(self.most), "--tool", self.tool, "--tools", str(self.tools),
            "--argument-bytes", str(self.argument_bytes),
        ]  # fmt: skip


def apply(program: Path, target: Target, shape: Shape) -> dict:
    """Puts a load on a target. An answer that is not the right one ends the run."""
    pids = target.pids()
    forget_peak(pids)
    environment = {name: value for name, value in os.environ.items() if name != "ALDGATE_BENCH_TOKEN"}
    if target.token:
        environment["ALDGATE_BENCH_TOKEN"] = target.token
    spent, upstream = Spent(pids), Spent([target.upstream])
    busy, others, begun = busy_seconds(), own_seconds(), time.monotonic()
    done = subprocess.run(
        [program, "--url", target.url, *shape.arguments()],
        env=environment,
        capture_output=True,
        text=True,
        timeout=shape.seconds + 120,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"the load on {target.name} failed ({shape}):\n{done.stderr}")
    lasted = time.monotonic() - begun
    ours = spent.seconds() + upstream.seconds() + own_seconds() - others
    measured = json.loads(done.stdout)
    return {
        "rps": measured["rps"],
        "p50_ms": measured["p50_ms"],
        "p99_ms": measured["p99_ms"],
        "cpu_us": spent.seconds() / measured["sent"] * 1e6 if pids else None,
        "upstream_cpu_us": upstream.seconds() / measured["sent"] * 1e6,
        "rss_mib": memory_mib(pids) if pids else None,
        "requests": measured["requests"],
        "sent": measured["sent"],
        "bytes": measured["bytes"],
        "foreign_percent": max(0.0, busy_seconds() - busy - ours) / lasted / (os.cpu_count() or 1) * 100,
    }


def own_seconds() -> float:
    """CPU time of this program and of the load generators that ended."""
    uses = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(use.ru_utime + use.ru_stime for use in uses)


def together(rounds: list[dict]) -> dict:
    """The medians of rounds, the most of their memory, and between what the CPU time lay."""
    cell = {}
    for name in rounds[0]:
        values = [round_[name] for round_ in rounds]
        if None in values:
            cell[name] = None
        elif name in ("rss_mib", "foreign_percent"):
            cell[name] = round(max(values), 1)
        elif name in ("requests", "sent"):
            cell[name] = sum(values)
        else:
            cell[name] = round(statistics.median(values), 4 if name.endswith("_ms") else 2)
    if cell["cpu_us"] is not None:
        spent = [round_["cpu_us"] for round_ in rounds]
        cell["cpu_us_range"] = [round(min(spent), 2), round(max(spent), 2)]
    return cell
