#!/usr/bin/env python3
"""Measures what an idle subscription costs the gateway: memory that is resident, and CPU time while nothing happens.

One gateway in front of the field-service tickets server, release build. Each subscription is one connection that listens to
the lists and to one ticket, opened over loopback by this program. The memory is the growth of the gateway's resident set
(VmRSS) from just before the first subscription to after the last one, divided by their number; what the kernel keeps for
sockets is not in it.
"""

import argparse
import asyncio
import json
import resource
import subprocess
import tempfile
import time
from pathlib import Path

from gateway import configure
from processes import cpu_seconds, end, start, wait_for

REVISION = "2026-07-28"
POLICY = '@id("all") permit (principal, action, resource);\n'


def resident(process: subprocess.Popen) -> int:
    """KiB of memory that are resident."""
    for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise SystemExit("the resident set is not to be had; this measurement needs Linux")


def request(host: str, token: str, number: int, uri: bool) -> bytes:
    filter_ = {"toolsListChanged": True, "promptsListChanged": True, "resourcesListChanged": True}
    if uri:
        filter_["resourceSubscriptions"] = ["ticket://SR-20031"]
    meta = {
        "io.modelcontextprotocol/protocolVersion": REVISION,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "aldgate-bench", "version": "1"},
    }
    body = json.dumps(
        {
            "jsonrpc": "2.0",
            "id": number,
            "method": "subscriptions/listen",
            "params": {"notifications": filter_, "_meta": meta},
        }
    ).encode()
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"
        f"Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: {REVISION}\r\n"
        f"Mcp-Method: subscriptions/listen\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


async def open_all(host: str, token: str, count: int, at_once: int, uri: bool) -> list[asyncio.StreamWriter]:
    address, port = host.rsplit(":", 1)
    held: list[asyncio.StreamWriter] = []

    async def one(number: int) -> None:
        reader, writer = await asyncio.open_connection(address, int(port), limit=4096)
        writer.write(request(host, token, number, uri))
        first = await reader.readuntil(b"notifications/subscriptions/acknowledged")
        if not first.startswith(b"HTTP/1.1 200"):
            raise SystemExit(f"the subscription was refused: {first[:300]!r}")
        held.append(writer)

    for begin in range(0, count, at_once):
        await asyncio.gather(*(one(number) for number in range(begin, min(begin + at_once, count))))
    return held


async def measure(host: str, token: str, gateway: subprocess.Popen, count: int, uri: bool) -> dict:
    warm = await open_all(host, token, 100, 50, uri)
    for writer in warm:
        writer.close()
    await asyncio.sleep(1)
    before = resident(gateway)
    begun = time.monotonic()
    held = await open_all(host, token, count, 100, uri)
    took = time.monotonic() - begun
    await asyncio.sleep(2)
    after = resident(gateway)
    spent = cpu_seconds(gateway)
    await asyncio.sleep(5)
    idle = (cpu_seconds(gateway) - spent) / 5
    for writer in held:
        writer.close()
    return {
        "subscriptions": count,
        "kib_each": round((after - before) / count, 2),
        "rss_before_kib": before,
        "rss_after_kib": after,
        "opened_per_second": round(count / took),
        "idle_cpu_percent": round(idle * 100, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    binary = str(arguments.binary.resolve())
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < arguments.count + 500:
        raise SystemExit(f"{arguments.count} subscriptions need as many open files, {hard} are allowed; use --count")
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    running: list[subprocess.Popen] = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            server = start([binary, "serve", "field-service", "--listen", "127.0.0.1:0"])
            running.append(server)
            direct = wait_for(server, r"(http://\S+/tickets/mcp)")[1]
            most = arguments.count + 500
            token = configure(
                binary,
                folder,
                POLICY,
                f"[limits]\nconnections = {most}\nlistens = {most}\nlistens_per_principal = {most}\n"
                f'[upstreams.tickets]\nkind = "http"\nurl = "{direct}"\nlock = "tickets.json"\n'
                f'[registry."tickets/get_ticket"]\nauthority = "automatic"\nlabels = []\nread_only = true\n'
                f'[resources."tickets/ticket://{{ticket_id}}"]\nauthority = "automatic"\nlabels = []\nread_only = true\n',
            )
            rows = {}
            for name, uri in (("lists alone", False), ("lists and a resource", True)):
                # A process of its own for each: memory that was used before would be used again.
                gateway = start([binary, "serve", "gateway"], cwd=folder)
                running.append(gateway)
                host = wait_for(gateway, r"agents: http://([^/\s]+)/")[1]
                rows[name] = asyncio.run(measure(host, token, gateway, arguments.count, uri))
                end(running.pop())
        finally:
            for process in reversed(running):
                end(process)
    if arguments.json:
        print(json.dumps({"binary": binary, "rows": rows}))
        return
    print(f"idle subscriptions, {binary}")
    print(f"{'':<22}{'count':>8}{'KiB each':>10}{'RSS MiB':>9}{'opened/s':>10}{'idle CPU %':>12}")
    for name, row in rows.items():
        print(
            f"{name:<22}{row['subscriptions']:>8}{row['kib_each']:>10}{row['rss_after_kib'] / 1024:>9.0f}"
            f"{row['opened_per_second']:>10}{row['idle_cpu_percent']:>12}"
        )


if __name__ == "__main__":
    main()
