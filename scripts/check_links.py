#!/usr/bin/env python3
"""Checks that every relative link in the documents leads to a file, and every `#anchor` to a heading of it."""

import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^(`{3,})[^`]*\n.*?^\1\s*$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#{1,6} (.+?)\s*$", re.MULTILINE)


def documents() -> list[Path]:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.md"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def prose(path: Path) -> str:
    return FENCE.sub("", path.read_text(encoding="utf-8"))


def anchors(path: Path) -> set[str]:
    """Anchors of a document's headings, as they are made of their text."""
    kept = (re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in HEADING.findall(prose(path)))
    return set(kept)


def main() -> int:
    faults = []
    checked = 0
    for document in documents():
        for target in LINK.findall(prose(document)):
            if re.match(r"[a-z][a-z0-9+.-]*:", target):
                continue
            checked += 1
            path, _, anchor = target.partition("#")
            file = (document.parent / unquote(path)).resolve() if path else document
            shown = f"{document.relative_to(ROOT)} links to `{target}`"
            if not file.exists() or not file.is_relative_to(ROOT):
                faults.append(f"{shown}, which is not in the repository")
            elif anchor and file.suffix == ".md" and anchor not in anchors(file):
                faults.append(f"{shown}, and there is no such heading")
    for fault in faults:
        print(fault, file=sys.stderr)
    if not faults:
        print(f"{checked} links between documents")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
