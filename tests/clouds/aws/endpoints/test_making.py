"""Creating calls: a row before each, one after it, and the cloud is read whenever no plain yes came back."""

from __future__ import annotations

import pytest

from clouds.aws.endpoints import roles, tags
from clouds.aws.endpoints.making import Maker
from clouds.errors import CloudError, Conflict, Throttled, Unexpected
from clouds.models import Call
from tests.clouds.aws.rig import Rig
from tests.clouds.aws.simulator import Fault, Refused

REGION = "us-east-2"


@pytest.fixture
def maker(rig: Rig) -> Maker:
    plan = rig.begin(rig.plan())
    rig.seam.sent.clear()
    return Maker(rig.api, rig.book, rig.heard, plan.deployment)


def role() -> Call:
    return roles.create(roles.EXECUTION, "sagemaker.amazonaws.com", "123456789012", "dev", "test")


def group(deployment: str) -> Call:
    pairs = tags.make(deployment, None, "dev")
    spec = [{"ResourceType": "security-group", "Tags": pairs}]
    return Call(
        "ec2", "CreateSecurityGroup", {"GroupName": "modelrig-x", "Description": "d", "TagSpecifications": spec}
    )


def states(rig: Rig, maker: Maker) -> list[str]:
    return [f"{step.call.operation} {step.state}" for step in rig.book.steps(maker.deployment)]


def test_the_row_is_there_before_the_call_leaves(rig: Rig, maker: Maker) -> None:
    seen = []

    def look(*_: object) -> None:
        seen.extend(states(rig, maker))
        raise Refused("LimitExceededException", "no more roles")

    rig.account.operations = {**rig.account.operations, "iam.CreateRole": look}  # type: ignore[dict-item]
    with pytest.raises(CloudError, match="no more roles"):
        maker.make(role(), REGION)
    assert seen == ["CreateRole intent"]
    assert states(rig, maker) == ["CreateRole failed"]


def test_what_is_needed_to_find_it_again_is_kept(rig: Rig, maker: Maker) -> None:
    facts = maker.make(group(maker.deployment), REGION)
    assert facts["region"] == REGION
    assert facts["group"] in rig.account[REGION].groups
    (step,) = rig.book.steps(maker.deployment)
    assert step.result == facts


def test_a_throttled_call_is_sent_again_after_a_pause_and_makes_one(rig: Rig, maker: Maker) -> None:
    rig.seam.fault = Fault(0, "throttled")
    before = rig.account.now()
    maker.make(group(maker.deployment), REGION)
    assert (rig.account.now() - before).total_seconds() == 2
    assert len(rig.account[REGION].groups) == 1
    assert states(rig, maker) == ["CreateSecurityGroup done"]


def test_a_call_that_is_throttled_for_ever_is_given_up_as_throttled(rig: Rig, maker: Maker) -> None:
    rig.seam.fault = Fault(-1, "throttled", "ec2.CreateSecurityGroup")
    with pytest.raises(Throttled):
        maker.make(group(maker.deployment), REGION)
    assert rig.seam.operations().count("ec2.CreateSecurityGroup") == 6
    assert states(rig, maker) == ["CreateSecurityGroup failed"]


def test_a_lost_answer_is_settled_by_reading_and_nothing_is_made_twice(rig: Rig, maker: Maker) -> None:
    rig.seam.fault = Fault(0, "acted, answer lost")
    maker.make(group(maker.deployment), REGION)
    assert len(rig.account[REGION].groups) == 1
    assert rig.seam.operations() == ["ec2.CreateSecurityGroup", "ec2.DescribeSecurityGroups"]
    assert states(rig, maker) == ["CreateSecurityGroup done"]


def test_a_server_error_that_made_nothing_is_sent_once_more(rig: Rig, maker: Maker) -> None:
    rig.seam.fault = Fault(0, "server error")
    maker.make(group(maker.deployment), REGION)
    assert rig.seam.operations().count("ec2.CreateSecurityGroup") == 2
    assert states(rig, maker) == ["CreateSecurityGroup done"]


def test_what_cannot_be_read_afterwards_stays_open_and_the_next_run_settles_that_very_row(
    rig: Rig, maker: Maker
) -> None:
    rig.seam.fault = Fault(0, "acted, answer lost")
    denied = lambda *_: (_ for _ in ()).throw(Refused("UnauthorizedOperation", "no", 403))  # noqa: E731
    whole = rig.account.operations
    rig.account.operations = {**whole, "ec2.DescribeSecurityGroups": denied}
    with pytest.raises(CloudError):
        maker.make(group(maker.deployment), REGION)
    assert states(rig, maker) == ["CreateSecurityGroup intent"]
    rig.account.operations, rig.seam.fault = whole, None
    Maker(rig.api, rig.book, rig.heard, maker.deployment).make(group(maker.deployment), REGION)
    assert states(rig, maker) == ["CreateSecurityGroup done"]
    assert len(rig.account[REGION].groups) == 1


def test_what_somebody_else_made_under_that_name_is_a_conflict_and_is_kept(rig: Rig, maker: Maker) -> None:
    rig.account[REGION].groups["sg-other"] = {"GroupName": "modelrig-x", "Description": "", "rules": []}
    with pytest.raises(Conflict, match="modelrig did not make it"):
        maker.make(group(maker.deployment), REGION)
    with pytest.raises(Conflict, match="modelrig did not make it"):
        maker.remove(group(maker.deployment), REGION)
    assert "sg-other" in rig.account[REGION].groups
    assert states(rig, maker) == ["CreateSecurityGroup failed"]


def test_a_role_of_ours_that_exists_is_shared(rig: Rig, maker: Maker) -> None:
    maker.make(role(), REGION)
    other = Maker(rig.api, rig.book, rig.heard, maker.deployment)
    assert other.make(role(), REGION)["arn"].endswith(":role/modelrig-sagemaker")


def test_a_role_that_never_settles_is_given_up_after_a_minute(rig: Rig, maker: Maker) -> None:
    rig.account.role_settled = lambda *_: False  # type: ignore[method-assign]
    arn = roles.arn(roles.EXECUTION, "123456789012", REGION)
    call = Call(
        "sagemaker", "CreateModel", {"ModelName": "m", "ExecutionRoleArn": arn, "PrimaryContainer": {"Image": "a"}}
    )
    before = rig.account.now()
    with pytest.raises(CloudError, match="Could not assume role"):
        maker.make(call, REGION)
    assert (rig.account.now() - before).total_seconds() == 60


def test_removing_marks_the_row_undone_and_twice_is_no_error(rig: Rig, maker: Maker) -> None:
    maker.make(group(maker.deployment), REGION)
    assert maker.remove(group(maker.deployment), REGION) == "deleted"
    assert states(rig, maker) == ["CreateSecurityGroup undone"]
    assert maker.remove(group(maker.deployment), REGION) == "was not there"


def test_a_row_of_another_region_is_not_marked(rig: Rig, maker: Maker) -> None:
    maker.make(group(maker.deployment), REGION)
    maker.forget(group(maker.deployment), "us-west-2")
    assert states(rig, maker) == ["CreateSecurityGroup done"]


def test_a_server_error_without_end_is_unexpected_and_counted_once(rig: Rig, maker: Maker) -> None:
    rig.seam.fault = Fault(-1, "server error", "ec2.CreateSecurityGroup")
    with pytest.raises(Unexpected):
        maker.make(group(maker.deployment), REGION)
    assert states(rig, maker) == ["CreateSecurityGroup failed"]


def test_what_was_never_sent_is_not_begun_and_what_was_refused_or_made_is(rig: Rig, maker: Maker) -> None:
    both = [role(), group(maker.deployment)]
    assert maker.begun(both) == []
    maker.make(both[0], REGION)
    assert maker.begun(both) == both[:1]
    rig.seam.fault = Fault(-1, "access denied", "ec2.CreateSecurityGroup")
    with pytest.raises(CloudError):
        maker.make(both[1], REGION)
    assert maker.begun(both) == both
