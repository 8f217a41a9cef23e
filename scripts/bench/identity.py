"""What it costs to find out who calls: checking a token, and a person's sign-in with a password."""

import http.client
import json
import re
import statistics
import subprocess
import tempfile
import threading
import time
from html import unescape
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import gateway
from processes import Spent, end

# People who sign in at once.
TOGETHER = (1, 4)
SIGN_IN = "/oauth/sign-in"


def measure(binaries: Path, rounds: int, seconds: float) -> dict:
    """Tokens on one thread, by the program `token_checking`; sign-ins at a gateway that runs, through its pages."""
    program = binaries / "examples/token_checking"
    if not program.exists():
        raise SystemExit(f"{program} is not built; `make bench` builds it")
    done = subprocess.run([str(program), str(rounds)], stdout=subprocess.PIPE, text=True, check=True, timeout=600)
    return json.loads(done.stdout) | {"sign_ins": sign_ins(str(binaries / "aldgate"), rounds, seconds)}


def sign_ins(binary: str, rounds: int, seconds: float) -> dict:
    with tempfile.TemporaryDirectory(prefix="aldgate-bench-") as folder:
        config = '[gateway]\nlisten = "127.0.0.1:0"\n[admin]\nlisten = "127.0.0.1:0"\n'
        (Path(folder) / "aldgate.toml").write_text(config)
        people = []
        for number in range(max(TOGETHER)):
            command = [binary, "users", "add", f"person{number}", "--json"]
            made = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
            people.append((f"person{number}", json.loads(made.stdout)["one_time_password"]))
        process, url = gateway.serve(binary, folder)
        try:
            address = url.removeprefix("http://").removesuffix("/mcp")
            # A password that is good once is changed before anything is measured.
            people = [(name, settled(address, name, password)) for name, password in people]
            return {f"c{count}": signed_in(process.pid, address, people[:count], rounds, seconds) for count in TOGETHER}
        finally:
            end(process)


def signed_in(pid: int, address: str, people: list[tuple[str, str]], rounds: int, seconds: float) -> dict:
    each, took, cpu = [], [], []
    for _ in range(rounds):
        spent, begun = Spent([pid]), time.perf_counter()
        found: list[list[float]] = [[] for _ in people]
        workers = [
            threading.Thread(target=keep_signing_in, args=(address, *person, begun + seconds, found[number]))
            for number, person in enumerate(people)
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        elapsed, times = time.perf_counter() - begun, [one for many in found for one in many]
        if not times or any(not many for many in found):
            raise SystemExit("a sign-in was refused")
        each.append(len(times) / elapsed)
        cpu.append(spent.seconds() * 1000 / len(times))
        took += times
    return {
        "per_second": statistics.median(each), "per_second_range": [min(each), max(each)],
        "cpu_ms": statistics.median(cpu), "p50_ms": statistics.median(took) * 1000,
    }


def keep_signing_in(address: str, name: str, password: str, until: float, found: list[float]) -> None:
    """Each sign-in is of a browser that was never there before."""
    while True:
        begun = time.perf_counter()
        if begun >= until:
            return
        if not is_in(*Browser(address).sign_in(name, password)):
            found.clear()
            return
        found.append(time.perf_counter() - begun)


def settled(address: str, name: str, password: str) -> str:
    """Changes the password that is good once, and returns the one that holds from then on."""
    browser, chosen = Browser(address), f"{password}-chosen"
    status, led = browser.sign_in(name, password)
    if not is_in(status, led):
        raise SystemExit(f"the first sign-in of {name} was answered with {status} and leads to `{led}`")
    # On loopback a session is good together with the key in the addresses of its pages alone.
    action, fields = form_of(browser.send("GET", led)[2])
    status, led, _ = browser.send("POST", action, fields | {"new": chosen, "repeated": chosen})
    if not is_in(status, led):
        raise SystemExit(f"the password of {name} was not changed: {status}, which leads to `{led}`")
    return chosen


def is_in(status: int, led: str) -> bool:
    """Whether an answer leads on, and not back to the page to sign in."""
    return status == 303 and bool(led) and urlsplit(led).path != SIGN_IN


def form_of(page: str) -> tuple[str, dict[str, str]]:
    """Where the first form of a page is sent, and its fields that nobody sees."""
    form = page.partition("<form")[2].partition("</form>")[0]
    action = re.search(r'action="([^"]*)"', form)
    if action is None:
        raise SystemExit("a page has no form")
    hidden = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', form)
    return unescape(action[1]), {name: unescape(value) for name, value in hidden}


class Browser:
    def __init__(self, address: str) -> None:
        self.address = address
        self.cookies: dict[str, str] = {}

    def send(self, method: str, path: str, form: dict[str, str] | None = None) -> tuple[int, str, str]:
        """The status, where it leads (empty where nowhere), and the page."""
        headers = {"cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())} if self.cookies else {}
        if form is not None:
            headers |= {
                "content-type": "application/x-www-form-urlencoded", "origin": f"http://{self.address}",
                "sec-fetch-site": "same-origin",
            }
        connection = http.client.HTTPConnection(self.address, timeout=60)
        connection.request(method, path, urlencode(form) if form is not None else None, headers)
        response = connection.getresponse()
        page = response.read().decode()
        for cookie in response.headers.get_all("set-cookie") or []:
            name, _, value = cookie.partition(";")[0].partition("=")
            self.cookies[name] = value
        connection.close()
        return response.status, response.headers.get("location", ""), page

    def sign_in(self, name: str, password: str) -> tuple[int, str]:
        action, fields = form_of(self.send("GET", SIGN_IN)[2])
        return self.send("POST", action, fields | {"name": name, "password": password})[:2]
