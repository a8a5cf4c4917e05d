"""A page read back: its words, its numbers with their keys, and where every point of a chart was drawn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from html.parser import HTMLParser
from math import log

from tools.measure.record import Run

Numbers = dict[str, float | None]


@dataclass
class Drawing:
    """One chart: ticks as value -> place, points as key -> (value, x, y)."""

    label: str
    x_ticks: dict[float, float] = field(default_factory=dict)
    y_ticks: dict[float, float] = field(default_factory=dict)
    points: list[tuple[str, float, float, float]] = field(default_factory=list)
    rows: dict[str, str] = field(default_factory=dict)
    shapes: list[str] = field(default_factory=list)


class Reader(HTMLParser):
    """Everything that a test asks of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.words: list[str] = []
        self.numbers: list[tuple[str, float | None, str]] = []
        self.charts: list[Drawing] = []
        self.tags: set[str] = set()
        self.loads: list[str] = []
        self.handlers: list[str] = []
        self.badges: list[str] = []
        self.warnings: list[str] = []
        self._open: list[tuple[str, dict[str, str]]] = []
        self._unread = self._warned = 0  # how many of what is open hold no words, or a warning
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {key: value or "" for key, value in attrs}
        self.tags.add(tag)
        self.loads += [
            value for key, value in found.items() if key in {"src", "href", "srcset", "action", "xlink:href"}
        ]
        self.handlers += [key for key in found if key.startswith("on")]
        if tag not in {"meta", "br", "img", "input"}:
            self._open.append((tag, found))
            self._unread += tag in {"style", "script"}
            self._warned += found.get("class") == "warn"
        if tag == "svg":
            self.charts.append(Drawing(found.get("aria-label", "")))
        if self.charts:
            self._drawn(tag, found)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def _drawn(self, tag: str, found: dict[str, str]) -> None:
        chart = self.charts[-1]
        if tag in {"path", "rect"} and found.get("class", "").split(" ")[0] in {"right", "wrong", "error", "differ"}:
            chart.shapes.append(f"{found['class']} {found.get('d', '')}")
        if "data-x-tick" in found:
            chart.x_ticks[float(found["data-x-tick"])] = float(found["x"])
        if "data-y-tick" in found:
            chart.y_ticks[float(found["data-y-tick"])] = float(found["y"]) - 4
        if "data-row" in found:
            chart.rows[found["data-row"]] = found["data-cells"]
        if "data-k" in found and "data-v" in found:
            x, y = (float(found.get(name) or found[f"data-{name}"]) for name in ("cx", "cy"))
            chart.points.append((found["data-k"], float(found["data-v"]), x, y))

    def handle_endtag(self, tag: str) -> None:
        while self._open:
            closed, found = self._open.pop()
            self._unread -= closed in {"style", "script"}
            self._warned -= found.get("class") == "warn"
            if closed == tag:
                break

    def handle_data(self, data: str) -> None:
        if self._unread:
            return
        self.words.append(data)
        tag, found = self._open[-1] if self._open else ("", {})
        if tag == "data":
            self.numbers.append((found["data-k"], float(found["value"]) if found["value"] else None, data))
        if tag == "span" and "badge" in found.get("class", ""):
            self.badges.append(data)
        if self._warned:
            self.warnings.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    def values(self) -> dict[str, float | None]:
        """Key -> value; a key that is there twice has one value."""
        found: dict[str, float | None] = {}
        for key, value, _ in self.numbers:
            assert found.setdefault(key, value) == value, key
        return found


def shown(text: str) -> float:
    """The number that a person reads."""
    return float(text.replace(",", "").replace("−", "-").strip("$%× ").split(" ")[0])


def reads_as(text: str, value: float) -> bool:
    """Whether the shown text is the value, rounded to four digits or to three decimals."""
    return abs(shown(text) - value) <= max(5.1e-4 * abs(value), 5.1e-4 if "." in text else 0.0)


def from_place(ticks: dict[float, float], place: float) -> float:
    """The value that stands at a place, on an axis of equal steps or of equal factors."""
    marks = sorted(ticks.items())
    (low, start), (high, end) = marks[0], marks[-1]
    share = (place - start) / (end - start)
    linear = low + share * (high - low)
    if _straight(marks, low, start, high, end):
        return linear
    return low * (high / low) ** share


def _straight(marks: Iterable[tuple[float, float]], low: float, start: float, high: float, end: float) -> bool:
    fits = [abs(start + (value - low) / (high - low) * (end - start) - place) for value, place in marks]
    if max(fits) < 0.5:
        return True
    by_factor = [abs(start + log(value / low) / log(high / low) * (end - start) - place) for value, place in marks]
    assert max(by_factor) < 0.5, "the axis has neither equal steps nor equal factors"
    return False


def of_run(run: Run) -> Numbers:
    """Every number of a record that a page has to show."""
    found: Numbers = {}
    for part in run.parts:
        for figure in part.figures:
            key = f"{run.id}|{figure.key}"
            found |= {f"{key}|value": figure.value, f"{key}|n": float(figure.n) if figure.n else None}
            if len(figure.samples) > 1:
                found |= {f"{key}|low": figure.low, f"{key}|high": figure.high}
    for row in run.costs:
        found[f"{run.id}|cost.{row.at_once}"] = row.usd_per_million_output
        found[f"{run.id}|cost.{row.at_once}|per_dollar"] = row.tokens_per_second_per_usd_hour
    return found
