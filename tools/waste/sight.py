"""What a judgement may look at in one scope (`clouds.models.waste.Seen`), and what it has looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from clouds.errors import CloudError
from clouds.models import Scope
from clouds.models.waste import Detail, Kind, Listing, Metric, Reading, Row, Source, Unresolved, Unseen, Young
from tools.waste.reading import Box, moment

FEW = 20
"""Rows of one key that are compared with each other; more of them are not summed up by any check."""


class Blind(Unseen):
    """A read failed: carries the call and the error, so that the report can name both."""

    def __init__(self, call: str, error: BaseException) -> None:
        super().__init__(f"{call}: {error}")
        self.call, self.error = call, error


class Gone(Unresolved):
    """A row was not there any more when the cloud was asked about it."""

    def __init__(self, call: str, row: Row) -> None:
        super().__init__(f"{call}: not found, though it was listed a moment before")
        self.row = row


class Sight:
    """Implements `Seen` over the boxes of one scope; `used` holds the metrics that the present row was judged by."""

    def __init__(self, now: datetime, at: Scope, boxes: Mapping[Reading, Box]) -> None:
        self._now, self._at, self._boxes = now, at, boxes
        self._indexes: dict[tuple[Reading, Callable[[Row], Iterable[Any]]], Mapping[Any, Sequence[Row]]] = {}
        self.used: dict[str, float] = {}

    @property
    def now(self) -> datetime:
        """The moment of the scan, in UTC."""
        return self._now

    @property
    def at(self) -> Scope:
        """Where the resource is."""
        return self._at

    def rows(self, read: Source) -> Sequence[Row]:
        """All rows of a read in this scope. Raises Unseen where any of it could not be read."""
        box = self._boxes[read]
        if box.failure is not None:
            if self.absent(box):
                return ()
            raise Blind(box.call, box.failure)
        if partly := box.partly:
            raise Blind(*partly[0])
        if box.restricted:
            raise TypeError(f"{read.service}.{read.operation} was read for single rows only")
        return box.rows

    def absent(self, box: Box) -> bool:
        """Whether a failed reading means that there can be nothing: its service is not there, for no read of it.

        Where anything else of the service answered in this scope, a refusal of one read says nothing of what is there.
        """
        service = box.read.service
        return box.not_applicable and not any(
            each.answered and each.read.service == service for each in self._boxes.values()
        )

    def index(self, read: Source, by: Callable[[Row], Iterable[Any]]) -> Mapping[Any, Sequence[Row]]:
        """Rows by every key that `by` gives; made once a scope. Raises Unseen where any of it could not be read."""
        known = self._indexes.get((read, by))
        if known is None:
            made: dict[Any, list[Row]] = {}
            for row in self.rows(read):
                for key in by(row):
                    group = made.setdefault(key, [])
                    # A page may hold a row that was on the one before it: what is summed up counts it once.
                    if not group or len(group) > FEW or row not in group:
                        group.append(row)
            known = self._indexes[(read, by)] = made
        return known

    def of(self, read: Detail, row: Row) -> Sequence[Row]:
        """The rows that a detail gave for one row; empty where it was not asked. Raises Unseen, and Gone."""
        box = self._boxes[read]
        key = id(row)
        if key in box.failed:
            raise Blind(_own(box), box.failed[key])
        if key in box.gone:
            raise Gone(_own(box), row)
        if box.failure is not None and not self.absent(box):
            raise Blind(box.call, box.failure)
        return box.given.get(key, ())

    def one(self, read: Detail, row: Row) -> Row | None:
        """The first row that a detail gave for one row. Raises Unseen."""
        rows = self.of(read, row)
        return rows[0] if rows else None

    def metric(self, metric: Metric, row: Row) -> float:
        """Usage of one row in the window. Raises Unseen, or Unresolved where no series was declared to mean that."""
        box = self._boxes[metric]
        key = id(row)
        if key in box.young:
            raise Young
        if key in box.failed:
            raise Blind(_own(box), box.failed[key])
        if box.failure is not None:
            raise Blind(box.call, box.failure)
        if key not in box.values:
            raise TypeError(f"{metric.name} was not asked for this row")
        value = box.values[key]
        if value is None:
            if metric.absent == "unresolved":
                raise Unresolved(f"no figure of its {metric.name} was reported in {metric.days:g} days")
            if key in box.ageless:
                raise Unresolved(f"no figure of its {metric.name} was reported, and it may be younger than that window")
            value = 0.0
        self.used[f"{metric.name}{f' ({metric.unit})' if metric.unit else ''}, {metric.days:g} d"] = value
        return value

    def id(self, kind: Kind, row: Row) -> str:
        """The full id of a row of another kind in this scope."""
        return kind.id(row, self._at)

    def box(self, read: Reading) -> Box:
        """The box of a reading."""
        return self._boxes[read]

    def age_days(self, kind: Kind, row: Row) -> float | None:
        """How old a row is; None where the cloud does not say."""
        at = moment(kind.created(row)) if kind.created is not None else None
        return None if at is None else (self._now - at).total_seconds() / 86400


def _own(box: Box) -> str:
    return f"{box.read.service}.{box.read.operation}"


def why(error: BaseException) -> str:
    """A failed read in words: the cloud's own code first. Never the text of an exception that is not ours."""
    if isinstance(error, CloudError):
        return f"{error.kind.replace('_', ' ')}: " + ": ".join(
            part for part in (error.code, error.answered or error.tried) if part
        )
    return str(error)[:200] if isinstance(error, ValueError) else f"fault: {type(error).__name__}"


def listing_of(read: Reading) -> Listing:
    """The listing at the start of a chain."""
    while not isinstance(read, Listing):
        read = read.of
    return read
