"""From nothing to the handshake: an installed plugin's first start by pip and by uv, and what the prelude costs later.

    .venv/bin/python benchmarks/first_start.py [--offline] [rounds]

First starts use the network: each has an empty folder for environments and no cache. The later starts alternate: the
environment's own Python started directly, and another Python that finds the environment and starts again in it.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tools.environment import lock, state  # noqa: E402 - the root is put on the path first
from tools.environment.interpreters import find_uv  # noqa: E402
from tools.environment.places import python_of  # noqa: E402

OTHER = str(getattr(sys, "_base_executable", sys.executable))
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}},
}
PATIENCE = 300.0


def handshake(command: Sequence[str], environment: dict[str, str]) -> float:
    """Seconds from the start of the process to the answer to `initialize`."""
    started = time.perf_counter()
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(HELLO).encode() + b"\n")
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        took = time.perf_counter() - started
        assert answer["result"]["serverInfo"]["name"] == "modelrig"
        process.stdin.close()
    return took


def plain(folder: Path, **more: str) -> dict[str, str]:
    """An environment as a client gives it."""
    kept = {name: os.environ[name] for name in ("PATH", "SSL_CERT_FILE", "PIP_CERT") if name in os.environ}
    home = {
        "HOME": str(folder),
        "MODELRIG_HOME": str(folder / "home"),
        "MODELRIG_ENV_DIR": str(folder / "environments"),
    }
    return {**kept, **home, "MODELRIG_START_SECONDS": "120", "PIP_NO_CACHE_DIR": "1", "UV_NO_CACHE": "1", **more}


def first_start(by: str, folder: Path) -> Path:
    """One first start, printed; returns the environment that was made."""
    plugin = folder / "plugin"
    shutil.copytree(ROOT, plugin, ignore=shutil.ignore_patterns(".git", ".venv", "__pycache__", "build", ".*_cache"))
    environment = plain(folder, **({"MODELRIG_NO_UV": "1"} if by == "pip" else {}))
    took = handshake([OTHER, "-S", str(plugin / "server.py")], environment)
    (states,) = (folder / "environments" / "environments").glob("*.json")
    core = state.read(states).get("core", {})
    print(f"{by:4} handshake {took:5.1f} s after the start, of which the core took {core.get('seconds')} s", flush=True)
    until = time.monotonic() + PATIENCE
    while lock.held(states.with_suffix(".lock")) and time.monotonic() < until:
        time.sleep(0.2)
    extras = {name: entry for name, entry in state.read(states).items() if name != "core"}
    words = ", ".join(f"{name} {entry.get('seconds', entry['state'])} s" for name, entry in extras.items())
    print(f"     then, in the background: {words}")
    return states.parent / states.with_suffix(".ready").read_text(encoding="utf-8")


def later_starts(prefix: Path, folder: Path, rounds: int) -> None:
    """What finding the environment and starting again costs."""
    environment, server = plain(folder), str(folder / "plugin" / "server.py")
    inside, outside = [], []
    for _ in range(rounds + 1):  # the first round of both writes the compiled files and is not counted
        inside.append(handshake([str(python_of(prefix)), server], environment))
        outside.append(handshake([OTHER, "-S", server], environment))
    base, found = (statistics.median(times[1:]) * 1000 for times in (inside, outside))
    gaps = [1000 * (b - a) for a, b in zip(inside[1:], outside[1:], strict=True)]
    print(f"later: {base:.0f} ms inside, {found:.0f} ms from another Python;", end=" ")
    print(
        f"paired difference {statistics.median(gaps):.0f} ms (median of {rounds}, {min(gaps):.0f} to {max(gaps):.0f})"
    )


def main(argv: list[str]) -> None:
    """Both installers where they are there."""
    rounds = next((int(each) for each in argv if each.isdigit()), 11)
    if "--offline" in argv:
        with tempfile.TemporaryDirectory() as name:
            (Path(name) / "plugin").symlink_to(ROOT)
            later_starts(Path(sys.prefix), Path(name), rounds)
        return
    for by in ("pip", "uv"):
        if by == "uv" and find_uv(os.environ) is None:
            print("uv   not installed: not measured")
            continue
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
            folder = Path(name)
            try:
                later_starts(first_start(by, folder), folder, rounds)
            finally:
                for path in folder.rglob("environments/*.lock"):
                    if lock.held(path):
                        os.killpg(int(path.read_text()), signal.SIGKILL)


if __name__ == "__main__":
    main(sys.argv[1:])
