"""Cleanup plans on disk: `cleanups/<id>.json` in the data directory."""

from __future__ import annotations

import re
from pathlib import Path

from clouds.errors import InvalidInput, NotFound
from tools.cleanup.records import CleanupPlan, adapter
from tools.home import write_atomically

FOLDER = "cleanups"
_ID = re.compile(r"c-[0-9a-f]{6}")


def save(home: Path, plan: CleanupPlan) -> Path:
    """Write a plan; returns its path."""
    return write_atomically(path(home, plan.id), adapter().dump_json(plan, indent=1))


def path(home: Path, plan: str, ending: str = "json") -> Path:
    """Where a file of a plan is."""
    return home / FOLDER / f"{plan}.{ending}"


def load(home: Path, plan: str) -> CleanupPlan:
    """One plan by its id. Raises InvalidInput for what is no plan, NotFound for one that is not there."""
    if not _ID.fullmatch(plan):
        raise InvalidInput("plan", f"{plan[:40]!r} is not a plan", fix="Use the c-… that plan_cleanup gave.")
    file = path(home, plan)
    if not file.is_file():
        raise NotFound(f"Looking for plan {plan}", answered="it is not kept here", fix="Run plan_cleanup.", sent=False)
    try:
        found = adapter().validate_json(file.read_bytes())
    except ValueError as error:
        raise InvalidInput(
            "plan", f"{file.name} is not a plan of this version", fix="Run plan_cleanup again."
        ) from error
    if found.id != plan:
        raise InvalidInput("plan", f"{file.name} holds another plan", fix="Run plan_cleanup again.")
    return found
