"""Forty questions with exact answers, made by code from a seed, and the code that reads an answer out of a reply."""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass

SEED = 20_261_129
"""The set that every run asks unless told otherwise; in the record, so that two runs asked the same."""
CAPITALS: Mapping[str, str] = {
    "France": "Paris",
    "Japan": "Tokyo",
    "Canada": "Ottawa",
    "Australia": "Canberra",
    "Egypt": "Cairo",
    "Norway": "Oslo",
    "Peru": "Lima",
    "Kenya": "Nairobi",
    "Portugal": "Lisbon",
    "Poland": "Warsaw",
    "Austria": "Vienna",
    "Cuba": "Havana",
    "Greece": "Athens",
    "Hungary": "Budapest",
    "Vietnam": "Hanoi",
    "Ireland": "Dublin",
    "Colombia": "Bogotá",
    "Ghana": "Accra",
    "Nepal": "Kathmandu",
    "New Zealand": "Wellington",
}
"""Capitals that nobody disputes and that are spelt one way in English."""
LONGEST = 200
"""Digits of a number that are read: a reply may be one endless number."""
_GROUPED = r"\d{1,3}(?:(?:[,'’\u00a0\u202f\u2009]|\{,\})\d{3})+(?!\d)"
_SPACED = r"(?<!\d)(?<!\d )\d{1,3} \d{3}(?! ?\d)"
_NUMBER = re.compile(
    r"(?P<sign>[-\u2212\u2013\u2010]\s?|\b(?:minus|negative) )?" + rf"(?P<digits>{_GROUPED}|{_SPACED}|\d+(?:\.\d+)?)",
    re.IGNORECASE,
)
_MARK = re.compile(r"answer\s*(?:\*\*)?\s*[:=]", re.IGNORECASE)


@dataclass(frozen=True)
class Question:
    """One question; `read` takes what the reply said as its answer, and right means equal to `expected`."""

    id: str
    kind: str
    text: str
    expected: str
    read: Callable[[str], str]


def make_questions(seed: int = SEED) -> tuple[Question, ...]:
    """15 products of two-digit numbers, 15 of a + b - c with three digits each, 10 capitals; none twice."""
    source = random.Random(seed)  # noqa: S311 - reproducible questions, no secret
    products: dict[tuple[int, int], None] = {}
    while len(products) < 15:
        products[source.randint(12, 99), source.randint(12, 99)] = None
    sums: dict[tuple[int, int, int], None] = {}
    while len(sums) < 15:
        sums[source.randint(100, 999), source.randint(100, 999), source.randint(100, 999)] = None
    countries = source.sample(sorted(CAPITALS), 10)
    only = "Reply with the number only."
    return (
        *(
            Question(f"product-{n}", "multiplication", f"What is {a} * {b}? {only}", str(a * b), read_number)
            for n, (a, b) in enumerate(products, 1)
        ),
        *(
            Question(f"sum-{n}", "a + b - c", f"What is {a} + {b} - {c}? {only}", str(a + b - c), read_number)
            for n, (a, b, c) in enumerate(sums, 1)
        ),
        *(
            Question(
                f"capital-{n}",
                "capital",
                f"What is the capital of {country}? Reply with the name of the city only.",
                CAPITALS[country],
                _reader_of(CAPITALS[country]),
            )
            for n, country in enumerate(countries, 1)
        ),
    )


def read_number(reply: str) -> str:
    """The number after the last `Answer:`, else the last number of the reply; empty when there is none.

    Thousands may be separated ("1,026", "1 026", "1'026", "1{,}026"), a minus may be any of the usual signs, and it is
    a sign only where no number or bracket stands before it ("1484 - 558" ends in 558).
    """
    marks = list(_MARK.finditer(reply))
    if marks:
        after = _numbers(reply[marks[-1].end() :])
        if after:
            return after[0]
    found = _numbers(reply)
    return found[-1] if found else ""


def _numbers(text: str) -> list[str]:
    found = []
    for match in _NUMBER.finditer(text):
        whole, _, fraction = re.sub(r"[^\d.]", "", match["digits"])[:LONGEST].partition(".")
        digits = f"{int(whole)}.{fraction.rstrip('0')}" if fraction.strip("0") else str(int(whole))
        minus = match["sign"] is not None and _is_minus(match["sign"], text[: match.start()])
        found.append(f"-{digits}" if minus and digits != "0" else digits)
    return found


def _is_minus(sign: str, before: str) -> bool:
    """Whether a sign belongs to the number behind it: not after a number or bracket, and not as a list's bullet."""
    if before.rstrip()[-1:].isdigit() or before.rstrip()[-1:] in set(")]}"):
        return False
    return not (sign == "- " and "\n" in before and not before.rsplit("\n", 1)[1].strip())


def _reader_of(city: str) -> Callable[[str], str]:
    """Reads the city's name where it stands as a word by itself, whatever its accents and case; else what was said."""
    pattern = re.compile(rf"(?<!\w){re.escape(_plain(city))}(?!\w)")

    def read(reply: str) -> str:
        tail = reply[list(_MARK.finditer(reply))[-1].end() :] if _MARK.search(reply) else reply
        if pattern.search(_plain(tail)) and not re.search(r"\bnot\s+" + pattern.pattern, _plain(tail)):
            return city
        return " ".join(tail.split())[:60]

    return read


def _plain(text: str) -> str:
    folded = unicodedata.normalize("NFKD", text).casefold()
    return "".join(char for char in folded if not unicodedata.combining(char))
