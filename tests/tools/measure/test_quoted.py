"""Figures from elsewhere stand beside ours as what they are, and no verdict rests on them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clouds.errors import InvalidInput
from tests.tools.measure.made import items, made, part
from tools.measure import store
from tools.measure.comparing.compare import compare
from tools.measure.comparing.report import headline, notes
from tools.measure.record import Quoted, Run

PRINTED: dict[str, Any] = {
    "quoted": {"source": "https://example.org/table", "date": "2026-10-27", "method": "vLLM bench, 1,024/128"},
    "figures": {"decode.tokens_per_second": 133.4, "load.64.tokens_per_second": 918.9},
}


def read(folder: Path, data: Any) -> Run:
    path = folder / "printed.json"
    path.write_text(json.dumps(data))
    return store.read(path)


def test_quoted_figures_are_shown_with_their_ratio_and_never_judged(tmp_path: Path) -> None:
    ours, printed = made("ours", 100.0, {64: [800.0, 810.0]}), read(tmp_path, PRINTED)
    found = compare([ours, printed])
    row = found.versus[0].row("decode.tokens_per_second")
    assert row is not None
    assert (row.base, row.other) == (100.0, 133.4)
    assert row.ratio == pytest.approx(1.334)
    assert {each.verdict for each in found.versus[0].rows} == {"cannot say"}
    assert all(each.why == "quoted, not measured here" for each in found.versus[0].rows if each.other is not None)
    assert "cannot say: quoted, not measured here" in headline(found)
    assert found.differs == ()
    said = list(notes(found, [ours, printed]))
    assert said[0] == (
        "printed is quoted, not measured here, and part of no verdict: https://example.org/table "
        "(2026-10-27; vLLM bench, 1,024/128)."
    )
    assert not any("nothing differs" in note for note in said)


def test_a_quoted_base_gives_no_verdict_either(tmp_path: Path) -> None:
    found = compare([read(tmp_path, PRINTED), made("ours", 100.0, {64: [800.0, 810.0]})])
    assert {each.verdict for each in found.versus[0].rows} == {"cannot say"}


def test_two_quoted_files_are_no_repeats_of_each_other(tmp_path: Path) -> None:
    first = read(tmp_path, PRINTED)
    found = compare([first, first.model_copy(update={"id": "other", "name": "other"})])
    assert (found.repeats, [each.run for each in found.versus]) == ((), ["other"])


def test_a_whole_run_that_says_it_is_quoted_is_in_no_verdict_either() -> None:
    """Hand-made with repeats, answers and a ladder that would each give one."""
    graded = part("ladder", items=items(), settings={"set": "own"})
    ours = made("ours", 100.0, {64: [800.0, 810.0]}, items({1: "x"}), (99.0, 100.0, 101.0))
    theirs = made("theirs", 50.0, {64: [80.0, 81.0]}, items(dict.fromkeys(range(2, 22), "x")), (49.0, 50.0, 51.0))
    told = Quoted(source="s", date="d", method="m")
    lost = graded.model_copy(update={"items": items(dict.fromkeys(range(2, 22), "x"))})
    ours = ours.model_copy(update={"parts": (*ours.parts, graded)})
    theirs = theirs.model_copy(update={"parts": (*theirs.parts, lost), "quoted": told})
    found = compare([ours, theirs])
    (versus,) = found.versus
    assert {row.verdict for row in versus.rows} == {"cannot say"}
    assert versus.answers is not None
    assert (versus.answers.verdict, versus.answers.why) == ("cannot say", "quoted, not measured here")
    assert {each.verdict for each in versus.items.values()} == {"cannot say"}
    assert found.ladder is None
    judged = compare([ours, theirs.model_copy(update={"quoted": None})])
    assert judged.versus[0].answers is not None
    assert judged.versus[0].answers.verdict == "worse"
    assert judged.ladder is not None


def test_a_file_of_any_name_is_read_and_figures_are_named_once(tmp_path: Path) -> None:
    path = tmp_path / "vendor's table (2026).json"
    path.write_text(json.dumps(PRINTED))
    assert store.read(path).id == "vendor-s-table-2026-"
    with pytest.raises(InvalidInput, match="a figure twice"):
        read(tmp_path, {**PRINTED, "figures": {"a": 1, "a ": 2}})


@pytest.mark.parametrize("lacks", ["source", "date", "method"])
def test_without_where_when_and_how_nothing_is_quoted(tmp_path: Path, lacks: str) -> None:
    with pytest.raises(InvalidInput, match=f"does not say the {lacks}"):
        read(tmp_path, {**PRINTED, "quoted": {**PRINTED["quoted"], lacks: " "}})


@pytest.mark.parametrize(
    "figures",
    [None, {}, [], {"decode.tokens_per_second": "fast"}, {"a": True}, {"a": 10**400}, {"": 1}],
)
def test_figures_that_are_none_are_refused(tmp_path: Path, figures: Any) -> None:
    with pytest.raises(InvalidInput, match=r"no quoted figures|is no number"):
        read(tmp_path, {**PRINTED, "figures": figures})


def test_control_characters_of_a_source_do_not_reach_a_person(tmp_path: Path) -> None:
    run = read(tmp_path, {**PRINTED, "quoted": {**PRINTED["quoted"], "source": "a\x1b[31m\nb"}})
    assert run.quoted is not None
    assert run.quoted.source == "a [31m b"
