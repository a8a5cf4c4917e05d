"""Ratios with their ranges, one a row; and how far a base moved by itself beside what the others differ by."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tools.measure.report.page import Chart
from tools.measure.report.scale import Scale, apart, around_one, spanning
from tools.measure.report.svg import line, marker, shortened, tag, text, title
from tools.measure.stats import ratio_text

WIDTH = 460.0
ROW = 38.0
ROWS = 14
CSS = {"better": "good", "worse": "bad"}


@dataclass(frozen=True)
class Ratio:
    """One figure against the base. `drift` is how far the base moved by itself, as a share; None is: not known."""

    label: str
    ratio: float
    low: float | None
    high: float | None
    verdict: str
    key: str
    drift: float | None = None


@dataclass(frozen=True)
class Move:
    """One speed: by how many per cent the base moved when it was measured again, and the others differ from it."""

    label: str
    again: tuple[tuple[str, float], ...]
    """Key and per cent."""
    others: tuple[tuple[str, str, float], ...]
    """Name, key and per cent."""


def ratio_chart(heading: str, ratios: Sequence[Ratio], base: str) -> Chart | None:
    """A dot and a bar for every ratio, 1 marked; a verdict that is not plain is drawn hollow."""
    if not ratios:
        return None
    shown = ratios[:ROWS]
    bottom = 16 + ROW * len(shown)
    known = [value for each in shown for value in (each.ratio, each.low, each.high) if value is not None]
    scale, ticks = around_one(known, 14, WIDTH - 14)
    parts = list(_factor_axis(scale, ticks, bottom))
    for place, each in enumerate(shown):
        y = 16 + ROW * place
        span = "" if each.low is None or each.high is None else f" ({ratio_text(each.low)}–{ratio_text(each.high)})"
        words = f"{ratio_text(each.ratio)}{span}, {each.verdict}"
        parts.append(text(WIDTH - 4, y + 12, words, anchor="end", css="value", font_size=12))
        parts.append(text(4, y + 12, shortened(each.label, WIDTH - 30 - 6.4 * len(words), 12), font_size=12))
        parts += _ratio(each, scale, y + 24, f"{each.label}: {words}")
    words = f"times {shortened(base, 200, 12)}, equal steps are equal factors"
    parts.append(text(WIDTH / 2, bottom + 38, words, anchor="middle", css="soft", font_size=12))
    more = f" {len(shown)} of {len(ratios)} are drawn; the table has all." if len(shown) < len(ratios) else ""
    caption = (
        "Dot: the ratio. Bar: its range. Filled: better (green) or worse (red); hollow: within noise or cannot say."
    )
    if any(each.drift is not None for each in shown):
        caption += " Grey band: how far the base moved by itself."
    alt = "; ".join(f"{each.label} {ratio_text(each.ratio)} times, {each.verdict}" for each in shown)
    return Chart(heading, "".join(parts), WIDTH, bottom + 46, f"{heading}. {alt}.", caption + more)


def _factor_axis(scale: Scale, ticks: Sequence[float], bottom: float) -> Iterator[str]:
    for tick in ticks:
        x = scale.at(tick)
        yield line(x, 12, x, bottom + 4, "one" if tick == 1 else "grid")
        yield text(x, bottom + 19, f"{tick:g}", anchor="middle", css="tick", font_size=12, data_x_tick=repr(tick))


def _ratio(each: Ratio, scale: Scale, y: float, words: str) -> Iterator[str]:
    css = CSS.get(each.verdict, "open")
    if each.drift:
        left, right = (max(scale.start, min(scale.end, scale.at(max(1e-9, 1 + way * each.drift)))) for way in (-1, 1))
        yield tag("rect", x=left, y=y - 7, width=right - left, height=14, class_="band")
    if each.low is not None and each.high is not None:
        yield line(scale.at(each.low), y, scale.at(each.high), y, f"span {css}")
    x = scale.at(each.ratio)
    yield marker(0, x, y, f"dot {css}", title(words), size=5, data_k=each.key, data_v=repr(each.ratio))


def drift_chart(heading: str, moves: Sequence[Move], base: str) -> Chart | None:
    """Every speed that the base was measured at twice: its own drift around 0, and the change of the others."""
    if not moves:
        return None
    shown = moves[:ROWS]
    bottom = 16 + ROW * len(shown)
    values = [value for each in shown for _, value in each.again] + [v for each in shown for _, _, v in each.others]
    scale, ticks = spanning([0.0, *values], 30, WIDTH - 30)
    parts = []
    for tick in apart(ticks, scale, 44, first=0.0):
        x = scale.at(tick)
        parts.append(line(x, 12, x, bottom + 4, "one" if tick == 0 else "grid"))
        words = f"{tick:+g} %" if tick else "0 %"
        parts.append(text(x, bottom + 19, words, anchor="middle", css="tick", font_size=12, data_x_tick=repr(tick)))
    for place, each in enumerate(shown):
        y = 16 + ROW * place
        own = ", ".join(f"{value:+.2f} %" for _, value in each.again)
        parts.append(text(WIDTH - 4, y + 12, f"drift {own}", anchor="end", css="value", font_size=12))
        parts.append(text(4, y + 12, shortened(each.label, WIDTH - 150, 12), font_size=12))
        parts.append(line(scale.start, y + 24, scale.end, y + 24, "grid"))
        parts += [
            marker(
                1, scale.at(value), y + 24, "dot open", title(f"{name}: {value:+.2f} %"), data_k=key, data_v=repr(value)
            )
            for name, key, value in each.others
        ]
        parts += [
            marker(
                0, scale.at(value), y + 24, "m0", title(f"{base} again: {value:+.2f} %"), data_k=key, data_v=repr(value)
            )
            for key, value in each.again
        ]
    words = f"change against the first {shortened(base, 200, 12)}"
    parts.append(text(WIDTH / 2, bottom + 38, words, anchor="middle", css="soft", font_size=12))
    more = f" {len(shown)} of {len(moves)} are drawn." if len(shown) < len(moves) else ""
    others = " Hollow square: another run." if any(each.others for each in shown) else ""
    alt = "; ".join(f"{each.label} {', '.join(f'{value:+.2f} %' for _, value in each.again)}" for each in shown)
    caption = f"Blue dot: {base}, measured again.{others} A change no larger than the drift shows nothing.{more}"
    return Chart(heading, "".join(parts), WIDTH, bottom + 46, f"{heading}. {alt}.", caption)
