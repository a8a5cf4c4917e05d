"""Single function calls asked of a scripted model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clouds.errors import NotInstalled
from tests.tools.measure.scripted import Said, run_of, speaking, value
from tools.measure.toolcalls.functions import own_functions

TRUE = {each.text: each for each in own_functions().questions}


def calls(body: dict[str, Any]) -> Said:
    """The right call, but that it sets every timer one minute short."""
    asked = TRUE[body["messages"][-1]["content"]]
    arguments = {key: values[0] for key, values in asked.accepted.items()}
    if asked.name == "set_timer":
        arguments["minutes"] -= 1
    return Said(calls=((asked.name, json.dumps(arguments)),))


def test_calls_are_graded_by_name_and_arguments(tmp_path: Path) -> None:
    with speaking(calls) as server:
        run = run_of(server, tmp_path, "functions")
    figure = run.figure("functions.right")
    assert figure is not None
    assert (figure.value, figure.n) == (18, 24)
    part = run.part("functions")
    assert part is not None
    wrong = [item for item in part.items if not item.right]
    assert {item.kind for item in wrong} == {"set_timer"}
    assert wrong[0].facts["why"] == "minutes is 4"
    assert wrong[0].said == 'set_timer {"minutes": 4}'
    assert part.settings["sha256"] == own_functions().sha256


def test_an_endpoint_without_a_parser_is_named_and_left_after_three(tmp_path: Path) -> None:
    def text(body: dict[str, Any]) -> Said:
        return Said(f'{body["tools"][0]["function"]["name"]}({{"minutes": 5}})')

    with speaking(text) as server:
        run = run_of(server, tmp_path, "functions")
        assert len(server.bodies) == 3
    figure = run.figure("functions.right")
    assert figure is not None
    assert (figure.value, figure.why) == (None, "3 of 3 replies hold the call as text: no parser for this model")


def test_a_model_that_answers_in_words_is_wrong_and_scored(tmp_path: Path) -> None:
    with speaking(lambda _: Said("Certainly!")) as server:
        run = run_of(server, tmp_path, "functions", "functions.limit=6")
    assert value(run, "functions.right") == 0


def test_bfcl_without_its_package_names_the_package_before_anything_is_asked(tmp_path: Path) -> None:
    with speaking(calls) as server:
        with pytest.raises(NotInstalled, match="BFCL"):
            run_of(server, tmp_path, "functions", "functions.set=bfcl-simple")
        assert server.bodies == []
