#!/usr/bin/env python3
"""Says which missed mutants are not accepted: mutants_missed.py MISSED ACCEPTED.

A line of the list of accepted ones is a mutant as cargo-mutants writes it, without line and column. The reason is a
comment above it; a blank line ends what a reason is for.
"""

import re
import sys
from pathlib import Path


def read_accepted(path: Path) -> set[str]:
    accepted, reason = set(), ""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("#"):
            reason = line
        elif not line.strip():
            reason = ""
        elif not reason:
            sys.exit(f"{path}:{number}: a mutant is accepted without a reason above it")
        else:
            accepted.add(line.strip())
    return accepted


def main() -> None:
    missed_file, accepted_file = map(Path, sys.argv[1:])
    accepted = read_accepted(accepted_file)
    missed = [line for line in missed_file.read_text(encoding="utf-8").splitlines() if line.strip()]
    plain = {line: re.sub(r"^([^:]+):\d+:\d+: ", r"\1: ", line) for line in missed}
    new = [line for line in missed if plain[line] not in accepted]
    for line in new:
        print(f"missed: {line}")
    print(f"{len(missed)} missed, {len(missed) - len(new)} of them accepted")
    sys.exit(1 if new else 0)


if __name__ == "__main__":
    main()
