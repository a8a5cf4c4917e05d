"""Lines over a load: throughput, latency, cost. Points carry their value, so that the drawing can be read back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tools.measure.report.page import Chart, written
from tools.measure.report.scale import Scale, apart, by_factor, from_zero
from tools.measure.report.svg import line, marker, place, shortened, tag, text, title, width_of

WIDTH, HEIGHT = 460.0, 300.0
SERIES = 6
"""Lines in one chart that can still be told apart."""
LABELLED = 8
"""Points of a single line that get their number beside them."""
FACTOR_FROM = 12.0
"""Largest over smallest from which a latency axis has equal factors."""


@dataclass(frozen=True)
class Point:
    """One value. `low` to `high` is drawn as a bar, `samples` as dots."""

    x: float
    y: float
    key: str
    low: float | None = None
    high: float | None = None
    samples: tuple[float, ...] = ()


@dataclass(frozen=True)
class Series:
    """One line. `colour` and `shape` are numbers; a dashed line is another quantity of the same thing."""

    name: str
    points: tuple[Point, ...]
    colour: int
    shape: int
    dashed: bool = False


def line_chart(
    heading: str,
    series: Sequence[Series],
    *,
    x_words: str,
    y_words: str,
    caption: str = "",
    factor: bool = False,
    prefix: str = "",
) -> Chart | None:
    """Lines over a load; None when there is no point. `factor`: equal factors on the y axis where the span is large."""
    drawn = [each for each in series if each.points]
    if not drawn:
        return None
    legend, top = _legend(drawn)
    values = [value for each in drawn for point in each.points for value in _values(point)]
    bottom, right = HEIGHT - 46, WIDTH - 18
    steep = factor and min(values) > 0 and max(values) / min(values) >= FACTOR_FROM
    y_scale, y_ticks = by_factor(values, bottom, top) if steep else from_zero(values, bottom, top)
    left = max(width_of(prefix + written(tick), 12) for tick in y_ticks) + 14
    loads = sorted({point.x for each in drawn for point in each.points})
    x_scale = _x_scale(loads, left + 22, right - 22)
    parts = [
        *_axes(x_scale, y_scale, loads, y_ticks, (left, right, bottom), prefix),
        text(4, top - 12 if len(drawn) > 1 else 12, y_words, css="soft", font_size=12),
        text((left + right) / 2, HEIGHT - 8, x_words, anchor="middle", css="soft", font_size=12),
        *legend,
    ]
    for each in drawn:
        parts += _drawn(each, x_scale, y_scale)
    if len(drawn) == 1 and len(drawn[0].points) <= LABELLED:
        parts += _numbers(drawn[0], x_scale, y_scale, prefix)
    alt = "; ".join(f"{each.name}: {_told(each, prefix)}" for each in drawn)
    return Chart(heading, "".join(parts), WIDTH, HEIGHT, f"{heading}. {alt}.", caption)


def _values(point: Point) -> Iterator[float]:
    yield point.y
    yield from (value for value in (point.low, point.high) if value is not None)
    yield from point.samples


def _x_scale(loads: Sequence[float], start: float, end: float) -> Scale:
    low, high = loads[0], loads[-1]
    if low == high:
        return Scale(low - 1, high + 1, start, end)
    return Scale(low, high, start, end, factor=low > 0 and high / low >= 4)


def _axes(
    x_scale: Scale,
    y_scale: Scale,
    loads: Sequence[float],
    y_ticks: Iterable[float],
    box: tuple[float, float, float],
    prefix: str,
) -> Iterator[str]:
    left, right, bottom = box
    for tick in y_ticks:
        y = y_scale.at(tick)
        yield line(left, y, right, y, "grid")
        yield text(
            left - 6, y + 4, prefix + written(tick), anchor="end", css="tick", font_size=12, data_y_tick=repr(tick)
        )
    yield line(left, bottom, right, bottom, "axis")
    for load in apart(loads, x_scale, max(width_of(written(load), 12) for load in loads) + 6):
        x = x_scale.at(load)
        yield line(x, bottom, x, bottom + 4, "axis")
        yield text(x, bottom + 17, written(load), anchor="middle", css="tick", font_size=12)


def _legend(series: Sequence[Series]) -> tuple[list[str], float]:
    """Names in rows above the plot, and where the plot begins. A single line needs none."""
    if len(series) == 1:
        return [], 38.0
    parts, x, y = [], 4.0, 14.0
    for each in series:
        name = shortened(each.name, 200, 12)
        wide = 34 + width_of(name, 12) + 16
        if x > 4 and x + wide > WIDTH:
            x, y = 4.0, y + 18
        parts.append(line(x, y - 4, x + 26, y - 4, f"l{each.colour}{' dash' if each.dashed else ''}"))
        parts.append(marker(each.shape, x + 13, y - 4, f"m{each.colour}", size=4))
        parts.append(text(x + 32, y, name, font_size=12))
        x += wide
    return parts, y + 30


def _drawn(series: Series, x_scale: Scale, y_scale: Scale) -> Iterator[str]:
    colour = series.colour
    places = [(x_scale.at(point.x), y_scale.at(point.y)) for point in series.points]
    if len(places) > 1:
        path = "M" + "L".join(f"{place(x)} {place(y)}" for x, y in places)
        yield tag("path", d=path, class_=f"l{colour}{' dash' if series.dashed else ''}")
    for point, (x, y) in zip(series.points, places, strict=True):
        if point.low is not None and point.high is not None and point.high > point.low:
            low, high = y_scale.at(point.low), y_scale.at(point.high)
            yield line(x, low, x, high, f"l{colour} bar")
            yield line(x - 4, low, x + 4, low, f"l{colour} bar") + line(x - 4, high, x + 4, high, f"l{colour} bar")
        for sample in point.samples:
            yield tag("circle", cx=x + 8, cy=y_scale.at(sample), r=1.8, class_=f"m{colour} faint")
        words = f"{series.name}, {written(point.x)}: {written(point.y)}{_span(point)}"
        yield marker(
            series.shape, x, y, f"m{colour}", title(words), data_k=point.key, data_v=repr(point.y), data_x=repr(point.x)
        )


def _numbers(series: Series, x_scale: Scale, y_scale: Scale, prefix: str) -> Iterator[str]:
    last = -1e9
    for point in series.points:
        x, y = x_scale.at(point.x), y_scale.at(max(_values(point)))
        words = prefix + written(point.y)
        if x - last >= width_of(words, 12) + 4:
            yield text(x, y - 9, words, anchor="middle", css="value", font_size=12)
            last = x


def _span(point: Point) -> str:
    if point.low is None or point.high is None or point.low == point.high:
        return ""
    return f" ({written(point.low)}–{written(point.high)})"


def _told(series: Series, prefix: str) -> str:
    return ", ".join(f"{prefix}{written(point.y)}{_span(point)} at {written(point.x)}" for point in series.points)
