"""The rungs of a ladder by speed and right answers: those that nothing beats are filled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tools.measure.report.page import Chart, written
from tools.measure.report.scale import from_zero, spanning
from tools.measure.report.svg import line, marker, shortened, text, title, width_of

WIDTH, HEIGHT = 460.0, 320.0


@dataclass(frozen=True)
class Spot:
    """One rung."""

    name: str
    speed: float
    right: int
    beaten: bool
    key: str


def frontier_chart(heading: str, spots: Sequence[Spot], n: int, left_out: Mapping[str, str]) -> Chart | None:
    """Right answers against decode rate; None when fewer than two rungs have both."""
    if len(spots) < 2:
        return None
    bottom, top, left, right = HEIGHT - 46, 28.0, 46.0, WIDTH - 20
    x_scale, x_ticks = from_zero([spot.speed for spot in spots], left, right)
    y_scale, y_ticks = spanning([float(spot.right) for spot in spots], bottom, top)
    parts = [text(4, 14, f"right of {n}", css="soft", font_size=12)]
    for tick in y_ticks:
        parts.append(line(left, y_scale.at(tick), right, y_scale.at(tick), "grid"))
        parts.append(text(left - 6, y_scale.at(tick) + 4, written(tick), anchor="end", css="tick", font_size=12,
                          data_y_tick=repr(tick)))  # fmt: skip
    parts += [
        text(x_scale.at(tick), bottom + 17, written(tick), anchor="middle", css="tick", font_size=12,
             data_x_tick=repr(tick))
        for tick in x_ticks
    ]  # fmt: skip
    parts.append(line(left, bottom, right, bottom, "axis"))
    parts.append(text((left + right) / 2, HEIGHT - 8, "decode, tokens/s", anchor="middle", css="soft", font_size=12))
    taken: list[tuple[float, float, float]] = []
    for spot in sorted(spots, key=lambda each: (each.beaten, -each.right)):
        x, y = x_scale.at(spot.speed), y_scale.at(spot.right)
        words = f"{spot.name}: {spot.right} right, {written(spot.speed)} tokens/s"
        parts.append(
            marker(0, x, y, "dot open" if spot.beaten else "m0", title(words), size=5, data_k=spot.key,
                   data_v=repr(float(spot.right)), data_x=repr(spot.speed))
        )  # fmt: skip
        parts += _named(spot.name, x, y, taken)
    caption = "Filled: no other rung is at least as right and as fast. Hollow: one is."
    if left_out:
        caption += " Not drawn: " + "; ".join(f"{name} ({why})" for name, why in left_out.items()) + "."
    alt = "; ".join(f"{spot.name} {spot.right} right at {written(spot.speed)}" for spot in spots)
    return Chart(heading, "".join(parts), WIDTH, HEIGHT, f"{heading}. {alt}.", caption)


def _named(name: str, x: float, y: float, taken: list[tuple[float, float, float]]) -> list[str]:
    """The rung's name where no other name stands: right, left, above or below its point; a second line further out."""
    words = shortened(name, 120, 12)
    wide = width_of(words, 12)
    for dx, dy in ((8, 4), (-8 - wide, 4), (-wide / 2, -9), (-wide / 2, 18), (8, 18), (8, -9), (-8 - wide, 18)):
        left, base = x + dx, y + dy
        clear = all(base - 12 >= b or base + 12 <= b or left > r or left + wide < lft for lft, r, b in taken)
        if clear and left > 48 and left + wide < WIDTH and 22 < base < HEIGHT - 50:
            taken.append((left, left + wide, base))
            return [text(left, base, words, font_size=12)]
    return []
