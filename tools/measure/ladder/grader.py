"""Grading in code: the answer after `Answer:`, compared as a number where the expected one is a number."""

from __future__ import annotations

import re
from math import isclose

PROMPT = (
    "{question}\n\nWork it out in as few steps as you need. Write the result on a last line of its own, in this form:\n"
    "Answer: <result>"
)
"""Ends every question that is graded here."""
_ANSWER = re.compile(r"answer\s*(?:is)?\s*\**\s*:\s*\**\s*(?P<rest>[^\n]*)", re.IGNORECASE)
_DIGITS = r"(?:\d{1,3}(?:,\d{3})+|\d{1,3}(?:[ \u00a0\u202f\u2009]\d{3})+(?!\d)|\d+)"
_NUMBER = re.compile(rf"[-+−]?\s*{_DIGITS}(?:\.\d+)?(?:[eE][-+]?\d{{1,3}}\b)?|[-+−]?\.\d+")
_QUANTITY = re.compile(rf"\W*(?:{_NUMBER.pattern})(?:\W*|\s?[^\W\d]+\W*)", re.DOTALL)
"""A number with a sign of currency before it, and marks or one word behind it: "$5", "12 apples", "50 %"."""


def stated(text: str) -> str | None:
    """What the last `Answer:` says, without marks of Markdown; None when there is no such line or it is empty."""
    found = None
    for match in _ANSWER.finditer(text):
        rest = match["rest"].strip().strip("*`$_ ").rstrip(".")
        if rest:
            found = rest
    return found


def number(text: str | None) -> float | None:
    """The first number in a text: "$1,234.50 dollars" is 1234.5."""
    match = _NUMBER.search(text or "")
    if match is None:
        return None
    return float(re.sub(r"[,\s]", "", match[0]).replace("−", "-"))


def numeric(expected: str) -> bool:
    """Whether the answer that is expected is a number; "Apollo 11" is words."""
    return _QUANTITY.fullmatch(expected) is not None


def read(text: str, expected: str) -> str | None:
    """What a reply says, as it is kept in the record: the number where one is expected, else the words."""
    said = stated(text)
    if said is None:
        return None
    if not numeric(expected):
        return said[:200]
    value = number(said)
    if value is None:
        return None
    return f"{value:.0f}" if value.is_integer() and abs(value) < 1e21 else f"{value:.15g}"


def same(said: str | None, expected: str) -> bool:
    """Whether an answer is the expected one. Words are compared without case, articles and end marks."""
    if said is None:
        return False
    wanted = number(expected) if numeric(expected) else None
    if wanted is not None:
        value = number(said)
        return value is not None and isclose(value, wanted, rel_tol=1e-9, abs_tol=1e-6)
    return _plain(said) == _plain(expected)


def _plain(text: str) -> str:
    words = re.sub(r"[^\w\s-]", "", text.casefold()).split()
    return " ".join(word for word in words if word not in {"a", "an", "the"})
