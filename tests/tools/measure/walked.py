"""A walk as measure_model makes it, without the reports that it writes: they cost more than the measuring of a test."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from clouds.base import Progress
from tools.context import Target
from tools.ledger import Book
from tools.measure.catalogue import chosen, options_of
from tools.measure.comparing.differences import BASE
from tools.measure.measurement import Objective
from tools.measure.options import parse
from tools.measure.profiles import QUICK
from tools.measure.registering.plans import OPTIONS, wanted
from tools.measure.variants import Variant
from tools.measure.walk import Measured, Wish, walk
from tools.progress import CallProgress


def wish_of(
    book: Book, project: Path, measurements: Sequence[str], options: Sequence[str], levels: tuple[int, ...] = ()
) -> Wish:
    """What the caller wants, with the quick profile."""
    asked = chosen(measurements)
    given = parse(options, options_of(asked) | OPTIONS, (project, book.home))
    folder = book.home / "runs"
    return Wish(asked, QUICK, folder, Objective(), levels, options=given, plans=wanted(given))


def walked(target: Target, wish: Wish, book: Book, progress: Progress | None = None) -> Measured:
    """The only run of a walk without variants."""
    (found,) = walk((Variant(BASE, target),), wish, book, progress or CallProgress())
    return found
