#!/usr/bin/env python3
"""Measures what a list costs the gateway: CPU time of `tools/list` with 10, 1,000 and 10,000 tools on one page.

The upstream is a small server in this program; it is asked when contracts are pinned and compared, and not for the lists
that clients get. Where nginx is installed, it passes the same bytes on as a plain proxy, measured in turn with the gateway.
"""

import argparse
import http.client
import http.server
import json
import shutil
import socket
import statistics
import subprocess
import tempfile
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

from bench import configure, cpu_seconds, end, start, wait_for

# One process, and no file beside memory for what is passed on.
NGINX = """daemon off; master_process off; pid {folder}/nginx.pid; error_log stderr;
events {{}}
http {{
  access_log off; keepalive_requests 1000000;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; proxy_max_temp_file_size 0;
  fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  upstream many {{ server 127.0.0.1:{upstream}; keepalive 4; }}
  server {{
    listen 127.0.0.1:{port};
    location / {{ proxy_pass http://many; proxy_http_version 1.1; proxy_set_header Connection ""; }}
  }}
}}
"""

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
    disable_nagle_algorithm = True
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


class Same(Server):
    """Answers everything with the same bytes."""

    answer = b""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(self.answer)))
        self.end_headers()
        self.wfile.write(self.answer)


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

    def list(self) -> bytes:
        self.connection.request("POST", self.path, self.body, self.headers)
        response = self.connection.getresponse()
        body = response.read()
        if response.status != 200:
            raise SystemExit(f"the list was refused: {response.status} {body[:300]!r}")
        return body


def serving(closing: ExitStack, handler: type) -> int:
    """The port of a server in this program."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    closing.callback(server.shutdown)
    return server.server_port


def gateway(closing: ExitStack, binary: str, folder: str) -> tuple[subprocess.Popen, Lister]:
    entries = "".join(
        f'[registry."many/{one["name"]}"]\nauthority = "automatic"\nlabels = []\nread_only = true\n'
        for one in Server.tools
    )
    token = configure(
        binary,
        folder,
        POLICY,
        f"[limits]\nlist_page = 100000\n"
        f'[upstreams.many]\nkind = "http"\nurl = "http://127.0.0.1:{serving(closing, Server)}/mcp"\n'
        f'lock = "many.json"\n{entries}',
    )
    process = start([binary, "serve", "gateway"], cwd=folder)
    closing.callback(end, process)
    return process, Lister(wait_for(process, r"agents: (http://\S+)")[1], token)


def nginx(closing: ExitStack, folder: str) -> tuple[subprocess.Popen, Lister] | None:
    program = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
    if program is None:
        return None
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    config = Path(folder, "nginx.conf")
    config.write_text(NGINX.format(folder=folder, upstream=serving(closing, Same), port=port))
    process = start([program, "-e", "stderr", "-p", folder, "-c", str(config)])
    closing.callback(end, process)
    for _ in range(100):
        with socket.socket() as attempt:
            if attempt.connect_ex(("127.0.0.1", port)) == 0:
                return process, Lister(f"http://127.0.0.1:{port}/mcp", "none")
        if process.poll() is not None:
            raise SystemExit(f"nginx did not start:\n{process.stderr.read()}")
        time.sleep(0.05)
    raise SystemExit("nginx did not listen within 5 s")


def measure(binary: str, count: int, requests: int) -> dict:
    Server.tools = [tool(number) for number in range(count)]
    with tempfile.TemporaryDirectory() as folder, ExitStack() as closing:
        lists = {"gateway": gateway(closing, binary, folder)}
        Same.answer = lists["gateway"][1].list()
        if plain := nginx(closing, folder):
            lists["nginx"] = plain
            if plain[1].list() != Same.answer:
                raise SystemExit("nginx passed on other bytes")
        spent: dict[str, list[float]] = {name: [] for name in lists}
        for _ in range(5):
            for name, (process, lister) in lists.items():
                # A connection that was idle while the other was measured may be closed.
                lister.connection.close()
                before = cpu_seconds(process)
                for _ in range(requests):
                    lister.list()
                spent[name].append((cpu_seconds(process) - before) / requests * 1e6)
    row = {"tools": count, "bytes": len(Same.answer)}
    return row | {f"{name}_cpu_us": round(statistics.median(all), 1) for name, all in spent.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    binary = str(arguments.binary.resolve())
    rows = [measure(binary, count, requests) for count, requests in ((10, 2000), (1000, 500), (10_000, 100))]
    if arguments.json:
        print(json.dumps({"binary": binary, "rows": rows}))
        return
    print(f"tools/list on one page, {binary}")
    print(f"{'tools':>8}{'KiB':>9}{'gateway CPU µs':>17}{'nginx CPU µs':>15}{'ratio':>9}{'gateway µs per KiB more':>26}")
    for row in rows:
        extra = (row["bytes"] - rows[0]["bytes"]) / 1024
        each = f"{(row['gateway_cpu_us'] - rows[0]['gateway_cpu_us']) / extra:.2f}" if extra else "-"
        plain = row.get("nginx_cpu_us")
        ratio = f"{row['gateway_cpu_us'] / plain:.2f}" if plain else "-"
        print(
            f"{row['tools']:>8}{row['bytes'] / 1024:>9.0f}{row['gateway_cpu_us']:>17}"
            f"{'absent' if plain is None else plain:>15}{ratio:>9}{each:>26}"
        )


if __name__ == "__main__":
    main()
