"""A report as one HTML file: no script, no font, no request; light and dark; it prints with everything open."""

from __future__ import annotations

import re
from functools import cache
from html import escape
from pathlib import Path

from tools.measure.report.page import Block, Cards, Cell, Chart, Charts, Facts, Lines, Page, Section, Table
from tools.page import shell
from tools.result import visible

SCROLLED, SHRUNK = 1_600, 0.55
"""Units of a chart's width from which it is scrolled rather than shrunk further than this."""
LARGER = 1.15
"""How much a chart may be blown up: its letters would be larger than the page's."""
CARDS_FROM = 5
"""Columns from which each row of a table becomes a card on a narrow screen: the last ones would be out of sight."""
LONG = 150
"""Characters of a headline from which it is set smaller."""


def render(page: Page) -> str:
    """The whole page. Everything that came from outside is escaped here, and only here."""
    badges = "".join(f'<span class="badge {tone}">{_text(words)}</span>' for tone, words in page.badges)
    parts = [
        f"<h1{_class('long' if len(page.title) > LONG else '')}>{_text(page.title)}</h1>",
        *(f'<p class="soft">{_text(line)}</p>' for line in page.lead),
        f"<p>{badges}</p>" if badges else "",
        *(_block(block, 2) for block in page.blocks),
    ]
    return shell(visible(page.title), parts, style=style("chart.css") + style("page.css"))


@cache
def style(name: str) -> str:
    """One of the style sheets beside this file."""
    return Path(__file__).with_name(name).read_text("utf-8")


def _text(words: str) -> str:
    return escape(visible(words), quote=True)


def _prose(words: str) -> str:
    """A sentence; what stands in backticks for a chat is set as code here."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", _text(words))


def _block(block: Block, level: int) -> str:
    match block:
        case Table():
            return _table(block)
        case Charts(charts):
            return f'<div class="charts">{"".join(map(_chart, charts))}</div>' if charts else ""
        case Lines():
            return _lines(block)
        case Cards(cards):
            return f'<div class="cards">{"".join(_card(cell, word) for cell, word in cards)}</div>' if cards else ""
        case Facts(facts):
            return f"<dl>{''.join(f'<dt>{_text(k)}</dt><dd>{_text(v)}</dd>' for k, v in facts.items())}</dl>"
        case Section():
            return _section(block, level)


def _section(section: Section, level: int) -> str:
    inside = "\n".join(_block(block, level + 1) for block in section.blocks)
    if section.folded:
        return f"<details><summary>{_text(section.title)}</summary><section>{inside}</section></details>"
    return f"<section><h{level}>{_text(section.title)}</h{level}>{inside}</section>"


def _table(table: Table) -> str:
    if not table.rows:
        return ""
    head = "".join(
        f'<th scope="col"{_class("num" if n in table.numeric else "")}>{_text(word)}</th>'
        for n, word in enumerate(table.heads)
    )
    many = len(table.heads) >= CARDS_FROM
    names = ["", *table.heads[1:]] if many else [""] * len(table.heads)
    rows = "\n".join(
        "<tr>" + "".join(_cell(cell, names[n], numeric=n in table.numeric) for n, cell in enumerate(row)) + "</tr>"
        for row in table.rows
    )
    table_ = f"<table{_class('many' if many else '')}><thead><tr>{head}</tr></thead><tbody>\n{rows}\n</tbody></table>"
    return f'<div class="wide">{table_}</div>'


def _cell(cell: Cell, name: str, *, numeric: bool) -> str:
    """`name` is what stands before it where a row is a card: on a narrow screen."""
    css = " ".join(word for word in ("num" if numeric else "", cell.tone) if word)
    told = f' data-h="{_text(name)}"' if name else ""
    return f"<td{_class(css)}{told}>{_inside(cell)}</td>"


def _inside(cell: Cell) -> str:
    """The shown text; a number carries its whole value and its key."""
    small = f"<small>{_text(cell.small)}</small>" if cell.small else ""
    if not cell.key:
        return _text(cell.text) + small
    value = "" if cell.value is None else repr(cell.value)
    return f'<data data-k="{_text(cell.key)}" value="{value}">{_text(cell.text)}</data>{small}'


def _class(css: str) -> str:
    return f' class="{css}"' if css else ""


def _card(cell: Cell, word: str) -> str:
    small = f"<small>{_text(cell.small)}</small>" if cell.small else ""
    value = "" if cell.value is None else repr(cell.value)
    shown = (
        f'<data data-k="{_text(cell.key)}" value="{value}">{_text(cell.text)}</data>' if cell.key else _text(cell.text)
    )
    return f'<div class="card"><b{_class(cell.tone)}>{shown}</b>{_text(word)}{small}</div>'


def _lines(block: Lines) -> str:
    if not block.lines:
        return ""
    items = "".join(f"<li>{_prose(line)}</li>" for line in block.lines)
    if block.tone == "warn":
        return f'<div class="warn"><b>{_text(block.title)}</b><ul>{items}</ul></div>'
    head = f"<p><b>{_text(block.title)}</b></p>" if block.title else ""
    return f'{head}<ul class="lines">{items}</ul>'


def _chart(chart: Chart) -> str:
    caption = f"<b>{_text(chart.title)}</b>{_text(chart.caption)}"
    size = f"max-width:{chart.width if chart.wide else LARGER * chart.width:.0f}px"
    if chart.width > SCROLLED:
        size = f"min-width:{SHRUNK * chart.width:.0f}px"
    drawn = f' style="{size}"' if size else ""
    svg = (
        f'<svg class="chart"{drawn} viewBox="0 0 {chart.width:g} {chart.height:g}" role="img" '
        f'aria-label="{_text(chart.alt)}">{chart.body}</svg>'
    )
    if chart.wide:
        return f'<figure class="across"><figcaption>{caption}</figcaption><div class="wide">{svg}</div></figure>'
    return f"<figure><figcaption>{caption}</figcaption>{svg}</figure>"
