"""One part at a time: what is there is read first, and whatever Azure answers ends in a row that tells the truth."""

from __future__ import annotations

import pytest

from clouds.azure.endpoints import ending, ids, parts
from clouds.azure.endpoints.making import Maker
from clouds.errors import Conflict, PermissionMissing, Throttled, Unexpected, Unreachable
from clouds.models import Call
from tests.clouds.azure.endpoints.rig import Rig
from tests.clouds.azure.simulator import ID, Fault, groups

PLACE = f"/subscriptions/{ID}/resourceGroups/modelrig-x"
PUT = "PUT Microsoft.Resources/resourceGroups"


def maker(rig: Rig) -> tuple[Maker, Call]:
    plan = rig.begin(rig.apps.plan(rig.spec()))
    body = {"location": "westus3", "tags": {"modelrig-deployment": plan.deployment}}
    return Maker(rig.api, rig.book, rig.heard, plan.deployment), Call(parts.GROUP, "put", {"id": PLACE, "body": body})


def states(rig: Rig, made: Maker) -> list[str]:
    return [step.state for step in rig.book.steps(made.deployment)]


def test_a_part_is_written_down_before_it_is_sent_and_after_it_is_there(rig: Rig) -> None:
    made, call = maker(rig)
    assert made.make(call).id == PLACE
    assert states(rig, made) == ["done"]
    before = len(rig.seam.writes())
    made.make(call)
    assert len(rig.seam.writes()) == before  # what is there and ours is not sent again


def test_what_somebody_else_made_is_never_sent(rig: Rig) -> None:
    made, call = maker(rig)
    groups.new(rig.account, PLACE, parts.GROUP, {"location": "westus3", "tags": {"theirs": "yes"}})
    with pytest.raises(Conflict, match="modelrig did not make it"):
        made.make(call)
    assert (states(rig, made), PUT in rig.seam.names()) == (["failed"], False)


def test_a_lost_answer_is_settled_by_looking_and_not_sent_twice(rig: Rig) -> None:
    made, call = maker(rig)
    rig.seam.fault = Fault(-1, "acted, answer lost", PUT)
    assert made.make(call).id == PLACE
    assert (states(rig, made), rig.seam.names().count(PUT)) == (["done"], 1)


def test_a_reset_before_it_acted_is_sent_once_more_and_then_said(rig: Rig) -> None:
    made, call = maker(rig)
    rig.seam.fault = Fault(-1, "connection reset", PUT)
    with pytest.raises(Unreachable):
        made.make(call)
    assert (states(rig, made), rig.seam.names().count(PUT)) == (["failed"], 2)


def test_an_operation_that_fails_with_200_is_a_failure_and_what_it_made_stays_written_down(rig: Rig) -> None:
    made, call = maker(rig)
    environment = Call(
        parts.ENVIRONMENT,
        "put",
        {"id": f"{PLACE}/providers/{parts.ENVIRONMENT}/e", "body": call.parameters["body"]},
    )
    made.make(call)
    rig.seam.fault = Fault(-1, "operation failed", f"PUT {parts.ENVIRONMENT}")
    with pytest.raises(Unexpected, match="InternalOperationFailed"):
        made.make(environment)
    assert [step.result.get("state") for step in rig.book.steps(made.deployment)] == [None, "Failed"]
    rig.seam.fault = None
    assert made.make(environment).state == "Succeeded"  # a failed one is put again


def test_a_refusal_makes_nothing_and_a_throttle_is_waited_for(rig: Rig) -> None:
    made, call = maker(rig)
    rig.seam.fault = Fault(-1, "access denied", PUT)
    with pytest.raises(PermissionMissing):
        made.make(call)
    rig.seam.fault = Fault(-1, "throttled", PUT)
    began = rig.account.now()
    with pytest.raises(Throttled):
        made.make(call)
    assert states(rig, made) == ["failed", "failed"]
    assert (rig.account.now() - began).total_seconds() == 25


def test_what_cannot_be_read_stays_an_open_intent(rig: Rig) -> None:
    made, call = maker(rig)
    rig.seam.fault = Fault(-1, "access denied", "GET Microsoft.Resources/resourceGroups")
    with pytest.raises(PermissionMissing):
        made.make(call)
    assert states(rig, made) == ["intent"]
    rig.seam.fault = None
    again = Maker(rig.api, rig.book, rig.heard, made.deployment)
    again.make(call)
    assert states(rig, again) == ["done"]  # the same row, taken up


def test_a_new_identity_is_waited_for_until_it_is_known(rig: Rig) -> None:
    made, call = maker(rig)
    made.make(call)
    target = ids.within(PLACE, parts.APP, "x")
    flow = ending.workflow(PLACE, "x", "westus3", rig.account.now(), target, call.parameters["body"]["tags"])
    made.words[ending.PRINCIPAL] = ending.principal_of(made.make(flow).resource)
    began = rig.account.now()
    made.make(ending.assignment(PLACE))
    assert (rig.account.now() - began).total_seconds() >= groups.UNKNOWN_FOR


@pytest.mark.parametrize(
    ("text", "kind", "name"),
    [
        (f"/subscriptions/{ID}", "", ""),
        (PLACE, "", ""),
        (f"{PLACE}/providers/Microsoft.App/containerApps/x", "Microsoft.App/containerApps", "x"),
        (f"{PLACE}/providers/A.B/c/1/d/2", "A.B/c/d", "2"),
    ],
)
def test_ids_taken_apart(text: str, kind: str, name: str) -> None:
    found = ids.parse(text)
    assert (found.subscription, found.type, found.name) == (ID, kind, name)


def test_what_was_never_sent_is_not_begun_and_what_was_made_is(rig: Rig) -> None:
    made, call = maker(rig)
    rig.seam.fault = Fault(-1, "access denied", "GET Microsoft.Resources/resourceGroups")
    with pytest.raises(PermissionMissing):
        made.make(call)  # it could not even be looked for: nothing was sent
    assert made.begun([call]) == []
    rig.seam.fault = None
    made.make(call)
    assert made.begun([call]) == [call]
