"""Programs that are measured: starting and ending them, their CPU time and memory as the operating system counts them."""

import os
import re
import signal
import subprocess
import threading
from pathlib import Path

TICK = os.sysconf("SC_CLK_TCK")


def start(command: list[str], **how) -> subprocess.Popen:
    return subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, bufsize=1, **how)


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


def end(process: subprocess.Popen) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(15)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def family(pid: int) -> list[int]:
    """A process and those that it started, such as nginx's workers."""
    found = [pid]
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and parent_of(int(folder.name)) == pid:
            found.append(int(folder.name))
    return found


def parent_of(pid: int) -> int | None:
    try:
        return int(fields_of(pid)[1])
    except (FileNotFoundError, ProcessLookupError):
        return None


def fields_of(pid: int) -> list[str]:
    """`/proc/PID/stat` from its third field on."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def cpu_seconds(process: subprocess.Popen) -> float:
    """User and system time of a process and of its threads that have ended, in steps of the clock's tick."""
    return ticks(process.pid) / TICK


def ticks(pid: int) -> int:
    fields = fields_of(pid)
    return int(fields[11]) + int(fields[12])


class Spent:
    """CPU time of processes from when this was made. The scheduler counts each thread's nanoseconds; where a thread ended
    meanwhile, the process's ticks are taken, which count it too."""

    def __init__(self, pids: list[int]) -> None:
        self.begun = {pid: (threads_of(pid), ticks(pid)) for pid in pids}

    def seconds(self) -> float:
        return sum(self.of(pid) for pid in self.begun)

    def of(self, pid: int) -> float:
        threads, counted = self.begun[pid]
        now = threads_of(pid)
        if not now or threads.keys() - now.keys():
            return (ticks(pid) - counted) / TICK
        return sum(spent - threads.get(thread, 0) for thread, spent in now.items()) / 1e9


def threads_of(pid: int) -> dict[str, int]:
    """Nanoseconds on a CPU of each thread."""
    found = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            found[task.name] = int((task / "schedstat").read_text().split()[0])
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def forget_peak(pids: list[int]) -> None:
    """From now on the peak of the resident set is counted anew."""
    for pid in pids:
        Path(f"/proc/{pid}/clear_refs").write_text("5")


def memory_mib(pids: list[int], what: str = "VmHWM") -> float:
    """Peak (`VmHWM`) or size (`VmRSS`) of the resident sets together."""
    total = 0
    for pid in pids:
        found = re.search(rf"{what}:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
        total += int(found[1]) if found else 0
    return total / 1024


def busy_seconds() -> float:
    """Time that all CPUs together did something, since the machine started."""
    user, nice, system, _idle, _wait, irq, soft = map(int, Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:8])
    return (user + nice + system + irq + soft) / TICK


def listener(port: int) -> int | None:
    """The process that listens on a port of this machine, where this may be seen."""
    sockets = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and int(fields[1].rpartition(":")[2], 16) == port:
                sockets.add(f"socket:[{fields[9]}]")
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            if any(os.readlink(held) in sockets for held in (folder / "fd").iterdir()):
                return int(folder.name)
        except OSError:
            continue
    return None
