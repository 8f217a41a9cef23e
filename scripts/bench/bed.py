"""The test bed: the built programs, and whatever was started of them, which ends with it."""

import subprocess
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import gateway
import nginx
from load import Target
from processes import end, start, wait_for


@dataclass
class Programs:
    aldgate: Path
    echo: Path
    pass_through: Path
    load: Path

    @classmethod
    def of(cls, folder: Path) -> "Programs":
        """The programs in a folder of cargo's, such as `target/release`."""
        examples = folder / "examples"
        programs = cls(folder / "aldgate", examples / "echo_upstream", examples / "pass_through", examples / "load")
        for path in vars(programs).values():
            if not path.exists():
                raise SystemExit(f"{path} is not built; `make bench` builds it")
        return programs


class Bed(ExitStack):
    """Starts what is measured; leaving it ends everything."""

    def __init__(self, programs: Programs) -> None:
        super().__init__()
        self.programs = programs
        self.started: dict[int, subprocess.Popen] = {}

    def keep(self, process: subprocess.Popen) -> subprocess.Popen:
        self.started[process.pid] = process
        self.callback(end, process)
        return process

    def folder(self) -> str:
        return self.enter_context(tempfile.TemporaryDirectory(prefix="aldgate-bench-"))

    def echo(
        self, tools: int = 10, result_bytes: int = 64, list_bytes: int = 0, listen: str = "127.0.0.1:0"
    ) -> Target:
        """The upstream itself."""
        more = ["--tools", str(tools), "--result-bytes", str(result_bytes), "--list-bytes", str(list_bytes)]
        more += ["--listen", listen]
        process = self.keep(start([str(self.programs.echo), *more]))
        return Target("direct", wait_for(process, r"echo: (http://\S+)")[1], process.pid)

    def aldgate(self, direct: Target, setup: gateway.Setup) -> Target:
        binary, folder = str(self.programs.aldgate), self.folder()
        token = gateway.configure(binary, folder, gateway.policies(setup.policies), setup.sections())
        process, url = gateway.serve(binary, folder)
        self.keep(process)
        return Target("aldgate", url, direct.upstream, [process.pid], token)

    def hyper(self, direct: Target) -> Target:
        process = self.keep(start([str(self.programs.pass_through), "--upstream", urlsplit(direct.url).netloc]))
        return Target("hyper", wait_for(process, r"pass-through: (http://\S+)")[1], direct.upstream, [process.pid])

    def nginx(self, direct: Target) -> Target:
        process, url = nginx.serve(self.folder(), urlsplit(direct.url).netloc)
        self.keep(process)
        return Target("nginx", url, direct.upstream, [process.pid])
