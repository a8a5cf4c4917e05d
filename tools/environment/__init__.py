"""How the server gets a Python environment with its packages, wherever it was started from.

    enter()     return inside such an environment, or start again in one; before anything else is imported
    status()    per set of packages: installed, installing, failed or absent
    pending()   the same in one sentence, for an error that misses a package
    require()   raises NotInstalled when one is not there (yet), with how far it is

A clone has `.venv` (`make` builds it). An installed plugin has none: its environment lies in the plugin's data folder,
the small core is installed first and the rest after the handshake, by a process of its own. Standard library only, and
everything up to the new start runs on Python 3.8, so that an old Python is told and not a traceback.
"""

from __future__ import annotations

import os
import sys

from tools.environment import places

TYPE_CHECKING = False  # `typing` itself costs 13 ms, at every start
if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Any

    from clouds.errors import CloudError

TRIED = "MODELRIG_ENTERED"
"""Names the environment that we have just started again in, so that nothing starts again for ever."""
LATER_SECONDS = 1.0
"""From a server's start to the installation of what an earlier one could not: the handshake comes first."""


def enter(argv: Sequence[str] | None = None) -> None:
    """Return at once in an environment that has the core; else start again in one, building it when there is none.

    Does not return where the core cannot be built: a client is then served by tools/fallback.py, a shell is told why.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    tried = os.environ.pop(TRIED, "")
    clone = places.ROOT / ".venv"
    if not tried and not _runs_in(clone) and places.python_of(clone) and places.has_core(clone):
        _start_again(clone, arguments)
    if _has_core():
        if places.serves(arguments):
            _later()
        return
    from tools.environment import start

    start.start(arguments, _start_again, hopeless=bool(tried) and tried != str(clone))


def status() -> dict[str, dict[str, Any]]:
    """Per set of packages: `state` (installed, installing, failed, absent), `detail`, and what else is known."""
    from tools.environment import report

    return report.status()


def require(extra: str) -> None:
    """Raises NotInstalled when this set of packages is not there, with how far it is and what to do."""
    from tools.environment import report

    report.require(extra)


def lacking(module: str) -> CloudError | None:
    """What to say when this module is not there and one of our sets of packages brings it; None for any other."""
    from tools.environment import report

    return report.lacking(module)


def pending() -> str:
    """One sentence on packages that are still on their way or failed; empty when there are none."""
    from tools.environment import report

    return report.pending()


def version() -> str:
    """The version of modelrig."""
    import json

    manifest = places.ROOT / ".claude-plugin" / "plugin.json"
    return str(json.loads(manifest.read_text(encoding="utf-8"))["version"])


def _runs_in(prefix: Path) -> bool:
    return os.path.realpath(sys.prefix) == os.path.realpath(prefix)


def _has_core() -> bool:
    """Looked up, not imported: importing is the server's own affair and costs half a second."""
    from importlib.machinery import PathFinder

    return sys.version_info[:2] >= places.OLDEST and all(PathFinder.find_spec(name) for name in places.CORE)


def _start_again(prefix: Path, arguments: Sequence[str]) -> None:
    """The same command in another environment. Returns only when that cannot be started."""
    python = str(places.python_of(prefix))
    command = [python, str(places.ROOT / "server.py"), *arguments]
    os.environ[TRIED] = str(prefix)
    os.environ.pop("__PYVENV_LAUNCHER__", None)  # macOS: would make the new Python take itself for the old one
    try:
        if sys.platform == "win32":
            import subprocess

            raise SystemExit(subprocess.call(command))
        os.execv(python, command)  # noqa: S606 - no shell is wanted
    except OSError:
        del os.environ[TRIED]


def _later() -> None:
    """Some time after the handshake: install the extras that an earlier start could not."""
    place = places.here()
    if place is None:
        return
    import threading

    timer = threading.Timer(LATER_SECONDS, _resume, [place])
    timer.daemon = True
    timer.start()


def _resume(place: places.Place) -> None:
    from tools.environment import build, start

    os.utime(place.marker)
    if build.missing(place):
        start.spawn(place)
