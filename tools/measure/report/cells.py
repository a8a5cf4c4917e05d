"""A ladder as a grid: a row a rung, a cell a question. Right cells are full, wrong ones are low headstones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tools.measure.report.page import Chart
from tools.measure.report.svg import place, shortened, tag, text, title, width_of

KINDS = {
    "r": ("right", "right"),
    "w": ("wrong", "wrong"),
    "e": ("error", "refused or failed (counts as wrong)"),
    "d": ("differ", "they disagree"),
}
OVERLAY = {"r": "all right", "w": "all wrong", "d": "they disagree"}
ROW = 26.0
WIDE = 1180.0
LARGEST, SMALLEST = 14.0, 4.0
"""Units of a cell, with the gap to its neighbour."""
GAPLESS = 700
"""Cells in a row from which there is no room for gaps."""


def grid_chart(
    heading: str,
    rows: Mapping[str, str],
    questions: Sequence[str],
    ends: Mapping[str, str],
    *,
    caption: str = "",
    overlay: bool = False,
) -> Chart | None:
    """`rows` holds one letter a question for each rung, `ends` what stands at a row's end, `questions` their ids."""
    if not rows or not questions:
        return None
    name_wide = min(220.0, max(width_of(name) for name in rows) + 14)
    end_wide = 1.35 * max((width_of(words, 12) for words in ends.values()), default=0.0) + 14
    step = max(SMALLEST, min(LARGEST, (WIDE - name_wide - end_wide) / len(questions)))
    wide = name_wide + step * len(questions) + end_wide
    kinds = [kind for kind in KINDS if any(kind in row for row in rows.values())]
    words_of = {**{kind: KINDS[kind][1] for kind in KINDS}, **(OVERLAY if overlay else {})}
    parts = _legend(kinds, words_of)
    for index, (name, row) in enumerate(rows.items()):
        y = 30 + ROW * index
        parts.append(text(4, y + 15, shortened(name, name_wide - 10), data_row=name, data_cells=row))
        parts += _cells(row, questions, name_wide, y, step, words_of, name)
        end = ends.get(name, "")
        parts.append(text(name_wide + step * len(questions) + 8, y + 15, end, css="value", font_size=12))
    wide = max(wide, 420.0)
    counts = "; ".join(
        f"{name}: {', '.join(f'{row.count(kind)} {words_of[kind]}' for kind in kinds)}" for name, row in rows.items()
    )
    alt = f"{heading}. {len(questions)} questions. {counts}."
    return Chart(heading, "".join(parts), wide, 36 + ROW * len(rows), alt, caption, wide=True)


def _legend(kinds: Sequence[str], words_of: Mapping[str, str]) -> list[str]:
    parts, x = [], 4.0
    for kind in kinds:
        parts.append(_cell(kind, x, 3.0, 9.0))
        parts.append(text(x + 14, 15, words_of[kind], css="soft", font_size=12))
        x += 14 + width_of(words_of[kind], 12) + 18
    return parts


def _cells(
    row: str, questions: Sequence[str], left: float, y: float, step: float, words_of: Mapping[str, str], name: str
) -> list[str]:
    """Right cells are one shape, since there are many; every other one can be pointed at."""
    gap = 0.0 if len(row) > GAPLESS else min(1.5, step * 0.22)
    right = "".join(
        f"M{place(left + step * n)} {place(y)}h{place(step - gap)}v18h-{place(step - gap)}z"
        for n, kind in enumerate(row)
        if kind == "r"
    )
    parts = [tag("path", d=right, class_="right")] if right else []
    for n, kind in enumerate(row):
        if kind != "r":
            words = f"{questions[n][:60]}, {name}: {words_of[kind]}"
            parts.append(_cell(kind, left + step * n, y, step - gap, words))
    return parts


def _cell(kind: str, x: float, y: float, wide: float, words: str = "") -> str:
    css = KINDS[kind][0]
    told = (title(words),) if words else ()
    if kind == "w":  # a headstone: lower than a right cell, round at its top
        bend = min(wide / 2, 4.0)
        path = f"M{place(x)} {place(y + 18)}v-{place(11 - bend)}a{place(wide / 2)} {place(bend)} 0 0 1 {place(wide)} 0"
        return tag("path", *told, d=f"{path}v{place(11 - bend)}z", class_=css)
    high = 18.0 if kind in {"r", "d"} else 6.0
    return tag("rect", *told, x=x, y=y + 18 - high, width=wide, height=high, class_=css)
