"""How a number is written for a person: the unit is read from the field's name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

GIB = 1024**3
MIB = 1024**2


def rate(usd: float) -> str:
    """`$1.20`, `$1.1267`: cents, with up to four decimals where the rate has them."""
    exact = f"{usd:.4f}"
    return f"${exact[:-2]}{exact[-2:].rstrip('0')}"


def show(name: str, value: Any) -> str:
    """`value` as a person reads it: `ttl_seconds` 250 -> "4 min 10 s", `weights_bytes` -> "9.75 GiB"."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return moment(value) if re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)", value) else value
    if not isinstance(value, int | float):
        return str(value)
    words = name.split("_")
    if "usd" in words:
        return usd(value)
    if "bytes" in words:
        return size(value)
    if "ms" in words:
        return f"{number(value)} ms"
    if "seconds" in words:
        return duration(value)
    if "percent" in words:
        return f"{number(value)} %"
    return number(value)


def few(words: Sequence[str], most: int) -> str:
    """The first of some words, and how many more there are."""
    return ", ".join(words[:most]) + (f" and {len(words) - most} more" if len(words) > most else "")


def shortened(text: str, limit: int) -> str:
    """Text of at most `limit` characters that ends in … where it was cut."""
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """ " Did you mean us-east-1?" for a misspelt word; "" where nothing known is near it, whatever its case."""
    import difflib

    names = {each.lower(): each for each in known}
    word = word[:80].lower()  # a whole file takes 20 ms
    near = difflib.get_close_matches(word, names, 2)
    like = [difflib.SequenceMatcher(None, each, word).ratio() for each in near]
    same = [names[each] for each, ratio in zip(near, like, strict=True) if ratio == like[0]]
    return f" Did you mean {' or '.join(sorted(same))}?" if same else ""


def number(value: float) -> str:
    """Thousands separated; fractions to four significant digits, never in scientific notation."""
    if isinstance(value, int) or value == int(value):
        return f"{int(value):,}"
    if abs(value) >= 1000:
        return f"{value:,.1f}" if abs(value) < 10_000 else f"{value:,.0f}"
    return f"{value:.4g}" if abs(value) >= 0.001 else f"{value:.2e}"


def usd(value: float) -> str:
    """Money: cents, or as many digits as a small rate needs."""
    if value and abs(value) < 0.01:
        return f"${value:.4g}"
    return f"${value:,.2f}" if abs(value * 100 - round(value * 100)) < 1e-6 or abs(value) >= 100 else f"${value:,.4g}"


def size(value: float) -> str:
    """Bytes in GiB or MiB."""
    if abs(value) >= GIB:
        return f"{value / GIB:.2f} GiB"
    return f"{value / MIB:.1f} MiB" if abs(value) >= MIB else f"{value:,.0f} B"


def duration(seconds: float) -> str:
    """Seconds as "0.75 s", "2 min 05 s" or "3 h 51 min"."""
    if seconds < 0:
        return f"-{duration(-seconds)}"
    if seconds < 60:
        return f"{seconds:.3g} s"
    if seconds < 3600:
        minutes, rest = divmod(round(seconds), 60)
        return f"{minutes} min {rest:02d} s" if rest else f"{minutes} min"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes:02d} min" if minutes else f"{hours} h"


def moment(iso: str) -> str:
    """An ISO 8601 moment in UTC as "2026-11-29 19:04 UTC"."""
    return f"{iso[:10]} {iso[11:16]} UTC"
