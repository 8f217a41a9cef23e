"""The gateway as it is measured: one principal with a token, pinned contracts, a registry, policies, evidence."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from processes import start, wait_for

# What a host would write, one string for each policy; the first alone lets the measured calls through.
TEXT = (Path(__file__).resolve().parents[2] / "benches/policies.cedar").read_text()
POLICIES = [f"{text.strip()};\n" for text in TEXT.split(";\n") if text.strip()]


def policies(count: int) -> str:
    """So many policies; those beyond the usual ones are about other teams' upstreams."""
    others = [
        f'@id("team-{number}-looks-only")\n'
        f'forbid (principal in Role::"team-{number}", action == Action::"call", resource in Upstream::"system-{number}")\n'
        f"when {{ !resource.read_only }};\n"
        for number in range(count - len(POLICIES))
    ]
    return "\n".join(POLICIES[:count] + others)


@dataclass
class Setup:
    """What a gateway is configured with."""

    url: str
    tools: int = 10
    policies: int = len(POLICIES)
    upstreams: int = 1
    limits: str = ""

    def prefix(self, number: int) -> str:
        return f"u{number}_" if self.upstreams > 1 else ""

    def tool(self) -> str:
        """The last tool of the last upstream, which is the one that is called."""
        return f"{self.prefix(self.upstreams - 1)}lookup_{self.tools - 1:05}"

    def sections(self) -> str:
        upstreams = "".join(
            f'[upstreams.echo{number}]\nkind = "http"\nurl = "{self.url}"\nlock = "echo{number}.json"\n'
            f'prefix = "{self.prefix(number)}"\n'
            for number in range(self.upstreams)
        )
        entries = "".join(
            f'[registry."echo{number}/lookup_{tool:05}"]\nauthority = "automatic"\nlabels = []\nread_only = true\n'
            for number in range(self.upstreams)
            for tool in range(self.tools)
        )
        return f"[limits]\n{self.limits}\n{upstreams}{entries}"


def configure(binary: str, folder: str, policy: str, sections: str) -> str:
    """Writes the configuration of a gateway with one principal and pins its contracts; returns the principal's token."""
    made = subprocess.run([binary, "token", "new", "bench", "--role", "agent"], check=True, capture_output=True, text=True)
    principal = made.stderr[made.stderr.index("[[principals]]"):]
    Path(folder, "policies.cedar").write_text(policy)
    Path(folder, "aldgate.toml").write_text(
        f'[gateway]\nlisten = "127.0.0.1:0"\nstate_dir = "state"\n[admin]\nlisten = "127.0.0.1:0"\n'
        f'[policy]\nfiles = ["policies.cedar"]\n{principal}\n{sections}'
    )
    subprocess.run([binary, "contracts", "pin"], cwd=folder, check=True, capture_output=True, text=True)
    return made.stdout.strip()


def serve(binary: str, folder: str) -> tuple[subprocess.Popen, str]:
    """Starts the gateway of a folder; also the URL of its endpoint."""
    process = start([binary, "serve", "gateway"], cwd=folder)
    return process, wait_for(process, r"agents: (http://\S+)")[1]


def sampling(binary: str) -> str | None:
    """The default of the share of calls whose spans are sent, as the configuration's page has it."""
    page = subprocess.run([binary, "config", "docs"], check=True, capture_output=True, text=True).stdout
    found = re.search(r"^\| `sample_ratio` \|[^|]*\| `?([^|`]*)`? \|", page, re.MULTILINE)
    return found[1].strip() if found else None
