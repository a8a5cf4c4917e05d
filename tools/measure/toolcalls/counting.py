"""Counting questions made by code: lists of ids, thresholds out of the list, and the true answer from a filter.

63 questions are seven phrasings over lists of 11, 110 and 330 ids from three seeds each, and five are the eleven ids
of the article of 2026-09-28: 26, 21 and 21 by size. Every threshold is an id of its list, so that "more than" and
"or more" always have different answers.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import Literal

from tools.measure.toolcalls.filters import select

SIZES = (11, 110, 330)
SEEDS = (1, 2, 3)
FIRST_LIST = (0, 2, 3, 20, 21, 22, 23, 10, 11, 12, 13)
FIRST_TIMES = 5
PHRASES = (
    ("{a} or more", "id >= {a}"),
    ("no less than {a}", "id >= {a}"),
    ("greater than {a}", "id > {a}"),
    ("under {a}", "id < {a}"),
    ("at most {a}", "id <= {a}"),
    ("not above {a}", "id <= {a}"),
    ("between {a} and {b} inclusive", "id >= {a} and id <= {b}"),
)
HARDER = (
    ("at least {a} but under {b}", "id >= {a} and id < {b}"),
    ("outside {a} to {b}", "id < {a} or id > {b}"),
)
"""Where a filter that is nearly right shows."""
What = Literal["count", "sum", "mean", "largest"]
_ASKED = {
    "count": "How many of the ids are {phrase}?",
    "sum": "What is the sum of the ids that are {phrase}?",
    "mean": "What is the mean of the ids that are {phrase}, to two decimals?",
    "largest": "What is the largest of the ids that are {phrase}?",
}


@dataclass(frozen=True)
class CountingQuestion:
    """One question over one list. `where` is a right filter; any other that selects the same ids is as right."""

    id: str
    text: str
    ids: tuple[int, ...]
    where: str
    answer: float
    what: What = "count"

    @property
    def size(self) -> int:
        """Ids in the list."""
        return len(self.ids)

    @property
    def selected(self) -> Counter[int]:
        """The ids that a right filter selects."""
        return Counter(select(self.where, self.ids))


@cache
def counting_questions(what: What = "count", *, harder: bool = False) -> tuple[CountingQuestion, ...]:
    """The 68 questions, or 86 with the harder filters. Always the same."""
    made = []
    phrases = PHRASES + (HARDER if harder else ())
    for size in SIZES:
        for seed in SEEDS:
            rng = random.Random(f"{size}-{seed}")  # noqa: S311  the same lists every time, nothing secret
            ids = tuple(rng.sample(range(4 * size), size))
            for place, (phrase, where) in enumerate(phrases):
                inner = sorted(ids)[1:-1]  # a threshold at the end of a list would select nothing or all
                low, high = sorted(rng.sample(inner, 2))
                made.append(_question(f"{size}-{seed}-{place + 1}", ids, phrase, where, (low, high), what))
    phrase, where = PHRASES[0]
    made += [
        _question(f"first-{time}", FIRST_LIST, phrase, where, (10, 13), what) for time in range(1, FIRST_TIMES + 1)
    ]
    return tuple(made)


def _question(
    id_: str, ids: tuple[int, ...], phrase: str, where: str, ends: tuple[int, int], what: What
) -> CountingQuestion:
    condition = where.format(a=ends[0], b=ends[1])
    text = _ASKED[what].format(phrase=phrase.format(a=ends[0], b=ends[1]))
    return CountingQuestion(id_, text, ids, condition, true_answer(what, select(condition, ids)), what)


def true_answer(what: What, chosen: list[int]) -> float:
    """What is right for these ids; a mean is rounded to two decimals as it is asked for."""
    if what == "count":
        return len(chosen)
    if what == "sum":
        return sum(chosen)
    if what == "largest":
        return max(chosen, default=0)
    return round(sum(chosen) / len(chosen), 2) if chosen else 0.0
