"""One check over one scope: each row ends as waste, not waste, too new, unresolved, unread or managed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from clouds.models import Scope
from clouds.models.waste import Detail, Reading, Row, Unresolved, Waste, WasteCheck, Young
from tools.waste.reading import ODD, Box, moment, odd_words
from tools.waste.sight import Blind, Gone, Sight, why

NAMED = 20
"""Resources that are named of each sort; all are counted."""
UNREAD = "unread"
"""How a check ended that could not read, and how the words begin that it has for a row of which that is so."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One row that was judged waste, with what it was judged by."""

    row: Row
    waste: Waste
    id: str
    used: Mapping[str, float]
    created: datetime | None


@dataclass
class Gap:
    """Resources that could not be judged for one reason."""

    call: str
    reason: str
    count: int = 0
    named: list[str] = field(default_factory=list)

    def add(self, name: str) -> None:
        """One more."""
        self.count += 1
        if len(self.named) < NAMED:
            self.named.append(name)


@dataclass
class Judged:
    """The outcome of one check in one scope. `ended` says how the pair ended when no row was judged."""

    check: WasteCheck
    scope: Scope
    ended: str = "judged"
    reason: str = ""
    rows: int = 0
    met: dict[str, str] = field(default_factory=dict)
    """How each of the single resources asked for ended, where single ones were asked for."""
    verdicts: list[Verdict] = field(default_factory=list)
    too_new: Gap | None = None
    managed: Gap | None = None
    unresolved: dict[str, Gap] = field(default_factory=dict)
    unread: dict[tuple[str, str], Gap] = field(default_factory=dict)

    def untagged(self, read: Reading, reason: str, name: str) -> None:
        """A resource whose tags could not be read: nobody knows whether it is marked to be kept."""
        call = f"{read.service}.{read.operation}"
        _gap(self.unread, (call, reason), call, reason).add(name)


def judge(check: WasteCheck, box: Box, sight: Sight, only: frozenset[str] | None) -> Judged:
    """Judge every row of the check's kind in one scope. A row that cannot be judged never stops the others."""
    found = Judged(check, sight.at)
    kind = check.kind
    if box.failure is not None:
        found.ended, found.reason = ("not applicable" if box.not_applicable else UNREAD), why(box.failure)
        if found.ended == UNREAD:
            found.unread[(box.call, found.reason)] = Gap(box.call, found.reason, 0)
        return found
    for call, error in box.partly:
        _gap(found.unread, (call, why(error)), call, why(error)).add(kind.name)
    for row in box.rows:
        name = _name(check, row, sight.at) if only is not None else ""
        if only is not None and name and name not in only:
            continue
        found.rows += 1
        word = _outcome(check, row, box, sight, found)
        if name:
            found.met[name] = word
    _add_failed(check, sight, found)
    return found


def _outcome(check: WasteCheck, row: Row, box: Box, sight: Sight, found: Judged) -> str:
    """Judge one row and note it where it belongs; the answer says in words how it ended."""
    kind = check.kind
    try:
        if kind.managed is not None and (who := kind.managed(row)):
            found.managed = found.managed or Gap("", "managed by the cloud or another service")
            found.managed.add(f"{kind.label(row)} ({who})")
            return f"managed by {who}"
        sight.used = {}
        waste = check.judge(row, sight)
        if waste is None:
            return _in_use(check, row, sight.at)
        created = moment(kind.created(row)) if kind.created is not None else None
        if created is not None and sight.now - created < check.age:
            return _too_new(check, row, found)
        _priceable(waste)
        found.verdicts.append(Verdict(row, waste, _word(kind.id(row, sight.at)), sight.used, created))
    except Young:
        return _too_new(check, row, found)
    except Unresolved as error:
        return _unresolved(check, row, error, found)
    except Blind as error:
        call, reason = error.call, why(error.error)
    except ODD as error:
        call = f"{box.read.service}.{box.read.operation}"
        reason = f"an answer of another form than expected ({odd_words(error)} in {check.id})"
    else:
        return "waste"
    _gap(found.unread, (call, reason), call, reason).add(label_of(check, row))
    return f"{UNREAD}: {call}: {reason}"


def _unresolved(check: WasteCheck, row: Row, error: Unresolved, found: Judged) -> str:
    if isinstance(error, Gone) and error.row is row:
        return "gone: it was deleted while the scan ran"
    _gap(found.unresolved, str(error), "", str(error)).add(label_of(check, row))
    return f"unresolved: {error}"


def _in_use(check: WasteCheck, row: Row, at: Scope) -> str:
    """A row that says neither its id nor its name is of another form, and not "in use". Raises KeyError for it."""
    if not _name(check, row, at) and label_of(check, row) == check.kind.name:
        raise KeyError(check.kind.name)
    return "in use now"


def _word(value: Any) -> str:
    """An id. Raises TypeError where it is none: what cannot be named can be neither reported nor removed."""
    if not isinstance(value, str) or not value:
        raise TypeError(type(value).__name__)
    return value


def _priceable(waste: Waste) -> None:
    """Raises TypeError where a quantity is no number or a place no text: the rows beside it can still be priced."""
    for meter in waste.meters:
        if isinstance(meter.quantity, bool) or not isinstance(meter.quantity, int | float):
            raise TypeError(type(meter.quantity).__name__)
        if not isinstance(meter.location, str):
            raise TypeError(type(meter.location).__name__)


def _too_new(check: WasteCheck, row: Row, found: Judged) -> str:
    found.too_new = found.too_new or Gap("", f"younger than {_words(check.age.total_seconds())}")
    found.too_new.add(label_of(check, row))
    return "too new"


def _name(check: WasteCheck, row: Row, at: Scope) -> str:
    try:
        return check.kind.id(row, at)
    except ODD:
        return ""  # whether it is one of those asked for is not known: it is judged, and noted as unread there


def _add_failed(check: WasteCheck, sight: Sight, found: Judged) -> None:
    """Name every read of the check that failed, also where no row has come to need it: it might have spared one."""
    for read in check.all_reads:
        box = sight.box(read)
        failures = [(box.call, box.failure)] if box.failure is not None and not sight.absent(box) else box.partly
        for call, error in failures:
            if not any(known == call for known, _ in found.unread):
                found.unread[(call, why(error))] = Gap(call, why(error), 0)


def tags_of(check: WasteCheck, verdict: Verdict, sight: Sight) -> tuple[Mapping[str, str], str]:
    """The tags of a resource that was judged waste, and why they could not be read ("" when they were)."""
    kind = check.kind
    try:
        if kind.tags_read is None:
            return _texts(kind.tags(verdict.row) if kind.tags is not None else {}), ""
        found: dict[str, str] = {}
        for row in sight.of(kind.tags_read, verdict.row):
            found.update(_texts(kind.tags_of(row) if kind.tags_of is not None else row))
    except Blind as error:
        return {}, why(error.error)
    except Gone as error:
        return {}, str(error)
    except ODD as error:  # one of them may be the one that keeps it
        return {}, f"they have another form than expected ({type(error).__name__})"
    return found, ""


def _texts(tags: Mapping[str, str]) -> Mapping[str, str]:
    """Tags whose keys and values are text. Raises TypeError where they are something else."""
    for key, value in tags.items():
        if not isinstance(key, str) or not isinstance(value, str):
            raise TypeError(type(value).__name__)
    return tags


def late_rows(check: WasteCheck, found: Judged) -> tuple[Detail | None, list[Row]]:
    """What has to be read of the rows that were judged waste before they are reported."""
    read = check.kind.tags_read
    return (read, [verdict.row for verdict in found.verdicts]) if read is not None else (None, [])


def _gap(gaps: dict[Any, Gap], key: Any, call: str, reason: str) -> Gap:
    if key not in gaps:
        gaps[key] = Gap(call, reason)
    return gaps[key]


def label_of(check: WasteCheck, row: Row) -> str:
    """The name of a resource for people; of a row of another form than expected what it is a row of."""
    try:
        name = check.kind.label(row)
    except ODD:
        return check.kind.name
    return name if isinstance(name, str) and name else check.kind.name


def _words(seconds: float) -> str:
    return f"{seconds / 86400:g} d" if seconds >= 172_800 else f"{seconds / 3600:g} h"
