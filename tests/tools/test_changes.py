"""An end within minutes is a deletion that nobody was asked about: it is refused wherever an end can be given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clouds.errors import InvalidInput
from tests.called import session_of
from tools import calling
from tools import tool as tool_named
from tools.plan import lasting
from tools.progress import CallProgress

REF = "local:llama:this-machine:one"
SMALL: dict[str, Any] = {"cloud": "local", "model": "tiny-random", "name": "one"}


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [("update_endpoint", {"ref": REF}), ("deploy_endpoint", SMALL), ("plan_deployment", SMALL)],
)
def test_an_end_within_minutes_is_refused_with_what_is_taken(
    tool: str, arguments: dict[str, Any], tmp_path: Path
) -> None:
    with session_of(tmp_path, "local") as session:
        answer = calling.prepare(tool_named(tool), arguments | {"ttl_hours": 0.0001}, session)
        if isinstance(answer, calling.Ready):
            answer = calling.carry_out(answer, session, CallProgress(), here=True)
        assert isinstance(answer, calling.Outcome)
        assert answer.text == (
            "**`ttl_hours`: 0.0001 hours are 0.36 seconds: it takes from 0.0834 (5 minutes) to 720.** "
            "Give hours; to end it now use delete_endpoint. (Nothing was sent.)"
        )
        assert session.book.deployments.live() == ()


def test_five_minutes_are_taken() -> None:
    assert lasting(0.0834) == 0.0834
    with pytest.raises(InvalidInput):
        lasting(0.083)


def test_an_end_far_enough_is_asked_of_the_endpoint(tmp_path: Path) -> None:
    with session_of(tmp_path, "local") as session:
        answer = calling.prepare(tool_named("update_endpoint"), {"ref": REF, "ttl_hours": 0.1}, session)
        assert isinstance(answer, calling.Outcome)
        assert answer.structured["error"]["kind"] == "not_found"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"slot": 2}, "**`engine_settings.slot`: is not a setting of the local service.** Did you mean slots?"),
        ({"slots": 0}, "**`engine_settings.slots`: '0' is not from 1 to 256.**"),
        ({"engine": "vllm"}, "or leave engine_settings.engine out to use xllamacpp."),
    ],
)
def test_a_wrong_setting_is_named_as_the_argument_that_holds_it(
    given: dict[str, Any], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda _name: None)
    with session_of(tmp_path, "local") as session:
        ready = calling.prepare(tool_named("plan_deployment"), SMALL | {"engine_settings": given}, session)
        assert isinstance(ready, calling.Ready)
        answer = calling.carry_out(ready, session, CallProgress())
        assert answer.failed
        assert said in answer.text
