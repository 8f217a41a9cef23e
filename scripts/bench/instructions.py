#!/usr/bin/env python3
"""Instructions of one request of the hot path, against those that the repository keeps.

`check` fails where a count grew by more than 5 %, and where a count has no kept one or the other way round. `accept` writes the
counts anew; where one grew that much, it wants the reason, which stands beside the number from then on.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "benches/instructions.json"
ALLOWED = 1.05
# What the benchmarks of whole requests do in one count; those of single steps do it once.
TIMES = {("hot_path", "call"): 20, ("hot_path", "list"): 20, ("growth", "call"): 20, ("growth", "list"): 5}


def count(bench: str, tools: Path) -> dict[str, int]:
    """Instructions of each benchmark, for one request."""
    environment = os.environ | {"PATH": f"{tools.resolve()}/bin:{os.environ['PATH']}", "GUNGRAUN_OUTPUT_FORMAT": "json"}
    command = ["cargo", "bench", "--quiet", "--profile", "instructions", "-p", "aldgate-benches", "--bench", bench]
    done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"the instructions of `{bench}` could not be counted")
    found = {}
    for line in filter(None, done.stdout.splitlines()):
        one = json.loads(line)
        name = f"{one['function_name']}.{one['id']}"
        found[name] = round(instructions(one) / TIMES.get((bench, one["function_name"]), 1))
    if not found:
        raise SystemExit(f"`{bench}` counted nothing")
    return found


def instructions(summary: dict) -> int:
    """Of the thread that makes the requests; what runs on others, such as the store's, is not counted."""
    return sum(profile["data"]["total"]["metrics"]["Ir"]["values"]["new"] for profile in summary["profiles"])


def check(counted: dict[str, int]) -> int:
    kept = json.loads(KEPT.read_text())["counts"]
    faults = []
    for name, now in counted.items():
        if name not in kept:
            faults.append(f"`{name}` takes {now:,} instructions, and none are kept for it")
            continue
        before = kept[name]["instructions"]
        change = now / before - 1
        print(f"{name:<22}{before:>12,} -> {now:>12,}  {change:+.1%}")
        if now > before * ALLOWED:
            faults.append(f"`{name}` grew by {change:.1%}, from {before:,} to {now:,} instructions; 5 % are allowed")
        if now < before / ALLOWED:
            faults.append(f"`{name}` shrank by {-change:.1%}; accept that, so that it cannot grow back unseen")
    faults += [f"`{name}` is kept, and no benchmark counts it" for name in kept if name not in counted]
    for fault in faults:
        print(fault, file=sys.stderr)
    if faults:
        print(
            "make it cheaper, or say why it has to cost that: "
            'make accept-instructions WHY="what is worth it" writes benches/instructions.json anew',
            file=sys.stderr,
        )
    return 1 if faults else 0


def accept(counted: dict[str, int], why: str) -> int:
    kept = json.loads(KEPT.read_text())["counts"] if KEPT.exists() else {}
    counts = {}
    for name, now in counted.items():
        before = kept.get(name, {})
        grew = not before or now > before["instructions"] * ALLOWED
        if grew and not why:
            print(f'`{name}` is new or grew by more than 5 %; say why: make accept-instructions WHY="…"', file=sys.stderr)
            return 1
        counts[name] = {"instructions": now, "why": why if grew else before["why"]}
    about = "Instructions of one request or step, as `make check-instructions` counts them. Not written by hand."
    KEPT.write_text(json.dumps({"about": about, "counts": counts}, indent=1) + "\n")
    print(f"{len(counts)} counts are in {KEPT.relative_to(ROOT)}")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("do", choices=["check", "accept"])
    parser.add_argument("--tools", type=Path, required=True, help="where scripts/setup-instructions.sh put the runner")
    parser.add_argument("--why", default="", help="what is worth it that something grew")
    arguments = parser.parse_args()
    counted = count("hot_path", arguments.tools)
    return check(counted) if arguments.do == "check" else accept(counted, arguments.why.strip())


if __name__ == "__main__":
    sys.exit(main())
