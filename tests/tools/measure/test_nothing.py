"""Endpoints that answer nothing: each measurement says so, and nothing that rests on nothing has a value."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.tools.measure.scripted import Said, run_of, speaking
from tools.measure.catalogue import MEASUREMENTS

OPTIONS = {
    "knee": ("knee.most=2", "knee.batches=1"),
    "paced": ("paced.seconds=0.1",),
    "longcontext": ("longcontext.lengths=100", "longcontext.decode_at=0", "longcontext.depths=50"),
    "drafters": ("drafters.repeats=1", "drafters.kinds=code"),
    "ladder": ("ladder.limit=4",),
    "decisions": ("decisions.limit=4",),
    "toolcalls": ("toolcalls.sizes=11",),
    "functions": ("functions.limit=4",),
}


@pytest.mark.parametrize("name", [each.name for each in MEASUREMENTS])
def test_where_every_request_fails_no_figure_has_a_value_and_the_run_is_not_complete(tmp_path: Path, name: str) -> None:
    with speaking(lambda _: Said("slow down", status=429)) as server:
        run = run_of(server, tmp_path, name, *OPTIONS.get(name, ()), levels=(1,))
    (part,) = run.parts
    assert [each.label for each in part.figures if each.value is not None] == []
    assert all(each.why for each in part.figures)
    assert not any("grew" in each.why or "kept up with none" in each.why for each in part.figures)
    assert (run.state, bool(run.missing)) == ("incomplete", True)
    assert set(part.errors) == ({"http_429"} if name != "decisions" else set())


NO_TEXT = (Said("", tokens=3), Said("", reasoning="hm", tokens=3, finish="length"))
EITHER = [(name, said) for said in NO_TEXT for name in ("answers", "ladder")]


@pytest.mark.parametrize(("name", "said"), EITHER if "MODELRIG_ALL" in os.environ else EITHER[::3])
def test_replies_without_text_are_wrong_and_said_to_be_empty(tmp_path: Path, name: str, said: Said) -> None:
    with speaking(lambda _: said) as server:
        run = run_of(server, tmp_path, name, *OPTIONS.get(name, ()))
    figure = run.figure(f"{name}.right")
    assert figure is not None
    assert (figure.value, run.state) == (0, "complete")
    assert "empty" in {each.kind for each in run.warnings}
    assert all(item.seconds is None or 0 < item.seconds < 5 for part in run.parts for item in part.items)
    walls = [each.value for part in run.parts for each in part.figures if each.key.endswith("seconds")]
    assert all(wall is not None and 0 < wall < 60 for wall in walls)
