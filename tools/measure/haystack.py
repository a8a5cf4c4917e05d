"""Filler of any length, and a passphrase buried at a depth in it: the same in every run but for the first line."""

from __future__ import annotations

import random

WORDS = (
    "violet", "harbor", "copper", "meadow", "silver", "lantern", "amber", "orchard", "cobalt", "window", "garden",
)  # fmt: skip
PLACES = ("the harbour", "the mill", "the old bridge", "the market", "the north road", "the station", "the orchard")
THINGS = ("crates of apples", "letters", "sacks of flour", "lamps", "coils of rope", "jars of honey", "bolts of cloth")
QUESTION = "Somewhere in the text above a passphrase is given. Answer with the passphrase only."


def filler(sentences: int) -> str:
    """So many sentences of an account that goes nowhere; always the same, no two lines equal."""
    rng = random.Random("filler")  # noqa: S311  the same text every time, nothing secret
    lines = []
    for day in range(1, sentences + 1):
        place, thing = rng.choice(PLACES), rng.choice(THINGS)
        lines.append(f"On day {day} they carried {rng.randint(2, 99)} {thing} past {place}.")
    return "\n".join(lines)


def passphrase(length: int, depth: int) -> str:
    """Two words and four digits; the same for the same place in every run."""
    rng = random.Random(f"{length}-{depth}")  # noqa: S311  a needle to look for, nothing secret
    return f"{rng.choice(WORDS)}-{rng.choice(WORDS)}-{rng.randint(1000, 9999)}"


def buried(nonce: str, sentences: int, depth: int, secret: str, mark: str) -> str:
    """The whole prompt: a first line like no other, filler with the passphrase at its depth, and the question."""
    lines = filler(sentences).split("\n")
    lines.insert(round(len(lines) * depth / 100), f"The passphrase is {secret}.")
    return f"{nonce} {mark}\n" + "\n".join(lines) + f"\n\n{QUESTION}"
