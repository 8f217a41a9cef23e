"""What contracts cost: each step for one tool, a whole list against its lock, and a gateway's comparison of it."""

import json
import subprocess
from pathlib import Path

TOOLS = 10_000


def measure(binaries: Path, rounds: int) -> dict:
    """CPU time of one thread, as the scheduler counts it; see `benches/examples/contracts`."""
    command = [str(binaries / "examples/contracts"), str(rounds), str(TOOLS)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=1800)
    return json.loads(done.stdout)
