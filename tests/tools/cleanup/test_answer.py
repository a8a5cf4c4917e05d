"""What a cleanup answers fits how its findings ended, and is an error where what was asked for was not reached."""

from __future__ import annotations

import pytest

from tests.tools.cleanup.world import World, disks, planned
from tools.cleanup.answers import Applied, applied
from tools.cleanup.applying import Ended, Outcome

AGAIN = 'see why in its row, then apply_cleanup(plan="{}") goes on with what failed'
ANEW = "plan_cleanup again for what was refused: it differs from what was planned"


def told(*ended: Ended) -> Applied:
    plan = planned(World(disks("d1", "d2")))
    return applied(plan, tuple(Outcome(each, how, "") for each, how in zip(plan.findings, ended, strict=True)))


@pytest.mark.parametrize(
    ("ended", "error", "steps"),
    [
        (("done", "done"), False, ""),
        (("failed", "failed"), True, AGAIN),
        (("done", "failed"), True, AGAIN),
        (("done", "refused"), True, ANEW),
        (("refused", "refused"), True, ANEW),
        (("failed", "refused"), True, f"{AGAIN}; {ANEW}"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_the_next_step_fits_what_happened(ended: tuple[Ended, ...], error: bool, steps: str) -> None:
    answer = told(*ended)
    assert (answer.is_error, answer.next) == (error, steps.format(answer.plan) + "." if steps else "")
