"""A report as Markdown, for a chat or a repository: the same tables; a chart is its caption beside the picture."""

from __future__ import annotations

import re

from tools.measure.report.page import Block, Cards, Cell, Charts, Facts, Lines, Page, Section, Table
from tools.result import visible

_ACTIVE = re.compile(r"([\\|<>\[\]*`_~#$&!])")


def render(page: Page, picture: str = "") -> str:
    """The whole report. `picture` is the name of a file beside it."""
    parts = [f"# {_text(page.title)}", *(_text(line) for line in page.lead)]
    parts += [f"**{'**, **'.join(_text(words) for _, words in page.badges)}**"] if page.badges else []
    parts += [f"![The charts of this report]({picture})"] if picture and page.charts else []
    parts += [_block(block, 2) for block in page.blocks]
    return "\n\n".join(part for part in parts if part) + "\n"


def _text(words: str) -> str:
    """Text from anywhere on one line, with nothing in it that Markdown or HTML would act on."""
    return _ACTIVE.sub(r"\\\1", " ".join(visible(words).split()))


def _block(block: Block, level: int) -> str:
    match block:
        case Table():
            return _table(block)
        case Charts(charts):
            return "\n".join(f"- {_text(each.title)}: {_text(each.caption)}" for each in charts if each.caption)
        case Lines(lines, _, title):
            head = [f"**{_text(title)}**", ""] if title and lines else []
            return "\n".join([*head, *(f"- {_text(line)}" for line in lines)])
        case Cards(cards):
            return "\n".join(f"- {_text(word)}: **{_cell(cell)}**" for cell, word in cards)
        case Facts(facts):
            return "\n".join(f"- {_text(word)}: {_text(each)}" for word, each in facts.items())
        case Section(title, blocks):
            inside = [text for each in blocks if (text := _block(each, level + 1))]
            return "\n\n".join([f"{'#' * level} {_text(title)}", *inside]) if inside else ""


def _table(table: Table) -> str:
    if not table.rows:
        return ""
    head = "| " + " | ".join(map(_text, table.heads)) + " |"
    rule = "|" + "|".join("--:" if n in table.numeric else "---" for n in range(len(table.heads))) + "|"
    return "\n".join([head, rule, *("| " + " | ".join(map(_cell, row)) + " |" for row in table.rows)])


def _cell(cell: Cell) -> str:
    small = f" ({_text(cell.small)})" if cell.small else ""
    return _text(cell.text) + small
