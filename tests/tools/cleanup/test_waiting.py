"""What counts as having come true after a step."""

from __future__ import annotations

from typing import Any

import pytest

from clouds.models import Call, Scope
from clouds.models.removal import ANYTHING, Until
from tests.tools.cleanup.world import Ticking
from tools.cleanup.waiting import Clock, NotTrue, wait


class Says:
    """Implements Api: one answer after the other, the last for ever."""

    def __init__(self, *answers: dict[str, Any]) -> None:
        self.answers = list(answers)

    def send(self, call: Call, *, scope: Scope) -> Any:
        del call, scope
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def waited(says: Says, until: Until) -> str:
    ticking = Ticking()
    return wait(says, until, until.call, Scope("north"), ticking, Clock(lambda: ticking.at), "it")


LOOK = Call("toy", "GetThing", {})


def test_a_wait_for_anything_is_over_when_the_path_holds_a_value() -> None:
    says = Says({"name": "a"}, {"name": "a", "deleted": "2026-11-29"})
    assert waited(says, Until(LOOK, "deleted", ANYTHING, seconds=60)) == "2026-11-29"


def test_a_wait_for_anything_is_not_over_while_there_is_none() -> None:
    with pytest.raises(NotTrue, match="still not there after 60 s"):
        waited(Says({"name": "a"}), Until(LOOK, "deleted", ANYTHING, seconds=60))


def test_every_value_has_to_be_the_one_that_is_waited_for() -> None:
    with pytest.raises(NotTrue, match="still 365, 30 after 60 s"):
        waited(Says({"groups": [{"days": 365}, {"days": 30}]}), Until(LOOK, "groups[].days", ("365",), seconds=60))
