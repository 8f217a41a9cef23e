#!/usr/bin/env python3
"""Measures Aldgate beside its upstream alone, nginx, a bare pass-through and a rival, and what contracts and sign-ins cost; writes
`target/bench/report.json`.

Everything stays on loopback and is bounded in time. Nothing fails because it is slow: the report says what was measured, and
which aims are met. A wrong answer ends the run with an error. How each figure comes about is in docs/performance.md.
"""

import argparse
import json
import os
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import allocations
import compare
import contracts
import gateway
import growth
import identity
import instructions
import report as shown
import search
from bed import Programs

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("compare", "allocations", "growth", "search", "contracts", "identity", "instructions")


def machine() -> dict:
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.strip()
    models = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit,
        "cpus": os.cpu_count(),
        "model": models[0].partition(":")[2].strip() if models else platform.machine(),
        "kernel": platform.release(),
        "load_before": os.getloadavg()[0],
    }


def counted(report: dict, counts: dict[str, int]) -> None:
    """Puts counts such as `call.tools_1000` beside the other figures of the same size."""
    for name, count in counts.items():
        what, _, size = name.partition(".")
        kind, _, number = size.partition("_")
        report.setdefault(kind, {}).setdefault(number, {}).setdefault(what, {})["instructions"] = count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binaries", type=Path, required=True, help="such as target/release")
    parser.add_argument("--counting", type=Path, required=True, help="those that count allocations")
    parser.add_argument("--tools", type=Path, required=True, help="where scripts/setup-instructions.sh put gungraun's runner")
    parser.add_argument("--report", type=Path, required=True, help="where it is written, such as target/bench/report.json")
    parser.add_argument("--only", choices=PARTS, action="append", help="parts to measure; the report keeps the others")
    arguments = parser.parse_args()
    programs = Programs.of(arguments.binaries.resolve())
    seconds = float(os.environ.get("BENCH_SECONDS", "2"))
    rounds = int(os.environ.get("BENCH_ROUNDS", "3"))
    parts = arguments.only or PARTS
    report: dict = {}
    if arguments.only and arguments.report.exists():
        report = json.loads(arguments.report.read_text())
    report |= {"machine": machine(), "sampling": gateway.sampling(str(programs.aldgate))}
    arguments.report.parent.mkdir(parents=True, exist_ok=True)

    def keep(found: dict) -> None:
        report.update(found)
        arguments.report.write_text(json.dumps(report, indent=1) + "\n")

    if "compare" in parts:
        keep(compare.measure(programs, rounds, seconds))
    if "allocations" in parts:
        allocations.measure(Programs.of(arguments.counting.resolve()), report)
        keep({})
    if "growth" in parts:
        keep(growth.measure(programs, rounds, seconds))
    if "search" in parts:
        keep({"search": search.measure(str(programs.aldgate))})
    if "contracts" in parts:
        keep({"contracts": contracts.measure(arguments.binaries, rounds)})
    if "identity" in parts:
        keep({"identity": identity.measure(arguments.binaries.resolve(), rounds, seconds)})
    if "instructions" in parts:
        counted(report, instructions.count("growth", arguments.tools))
        keep({})
    print("\n".join(shown.lines(report)))
    print(f"\nThe report is in {arguments.report}")


if __name__ == "__main__":
    main()
