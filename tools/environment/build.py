"""The builder: a process of its own that outlives its server and never meets a second one.

    python -m tools.environment.build FOLDER KEY

It makes the core first and commits it by writing the marker; then the extras, one after the other, at low priority.
What an earlier builder left half-made is not named by a marker: it is removed and made again.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

from tools.environment import lock, reasons, state
from tools.environment.install import NEEDED_MB, Failed, Installer
from tools.environment.places import CORE_FILE, EXTRAS, ROOT, Extra, Place, has_core, python_of

UNUSED_DAYS = 14
PROOF = "import pydantic_core, psutil, rpds, mcp_types.version"
"""Compiled packages that do not load on this machine show themselves here and not in the first call."""


def main(argv: list[str]) -> int:
    """Build what is missing. 0 also where another builder is at work."""
    place = Place(Path(argv[0]), argv[1])
    held = lock.take(place.lock)
    if held is None:
        return 0
    _detach()
    lock.sign(held)
    os.umask(0o077)
    log = state.Log(place.state)
    try:
        prefix = place.ready() or _core(place, log)
        _extras(place, prefix, log)
    except Failed as failed:
        log.set("core", "failed", reason=failed.problem.reason, fix=failed.problem.fix)
        return 1
    except OSError as error:
        problem = reasons.explain(f"error: {error}", str(place.log))
        with contextlib.suppress(
            OSError
        ):  # where not even the state can be written, a start finds the disk full itself
            log.set("core" if place.ready() is None else "extras", "failed", reason=problem.reason, fix=problem.fix)
        return 1
    return 0


def fingerprint(extra: Extra) -> str:
    """Which requirements an extra was installed from: a new release installs it again."""
    import hashlib

    return hashlib.sha256(extra.file.read_bytes()).hexdigest()[:12]


def missing(place: Place) -> list[Extra]:
    """The extras that are not installed as this version asks."""
    content = state.read(place.state)
    return [
        extra
        for extra in EXTRAS
        if (content.get(extra.name, {}).get("state"), content.get(extra.name, {}).get("of"))
        != ("installed", fingerprint(extra))
    ]


def _detach() -> None:
    """Let whoever started us go on; the lock goes to the child with the open file."""
    if sys.platform != "win32":
        if os.fork():
            os._exit(0)
        os.setsid()


def _core(place: Place, log: state.Log) -> Path:
    started = time.monotonic()
    log.content = {}
    log.set("core", "installing", step="starting", pid=os.getpid())
    _sweep(place)
    if shutil.disk_usage(place.folder).free < NEEDED_MB * 1024 * 1024:
        raise Failed(reasons.explain("No space left on device"))
    prefix = place.folder / f"{place.key}-{secrets.token_hex(3)}"
    installer = Installer(os.environ, place.log, partial(log.step, "core"))
    installer.create(prefix)
    installer.install(prefix, ROOT / CORE_FILE)
    proof = subprocess.run([str(python_of(prefix)), "-c", PROOF], capture_output=True, text=True, check=False)
    if proof.returncode or not has_core(prefix):
        raise Failed(reasons.explain(proof.stderr or "error: packages are missing after the installation"))
    state.replace(place.marker, prefix.name)
    log.set("core", "installed", by=installer.name, seconds=round(time.monotonic() - started, 1))
    return prefix


def _extras(place: Place, prefix: Path, log: state.Log) -> None:
    if hasattr(os, "nice"):
        os.nice(5)
    wanted = missing(place)
    for extra in wanted:
        log.set(extra.name, "waiting")
    for position, extra in enumerate(wanted):
        started = time.monotonic()
        log.set(extra.name, "installing", step="starting", pid=os.getpid())
        installer = Installer(os.environ, place.log, partial(log.step, extra.name))
        try:
            installer.install(prefix, extra.file, with_dependencies=extra.with_dependencies)
        except Failed as failed:
            problem = failed.problem
            log.set(extra.name, "failed", reason=problem.reason, fix=problem.fix)
            if problem.kind in {"network", "disk", "certificate", "credentials"}:  # the next one would fail as it did
                for rest in wanted[position + 1 :]:
                    log.set(rest.name, "failed", reason=problem.reason, fix=problem.fix)
                return
        else:
            seconds = round(time.monotonic() - started, 1)
            log.set(extra.name, "installed", of=fingerprint(extra), by=installer.name, seconds=seconds)
    with contextlib.suppress(Failed):  # a convenience for later downloads; everything pinned is there without it
        Installer(os.environ, place.log, lambda *_: None).add_pip(prefix)


def _sweep(place: Place) -> None:
    """Remove what no marker names, and environments that no server has started in for two weeks."""
    old = time.time() - UNUSED_DAYS * 86400
    for marker in place.folder.glob("*.ready"):
        if marker.stem != place.key and marker.stat().st_mtime < old and not lock.held(marker.with_suffix(".lock")):
            for rest in place.folder.glob(f"{marker.stem}.*"):
                rest.unlink()
    place.marker.unlink(missing_ok=True)
    named = {marker.read_text(encoding="utf-8").strip() for marker in place.folder.glob("*.ready")}
    for prefix in place.folder.iterdir():
        key = prefix.name.rpartition("-")[0]
        busy = key != place.key and lock.held(place.folder / f"{key}.lock")
        if prefix.is_dir() and prefix.name not in named and not busy:
            shutil.rmtree(prefix, ignore_errors=True)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
