"""Calls and lists, direct, through nginx, through a bare pass-through, through Aldgate, and through a rival."""

import os
from urllib.parse import urlsplit

from bed import Bed, Programs
from gateway import Setup
from load import Shape, Target, apply, together
from processes import listener

CONCURRENCY = (1, 16, 64)


def peer(direct: Target) -> Target | None:
    """The rival that `ALDGATE_BENCH_PEER` names. Who runs it points it at the upstream, whose address
    `ALDGATE_BENCH_LISTEN` fixes."""
    url = os.environ.get("ALDGATE_BENCH_PEER")
    if not url:
        return None
    parts = urlsplit(url)
    if parts.hostname not in ("127.0.0.1", "localhost", "::1"):
        raise SystemExit("`ALDGATE_BENCH_PEER` must be a URL of this machine: what is measured stays on it")
    pid = listener(parts.port or 80)
    return Target("peer", url, direct.upstream, [pid] if pid else [], os.environ.get("ALDGATE_BENCH_PEER_TOKEN"))


def measure(programs: Programs, rounds: int, seconds: float) -> dict:
    """`call` and `list`, by concurrency and target. The targets take turns within each round, in another order each time."""
    found: dict = {"call": {}, "list": {}}
    with Bed(programs) as bed:
        direct = bed.echo(listen=os.environ.get("ALDGATE_BENCH_LISTEN", "127.0.0.1:0"))
        setup = Setup(direct.url)
        targets = [direct, bed.nginx(direct), bed.hyper(direct), bed.aldgate(direct, setup)]
        if rival := peer(direct):
            targets.append(rival)
        for what in found:
            for connections in CONCURRENCY:
                shape = Shape(what, connections, seconds, tool=setup.tool(), tools=setup.tools)
                taken: dict[str, list[dict]] = {target.name: [] for target in targets}
                for number in range(rounds):
                    turn = number % len(targets)
                    for target in targets[turn:] + targets[:turn]:
                        taken[target.name].append(apply(programs.load, target, shape))
                found[what][f"c{connections}"] = {name: together(cells) for name, cells in taken.items()}
    return found
