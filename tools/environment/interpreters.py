"""Which Python an environment is made with, and whether uv is there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping

from tools.environment.places import OLDEST

NEWER = ("python3.13", "python3.12", "python3.11", "python3.14")
"""In the order in which they are tried: the versions that our packages are pinned and tested for come first."""


def search_path(environment: Mapping[str, str]) -> str:
    """PATH, then where installers put programs: a client started from a desktop has a short PATH."""
    more = ("~/.local/bin", "~/.cargo/bin", "/opt/homebrew/bin", "/usr/local/bin")
    return os.pathsep.join([environment.get("PATH", os.defpath), *(os.path.expanduser(each) for each in more)])  # noqa: PTH111 - strings for PATH


def find_uv(environment: Mapping[str, str]) -> str | None:
    """uv, unless MODELRIG_NO_UV is set."""
    return None if environment.get("MODELRIG_NO_UV") else shutil.which("uv", path=search_path(environment))


def find_python(environment: Mapping[str, str]) -> str | None:
    """The running Python, or the one its environment was made with; else a newer one on the PATH that starts."""
    if sys.version_info[:2] >= OLDEST:
        base = str(getattr(sys, "_base_executable", "") or sys.executable)
        return base if os.access(base, os.X_OK) else sys.executable
    for name in NEWER:
        path = shutil.which(name, path=search_path(environment))
        if path and _starts(path):
            return path
    return None


def _starts(path: str) -> bool:
    """A version manager's shim may be on the PATH for a version that is not installed."""
    check = f"import sys, venv; sys.exit(sys.version_info[:2] < {OLDEST})"
    try:
        ended = subprocess.run(
            [path, "-c", check], stdin=subprocess.DEVNULL, capture_output=True, timeout=20, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return ended.returncode == 0
