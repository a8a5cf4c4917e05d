"""Reliability: how often the most likely label was right, against how probable it was said to be."""

from __future__ import annotations

from tools.measure.report.page import Chart, written
from tools.measure.report.svg import line, marker, tag, text, title
from tools.measure.statistics.calibration import Calibration
from tools.measure.statistics.proportions import wilson

WIDTH, HEIGHT = 460.0, 400.0
LEFT, RIGHT, TOP, BOTTOM = 46.0, 442.0, 28.0, 296.0
FOOT, BARS = 356.0, 40.0


def reliability_chart(heading: str, found: Calibration, key: str) -> Chart:
    """A point a bin with the 95 % range of its share (Wilson), the diagonal, and how many reads each bin has."""
    parts = [text(LEFT - 40, 14, "share right", css="soft", font_size=12)]
    for tenth in (0, 2, 4, 6, 8, 10):
        share = tenth / 10
        x, y = _x(share), _y(share)
        parts += [line(LEFT, y, RIGHT, y, "grid"), line(x, TOP, x, BOTTOM, "grid")]
        parts.append(
            text(LEFT - 6, y + 4, f"{share:g}", anchor="end", css="tick", font_size=12, data_y_tick=repr(share))
        )
        parts.append(
            text(x, FOOT + 17, f"{share:g}", anchor="middle", css="tick", font_size=12, data_x_tick=repr(share))
        )
    parts.append(line(_x(0), _y(0), _x(1), _y(1), "one"))
    most = max(each.n for each in found.bins)
    for each in found.bins:
        low, high = wilson(each.right * each.n, each.n)
        x, y = _x(each.mean_probability), _y(each.right)
        parts.append(line(x, _y(low), x, _y(high), "l0 bar"))
        words = (
            f"{each.low:.1f} to {each.high:.1f}: {each.n} reads, mean probability {each.mean_probability:.3f}, "
            f"share right {each.right:.3f}"
        )
        where = f"{key}|{each.low:.1f}"
        parts.append(
            marker(0, x, y, "m0", title(words), size=5, data_k=where, data_v=repr(each.right),
                   data_x=repr(each.mean_probability))
        )  # fmt: skip
        tall = max(1.0, BARS * each.n / most)
        left, wide = _x(each.low), _x(each.high) - _x(each.low)
        parts.append(tag("rect", x=left + 1, y=FOOT - tall, width=wide - 2, height=tall, class_="count"))
        parts.append(text(left + wide / 2, FOOT - tall - 3, str(each.n), anchor="middle", css="tick", font_size=11))
    words = "probability of the predicted label; below: reads"
    parts.append(text((LEFT + RIGHT) / 2, HEIGHT - 6, words, anchor="middle", css="soft", font_size=12))
    shows = "so this sample shows miscalibration" if found.shows else "so this sample shows no miscalibration"
    caption = (
        f"ECE {written(found.ece)} of {found.n:,} reads. A model with exactly these probabilities would show "
        f"{written(found.zero_median)} (median) and 95 of 100 such models less than {written(found.zero_95)}: {shows}. "
        "On the line: as often right as it says. Bars: 95 % range of the share. A bin of few reads says little."
    )
    alt = "; ".join(f"said {b.mean_probability:.2f}, right {b.right:.2f} of {b.n}" for b in found.bins)
    return Chart(heading, "".join(parts), WIDTH, HEIGHT, f"{heading}. {alt}.", caption)


def _x(share: float) -> float:
    return LEFT + share * (RIGHT - LEFT)


def _y(share: float) -> float:
    return BOTTOM - share * (BOTTOM - TOP)
