#!/usr/bin/env python3
"""Checks that nothing in the repository refers to a place outside of it that only one machine has."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# In pieces, so that this file does not find itself.
FORBIDDEN = re.compile("|".join([r"\.\./" + "shared", "/" + "work/", "/" + r"root/", "/" + r"home/[a-z]", "/" + "Users/"]))


def main() -> int:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    faults = []
    read = 0
    for name in filter(None, listed.split("\0")):
        path = ROOT / name
        if not path.is_file():
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        read += 1
        for number, line in enumerate(text.splitlines(), start=1):
            if found := FORBIDDEN.search(line):
                faults.append(f"{name}:{number}: `{found.group()}`; copy what is needed into the repository")
    for fault in faults:
        print(fault, file=sys.stderr)
    if not faults:
        print(f"{read} files")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
