"""Two runs of decisions in a comparison: equal labels, the paired difference, and what platforms must share."""

from __future__ import annotations

from typing import Any

import pytest

from clouds.models import Hardware
from tests.tools.measure.decisions.test_comparing import decide
from tests.tools.measure.made import engine, made, part
from tools.measure.client import Reply
from tools.measure.comparing.compare import compare
from tools.measure.comparing.report import notes
from tools.measure.decisions.keeping import item_of
from tools.measure.record import Run

V6E = Hardware(instance_type="ct6e-standard-1t", accelerators=("v6e",))


def deciding(name: str, places: list[int], sha256: str = "", tasks: int = 1, **fields: Any) -> Run:
    """A run whose decisions are read as these places; the right one is always the first."""
    made_items = []
    for number, place in enumerate(places):
        decision = decide(number, place, task=f"t{number % tasks}")
        made_items.append(item_of(decision, Reply(""), "forward", "exact"))
    parts = (part("decisions", items=tuple(made_items), settings={"set": "own"}),)
    return made(name, parts=parts, engine=engine("m", model_sha256=sha256, quantization=name), **fields)


def said(*runs: Run) -> list[str]:
    return [note for note in notes(compare(runs), runs) if "ecisions," in note or "checkpoint" in note]


def test_equal_labels_and_the_paired_difference_are_told() -> None:
    first, second = deciding("bf16", [0] * 300), deciding("qat", [0] * 290 + [1] * 10)
    (line,) = said(first, second)
    assert line.startswith("Decisions, t0: bf16 and qat predict the same label for 290 of 300; right -3.3 points (")
    assert line.endswith("worse (McNemar p = 0.002).")


def test_every_task_has_its_line_and_the_whole_comes_last() -> None:
    lines = said(deciding("a", [0] * 12, tasks=2), deciding("b", [0] * 12, tasks=2))
    assert [line.split(":")[0] for line in lines] == ["Decisions, t0", "Decisions, t1", "Decisions, all"]


@pytest.mark.parametrize(
    ("first", "second", "word"),
    [("x", "x", ""), ("x", "y", "The checkpoints differ"), ("x", "", "is not known")],
)
def test_another_platform_without_the_same_checkpoint_is_named(first: str, second: str, word: str) -> None:
    lines = said(deciding("l4", [0] * 9, first), deciding("tpu", [0] * 9, second, hardware=V6E))
    assert len(lines) == 1 + bool(word)
    assert word in lines[-1]
    same = said(deciding("l4", [0] * 9, "x"), deciding("l4-b", [0] * 9, "y"))
    assert len(same) == 1, "on one machine a checkpoint that differs is what is compared"


def test_other_items_and_other_shapes_are_not_compared() -> None:
    first = deciding("a", [0] * 9)
    other = deciding("b", [0] * 9)
    shaped = other.parts[0].model_copy(update={"settings": {"set": "another"}})
    assert said(first, other.model_copy(update={"parts": (shaped,)})) == []
    assert said(first, made("c", 50.0)) == []
