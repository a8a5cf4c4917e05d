"""Where one endpoint keeps its files: `home/local/<name>/`. The supervisor reads this too: few imports at its top."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Place:
    """The folder of one endpoint. The folder is there from before the first call until the deletion is complete."""

    home: Path
    name: str

    @property
    def folder(self) -> Path:
        """The folder itself, 0700."""
        return self.home / "local" / self.name

    @property
    def spec(self) -> Path:
        """What was asked for, written by `create`: deployment, model, launch, start time."""
        return self.folder / "spec.json"

    @property
    def state(self) -> Path:
        """What the supervisor says of itself and its engine. Nobody else writes it."""
        return self.folder / "state.json"

    @property
    def deadline(self) -> Path:
        """When it ends, in a file of its own, so that it can be moved while the supervisor runs."""
        return self.folder / "deadline.json"

    @property
    def change(self) -> Path:
        """Another launch that the supervisor should move to; it takes the file away when it has accepted it."""
        return self.folder / "change.json"

    @property
    def key(self) -> Path:
        """The API key, 0600; nowhere else."""
        return self.folder / "key"

    @property
    def log(self) -> Path:
        """Supervisor's and engine's lines, each with its time; `log.1` is the part before."""
        return self.folder / "log"

    @property
    def lock(self) -> Path:
        """Held by the supervisor as long as it lives: at most one per name."""
        return self.folder / "lock"

    @property
    def guard(self) -> Path:
        """Held by whoever creates, updates or deletes."""
        return self.folder / "guard"

    @property
    def stop(self) -> Path:
        """Held by whoever deletes, so that a creation under way gives up."""
        return self.folder / "stop"

    def make(self) -> None:
        """Make the folder, readable by nobody else."""
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        self.folder.mkdir(mode=0o700, exist_ok=True)

    def remove(self) -> None:
        """Take the folder away in one step, then its files: an interrupted removal is never half an endpoint."""
        import shutil

        gone = self.folder.parent / f".gone-{os.urandom(8).hex()}"
        try:
            self.folder.rename(gone)
        except FileNotFoundError:
            return
        shutil.rmtree(gone, ignore_errors=True)


def places(home: Path) -> Iterator[Place]:
    """Every endpoint folder there is, by name."""
    try:
        found = sorted(entry.name for entry in os.scandir(home / "local") if entry.is_dir())
    except FileNotFoundError:
        return
    for name in found:
        if not name.startswith("."):
            yield Place(home, name)


def sweep(home: Path) -> None:
    """Remove what interrupted removals left."""
    import shutil

    for rest in (home / "local").glob(".gone-*"):
        shutil.rmtree(rest, ignore_errors=True)


def write(path: Path, value: Mapping[str, Any]) -> None:
    """Write JSON in one step, 0600: a reader sees the old or the new, never a part."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
    try:
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            json.dump(value, file, indent=1)
        fresh.replace(path)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise


def read(path: Path) -> dict[str, Any] | None:
    """The JSON object in a file; None when it is not there. Raises ValueError when it is damaged."""
    try:
        value = json.loads(path.read_text("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    if not isinstance(value, dict):
        raise ValueError(f"{path.name} holds no JSON object")  # noqa: TRY004 - damaged data, not a wrong argument
    return value


def make_key(path: Path) -> str:
    """Write a new random key for one endpoint, 0600, and return it.

    Engines print the last four characters of a key in their log (llama.cpp, read 2026-11-29): those are no secret here.
    """
    import secrets

    path.unlink(missing_ok=True)
    key = f"{secrets.token_urlsafe(32)}-key"
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
        file.write(key + "\n")
    return key


def read_key(path: Path) -> str:
    """The key of an endpoint; empty when there is none."""
    try:
        return path.read_text("ascii").strip()
    except FileNotFoundError:
        return ""
