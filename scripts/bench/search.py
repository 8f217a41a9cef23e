"""The field-service system's search of tickets, asked directly, at its usual and at its largest size."""

import http.client
import json
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

from processes import Spent, end, memory_mib, start, wait_for

TICKETS = (2_000, 100_000)
QUESTIONS = Path(__file__).resolve().parents[2] / "systems/field-service/eval/symptoms.json"
TIMES = 3


def measure(binary: str) -> dict:
    return {str(count): at(binary, count) for count in TICKETS}


def at(binary: str, tickets: int) -> dict:
    questions = [question["symptom"] for question in json.loads(QUESTIONS.read_text())]
    with tempfile.TemporaryDirectory(prefix="aldgate-bench-") as folder:
        command = [binary, "serve", "field-service", "--listen", "127.0.0.1:0", "--tickets", str(tickets), "--store", folder]
        begun = time.monotonic()
        server = start(command)
        try:
            wait_for(server, r"http://\S+/tickets/mcp", 600)
            generated = time.monotonic() - begun
        finally:
            end(server)
        begun = time.monotonic()
        server = start(command)
        try:
            url = wait_for(server, r"(http://\S+/tickets/mcp)")[1]
            loaded = time.monotonic() - begun
            took, spent = ask(server.pid, url, questions)
            return {
                "generate_s": round(generated, 2),
                "load_s": round(loaded, 3),
                "queries": len(took),
                "p50_ms": round(took[len(took) // 2], 3),
                "p99_ms": round(took[len(took) * 99 // 100], 3),
                "cpu_us": round(spent / len(took) * 1e6, 1),
                "rss_mib": round(memory_mib([server.pid]), 1),
            }
        finally:
            end(server)


def ask(pid: int, url: str, questions: list[str]) -> tuple[list[float], float]:
    """Milliseconds of each question, in order, and the server's CPU seconds for all. Each is asked once before."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=60)
    for question in questions:
        search(connection, parts.path, question)
    spent, took = Spent([pid]), []
    for _ in range(TIMES):
        for question in questions:
            begun = time.perf_counter()
            search(connection, parts.path, question)
            took.append((time.perf_counter() - begun) * 1000)
    return sorted(took), spent.seconds()


def search(connection: http.client.HTTPConnection, path: str, symptom: str) -> None:
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    arguments = {"model_variant": "AC-250-S", "symptom": symptom, "limit": 5}
    params = {"name": "search_tickets", "arguments": arguments, "_meta": meta}
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "search_tickets",
    }
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    connection.request("POST", path, body, headers)
    response = connection.getresponse()
    text = response.read().decode()
    if "text/event-stream" in response.getheader("content-type", ""):
        text = [line.removeprefix("data:") for line in text.splitlines() if line.startswith("data:")][-1]
    if response.status != 200 or not json.loads(text).get("result", {}).get("structuredContent"):
        raise SystemExit(f"the search was not answered: {response.status} {text[:400]}")
