"""What a report is made of: headings, sentences, numbers, tables and charts. How they look is the renderers' matter.

A number keeps its whole value and the key of the figure that it is, so that a page can be read back and compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from tools.figures import number
from tools.measure.stats import four

Tone = Literal["", "good", "bad", "quiet", "warn"]


@dataclass(frozen=True)
class Cell:
    """Text in a table or a card. `value` is the number behind it, `key` says whose."""

    text: str
    value: float | None = None
    key: str = ""
    tone: Tone = ""
    small: str = ""
    """A second line: a range, a count."""


@dataclass(frozen=True)
class Table:
    """Rows of cells. `numeric` are the columns that stand to the right."""

    heads: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    numeric: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Chart:
    """A drawing: `body` is SVG markup inside `width` x `height` units. `alt` says in words what is to be seen."""

    title: str
    body: str
    width: float
    height: float
    alt: str
    caption: str = ""
    wide: bool = False
    """It needs the whole width of a page, and may be scrolled where there is less."""


@dataclass(frozen=True)
class Charts:
    """Charts side by side."""

    charts: tuple[Chart, ...]


@dataclass(frozen=True)
class Lines:
    """Sentences, one a line."""

    lines: tuple[str, ...]
    tone: Tone = ""
    title: str = ""


@dataclass(frozen=True)
class Cards:
    """The few numbers that a person looks for first, with what each of them is."""

    cards: tuple[tuple[Cell, str], ...]


@dataclass(frozen=True)
class Facts:
    """Words and what they are."""

    facts: Mapping[str, str]


@dataclass(frozen=True)
class Section:
    """Blocks under a heading. A folded one shows its heading until it is opened; it prints open."""

    title: str
    blocks: tuple[Block, ...]
    folded: bool = False


Block = Table | Charts | Lines | Cards | Facts | Section


@dataclass(frozen=True)
class Page:
    """A whole report. Badges are what has to be seen before any number is believed."""

    title: str
    lead: tuple[str, ...] = ()
    badges: tuple[tuple[Tone, str], ...] = ()
    blocks: tuple[Block, ...] = field(default=())

    @property
    def charts(self) -> tuple[Chart, ...]:
        """Every chart, in the order of the page."""
        return tuple(_charts(self.blocks))


def _charts(blocks: tuple[Block, ...]) -> list[Chart]:
    found: list[Chart] = []
    for block in blocks:
        if isinstance(block, Charts):
            found += block.charts
        elif isinstance(block, Section):
            found += _charts(block.blocks)
    return found


def num(value: float | None, key: str, tone: Tone = "", small: str = "") -> Cell:
    """A number as it is shown everywhere, to four digits; a dash where it is not known, never 0."""
    return Cell("–" if value is None else written(value), value, key, tone, small)


def ratio(value: float | None, key: str) -> Cell:
    """How many times: three decimals, so that a column of them lines up."""
    if value is None:
        return Cell("–", None, key)
    return Cell(f"{value:.3f}" if 0.1 <= value < 1000 else written(value), value, key)


def written(value: float) -> str:
    """Four significant digits, thousands separated."""
    return number(four(value))
