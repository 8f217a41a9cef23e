#!/usr/bin/env python3
"""Says which Rust files are long. A warning only: a file is split because of what it holds, not of its length."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MEAN = 250
MOST = 400


def main() -> None:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.rs"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    lengths = {
        name: len((ROOT / name).read_text(encoding="utf-8").splitlines())
        for name in listed.split("\0")
        if name and (ROOT / name).is_file()
    }
    for name, length in sorted(lengths.items(), key=lambda item: -item[1]):
        if length > MOST:
            print(f"warning: {name} has {length} lines; files over {MOST} should be few")
    mean = sum(lengths.values()) / max(len(lengths), 1)
    print(f"{len(lengths)} Rust files, {mean:.0f} lines on average" + (f", more than {MEAN}" if mean > MEAN else ""))


if __name__ == "__main__":
    main()
