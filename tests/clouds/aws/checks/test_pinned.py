"""What a group starts by a numbered version of a template is in use, also where only an override names it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from clouds.aws.checks.ec2_reads import pinned
from clouds.replay import Answer, Fixture, Scenario
from tests.clouds.aws.checks.stage import Account, waste
from tests.clouds.aws.checks.test_unknown import with_answer


def spec(name: str, version: str) -> dict[str, str]:
    return {"LaunchTemplateId": f"lt-0{name}", "LaunchTemplateName": name, "Version": version}


def group(main: dict[str, str], *overrides: dict[str, str]) -> dict[str, Any]:
    """A group of mixed instances whose overrides name templates of their own (Auto Scaling API reference)."""
    return {
        "AutoScalingGroupName": "web",
        "MinSize": 1,
        "MixedInstancesPolicy": {
            "LaunchTemplate": {
                "LaunchTemplateSpecification": main,
                "Overrides": [{"InstanceType": "m7g.large", "LaunchTemplateSpecification": each} for each in overrides],
            }
        },
    }


def started(check: str, row: dict[str, Any], template: str, data: dict[str, Any]) -> Scenario:
    """The scenario in which a check finds waste, with this group, one of whose templates holds this."""
    scenario = with_answer(
        waste(check),
        "autoscaling.DescribeAutoScalingGroups",
        lambda each: replace(each, answer=Answer(200, {"AutoScalingGroups": [row]})),
    )
    versions = tuple(
        Fixture(
            f"pin {each['LaunchTemplateName']}",
            "ec2",
            "DescribeLaunchTemplateVersions",
            Answer(
                200,
                {
                    "LaunchTemplateVersions": [
                        {"LaunchTemplateData": data if each["LaunchTemplateName"] == template else {}}
                    ]
                },
            ),
            parameters={"LaunchTemplateId": each["LaunchTemplateId"], "Versions": [each["Version"]]},
        )
        for each in pinned(row)
    )
    return replace(scenario, fixtures=(*scenario.fixtures, *versions))


X86, ARM = spec("x86", "7"), spec("arm", "3")


@pytest.mark.parametrize(("template", "found"), [("x86", 0), ("arm", 0), ("nobodys", 1)])
def test_an_image_that_an_override_is_pinned_to_is_in_use(template: str, found: int, account: Account) -> None:
    result = account.scan("ami-unused", started("ami-unused", group(X86, ARM), template, {"ImageId": "ami-0aaa"}))
    assert (len(result.findings), result.complete) == (found, True)


@pytest.mark.parametrize(("template", "found"), [("arm", 0), ("nobodys", 1)])
def test_a_snapshot_that_an_override_is_pinned_to_is_in_use(template: str, found: int, account: Account) -> None:
    name = account.found("snapshot-orphan").resource.rsplit("/", 1)[-1]
    data = {"BlockDeviceMappings": [{"Ebs": {"SnapshotId": name}}]}
    result = account.scan("snapshot-orphan", started("snapshot-orphan", group(X86, ARM), template, data))
    assert (len(result.findings), result.complete) == (found, True)


def test_each_version_is_asked_once_and_one_that_follows_the_template_not_at_all() -> None:
    latest = spec("arm", "$Latest")
    assert pinned(group(X86, ARM, ARM, X86, latest)) == [X86, ARM]
    assert pinned({"LaunchTemplate": X86}) == [X86]
    assert pinned({"LaunchConfigurationName": "old"}) == []
