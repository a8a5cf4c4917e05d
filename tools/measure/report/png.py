"""The charts of a report as one picture, for clients that show images. Needs resvg-py, and a font on the machine."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import find_spec

from tools.measure.report.html import style
from tools.measure.report.page import Chart, Page
from tools.measure.report.svg import shortened, tag, text, width_of
from tools.page import base_style

WIDTH, MARGIN, GAP = 1240.0, 24.0, 28.0
COLUMNS = 2
ZOOM = 1.5
TALLEST = 4_000.0
"""Units of height after which charts are left to the page."""
MISSING = "no picture: the package resvg-py is not installed (check_setup has the command that installs [report])"
NO_FONT = "no picture: there is no font on this machine to write with"


def available() -> str:
    """Empty when a picture can be made, else why not."""
    if find_spec("resvg_py") is None:
        return MISSING
    return "" if _writes() else NO_FONT


@cache
def _writes() -> bool:
    """Whether text leaves any trace: without fonts it would be left out of a picture without a word."""
    blank, written = (_rasterize(_document([mark], 80, 30)) for mark in ("", text(4, 20, "0123")))
    return blank != written


def render(page: Page) -> bytes:
    """PNG in light colours: the headline, the badges, then the charts. Call `available` first."""
    return _rasterize(document(page))


def document(page: Page) -> str:
    """The picture as SVG with every colour in it, as an image viewer needs it."""
    y = MARGIN + 26
    parts = []
    for line in _wrapped(page.title, WIDTH - 2 * MARGIN, 22):
        parts.append(text(MARGIN, y, line, css="head"))
        y += 28
    for line in page.lead[:2]:
        parts.append(text(MARGIN, y, shortened(line, WIDTH - 2 * MARGIN, 14), css="soft", font_size=14))
        y += 20
    if page.badges:
        words = " · ".join(words for _, words in page.badges)
        css = "alert" if any(tone == "warn" for tone, _ in page.badges) else "soft"
        parts.append(text(MARGIN, y + 2, shortened(words, WIDTH - 2 * MARGIN, 15), css=css))
        y += 26
    body, bottom = _charts(page.charts, y + 12)
    return _document([*parts, *body], WIDTH, bottom + MARGIN)


def _charts(charts: Sequence[Chart], y: float) -> tuple[list[str], float]:
    parts: list[str] = []
    column, row_bottom = 0, y
    cell = (WIDTH - 2 * MARGIN - GAP * (COLUMNS - 1)) / COLUMNS
    for drawn, chart in enumerate(charts):
        if chart.wide or column == COLUMNS:
            column, y = 0, row_bottom
        if y > TALLEST:
            left = f"{len(charts) - drawn} more charts are on the page"
            return [*parts, text(MARGIN, y + 16, left, css="soft")], y + 30
        wide = WIDTH - 2 * MARGIN if chart.wide else cell
        scale = min(wide / chart.width, 1.2)
        x = MARGIN + column * (cell + GAP)
        parts.append(text(x, y + 16, shortened(chart.title, wide, 15), css="name"))
        inner = tag(
            "svg", chart.body, x=x, y=y + 26, width=chart.width * scale, height=chart.height * scale,
            viewBox=f"0 0 {chart.width:g} {chart.height:g}",
            overflow="visible",  # cutting each chart to its box takes a third of the time, and nothing is outside
        )  # fmt: skip
        parts.append(inner)
        row_bottom = max(row_bottom, y + 26 + chart.height * scale + GAP)
        column = COLUMNS if chart.wide else column + 1
    return parts, row_bottom


def _wrapped(words: str, most: float, size: float) -> Iterator[str]:
    line = ""
    lines = 0
    for word in words.split():
        if line and width_of(f"{line} {word}", size) > most:
            yield line
            line, lines = "", lines + 1
            if lines == 4:
                yield "…"
                return
        line = shortened(f"{line} {word}".strip(), most, size)
    yield line


def _document(parts: Sequence[str], width: float, height: float) -> str:
    more = (
        ".chart .head{font-size:22px;font-weight:700}.chart .name{font-size:15px;font-weight:700}"
        ".chart .alert{font-size:15px;font-weight:700;fill:var(--warn)}"
    )
    paper = tag("rect", width=width, height=height, style=f"fill:{_palette()['--paper']}")
    return tag(
        "svg", f"<style>{_plain(style('chart.css') + more)}</style>", paper, *parts,
        xmlns="http://www.w3.org/2000/svg", class_="chart", width=width, height=height,
        viewBox=f"0 0 {width:g} {height:g}",
    )  # fmt: skip


@cache
def _palette() -> dict[str, str]:
    """The light colours of the page by name."""
    sheets = (base_style(), style("chart.css"))
    found: dict[str, str] = {}
    for sheet in sheets:
        light = re.search(r":root\{([^}]*)\}", sheet)
        found |= dict(re.findall(r"(--[\w]+):(#\w+)", light[1] if light else ""))
    return found


def _plain(sheet: str) -> str:
    """A style sheet without what an image renderer does not know: no variables, no media queries."""
    sheet = re.sub(r"@media[^{]*\{(?:[^{}]*\{[^{}]*\})*\}", "", sheet)
    sheet = re.sub(r":root\{[^}]*\}", "", sheet)
    sheet = re.sub(r"font:13px [^;}]*", "font-size:13px;font-family:sans-serif", sheet)
    return re.sub(r"var\((--\w+)\)", lambda found: _palette()[found[1]], sheet)


def _rasterize(svg: str) -> bytes:
    import resvg_py

    return bytes(resvg_py.svg_to_bytes(svg_string=svg, zoom=ZOOM))
