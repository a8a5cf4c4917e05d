"""Runs as files: claimed once, written after every step, never one over another.

A file is written whole or not at all, so that a run that was killed leaves what it had, marked incomplete. A name that
is taken gets a number: an incomplete run can never stand where a complete one stood.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from math import isfinite
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from clouds.errors import InvalidInput, NotFound
from tools.home import inside, ready, write_atomically
from tools.measure.quoted import FIX as QUOTED_FIX
from tools.measure.quoted import is_quoted, quoted_run
from tools.measure.record import SCHEMA_VERSION, Run

NAME = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,78}[a-z0-9])?")
DATED = re.compile(r"^\d{4}-\d\d-\d\d-")
LARGEST = 200 * 1024**2
"""Bytes of a file that is read as a run: 256 streams of the standard profile are about 2 MB."""


class NotFinite(ValueError):
    """NaN, Infinity, or too large: no figure, and nothing that can be compared or drawn."""


class Shelf(NamedTuple):
    """One file in a folder of runs: read, or why not."""

    path: Path
    run: Run | None
    problem: str = ""


def folder_of(folder: str, home: Path, project: Path) -> Path:
    """Where runs are: the data directory's `runs`, or a folder inside it or inside the project. Raises InvalidInput."""
    return inside(folder, project, home, field="folder") if folder else home / "runs"


def claim(folder: Path, stem: str) -> Path:
    """A path in `folder` that nobody has, now taken by an empty file: `stem.json`, `stem-2.json`, ..."""
    ready(folder)
    for number in range(1, 10_000):
        path = folder / (f"{stem}.json" if number == 1 else f"{stem}-{number}.json")
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            continue
        except OSError as error:
            raise InvalidInput("folder", f"cannot be written ({error.strerror})", fix="Name another folder.") from error
        return path
    raise InvalidInput("name", f"{stem} has 10,000 runs here", fix="Choose another name.")


def save(path: Path, run: Run) -> None:
    """Write the run, whole or not at all."""
    write_atomically(path, json.dumps(run.model_dump(mode="json", exclude_defaults=True), separators=(",", ":")) + "\n")


def read(path: Path) -> Run:
    """A run from its file. Raises InvalidInput that says what is wrong with it."""
    fix = "list_runs shows what can be read."
    try:
        if path.stat().st_size > LARGEST:
            raise InvalidInput("runs", f"{path.name} is larger than {LARGEST:,} bytes", fix=fix)
        raw = path.read_bytes()
    except OSError as error:
        raise InvalidInput("runs", f"{path.name} cannot be read ({error.strerror})", fix=fix) from error
    if not raw.strip():
        raise InvalidInput("runs", f"{path.name} is empty: its run ended before anything was measured", fix=fix)
    try:
        data = json.loads(raw, parse_constant=_finite, parse_float=_finite)
    except NotFinite as odd:
        raise InvalidInput("runs", f"{path.name} has a number that is not finite: {odd}", fix=fix) from None
    except (ValueError, RecursionError):
        raise InvalidInput("runs", f"{path.name} is not JSON", fix=fix) from None
    if is_quoted(data):
        try:
            return quoted_run(data, path.stem)
        except ValidationError:
            raise InvalidInput("runs", f"{path.name} quotes figures in another form", fix=QUOTED_FIX) from None
    version = data.get("schema_version") if isinstance(data, dict) else None
    if version != SCHEMA_VERSION:
        raise InvalidInput(
            "runs", f"{path.name} has schema_version {str(version)[:20]!r}, this reads {SCHEMA_VERSION}", fix=fix
        )
    try:
        return Run.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))[:120]
        raise InvalidInput("runs", f"{path.name} is not a run: {where}: {first['msg'][:120]}", fix=fix) from None


def _finite(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise NotFinite(text[:20])
    return value


def shelf(folder: Path) -> Iterator[Shelf]:
    """Every JSON file of a folder, newest run last; what cannot be read is there with its reason."""
    found = []
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        try:
            found.append(Shelf(path, read(path)))
        except InvalidInput as error:
            found.append(Shelf(path, None, str(error).removeprefix("`runs`: ")))
    yield from sorted(found, key=lambda each: (each.run.started if each.run else "", each.path.name))


def find(text: str, folders: Sequence[Path], roots: Sequence[Path]) -> tuple[Path, Run]:
    """The run that `text` names: a path inside `roots`, an id, or a name or ref of which the latest complete run is
    taken (the latest incomplete one only where there is no complete one). Raises InvalidInput or NotFound."""
    if text.endswith(".json") or "/" in text:
        path = inside(text, *roots, field="runs")
        if path.is_file():
            return path, read(path)
        stem = Path(text).stem
    else:
        stem = text
    known = []
    for folder in folders:
        path = folder / f"{stem}.json"
        if NAME.fullmatch(stem) and path.is_file():
            return path, read(path)
        known += [each for each in shelf(folder) if each.run is not None]
    named = [each for each in known if each.run and text in {*_names(each.run), each.run.subject.ref}]
    for state in ("complete", "incomplete", "failed"):
        for each in reversed(named):
            if each.run is not None and each.run.state == state:
                return each.path, each.run
    some = ", ".join(each.path.stem for each in reversed(known[-5:]))
    raise NotFound(
        f"Looking for a run {text[:80]!r}",
        answered="there is no file, id, name or endpoint of that name",
        fix=f"The newest are {some}." if some else "There is none yet: measure_model makes one.",
        sent=False,
    )


def _names(run: Run) -> set[str]:
    """How a run is called: its id, its name, and where a walk gave several one name, that name with the variant, which
    is how their ids begin after the date."""
    variant = re.sub(r"[^a-z0-9]+", "-", run.subject.variant.lower()).strip("-")
    return {run.id, run.name, DATED.sub("", run.id), f"{run.name}-{variant}"}
