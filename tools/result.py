"""What every tool returns: a record that is complete both as structured data and as the text rendered from it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel

from clouds.models import Record
from tools.figures import show
from tools.fitting import fitted, joined
from tools.inert import defused, in_cell, inert
from tools.lengths import lengths

T = TypeVar("T")
SHOWN = 10
"""Rows in a result unless more are asked for; all rows are in a file or behind a filter."""
TEXT_LIMIT = 7_500
"""Characters of a rendered result that a model reads: about 2,000 tokens."""
OWN_LINES = frozenset({"least_policy"})
"""Fields whose several lines are ours; nothing from outside is in them."""


class Result(Record):
    """Base of every result. A field without a default is always sent; one that equals its default is left out.

    So give a default only to what may be absent: a count of 0 or a `complete` of false must never disappear. `rows` are
    always sent, also when there are none: who reads them in a program would else stumble over the best answer.
    """

    headline: str
    """One line that answers the question, with the numbers that matter."""
    notes: tuple[str, ...] = ()
    """What a person has to know besides: what was not looked at, what a figure excludes, warnings."""
    next: str = ""
    """The one thing to do next."""

    @property
    def is_error(self) -> bool:
        """True for a result that has to be told as an error: what was asked for was not reached."""
        return False

    def structured(self) -> dict[str, Any]:
        """The record as JSON, without what is absent; the last note says what lists nothing else gives a length of."""
        dumped: dict[str, Any] = _visible_in(self.model_dump(mode="json", exclude_none=True, exclude_defaults=True))
        if "rows" in type(self).model_fields:
            dumped.setdefault("rows", [])
        if listed := lengths(dumped):
            dumped["notes"] = [*dumped.get("notes", ()), listed]
        return dumped

    def text(self, limit: int | None = TEXT_LIMIT) -> str:
        """The record as Markdown, whole without a `limit`; with one, headline, notes and next step stay whole and the
        body is cut. Override `body` for a hand-made table, not this."""
        listed = lengths(self.model_dump(mode="json", exclude_none=True, exclude_defaults=True))
        head, notes = f"**{visible(inert(self.headline))}**", [visible(defused(each)) for each in (*self.notes, listed)]
        last = visible(inert(f"Next: {self.next}") if self.next else "")
        whole = joined(head, visible(self.body()), notes, last)
        if limit is None or len(whole) <= limit:
            return whole
        return fitted(head, visible(self.short()), notes, last, limit)

    def body(self) -> str:
        """Everything between headline and notes: scalars in one line, a table per tuple of records."""
        return render(self, leave_out=("headline", "notes", "next"))

    def short(self) -> str:
        """The body where it does not fit as a whole: what may be left out first is left out. It is cut after that."""
        return self.body()


class Asked(Result):
    """What a call answers that asks before it acts: its steps and a token. Nothing was done yet."""

    done: bool
    steps: tuple[str, ...]
    stays: tuple[str, ...] = ()
    """What is left alone on purpose."""
    confirm: str = ""
    """Give it back in the same call to carry the steps out."""
    confirm_until: str = ""


class Running(Result):
    """What a call answers whose work goes on in a worker: poll `operation` with get_operation."""

    operation: str
    state: str
    message: str = ""
    done_percent: float | None = None


def render(record: BaseModel, *, leave_out: Sequence[str] = ()) -> str:
    """Markdown of a record's fields in their order; what equals its default is left out, as in `structured`."""
    scalars: list[str] = []
    blocks: list[str] = []
    for name, info in type(record).model_fields.items():
        value = getattr(record, name)
        if name in leave_out or value is None or (not info.is_required() and value == info.default):
            continue
        word = label(name)
        if isinstance(value, BaseModel):
            blocks.append(f"{word}: " + inert(_flat(value)))
        elif isinstance(value, Mapping):
            blocks.append(
                f"{word}: " + (" · ".join(_pair(name, str(key), each) for key, each in value.items()) or "none")
            )
        elif isinstance(value, tuple | list):
            blocks.append(_many(word, name, value))
        else:
            scalars.append(f"{word} {inert(show(name, value))}")
    return "\n\n".join(part for part in [" · ".join(scalars), *blocks] if part)


def _pair(name: str, key: str, value: Any) -> str:
    words = f"{key} {show(key, value)}"
    return words if name in OWN_LINES else inert(words)


def _many(word: str, name: str, values: Sequence[Any]) -> str:
    if values and all(isinstance(value, BaseModel) for value in values):
        return table(values)
    if name in {"steps", "lines"}:
        return "\n".join(f"{number}. {inert(str(value))}" for number, value in enumerate(values, 1))
    return f"{word}: " + (", ".join(inert(show(name, value)) for value in values) or "none")


def _flat(record: BaseModel) -> str:
    parts = []
    for name, info in type(record).model_fields.items():
        value = getattr(record, name)
        if value is None or (not info.is_required() and value == info.default):
            continue
        parts.append(f"{label(name)} {cell(name, value)}")
    return " · ".join(parts)


def cell(name: str, value: Any) -> str:
    """One value as it stands in a table cell or a line."""
    if value is None:
        return ""
    if isinstance(value, BaseModel):
        return _flat(value)
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {cell(str(key), each)}" for key, each in value.items())
    if isinstance(value, tuple | list):
        return ", ".join(cell(name, each) for each in value)
    return show(name, value)


def table(records: Iterable[BaseModel], columns: Sequence[str] | None = None) -> str:
    """A Markdown table of records of one kind; a column that is empty in every row is left out."""
    rows = list(records)
    names = list(columns or type(rows[0]).model_fields)
    kept = [name for name in names if any(_present(row, name) for row in rows)]
    numeric = {name for name in kept if all(_number(getattr(row, name)) for row in rows)}
    head = "| " + " | ".join(label(name) for name in kept) + " |"
    rule = "|" + "|".join("--:" if name in numeric else "---" for name in kept) + "|"
    lines = ["| " + " | ".join(escape(cell(name, getattr(row, name))) for name in kept) + " |" for row in rows]
    return "\n".join([head, rule, *lines])


def _number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def label(name: str) -> str:
    """A field's name as a heading; a unit that stands beside the figure is left out of it."""
    return re.sub(r"_(seconds|bytes)$", "", name).replace("_", " ")


def _present(row: BaseModel, name: str) -> bool:
    info = type(row).model_fields[name]
    value = getattr(row, name)
    return value is not None and (info.is_required() or value != info.default)


def escape(text: str) -> str:
    """Text from outside inside a table cell: one line, no cell borders, no image, link or tag."""
    return in_cell(text)


_UNSEEN = re.compile(
    r"\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|[\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
    r"|[\u180e\u2060-\u2065\u206a-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e00ff\U000e01f0-\U000e0fff]"
    r"|[\xad\u061c\u200b-\u200f\ufe00-\ufe0f\U000e0100-\U000e01ef]{3,}"
)
"""Terminal escapes, marks that turn the order of what is read, halves of pairs, letters that only a model sees.

Those that a script or an emoji needs between two letters (a joiner, a variant of a sign) stand alone or in pairs: three
in a row hide something.
"""


def visible(text: str) -> str:
    """Text from outside whose lines stay lines, with what acts on a terminal or hides from a reader written out."""
    return _UNSEEN.sub(lambda found: ascii(found[0])[1:-1], text)


def _visible_in(value: Any) -> Any:
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {visible(str(key)): _visible_in(each) for key, each in value.items()}
    return [_visible_in(each) for each in value] if isinstance(value, list) else value


def quoted(text: str, limit: int = 200) -> str:
    """Text from outside as data: one line, control characters made visible, bounded, between quotes."""
    line = text[: limit + 1]
    if not line.isprintable():
        line = "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in line)
    return f'"{line[:limit]}…"' if len(line) > limit else f'"{line}"'


def capped(rows: Sequence[T], limit: int = SHOWN) -> tuple[tuple[T, ...], str]:
    """The rows to show, and "10 of 1,313" (empty when all are shown)."""
    return tuple(rows[:limit]), f"{limit:,} of {len(rows):,}" if len(rows) > limit else ""
