"""The shell of a page that needs nothing else: it opens without a network, prints, and is complete with scripts off."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from html import escape
from pathlib import Path

from tools.result import visible

_STYLE = Path(__file__).with_name("base.css")


@cache
def base_style() -> str:
    """The look that all pages share: colours for light and dark, headings, cards, tables, print."""
    return _STYLE.read_text("utf-8")


def line(words: str, limit: int = 0) -> str:
    """Text from outside as markup: one line, what hides or turns it written out, cut at `limit` unless that is 0."""
    text = " ".join(words.split())
    if not (text.isascii() and text.isprintable()):  # nearly all is, and asking is far faster than looking
        text = visible(text)
    return escape(f"{text[: limit - 1].rstrip()}…" if limit and len(text) > limit else text, quote=True)


def shell(title: str, parts: Sequence[str], *, style: str = "", script: str = "") -> str:
    """A whole HTML page around `parts` (markup, already escaped). Empty parts are left out.

    `title` is text. Nothing may be loaded from anywhere; a script may run only where one is given.
    """
    scripts = " script-src 'unsafe-inline';" if script else ""
    policy = f"default-src 'none'; style-src 'unsafe-inline';{scripts} img-src data:"
    lines = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width,initial-scale=1">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        f"<title>{line(title)}</title><style>{base_style()}{style}</style></head><body><main>",
        *(part for part in parts if part),
        f"</main>{f'<script>{script}</script>' if script else ''}</body></html>",
    ]
    return "\n".join(lines) + "\n"
