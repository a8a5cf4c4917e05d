"""The phase marks of a start, and how far the engine is between two of them."""

from __future__ import annotations

from datetime import UTC, datetime

from clouds.gcp.endpoints.machines import marks
from clouds.models import Phase
from tests.clouds.gcp.simulator.boot import ENGINE

BEGAN = datetime(2026, 11, 29, 15, 0, tzinfo=UTC)


def mark(words: str, clock: str) -> str:
    return f"modelrig phase: {words} at 2026-11-29T{clock}Z"


def test_stretches_are_between_marks_and_a_repeated_mark_counts_once() -> None:
    lines = [
        *[mark("script began", "15:00:20")] * 2,
        "noise",
        mark("pulling image", "15:01:00"),
        f"{mark('image pulled', '15:02:00')} {mark('engine started r1', '15:02:01')}",
        mark("engine answers r1", "15:10:00"),
    ]
    assert marks.phases(BEGAN, lines) == (
        Phase(name="starting the machine", seconds=20.0),
        Phase(name="preparing the machine", seconds=40.0),
        Phase(name="pulling the image", seconds=60.0),
        Phase(name="starting the engine", seconds=1.0),
        Phase(name="loading and compiling", seconds=479.0),
    )


def test_a_clock_that_goes_back_makes_no_negative_stretch() -> None:
    lines = [mark("script began", "15:05:00"), mark("pulling image", "14:59:00"), mark("image pulled", "15:06:00")]
    assert [phase.seconds for phase in marks.phases(BEGAN, lines)] == [300.0, 60.0]


def test_a_revision_answers_for_itself_alone() -> None:
    lines = [mark("engine answers r1", "15:10:00"), mark("engine started r2", "15:20:00")]
    assert (marks.answers(lines, 1), marks.answers(lines, 2)) == (True, False)
    lines.append(mark("engine failed: no answer from r1", "15:21:00"))
    assert (marks.failed(lines, 1), marks.failed(lines, 2)) == ("engine failed: no answer from r1", "")
    assert marks.failed([mark("engine failed: image", "15:01:00")], 2) == "engine failed: image"


def test_compiling_is_told_apart_from_loading() -> None:
    lines = [mark("engine started r1", "15:02:00"), *(line for _, line in ENGINE[:6])]
    assert marks.progress(lines).endswith("compiling: INFO Precompile model with token size 16")
    assert marks.progress(lines[:1]) == "engine started r1"
    assert marks.progress([]) == ""


def test_what_a_log_says_in_our_words_is_data_and_bounded() -> None:
    assert marks.of(["modelrig phase: " + "x" * 500 + " at 2026-11-29T15:00:00Z"]) == ()
    assert len(marks.progress([mark("y" * 120, "15:00:00"), "KV cache size: " + "z" * 5000])) <= 240
