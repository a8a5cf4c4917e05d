"""Ladders out of runs: rungs by quantization, machines side by side, repeats, and what a person is told."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from clouds.models import EngineFacts, Hardware
from tests.tools.measure.scripted import Said, run_of, speaking
from tools.measure.comparing.compare import compare
from tools.measure.comparing.report import headline
from tools.measure.ladder.from_runs import ladders_of, repeats_of
from tools.measure.ladder.own import own_questions
from tools.measure.ladder.telling import ladder_lines, ladder_section
from tools.measure.record import Run

ANSWERS = {each.text: (each.answer, each.kind) for each in own_questions().questions}


@cache
def asked(kinds: str, options: tuple[str, ...]) -> Run:
    """The own questions, of a model that knows these kinds of them: asked once, for all that is told of it."""

    def knows(body: dict[str, Any]) -> Said:
        answer, kind = ANSWERS[body["messages"][-1]["content"].splitlines()[0]]
        return Said(f"Answer: {answer}" if kind in kinds.split() else "Answer: none")

    with TemporaryDirectory() as folder, speaking(knows) as server:
        return run_of(server, Path(folder), "ladder", "ladder.at_once=16", *options)


def rung(quantization: str, kinds: str, accelerator: str = "L4", *options: str, size: int = 100) -> Run:
    """A run of such a model, of this quantization on this machine."""
    engine = EngineFacts(engine="llama.cpp", quantization=quantization, weights_bytes=size, model_sha256=quantization)
    hardware = Hardware(accelerators=(accelerator,))
    name = f"{accelerator}-{quantization}".lower().replace("_", "-")
    return asked(kinds, options).model_copy(update={"engine": engine, "hardware": hardware, "id": name, "name": name})


def test_runs_of_several_quantizations_are_the_rungs_of_one_ladder() -> None:
    runs = [
        rung("F16", "capital opposite plural", size=300),
        rung("Q8_0", "capital opposite month", size=200),
        rung("Q2_K", "plural", size=100),
    ]
    (made,), notes = ladders_of(runs)
    assert (made.name, [each.name for each in made.rungs], notes) == ("L4", ["F16", "Q8_0", "Q2_K"], ())
    assert made.settings["max_tokens"] == 24
    section = ladder_section(runs)
    assert section is not None
    rows = section.counted[0].rungs
    assert [(r.rung, r.right, r.n, r.lost, r.gained, r.first_lost) for r in rows] == [
        ("F16", 24, 72, 0, 0, 0),
        ("Q8_0", 24, 72, 8, 8, 8),
        ("Q2_K", 8, 72, 16, 0, 16),
    ]
    lines = ladder_lines(section)
    assert lines[0].startswith("F16: 24 of 72 right (base)")
    assert lines[1].startswith("Q8_0: 24 of 72 right, 8 lost, 8 gained, 8 lost here first")
    assert lines[1].endswith("66.7 % of the bytes: within noise (p = 1)")
    assert lines[2].endswith("worse (p = 3.05e-05)")
    assert section.notes[0] == (
        "L4: of the 24 questions that F16 has right 24 are lost at some rung, 8 of them right again further down; "
        "8 that it has wrong are right at some rung; 0 are lost on every rung."
    )
    assert section.notes[1].startswith("Run twice with the same text on every question")


def test_a_comparison_of_runs_holds_the_ladder_and_pairs_its_questions() -> None:
    found = compare([rung("F16", "capital opposite plural"), rung("Q2_K", "plural")])
    assert found.ladder is not None
    row = found.versus[0].items["ladder"]
    assert (row.asked, row.base_right, row.other_right, row.lost, row.gained) == (72, 24, 8, 16, 0)
    assert row.verdict == "worse"
    assert "ladder.right" not in {each.key for each in found.versus[0].rows}


def test_the_same_rungs_on_two_machines_are_lined_up() -> None:
    runs = [
        rung("F16", "capital plural", "T4"),
        rung("Q2_K", "capital", "T4"),
        rung("F16", "capital plural", "L4"),
        rung("Q2_K", "plural", "L4"),
    ]
    section = ladder_section(runs)
    assert section is not None
    assert section.across is not None
    assert section.across.ladders == ("T4", "L4")
    assert section.across.cause == "One setting differs: machine."
    (line,) = (note for note in section.notes if note.startswith("Q2_K: "))
    start = "Q2_K: right on all 0, wrong on all 56, graded differently by 16 of 72, lost on all 0; "
    assert line.startswith(f"{start}L4 took 1.00 x the tokens and ")
    assert line.endswith(" x the time of T4.")
    assert "Lost at some rung on all: 0, first at the same rung 0; only on T4 8; only on L4 8." in section.notes
    assert [line[:8] for line in ladder_lines(section)] == ["T4: F16:", "T4: Q2_K", "L4: F16:", "L4: Q2_K"]


def test_thinking_and_another_limit_make_another_ladder_of_one_machine() -> None:
    runs = [rung("F16", "capital", "L4"), rung("F16", "capital", "L4", "ladder.thinking=on", "ladder.tokens=64")]
    section = ladder_section(runs)
    assert section is not None
    assert section.across is not None
    assert "2 settings differ at once (max_tokens, thinking)" in section.across.cause
    assert section.across.ladders[1] == "L4 (thinking on, max_tokens 64, at_once 16)"


def test_an_incomplete_rung_and_other_questions_are_left_out_by_name() -> None:
    whole, other = rung("F16", "capital"), rung("Q8_0", "capital", "L4", "ladder.limit=20")
    broken = rung("Q2_K", "capital")
    part = broken.part("ladder")
    assert part is not None
    short = broken.model_copy(update={"parts": (part.model_copy(update={"items": part.items[:30]}),)})
    (made,), notes = ladders_of([whole, other, short])
    assert [each.name for each in made.rungs] == ["F16"]
    assert notes == (
        "l4-q8-0 was asked other questions and is no rung of this ladder.",
        "Q2_K has 30 of 72 questions: an incomplete rung is not compared.",
    )
    assert ladder_section([whole, other, short]) is None


def test_questions_asked_twice_are_a_repeat_and_no_answers_of_their_own() -> None:
    run = rung("F16", "capital", "L4", "ladder.repeat=6")
    (found,) = repeats_of([run])
    assert (found.n, found.different_text, found.not_shared) == (6, 0, 0)
    (made,), _ = ladders_of([run])
    assert len(made.base.answers) == 72
    assert repeats_of([rung("F16", "capital", "L4", "ladder.repeat=0")]) == ()


def test_a_rung_that_was_run_again_is_its_repeat_and_no_rung_below() -> None:
    base, lower, again = rung("F16", "capital plural"), rung("Q2_K", "capital"), rung("F16", "capital")
    again = again.model_copy(update={"id": "l4-f16-again", "name": "l4-f16-again"})
    (made,), notes = ladders_of([base, lower, again])
    assert ([each.name for each in made.rungs], notes) == (["F16", "Q2_K"], ())
    whole = next(each for each in repeats_of([base, lower, again]) if each.n == 72)
    assert (whole.rung, whole.different_grade, whole.not_shared) == ("l4-f16", 8, 0)
    section = ladder_section([base, lower, again])
    assert section is not None
    assert section.counted[0].rose_again == 0
    assert any("l4-f16: 8 texts and 8 grades of 72" in note for note in section.notes)
    unknown = [run.model_copy(update={"engine": None}) for run in (base, again)]
    assert [len(each.rungs) for each in ladders_of(unknown)[0]] == [2], "a bare URL may hold another model"


def test_a_question_that_failed_once_is_no_repeat() -> None:
    run = rung("F16", "capital", "L4", "ladder.repeat=6")
    part = run.part("ladder")
    assert part is not None
    items = [i.model_copy(update={"outcome": "refused"}) if i.id == "capital-2#2" else i for i in part.items]
    broken = run.model_copy(update={"parts": (part.model_copy(update={"items": tuple(items)}),)})
    (found,) = repeats_of([broken])
    assert (found.n, found.different_text) == (5, 0)


def test_the_headline_of_a_comparison_says_how_the_rungs_stand() -> None:
    found = compare([rung("F16", "capital opposite plural"), rung("Q2_K", "plural")])
    counts = "l4-f16 24 and l4-q2-k 8 right of 72, 56 identical"
    assert headline(found) == f"l4-q2-k ladder: worse ({counts}, McNemar p = 3.1e-05)."


def test_a_line_says_how_answers_fail() -> None:
    base, broken = rung("F16", "capital"), rung("Q2_K", "plural")
    part = broken.part("ladder")
    assert part is not None
    first, second, *rest = part.items
    first = first.model_copy(update={"reply": "again\n" * 5, "cut_off": True})
    second = second.model_copy(update={"reply": "", "reasoning": f"Answer: {second.expected}"})
    broken = broken.model_copy(update={"parts": (part.model_copy(update={"items": (first, second, *rest)}),)})
    line = ladder_lines(ladder_section([base, broken]))[1]
    assert (
        "1 cut off, 1 looped, 1 wrote into the thinking block, 1 empty (1 right in the thinking block, still wrong)"
    ) in line


def test_with_several_ladders_each_sentence_names_its_own() -> None:
    runs = [rung(name, "capital", machine) for machine in ("T4", "L4") for name in ("F16", "Q2_K")]
    section = ladder_section(runs)
    assert section is not None
    best = [note for note in section.notes if "No rung is at least" in note or "The base has" in note]
    assert {note[:4] for note in best} == {"T4: ", "L4: "}


def test_runs_without_a_ladder_have_no_section() -> None:
    run = rung("F16", "capital")
    assert ladder_section([run]) is None
    assert ladder_section([run.model_copy(update={"parts": ()})]) is None
    assert ladder_lines(None) == ()


def test_two_rungs_of_one_score_that_lose_other_questions_are_told() -> None:
    runs = [
        rung("F16", "capital opposite plural", size=300),
        rung("Q8_0", "capital opposite", size=200),
        rung("Q4_0", "capital plural", size=100),
        rung("Q2_K", "capital plural", size=50),
    ]
    section = ladder_section(runs)
    assert section is not None
    told = [note for note in section.notes if " both have " in note]
    assert told == ["Q8_0 and Q4_0 both have 16 right: 0 lost on both, 8 only on Q8_0, 8 only on Q4_0."]
