"""The questions that ship: short, made by code from a seed, of graded difficulty, so that a small model can lose some.

A ladder shows nothing where nothing is right at its top. SmolLM2-135M-Instruct (Q4_1), the default model, has 43 of
these 72 right (temperature 0, 16 tokens, 2026-11-29). A large model has nearly all: use harder questions for it.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256

from tools.measure.ladder.questions import Question, QuestionSet

SEED = 20_261_129
EACH = 8
"""Questions of every kind."""
CAPITALS = {
    "France": "Paris",
    "Japan": "Tokyo",
    "Italy": "Rome",
    "Spain": "Madrid",
    "Egypt": "Cairo",
    "Canada": "Ottawa",
    "Germany": "Berlin",
    "Norway": "Oslo",
    "Greece": "Athens",
    "Hungary": "Budapest",
    "Ireland": "Dublin",
    "Finland": "Helsinki",
    "Australia": "Canberra",
    "Turkey": "Ankara",
    "Kenya": "Nairobi",
    "Peru": "Lima",
}
OPPOSITES = {
    "up": "down",
    "big": "small",
    "day": "night",
    "young": "old",
    "fast": "slow",
    "full": "empty",
    "wet": "dry",
    "high": "low",
    "open": "closed",
    "strong": "weak",
    "early": "late",
    "left": "right",
}
PLURALS = {
    "cat": "cats",
    "mouse": "mice",
    "child": "children",
    "foot": "feet",
    "tooth": "teeth",
    "leaf": "leaves",
    "city": "cities",
    "box": "boxes",
    "goose": "geese",
    "knife": "knives",
}
MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
FORM = "{question}\nWrite the result on a last line of its own, in this form:\nAnswer: <result>"
"""How these are asked; a small model follows it once it has seen `EXAMPLES` as earlier turns."""
EXAMPLES = (
    (FORM.format(question="What is 4 + 1?"), "Answer: 5"),
    (FORM.format(question="What is the capital of Portugal?"), "Answer: Lisbon"),
    (FORM.format(question="What is the opposite of 'hot'?"), "Answer: cold"),
    (FORM.format(question="Which number is larger, 12 or 48?"), "Answer: 48"),
)


def own_questions() -> QuestionSet:
    """Always the same 72 questions; the hash is that of their JSON lines."""
    rng = random.Random(SEED)  # noqa: S311  the same questions every time, nothing secret
    made: list[Question] = []
    for kind, ask in _KINDS.items():
        for place, (text, answer) in enumerate(ask(rng), 1):
            made.append(Question(f"{kind}-{place}", text, answer, kind))
    lines = "".join(json.dumps([each.id, each.text, each.answer]) + "\n" for each in made)
    return QuestionSet("own-72", sha256(lines.encode()).hexdigest(), tuple(made))


_Ask = Callable[[random.Random], Sequence[tuple[str, str]]]


def _words(table: Mapping[str, str], form: str) -> _Ask:
    return lambda rng: [(form.format(word), table[word]) for word in rng.sample(list(table), EACH)]


def _numbers(low: int, high: int, form: str, answer: Callable[[int, int], int]) -> _Ask:
    def ask(rng: random.Random) -> list[tuple[str, str]]:
        made: dict[str, str] = {}
        while len(made) < EACH:  # a pair that was drawn before replaces itself
            first, second = rng.sample(range(low, high + 1), 2)
            made[form.format(first, second)] = str(answer(first, second))
        return list(made.items())

    return ask


def _months(rng: random.Random) -> list[tuple[str, str]]:
    places = rng.sample(range(12), EACH)
    return [(f"Which month comes after {MONTHS[place]}?", MONTHS[(place + 1) % 12]) for place in places]


_KINDS: dict[str, _Ask] = {
    "capital": _words(CAPITALS, "What is the capital of {}?"),
    "opposite": _words(OPPOSITES, "What is the opposite of '{}'?"),
    "plural": _words(PLURALS, "What is the plural of '{}'?"),
    "larger": _numbers(10, 99, "Which number is larger, {} or {}?", max),
    "smaller": _numbers(10, 99, "Which number is smaller, {} or {}?", min),
    "month": _months,
    "sum": _numbers(1, 9, "What is {} + {}?", lambda a, b: a + b),
    "product": _numbers(2, 12, "What is {} x {}?", lambda a, b: a * b),
    "sequence": _numbers(
        2, 12, "Each number is {1} more than the one before. Which comes after {0}?", lambda first, step: first + step
    ),
}
