"""The report as a table, with ratios and with the aims that are met and those that are not."""

from collections.abc import Callable, Iterator

RSS_MIB = 30


def lines(report: dict) -> Iterator[str]:
    machine = report["machine"]
    yield (
        f"{machine['date']}, commit {machine['commit']}, {machine['cpus']} CPUs ({machine['model']}), "
        f"sampling of spans: {report['sampling'] or 'not configurable in this version'}"
    )
    for what in ("call", "list"):
        if what in report:
            yield from comparison(f"tools/{what}", report[what])
    for sizes in ("tools", "policies", "upstreams", "drift"):
        if sizes in report:
            yield from growth(sizes, report[sizes])
    if "megabyte" in report:
        for name, targets in report["megabyte"].items():
            yield from comparison(f"1 MiB {name}", {"c1": targets})
    if "search" in report:
        yield from search(report["search"])
    if "steps_us" in report.get("contracts", {}):
        yield from contracts(report["contracts"])
    if "token_us" in report.get("identity", {}):
        yield from identity(report["identity"])
    yield ""
    yield "Aims"
    for said in aims(report):
        yield f"  {said}"


def comparison(title: str, cells: dict) -> Iterator[str]:
    yield ""
    yield (
        f"{title:<12}{'':<9}{'req/s':>9}{'p50 ms':>9}{'p99 ms':>9}{'CPU µs':>9}{'(range)':>18}{'allocs':>9}"
        f"{'RSS MiB':>9}{'foreign %':>11}"
    )
    for concurrency, targets in cells.items():
        for name, cell in targets.items():
            between = cell.get("cpu_us_range")
            yield (
                f"{concurrency:<12}{name:<9}{cell['rps']:>9.0f}{cell['p50_ms']:>9.3f}{cell['p99_ms']:>9.3f}"
                f"{number(cell['cpu_us'], 1):>9}{f'{between[0]:.1f}..{between[1]:.1f}' if between else '-':>18}"
                f"{number(cell.get('allocs'), 0):>9}{number(cell['rss_mib'], 1):>9}{cell['foreign_percent']:>11.0f}"
            )
        pairs = [("aldgate", "hyper"), ("hyper", "nginx"), ("aldgate", "nginx"), ("aldgate", "peer")]
        ratios = [
            f"{over}/{under} {targets[over]['cpu_us'] / targets[under]['cpu_us']:.2f}"
            for over, under in pairs
            if targets.get(over, {}).get("cpu_us") and targets.get(under, {}).get("cpu_us")
        ]
        yield f"{'':<12}CPU: {', '.join(ratios)}"


def growth(of: str, sizes: dict) -> Iterator[str]:
    yield ""
    yield f"{of:<12}{'':<15}{'instructions':>14}{'p50 ms':>9}{'CPU µs':>9}{'RSS MiB':>9}{'KiB':>9}"
    for size, kinds in sizes.items():
        for what, cell in kinds.items():
            for name, one in ((what, cell), (f"{what} (nginx)", cell.get("nginx"))):
                if one:
                    counted = one.get("instructions")
                    yield (
                        f"{size:<12}{name:<15}{'-' if counted is None else f'{counted:,}':>14}{number(one.get('p50_ms'), 3):>9}"
                        f"{number(one.get('cpu_us'), 1):>9}{number(one.get('rss_mib'), 1):>9}"
                        f"{number(one['bytes'] / 1024 if 'bytes' in one else None, 1):>9}"
                    )


def search(sizes: dict) -> Iterator[str]:
    yield ""
    yield f"{'search':<12}{'p50 ms':>9}{'p99 ms':>9}{'CPU µs':>9}{'load s':>9}{'generate s':>12}{'RSS MiB':>9}"
    for size, cell in sizes.items():
        yield (
            f"{size:<12}{cell['p50_ms']:>9.2f}{cell['p99_ms']:>9.2f}{cell['cpu_us']:>9.0f}{cell['load_s']:>9.2f}"
            f"{cell['generate_s']:>12.1f}{cell['rss_mib']:>9.1f}"
        )


def contracts(found: dict) -> Iterator[str]:
    what = f"{found['definitions']} definitions of {found['definition_bytes']} bytes"
    for title, unit, costs in (
        (f"contracts: one tool; {what}", "µs", found["steps_us"]),
        (f"contracts: {found['tools']:,} tools, a list of {found['list_bytes'] / 2**20:.1f} MiB and its lock", "ms", found["lists_ms"]),
        (f"contracts: {found['tools']:,} tools, one comparison by the gateway", "ms", found["comparison_ms"]),
    ):
        yield ""
        yield f"{title:<80}{f'CPU {unit}':>9}{'(range)':>18}"
        for name, cost in costs.items():
            low, high = cost["range"]
            yield f"  {name.replace('_', ' '):<78}{cost['median']:>9.1f}{f'{low:.1f}..{high:.1f}':>18}"


def identity(found: dict) -> Iterator[str]:
    yield ""
    yield f"{'checking a token':<80}{'CPU µs':>9}{'(range)':>18}"
    for name, cost in found["token_us"].items():
        low, high = cost["range"]
        yield f"  {name:<78}{cost['median']:>9.1f}{f'{low:.1f}..{high:.1f}':>18}"
    cost = found["argon2id"]
    what = f"sign-ins with a password (argon2id, {cost['kib'] / 1024:.0f} MiB, {cost['passes']} passes, {cost['lanes']} lane)"
    yield ""
    yield f"{what:<62}{'per second':>12}{'(range)':>16}{'CPU ms':>9}{'p50 ms':>9}"
    for name, cell in found["sign_ins"].items():
        low, high = cell["per_second_range"]
        yield (
            f"  {name:<60}{cell['per_second']:>12.1f}{f'{low:.1f}..{high:.1f}':>16}{cell['cpu_ms']:>9.1f}{cell['p50_ms']:>9.1f}"
        )


def number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def aims(report: dict) -> Iterator[str]:
    """Each aim with what was measured, as far as it was."""

    def one(what: str, most: float, measured: Callable[[], float], unit: str = "") -> str:
        try:
            value = measured()
        except (KeyError, TypeError):
            return f"not measured: {what}, at most {most:g}{unit}"
        return f"{'met' if value <= most else 'NOT MET'}: {what} is {value:.2f}{unit}, at most {most:g}{unit}"

    call = report.get("call", {})
    yield one(
        "CPU of a call at c=16, aldgate to hyper", 2, lambda: call["c16"]["aldgate"]["cpu_us"] / call["c16"]["hyper"]["cpu_us"]
    )
    yield one(
        "CPU of a call at c=16, hyper to nginx", 1.5, lambda: call["c16"]["hyper"]["cpu_us"] / call["c16"]["nginx"]["cpu_us"]
    )
    yield one(
        "instructions of a call with 10,000 tools, to those with 10",
        1.1,
        lambda: report["tools"]["10000"]["call"]["instructions"] / report["tools"]["10"]["call"]["instructions"],
    )
    yield one(
        "CPU of a list of 10,000 tools, aldgate to nginx",
        1,
        lambda: report["tools"]["10000"]["list"]["cpu_us"] / report["tools"]["10000"]["list"]["nginx"]["cpu_us"],
    )
    for state, what in (("history", "four earlier contracts each"), ("noted", "drift"), ("quarantined", "999 quarantined")):
        yield one(
            f"instructions of a call beside 1,000 tools with {what}, to those with none",
            1.01,
            lambda state=state: report["drift"][state]["call"]["instructions"] / report["tools"]["1000"]["call"]["instructions"],
        )
    yield one("memory at c=64, calls", RSS_MIB, lambda: call["c64"]["aldgate"]["rss_mib"], " MiB")
