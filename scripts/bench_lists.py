#!/usr/bin/env python3
"""Measures what a list costs the gateway: CPU time of `tools/list` with 10, 1,000 and 10,000 tools on one page.

The upstream is a small server in this program; it is asked when contracts are pinned and compared, and not for the lists
that clients get.
"""

import argparse
import http.client
import http.server
import json
import statistics
import subprocess
import tempfile
import threading
from pathlib import Path
from urllib.parse import urlsplit

from bench import cpu_seconds, end, start, wait_for

REVISION = "2026-07-28"
POLICY = '@id("all") permit (principal, action, resource);\n'


def tool(number: int) -> dict:
    return {
        "name": f"tool_{number:05}",
        "title": f"Tool {number}",
        "description": "Looks something up by its key and says what it found. " * 3,
        "inputSchema": {
            "type": "object",
            "properties": {"key": {"type": "string"}, "limit": {"type": "integer", "minimum": 1}},
            "required": ["key"],
            "additionalProperties": False,
        },
        "annotations": {"readOnlyHint": True, "openWorldHint": False},
    }


class Server(http.server.BaseHTTPRequestHandler):
    """Lists `tools`, a thousand on a page."""

    protocol_version = "HTTP/1.1"
    tools: list[dict] = []

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        result: dict = {"resultType": "complete", "ttlMs": 0, "cacheScope": "public"}
        if message["method"] == "server/discover":
            result |= {"supportedVersions": [REVISION], "capabilities": {"tools": {}}}
        else:
            begin = int(message["params"].get("cursor", "0"))
            result["tools"] = self.tools[begin:begin + 1000]
            if begin + 1000 < len(self.tools):
                result["nextCursor"] = str(begin + 1000)
        body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


class Lister:
    def __init__(self, url: str, token: str) -> None:
        parts = urlsplit(url)
        self.connection = http.client.HTTPConnection(parts.netloc, timeout=60)
        self.path = parts.path
        self.headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": REVISION,
            "Mcp-Method": "tools/list",
            "Authorization": f"Bearer {token}",
        }
        meta = {
            "io.modelcontextprotocol/protocolVersion": REVISION,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        self.body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}})

    def list(self) -> int:
        self.connection.request("POST", self.path, self.body, self.headers)
        response = self.connection.getresponse()
        body = response.read()
        if response.status != 200:
            raise SystemExit(f"the list was refused: {response.status} {body[:300]!r}")
        return len(body)


def measure(binary: str, count: int, requests: int) -> dict:
    Server.tools = [tool(number) for number in range(count)]
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    gateway = None
    with tempfile.TemporaryDirectory() as folder:
        try:
            made = subprocess.run([binary, "token", "new", "bench"], check=True, capture_output=True, text=True)
            principal = made.stderr[made.stderr.index("[[principals]]"):]
            entries = "".join(
                f'[registry."many/{one["name"]}"]\nauthority = "automatic"\nlabels = []\nread_only = true\n'
                for one in Server.tools
            )
            Path(folder, "policies.cedar").write_text(POLICY)
            Path(folder, "aldgate.toml").write_text(
                f'[gateway]\nlisten = "127.0.0.1:0"\nstate_dir = "state"\n[admin]\nlisten = "127.0.0.1:0"\n'
                f"[limits]\nlist_page = 100000\n"
                f'[policy]\nfiles = ["policies.cedar"]\n{principal}\n'
                f'[upstreams.many]\nkind = "http"\nurl = "http://127.0.0.1:{server.server_port}/mcp"\n'
                f'lock = "many.json"\n{entries}'
            )
            subprocess.run([binary, "contracts", "pin"], cwd=folder, check=True, capture_output=True, text=True)
            gateway = start([binary, "serve", "gateway"], cwd=folder)
            lister = Lister(wait_for(gateway, r"agents: (http://\S+)")[1], made.stdout.strip())
            size = lister.list()
            spent = []
            for _ in range(5):
                before = cpu_seconds(gateway)
                for _ in range(requests):
                    lister.list()
                spent.append((cpu_seconds(gateway) - before) / requests * 1e6)
        finally:
            if gateway:
                end(gateway)
            server.shutdown()
    return {"tools": count, "bytes": size, "gateway_cpu_us": round(statistics.median(spent), 1)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    binary = str(arguments.binary.resolve())
    rows = [measure(binary, count, requests) for count, requests in ((10, 300), (1000, 200), (10_000, 50))]
    if arguments.json:
        print(json.dumps({"binary": binary, "rows": rows}))
        return
    print(f"tools/list on one page, {binary}")
    print(f"{'tools':>8}{'KiB':>9}{'gateway CPU µs':>17}{'µs per KiB above the first':>29}")
    for row in rows:
        extra = (row["bytes"] - rows[0]["bytes"]) / 1024
        each = f"{(row['gateway_cpu_us'] - rows[0]['gateway_cpu_us']) / extra:.2f}" if extra else "-"
        print(f"{row['tools']:>8}{row['bytes'] / 1024:>9.0f}{row['gateway_cpu_us']:>17}{each:>29}")


if __name__ == "__main__":
    main()
