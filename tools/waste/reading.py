"""What one scope has answered so far: one box for each reading, filled as answers come in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from clouds.errors import ApiDisabled, CloudError, NotFound, NotOffered
from clouds.models import Scope
from clouds.models.waste import Detail, Kind, Listing, Metric, Question, Reading, Row
from tools.waste.rows import extract

NOT_APPLICABLE = (ApiDisabled, NotOffered)
ODD = (KeyError, TypeError, ValueError, AttributeError, IndexError)
"""What reading a row of another form than expected raises."""


@dataclass(eq=False)
class Box:
    """One reading in one scope. Rows are known by identity: they live as long as their box.

    `failure`: the whole of it could not be read. `failed`: single rows of it, by the id of the row asked for.
    """

    read: Reading
    scope: Scope
    rows: list[Row] = field(default_factory=list)
    given: dict[int, list[Row]] = field(default_factory=dict)
    values: dict[int, float | None] = field(default_factory=dict)
    failed: dict[int, BaseException] = field(default_factory=dict)
    failure: BaseException | None = None
    cause: str = ""
    """The call that failed, where that was one that this reading hangs on."""
    lost: list[tuple[str, BaseException]] = field(default_factory=list)
    """Rows that could not be read further up, so that this reading cannot have theirs."""
    young: set[int] = field(default_factory=set)
    ageless: set[int] = field(default_factory=set)
    """Rows of which nobody says when they were made: "no series" cannot mean zero for them."""
    gone: set[int] = field(default_factory=set)
    """Rows of which the cloud said, when it was asked about them, that they are not there (any more)."""
    open: int = 0
    asked: bool = False
    answered: bool = False  # anything asked for it, and not refused
    restricted: bool = False
    kept: list[Row] = field(default_factory=list)
    """Parents that were asked for, kept alive because they are known by identity."""

    @property
    def call(self) -> str:
        """The call to name when the whole of it could not be read."""
        return self.cause or f"{self.read.service}.{self.read.operation}"

    @property
    def partly(self) -> list[tuple[str, BaseException]]:
        """What of it could not be read: the calls and their errors, its own and those further up."""
        if not self.lost and not self.failed:
            return []
        own = f"{self.read.service}.{self.read.operation}"
        return [*self.lost, *((own, error) for error in self.failed.values())]

    @property
    def ready(self) -> bool:
        """Whether everything that was asked for it has been answered."""
        return self.asked and self.open == 0

    @property
    def not_applicable(self) -> bool:
        """Whether the account itself says that there can be nothing."""
        return isinstance(self.failure, NOT_APPLICABLE)


@dataclass(frozen=True)
class Ask:
    """One request that a box needs, and the rows it is for."""

    parameters: Mapping[str, Any]
    rows: tuple[Row, ...] = ()
    question: Question | None = None
    where: Scope | None = None


def requests(
    box: Box, parents: Sequence[Row], now: datetime, kind: Kind | None, only: frozenset[str] | None
) -> Iterator[Ask]:
    """The requests that a detail or a metric needs for the rows of its parent; an odd row is noted and left out."""
    read = box.read
    if isinstance(read, Listing):
        return
    if only is not None and kind is not None:
        box.restricted = True
    wanted = [row for row in parents if _careful(box, row, lambda row: _wanted(box, row, kind, only))]
    if isinstance(read, Metric):
        if kind is not None:
            wanted = [row for row in wanted if not _careful(box, row, lambda row: _young(box, read, kind, row, now))]
        wanted = [row for row in wanted if id(row) not in box.failed]
        box.kept = [*wanted]  # a list of its own: it grows where a row turns out odd while the rows are gone through
        if wanted:
            yield from _questions(box, read, wanted, now)
        return
    wanted = [row for row in wanted if id(row) not in box.failed]
    box.kept.extend(wanted)
    for start in range(0, len(wanted), read.batch):
        rows = tuple(wanted[start : start + read.batch])
        found = _ask(box, read, rows)
        if found is not None:
            yield found


def _careful(box: Box, row: Row, test: Callable[[Row], bool]) -> bool:
    """A test of one row; where the row has another form than expected it is noted as unread."""
    try:
        return test(row)
    except ODD as error:
        box.failed[id(row)] = _odd(error)
        box.kept.append(row)
        return False


def _odd(error: Exception) -> ValueError:
    return ValueError(f"an answer of another form than expected ({odd_words(error)})")


def odd_words(error: Exception) -> str:
    """The field that a row of another form lacks ("no LaunchTime"); otherwise the class of the error."""
    lacks = error.args[0] if isinstance(error, KeyError) and error.args else None
    named = isinstance(lacks, str) and lacks.isidentifier() and len(lacks) <= 60
    return f"no {lacks}" if named else type(error).__name__


def _wanted(box: Box, row: Row, kind: Kind | None, only: frozenset[str] | None) -> bool:
    read = box.read
    if isinstance(read, Listing) or (read.when is not None and not read.when(row)):
        return False
    if kind is None:
        return True
    if kind.managed is not None and kind.managed(row):
        return False
    return only is None or kind.id(row, box.scope) in only


def _young(box: Box, read: Metric, kind: Kind, row: Row, now: datetime) -> bool:
    """Whether a row is younger than the window; rows of unknown age are noted, since silence says nothing of them."""
    made = moment(kind.created(row)) if kind.created is not None else None
    if made is None:
        box.ageless.add(id(row))
        return False
    if made > now - timedelta(days=read.days):
        box.young.add(id(row))
        return True
    return False


def _questions(box: Box, read: Metric, wanted: list[Row], now: datetime) -> Iterator[Ask]:
    start = now - timedelta(days=read.days)
    try:
        questions = list(read.ask(wanted, box.scope, start, now))
    except ODD:  # one odd row among them: ask row by row, so that only that one is left out
        questions = []
        for row in wanted:
            if _careful(box, row, lambda row: bool(list(read.ask([row], box.scope, start, now)))):
                for question in read.ask([row], box.scope, start, now):
                    yield Ask(question.parameters, (row,) * len(question.owners), question, question.where)
    for question in questions:
        rows = tuple(wanted[owner] for owner in question.owners)
        yield Ask(question.parameters, rows, question, question.where)


def _ask(box: Box, read: Detail, rows: tuple[Row, ...]) -> Ask | None:
    try:
        where = read.where(rows[0], box.scope) if read.where is not None else None
        return Ask(read.ask(rows, box.scope), rows, None, where)
    except ODD as error:
        box.failed.update({id(row): _odd(error) for row in rows})
        return None


def fill(box: Box, ask: Ask, answer: Any, error: BaseException | None) -> None:
    """Put one answer, or its failure, into its box."""
    read = box.read
    box.answered = box.answered or error is None
    if isinstance(error, CloudError) and not isinstance(read, Metric) and error.code and error.code in read.nothing_on:
        answer, error = {}, None
        if not isinstance(read, Listing):
            box.given.update({id(row): [] for row in ask.rows})
            return
    if isinstance(read, Listing):
        if error is not None:
            box.failure = error
        else:
            box.rows = _rows(box, answer, read.rows)
    elif isinstance(read, Detail):
        _fill_detail(box, read, ask, answer, error)
    else:
        _fill_metric(box, read, ask, answer, error)


def untold(box: Box, ask: Ask, lost: Sequence[str]) -> None:
    """Note what an answer itself says it could not read: the rest of it counts, and the reading is not whole."""
    for words in lost:
        error = ValueError(f"the answer is not whole: {words}")
        if ask.rows:
            box.failed.update({id(row): error for row in ask.rows})
        else:
            box.lost = [*box.lost, (f"{box.read.service}.{box.read.operation}", error)]


_LEFT_OUT = "the answer leaves this resource out"


def _fill_detail(box: Box, read: Detail, ask: Ask, answer: Any, error: BaseException | None) -> None:
    if isinstance(error, NotFound):  # it was deleted between the listing and this read, or it is somebody else's
        box.gone.update(id(row) for row in ask.rows)
        return
    if error is not None:
        box.failed.update({id(row): error for row in ask.rows})
        return
    rows = _rows(box, answer, read.rows)
    box.rows.extend(rows)
    if read.each and not rows:
        box.failed.update({id(row): ValueError(_LEFT_OUT) for row in ask.rows})
        return
    if read.pair is None:
        box.given.update({id(row): rows for row in ask.rows})
        return
    ours, theirs = read.pair
    by: dict[Any, list[Row]] = {}
    for row in rows:
        try:
            by.setdefault(theirs(row), []).append(row)
        except ODD as odd:  # whose it is cannot be told: the others keep theirs
            _lose(box, odd)
    for row in ask.rows:
        if not _careful(box, row, lambda row: ours(row) is not row):
            continue
        if (read.late or read.each) and ours(row) not in by:  # no tags are not the same as tags that were not answered
            box.failed[id(row)] = ValueError(_LEFT_OUT)
            continue
        box.given[id(row)] = by.get(ours(row), [])


def _fill_metric(box: Box, read: Metric, ask: Ask, answer: Any, error: BaseException | None) -> None:
    if error is not None or ask.question is None:
        box.failed.update({id(row): error or ValueError("no question") for row in ask.rows})
        return
    try:
        series = tuple(zip(ask.rows, read.points(answer, ask.question), strict=True))
    except ODD as odd:
        box.failed.update({id(row): _odd(odd) for row in ask.rows})
        return
    for row, points in series:
        key = id(row)
        if isinstance(points, str):
            box.failed[key] = ValueError(points)
        elif not points:
            box.values.setdefault(key, None)
        else:
            seen = box.values.get(key)
            values = [*points] if seen is None else [seen, *points]
            box.values[key] = sum(values) if read.fold == "sum" else max(values)


def _lose(box: Box, odd: Exception) -> None:
    """Note that something of an answer could not be told apart: the rest of it counts, and the reading is not whole."""
    box.lost = [*box.lost, (f"{box.read.service}.{box.read.operation}", _odd(odd))]


def _rows(box: Box, answer: Any, path: str) -> list[Row]:
    odd: list[Any] = []
    rows = extract(answer, path, odd)
    if odd:
        _lose(box, TypeError(f"{len(odd)} where {path} was to be"))
    return rows


def moment(value: Any) -> datetime | None:
    """A time of an answer in UTC: ISO 8601 text, epoch seconds or a datetime; None when it is none of these."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    elif isinstance(value, int | float) and not isinstance(value, bool):
        value = datetime.fromtimestamp(value / 1000 if value > 1e11 else value, UTC)  # some APIs write milliseconds
    if not isinstance(value, datetime):
        return None
    return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)
