"""Run a model's Python in a process of its own: limited time, memory, output and files, and no network.

What it is not: a wall against code that sets out to break it. Limits are those of the process (rlimits, where the
system has them) and an audit hook of the interpreter that refuses sockets, processes, foreign memory and every file
but the library's own. It has no secrets to find: its environment is empty, its folder is empty, its input is the ids.
"""

from __future__ import annotations

import marshal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clouds.errors import NotInstalled

SECONDS = 5
MEMORY = 512 * 1024 * 1024
PRINTED = 20_000
"""Characters of output that are kept."""
LONGEST = 20_000
"""Characters of code that are run."""
INSIDE = Path(__file__).with_name("inside.py")


@dataclass(frozen=True)
class Ran:
    """What the code printed, and how it ended."""

    printed: str
    error: str = ""


def run_python(code: str, names: Mapping[str, Any], *, seconds: float = SECONDS, memory: int = MEMORY) -> Ran:
    """Never raises for what the code does. Raises NotInstalled on a system without process limits."""
    if sys.platform == "win32":
        raise NotInstalled("running a model's Python", fix="Use a system with process limits (Linux, macOS).")
    if len(code) > LONGEST:
        return Ran("", f"the code has more than {LONGEST:,} characters")
    work = marshal.dumps({"code": code, "names": dict(names), "seconds": seconds, "memory": memory, "printed": PRINTED})
    with tempfile.TemporaryDirectory() as folder:
        started = subprocess.Popen(
            [sys.executable, "-I", "-S", str(INSIDE)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env={},
            start_new_session=True,
        )
        try:
            out, _ = started.communicate(work, timeout=seconds + 2)
        except subprocess.TimeoutExpired:
            started.kill()
            started.communicate()
            return Ran("", f"it ran longer than {seconds} s")
    if started.returncode < 0:
        return Ran("", f"it was ended after {seconds} s or for its memory (signal {-started.returncode})")
    return _read(out) or Ran("", "it ended without an answer")


def _read(out: bytes) -> Ran | None:
    """What the inner side wrote; None for anything else."""
    head, _, both = out.partition(b"\n")
    try:
        printed, error = map(int, head.split(b" "))
        found = both.decode("utf-8") if printed >= 0 and printed + error == len(both) else None
    except ValueError:
        return None
    return None if found is None else Ran(both[:printed].decode()[:PRINTED], both[printed:].decode()[:500])
