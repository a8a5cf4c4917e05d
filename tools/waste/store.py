"""Scans on disk: `scans/<id>.json` in the data directory is the whole result; reports are made from it alone."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from clouds.errors import CloudError, InvalidInput, NotFound
from tools.home import write_atomically
from tools.waste.grouping import MARK
from tools.waste.records import Scan, adapter

FOLDER = "scans"
_ID = re.compile(r"\d{4}-\d\d-\d\dT\d{6}-[a-z0-9-]{1,40}")


def new_id(clouds: tuple[str, ...], now: datetime) -> str:
    """`2026-11-29T120000-aws-3f2a`: sorts by time."""
    return f"{now:%Y-%m-%dT%H%M%S}-{'-'.join(clouds)[:30]}-{secrets.token_hex(2)}"


def save(home: Path, scan: Scan) -> Path:
    """Write the whole result; returns its path."""
    return write_atomically(path(home, scan.id), adapter().dump_json(scan))


def path(home: Path, scan_id: str, ending: str = "json") -> Path:
    """Where a file of a scan is."""
    return home / FOLDER / f"{scan_id}.{ending}"


def known(home: Path) -> tuple[str, ...]:
    """Every scan that is kept, newest first. Of two that began in one second the one written later is the newer."""
    found = [each for each in (home / FOLDER).glob("*.json") if _ID.fullmatch(each.stem)]
    return tuple(each.stem for each in sorted(found, key=_age, reverse=True))


def _age(file: Path) -> tuple[str, int, str]:
    try:
        written = file.stat().st_mtime_ns
    except OSError:  # it was deleted meanwhile
        written = 0
    return file.stem[: len("2026-11-29T120000")], written, file.stem


def load(home: Path, scan_id: str = "") -> Scan:
    """One scan by its id, the newest without one. Raises NotFound, or InvalidInput for what is none."""
    ids = known(home)
    if not scan_id or scan_id == "latest":
        if not ids:
            raise NotFound("Looking for a scan", answered="there is none yet", fix="Run scan_waste first.", sent=False)
        scan_id = ids[0]
    if not _ID.fullmatch(scan_id):
        raise InvalidInput("scan", f"{scan_id[:40]!r} is not a scan", fix="Use an id as scan_waste gave it, or none.")
    file = path(home, scan_id)
    if not file.is_file():
        newest = ", ".join(ids[:3]) or "none"
        raise NotFound(
            f"Looking for scan {scan_id}", answered="it is not kept here", fix=f"Newest: {newest}.", sent=False
        )
    try:
        return adapter().validate_json(file.read_bytes())
    except ValueError as error:
        raise InvalidInput("scan", f"{file.name} is not a scan of this version", fix="Run scan_waste again.") from error


def holding(home: Path, word: str, besides: str, holds: Callable[[Scan], bool]) -> str:
    """The newest other scan of the last ten that `holds`, among those in which the word stands; "" when none does.

    A scan that cannot be read is passed over.
    """
    sought = json.dumps(word, ensure_ascii=False)[1:-1].lower().encode()
    # The id of a group stands in no file, and letters beyond ASCII have two cases that bytes do not know.
    anywhere = not word.isascii() or word.lower().startswith(MARK)
    for scan_id in (each for each in known(home)[:10] if each != besides):
        try:
            if (anywhere or sought in path(home, scan_id).read_bytes().lower()) and holds(load(home, scan_id)):
                return scan_id
        except (OSError, CloudError):
            continue
    return ""
