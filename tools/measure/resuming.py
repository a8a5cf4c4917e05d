"""A run whose worker died goes on in its own file: what is whole stays, a ladder is asked only what it has not yet."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from clouds.errors import InvalidInput
from tools.measure import store
from tools.measure.record import Item, Part, Run

OPERATION = "operation"
"""The setting of a run that names the operation which makes it."""


def earlier(folder: Path, operation: str, variant: str) -> tuple[Path, Run] | None:
    """The file that an earlier worker of this operation left for this variant; None without one."""
    if not operation:
        return None
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        with suppress(OSError, InvalidInput):  # what cannot be read was not written by it
            if operation.encode() not in path.read_bytes():
                continue
            run = store.read(path)
            if run.settings.get(OPERATION) == operation and run.subject.variant == variant:
                return path, run
    return None


def whole(run: Run | None) -> tuple[Part, ...]:
    """The parts that need not be measured again."""
    return tuple(part for part in run.parts if part.complete) if run else ()


def answered(run: Run | None) -> Mapping[str, tuple[Item, ...]]:
    """By measurement that is not whole, the questions that were answered; a failed request is asked again."""
    parts = run.parts if run else ()
    return {
        part.name: tuple(item for item in part.items if item.outcome == "ok") for part in parts if not part.complete
    }
