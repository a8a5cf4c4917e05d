"""An installed plugin in miniature: the real prelude and installer, real venv and pip, and packages of a few bytes.

The packages lie in a folder that pip is pointed to, so that nothing leaves this machine.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tools.environment import lock
from tools.environment.places import CORE, EXTRAS, ROOT

COMPILED = ("pydantic_core", "rpds")
PATIENCE = 30.0
BARE = str(getattr(sys, "_base_executable", sys.executable))
"""A Python in which nothing of ours is installed; -S hides what somebody may have installed into it."""
KEPT = ("local", "model")
"""The extras of the miniature, one of each sort (with and without dependencies): each costs a run of pip."""
FEWER = "\nEXTRAS = tuple(extra for extra in EXTRAS if extra.name in {})\n"
SOONER = "\nLATER_SECONDS = 0.0\n"
SERVER = """
import json, sys
from tools.environment import enter, status
enter(sys.argv[1:])
if "call" in sys.argv:
    print(json.dumps({"prefix": sys.prefix, "status": status()}))
    raise SystemExit
for line in sys.stdin:
    message = json.loads(line)
    if message["method"] == "subscriptions/listen":
        stamp = {"io.modelcontextprotocol/subscriptionId": message["id"]}
        note = {"method": "notifications/subscriptions/acknowledged", "params": {"notifications": {}, "_meta": stamp}}
        print(json.dumps({"jsonrpc": "2.0", **note}), flush=True)
    elif "id" in message:
        result = {"server": "real", "asked": message["method"], "protocolVersion": "2025-11-25"}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


@dataclass
class Rig:
    """One installation: its code, its package folder, its environments, and processes to run in it."""

    root: Path
    wheels: Path
    environments: Path
    settings: dict[str, str] = field(default_factory=dict)
    started: list[subprocess.Popen[str]] = field(default_factory=list)
    first: list[dict[str, Any]] = field(default_factory=list)
    """What the starts said that made it."""

    @property
    def environment(self) -> dict[str, str]:
        """What a client hands to a server: nothing of this test run's."""
        plain = {
            "HOME": str(self.root.parent / "home"),
            "PATH": "/usr/bin:/bin",
            "MODELRIG_NO_UV": "1",
            "MODELRIG_ENV_DIR": str(self.environments),
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(self.wheels),
            "PIP_CONFIG_FILE": os.devnull,
        }
        return {**plain, **self.settings}

    @property
    def folder(self) -> Path:
        return self.environments / "environments"

    def start(self, *arguments: str, python: str = BARE, **options: Any) -> subprocess.Popen[str]:
        command = [python, "-S", str(self.root / "server.py"), *arguments]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        process = subprocess.Popen(command, env=self.environment, text=True, **{**pipes, **options})
        self.started.append(process)
        return process

    def end(self) -> None:
        """Nothing that was started outlives its test."""
        while self.started:
            process = self.started.pop()
            process.kill()
            process.wait(PATIENCE)
            for pipe in (process.stdin, process.stdout, process.stderr):
                if pipe is not None and not pipe.closed:
                    with contextlib.suppress(BrokenPipeError):
                        pipe.close()
        self.kill_builders()

    def call(self, python: str = BARE) -> subprocess.CompletedProcess[str]:
        """`server.py call`, to its end."""
        process = self.start("call", python=python)
        out, err = process.communicate(timeout=PATIENCE)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def answers(self, count: int) -> list[dict[str, Any]]:
        """What so many starts at once say."""
        starts = [self.start("call") for _ in range(count)]
        return [json.loads(start.communicate(timeout=PATIENCE)[0]) for start in starts]

    def answer(self) -> dict[str, Any]:
        done = self.call()
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def only(self, pattern: str) -> Path:
        (found,) = self.folder.glob(pattern)
        return found

    def builders(self) -> Iterator[int]:
        """Pids of builders that are at work."""
        for path in self.folder.glob("*.lock"):
            if lock.held(path):
                yield int(path.read_text() or 0)

    def settle(self, *, busy: bool = False) -> None:
        """Until no builder is at work, or until one is."""
        until = time.monotonic() + PATIENCE
        while any(True for _ in self.builders()) != busy:
            assert time.monotonic() < until, "no builder begins" if busy else "a builder does not end"
            time.sleep(0.01)

    def kill_builders(self) -> None:
        """End every builder and what it started, as a machine that loses power would."""
        for pid in self.builders():
            if pid:
                os.killpg(pid, signal.SIGKILL)
        self.settle()


def wheel(folder: Path, name: str, modules: tuple[str, ...]) -> str:
    """A wheel with empty packages; returns the line that pins it by hash."""
    info = f"{name}-1.0.dist-info"
    files = {f"{module}/__init__.py": "" for module in modules}
    files["mcp_types/version.py" if "mcp_types" in modules else f"{info}/note"] = ""
    files[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
    files[f"{info}/WHEEL"] = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    rows = []
    for path, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content.encode()).digest()).rstrip(b"=").decode()
        rows.append(f"{path},sha256={digest},{len(content)}")
    files[f"{info}/RECORD"] = "\n".join([*rows, f"{info}/RECORD,,"]) + "\n"
    path = folder / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for each, content in files.items():
            archive.writestr(each, content)
    return f"{name}==1.0 --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}\n"


def make(folder: Path, extras: tuple[str, ...] = KEPT) -> Rig:
    """A fresh installation in `folder` that knows these extras; nothing is built yet.

    Without extras its core brings what passes for a pip, so that a builder has nothing to do once the core is there.
    """
    root, wheels = folder / "plugin", folder / "wheels"
    wheels.mkdir()
    (root / "tools").mkdir(parents=True)
    (root / ".claude-plugin").mkdir()
    # with what is compiled: an installation would compile all in its first processes; what is half written may vanish
    half = shutil.ignore_patterns("*.pyc.*")
    shutil.copytree(ROOT / "tools" / "environment", root / "tools" / "environment", ignore=half)
    for name in ("__init__.py", "fallback.py", "handover.py"):
        shutil.copy2(ROOT / "tools" / name, root / "tools" / name)
    shutil.copy(ROOT / ".claude-plugin" / "plugin.json", root / ".claude-plugin" / "plugin.json")
    (root / "server.py").write_text(SERVER)
    own = () if extras else ("pip",)
    (root / "requirements-core.txt").write_text(wheel(wheels, "core", (*CORE, *COMPILED, *own)))
    for name, changed in (("places.py", FEWER.format(extras)), ("__init__.py", SOONER)):
        module = root / "tools" / "environment" / name
        module.write_text(module.read_text() + changed)
    for extra in EXTRAS:
        if extra.name in extras:
            (root / extra.file.name).write_text(wheel(wheels, extra.name, extra.modules))
    return Rig(root, wheels, folder / "data")
