"""What a call and a list cost as a gateway grows: tools, policies, upstreams, and a mebibyte at once."""

from bed import Bed, Programs
from gateway import Setup
from load import Shape, Target, apply, together

TOOLS = (10, 1000, 10_000)
POLICIES = (1, 50, 500)
UPSTREAMS = (1, 10)
MEBIBYTE = 1 << 20
# So that a list is one page, and what is large is let through.
LIMITS = "list_page = 100000\nbody_bytes = 4194304\n"


def measure(programs: Programs, rounds: int, seconds: float) -> dict:
    return {
        "tools": {str(count): tools(programs, count, rounds, seconds) for count in TOOLS},
        "policies": {
            str(count): {"call": calls(programs, Setup("", policies=count), rounds, seconds)} for count in POLICIES
        },
        "upstreams": {
            str(count): {"call": calls(programs, Setup("", upstreams=count), rounds, seconds)} for count in UPSTREAMS
        },
        "megabyte": megabyte(programs, rounds, seconds),
    }


def calls(programs: Programs, setup: Setup, rounds: int, seconds: float) -> dict:
    """The call of the last tool of the last upstream, on one connection."""
    with Bed(programs) as bed:
        direct = bed.echo(setup.tools)
        setup.url = direct.url
        governed = bed.aldgate(direct, setup)
        shape = Shape("call", seconds=seconds, tool=setup.tool())
        return together([apply(programs.load, governed, shape) for _ in range(rounds)])


def tools(programs: Programs, count: int, rounds: int, seconds: float) -> dict:
    """Call and list on one connection; the list also through nginx, from an upstream whose list has as many bytes."""
    with Bed(programs) as bed:
        direct = bed.echo(count)
        setup = Setup(direct.url, tools=count, limits=LIMITS)
        governed = bed.aldgate(direct, setup)
        once = Shape("list", seconds=1, most=1, tools=count)
        ours, theirs = (apply(programs.load, target, once)["bytes"] for target in (governed, direct))
        plain = bed.nginx(bed.echo(count, list_bytes=max(0, ours - theirs)))
        shapes = {what: Shape(what, seconds=seconds, tool=setup.tool(), tools=count) for what in ("call", "list")}
        taken = in_turn(programs, rounds, {
            "call": (governed, shapes["call"]),
            "list": (governed, shapes["list"]),
            "nginx": (plain, shapes["list"]),
        })  # fmt: skip
        return {"call": taken["call"], "list": taken["list"] | {"nginx": taken["nginx"]}}


def megabyte(programs: Programs, rounds: int, seconds: float) -> dict:
    """Arguments, and results, of a mebibyte."""
    found = {}
    for name, argument, result in (("arguments", MEBIBYTE, 0), ("results", 32, MEBIBYTE)):
        with Bed(programs) as bed:
            direct = bed.echo(result_bytes=result)
            setup = Setup(direct.url, limits=LIMITS)
            shape = Shape("call", seconds=seconds, tool=setup.tool(), argument_bytes=argument)
            targets = [direct, bed.nginx(direct), bed.hyper(direct), bed.aldgate(direct, setup)]
            found[name] = in_turn(programs, rounds, {target.name: (target, shape) for target in targets})
    return found


def in_turn(programs: Programs, rounds: int, cells: dict[str, tuple[Target, Shape]]) -> dict:
    taken: dict[str, list[dict]] = {name: [] for name in cells}
    for _ in range(rounds):
        for name, (target, shape) in cells.items():
            taken[name].append(apply(programs.load, target, shape))
    return {name: together(rounds_) for name, rounds_ in taken.items()}
