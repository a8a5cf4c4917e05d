"""Text from outside where Markdown is shown: one line, no image, link or tag of its own, and of bounded length.

A name may come from a tag that anybody wrote. An image that it draws would be fetched by whoever shows the text; a line
that it begins would stand among the steps that a person confirms.
"""

from __future__ import annotations

import re

NAME = 80
"""Characters of a name in a sentence or a step; the whole one is in the files."""
_MARKS = re.compile(r"(\\*)(?:(!)\[|\](\()|<(?=[A-Za-z/!?]))")
_DEFINES = re.compile(r"^(\s*(?:[-*+] |\d+[.)] )?)\[(?=[^\]\n]*\]:)", re.MULTILINE)


def one_line(text: str, limit: int = 0) -> str:
    """Text on one line, with what does not fit into `limit` characters cut; 0 cuts nothing."""
    line = " ".join(text.split())
    return f"{line[:limit].rstrip()}…" if 0 < limit < len(line) else line


def defused(text: str) -> str:
    """Text in which images, links and tags of Markdown and HTML are characters again; lines stay lines. Doing it twice
    is as doing it once."""
    return _DEFINES.sub(r"\1\\[", _MARKS.sub(_mark, text))


def _mark(found: re.Match[str]) -> str:
    if len(found[1]) % 2:  # a backslash has made a character of it already
        return found[0]
    if found[2]:
        return f"{found[1]}!\\["
    return f"{found[1]}]\\(" if found[3] else f"{found[1]}\\<"


def inert(text: str, limit: int = 0) -> str:
    """One line of data in the midst of our own words."""
    return defused(one_line(text, limit))


def in_cell(text: str) -> str:
    """The same in a cell of a table: no borders of its own."""
    return re.sub(r"(\\*)\|", lambda found: found[0] if len(found[1]) % 2 else f"{found[1]}\\|", inert(text))
