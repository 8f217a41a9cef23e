#!/usr/bin/env python3
"""Compares the stable codes in the sources with the sections of docs/errors.md.

Every code that stands as a string in the sources (tests left out) must have exactly one section there, every section
must name a code of the sources, and every section must say how the error is told and what to do. Codes that other
documents and the sources' own texts mention must exist.
"""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "errors.md"
CODE = r"AG-[A-Z0-9]+(?:-[A-Z0-9]+)*"
QUOTED = re.compile(rf'"({CODE})"')
MENTIONED = re.compile(rf"{CODE}(?![A-Z0-9-]|…)")
HEADING = re.compile(rf"^### ({CODE})$", re.MULTILINE)


def tracked() -> list[Path]:
    """Files of the repository, new ones included."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def is_test(path: Path) -> bool:
    return "tests" in path.relative_to(ROOT).parts or path.name == "tests.rs"


def main() -> int:
    faults: list[str] = []
    codes: dict[str, Path] = {}
    mentions: dict[str, Path] = {}
    for path in tracked():
        relative = path.relative_to(ROOT)
        if path.suffix == ".rs" and not is_test(path) and relative.parts[0] in ("crates", "systems"):
            text = path.read_text(encoding="utf-8")
            for code in QUOTED.findall(text):
                codes.setdefault(code, relative)
            for code in MENTIONED.findall(text):
                mentions.setdefault(code, relative)
        elif path.suffix == ".md" and path != PAGE:
            for code in MENTIONED.findall(path.read_text(encoding="utf-8")):
                mentions.setdefault(code, relative)
    if not codes:
        faults.append("no code was found in the sources; the script looks in the wrong place")

    page = PAGE.read_text(encoding="utf-8")
    sections = Counter(HEADING.findall(page))
    for code in sorted(codes.keys() - sections.keys()):
        faults.append(f"`{code}` stands in {codes[code]} and has no section in docs/errors.md")
    for code in sorted(sections.keys() - codes.keys()):
        faults.append(f"docs/errors.md has a section `{code}`, which no source holds")
    faults += [f"docs/errors.md has {count} sections `{code}`" for code, count in sections.items() if count > 1]
    for code in sorted(mentions.keys() - codes.keys() - sections.keys()):
        faults.append(f"`{code}` is mentioned in {mentions[code]} and does not exist")
    for part in re.split(r"^(?=### )", page, flags=re.MULTILINE)[1:]:
        name = part.splitlines()[0].removeprefix("### ")
        faults += [f"`{name}` in docs/errors.md does not say `{label}`" for label in ("**Told:**", "**Do:**")
                   if label not in part]

    for fault in faults:
        print(fault, file=sys.stderr)
    if not faults:
        print(f"{len(codes)} codes, each with its section")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
