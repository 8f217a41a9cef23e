#!/usr/bin/env python3
"""Measures one read, direct and through the gateway: CPU time of each process, and latency as a client sees it.

One client, one connection, one call at a time, on loopback: a call of `get_ticket`, which the registry calls read-only
and policies allow. The contract is pinned, each call is ruled, and its two rows of evidence are committed before the
result leaves. The three rounds alternate, so that both ways see the same machine. CPU time is what the operating system
counts for the process (10 ms steps over thousands of calls), the client's own not included.
"""

import argparse
import http.client
import json
import os
import re
import signal
import statistics
import subprocess
import tempfile
import threading
import time
from pathlib import Path

TICK = os.sysconf("SC_CLK_TCK")
POLICY = """\
@id("bench")
permit (principal, action in [Action::"call", Action::"call_unattended"], resource is Tool);
@id("bench-operates")
permit (principal, action == Action::"operate", resource == Gateway::"aldgate");
"""


def wait_for(process: subprocess.Popen, pattern: str, within: float = 120) -> re.Match:
    """The first line of a process's standard error that matches."""
    # Whatever comes too late is ended; its output ends with it.
    patience = threading.Timer(within, process.kill)
    patience.start()
    seen = []
    try:
        for line in process.stderr:
            seen.append(line)
            if found := re.search(pattern, line):
                return found
    finally:
        patience.cancel()
    raise SystemExit(f"`{pattern}` did not come:\n{''.join(seen)}")


def start(command: list[str], **how) -> subprocess.Popen:
    return subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, bufsize=1, **how)


def end(process: subprocess.Popen) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(15)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def configure(binary: str, folder: str, policy: str, more: str) -> str:
    """Writes the configuration of a gateway with one principal and pins its contracts; returns the principal's token."""
    made = subprocess.run([binary, "token", "new", "bench"], check=True, capture_output=True, text=True)
    principal = made.stderr[made.stderr.index("[[principals]]"):]
    Path(folder, "policies.cedar").write_text(policy)
    Path(folder, "aldgate.toml").write_text(
        f'[gateway]\nlisten = "127.0.0.1:0"\nstate_dir = "state"\n[admin]\nlisten = "127.0.0.1:0"\n'
        f'[policy]\nfiles = ["policies.cedar"]\n{principal}\n{more}'
    )
    subprocess.run([binary, "contracts", "pin"], cwd=folder, check=True, capture_output=True, text=True)
    return made.stdout.strip()


def cpu_seconds(process: subprocess.Popen) -> float:
    """User and system time of a process and of its threads that have ended."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


class Caller:
    """One connection on which the same call is made again and again."""

    def __init__(self, url: str, token: str | None) -> None:
        host, _, path = url.removeprefix("http://").partition("/")
        self.path = f"/{path}"
        self.connection = http.client.HTTPConnection(host, timeout=30)
        self.id = 0
        self.headers = {
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": "2026-07-28",
            "mcp-method": "tools/call",
            "mcp-name": "get_ticket",
        }
        if token:
            self.headers["authorization"] = f"Bearer {token}"

    def call(self) -> None:
        self.id += 1
        body = {
            "jsonrpc": "2.0",
            "id": self.id,
            "method": "tools/call",
            "params": {
                "name": "get_ticket",
                "arguments": {"ticket_id": "SR-20031"},
                "_meta": {
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientCapabilities": {},
                    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
                },
            },
        }
        self.connection.request("POST", self.path, json.dumps(body), self.headers)
        response = self.connection.getresponse()
        text = response.read().decode()
        # A stream ends with the answer in its last event.
        if "text/event-stream" in response.getheader("content-type", ""):
            text = [line.removeprefix("data:") for line in text.splitlines() if line.startswith("data:")][-1]
        answer = json.loads(text)
        if response.status != 200 or answer.get("result", {}).get("structuredContent", {}).get("ticket_id") != "SR-20031":
            raise SystemExit(f"the call did not give the ticket: {response.status} {text[:400]}")


def measure(caller: Caller, processes: list[subprocess.Popen], calls: int) -> tuple[list[float], list[float]]:
    """CPU µs per call of each process, and the latencies in µs."""
    for _ in range(calls // 10):
        caller.call()
    before = [cpu_seconds(process) for process in processes]
    latencies = []
    for _ in range(calls):
        begun = time.perf_counter_ns()
        caller.call()
        latencies.append((time.perf_counter_ns() - begun) / 1000)
    after = [cpu_seconds(process) for process in processes]
    return [(end - begin) / calls * 1e6 for begin, end in zip(before, after)], latencies


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--calls", type=int, default=3000, help="calls in each round")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    binary = str(arguments.binary.resolve())
    running: list[subprocess.Popen] = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            server = start([binary, "serve", "field-service", "--listen", "127.0.0.1:0"])
            running.append(server)
            direct = wait_for(server, r"(http://\S+/tickets/mcp)")[1]
            token = configure(
                binary,
                folder,
                POLICY,
                f'[upstreams.tickets]\nkind = "http"\nurl = "{direct}"\nlock = "tickets.json"\n'
                f'[registry."tickets/get_ticket"]\nauthority = "automatic"\nlabels = []\nread_only = true\n',
            )
            gateway = start([binary, "serve", "gateway"], cwd=folder)
            running.append(gateway)
            governed = wait_for(gateway, r"agents: (http://\S+)")[1]
            ways = {"direct": Caller(direct, None), "through the gateway": Caller(governed, token)}
            cpu: dict[str, list[list[float]]] = {name: [] for name in ways}
            latency: dict[str, list[float]] = {name: [] for name in ways}
            for _ in range(3):
                for name, caller in ways.items():
                    spent, took = measure(caller, [server, gateway], arguments.calls)
                    cpu[name].append(spent)
                    latency[name] += took
        finally:
            for process in reversed(running):
                end(process)
    rows = {}
    for name in ways:
        took = sorted(latency[name])
        rows[name] = {
            "server_cpu_us": round(statistics.median(round_[0] for round_ in cpu[name]), 1),
            "gateway_cpu_us": round(statistics.median(round_[1] for round_ in cpu[name]), 1),
            "p50_us": round(took[len(took) // 2], 1),
            "p99_us": round(took[len(took) * 99 // 100], 1),
        }
    if arguments.json:
        print(json.dumps({"calls": arguments.calls * 3, "binary": binary, "rows": rows}))
        return
    print(f"get_ticket, {arguments.calls * 3} calls each way, one at a time, {os.cpu_count()} CPUs, {binary}")
    print(f"{'':<22}{'server CPU':>12}{'gateway CPU':>13}{'p50':>10}{'p99':>10}   (µs for a call)")
    for name, row in rows.items():
        print(f"{name:<22}{row['server_cpu_us']:>12}{row['gateway_cpu_us']:>13}{row['p50_us']:>10}{row['p99_us']:>10}")


if __name__ == "__main__":
    main()
