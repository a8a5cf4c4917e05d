"""Ladders made from sets of questions, among them the T4 ladder of the first article, rebuilt from its counts."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest

from tools.measure.ladder.records import Answer, Ladder, Rung, ladder

RUNGS = ("BF16", "F16", "Q8_0", "Q6_K", "Q5_K_M", "Q4_K_M", "Q4_0", "Q3_K_M", "Q2_K")
SPEEDS = (40.0, 39.6, 64.3, 70.8, 78.7, 84.1, 93.6, 74.2, 74.0)
PERCENT = (100.0, 100.0, 53.3, 41.3, 39.0, 36.8, 36.1, 34.4, 32.1)


def rung(name: str, right: Iterable[str], ids: Iterable[str], **more: Any) -> Rung:
    have = set(right)
    answers = tuple(
        Answer(id=id_, expected="1", said="1" if id_ in have else "2", right=id_ in have, text=f"{name} {id_}")
        for id_ in ids
    )
    return Rung(name=name, answers=answers, **more)


@pytest.fixture(scope="session")
def make_rung() -> Callable[..., Rung]:
    return rung


@pytest.fixture(scope="session")
def make_ladder() -> Callable[..., Ladder]:
    """Rungs as name -> string of 1 and 0, one a question q0, q1 and so on."""

    def make(grid: Mapping[str, str], name: str = "here", **settings: Any) -> Ladder:
        ids = [f"q{index}" for index in range(len(next(iter(grid.values()))))]
        rungs = tuple(
            rung(each, [id_ for id_, mark in zip(ids, marks, strict=True) if mark == "1"], ids)
            for each, marks in grid.items()
        )
        return ladder(name, rungs, settings)

    return make


@pytest.fixture(scope="session")
def t4() -> Ladder:
    """250 questions with the printed right, lost, gained and first-lost counts of every rung.

    Which questions they are is chosen here: the article prints counts. The 23 first lost above Q3_K_M are a0 to a22,
    the 26 of Q3_K_M are b, the 177 of Q2_K are c, three are never lost, 21 are wrong at the base.
    """
    a, b, c = [f"a{i}" for i in range(23)], [f"b{i}" for i in range(26)], [f"c{i}" for i in range(177)]
    safe, wrong = ["s0", "s1", "s2"], [f"w{i}" for i in range(21)]
    ids = [*a, *b, *c, *safe, *wrong]
    right = {*a, *b, *c, *safe}
    lost = {
        "BF16": [],
        "F16": a[:1],
        "Q8_0": a[1:5],
        "Q6_K": [*a[2:5], a[5]],
        "Q5_K_M": [a[4], *a[6:8]],
        "Q4_K_M": [a[4], a[5], a[7], *a[8:14]],
        "Q4_0": [a[4], a[5], a[7], a[11], a[12], a[13], *a[14:23]],
        "Q3_K_M": [a[4], a[5], a[7], a[12], a[13], *a[14:16], *a[0:4], *a[8:11], *a[16:18], *b],
        "Q2_K": [*a, *b, *c],
    }
    gained = {
        "F16": wrong[:1],
        "Q8_0": wrong[:2],
        "Q6_K": wrong[:4],
        "Q5_K_M": wrong[2:7],
        "Q4_K_M": wrong[3:7],
        "Q4_0": wrong[0:8],
        "Q3_K_M": wrong[7:11],
    }
    size = 9_311_305_152
    rungs = tuple(
        rung(
            name,
            (right - set(lost[name])) | set(gained.get(name, [])),
            ids,
            tokens_per_second=speed,
            bytes=round(size * PERCENT[index] / 100),
        )
        for index, (name, speed) in enumerate(zip(RUNGS, SPEEDS, strict=True))
    )
    return ladder("T4", rungs, {"accelerator": "Tesla T4", "thinking": False, "max_tokens": 1024})
