"""Unknown is never "no": what happens to every check when one of its reads fails, or says nothing.

Made from the scenarios in which each check finds waste: one answer is replaced, everything else stays.
"""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from clouds.models.waste import Metric, WasteCheck
from clouds.replay import Answer, Fixture, Scenario
from tests.clouds.aws.checks.stage import CHECKS, NOW, Account, waste
from tools.waste.records import Scan

DENIED = Answer(403, {"Error": {"Code": "AccessDeniedException", "Message": "not authorized to perform this"}})


def operations(scenario: Scenario) -> list[str]:
    return sorted({f"{each.service}.{each.operation}" for each in scenario.fixtures})


def with_answer(scenario: Scenario, operation: str, change: Any) -> Scenario:
    """The scenario with every answer of one operation changed."""
    fixtures = tuple(
        change(each) if f"{each.service}.{each.operation}" == operation else each for each in scenario.fixtures
    )
    return replace(scenario, fixtures=fixtures)


EACH_READ = [(check, operation) for check in CHECKS for operation in operations(waste(check))]
LISTED = {check.id: f"{check.kind.of.service}.{check.kind.of.operation}" for check in CHECKS.values()}
INNER = [(check, operation) for check, operation in EACH_READ if operation != LISTED[check]]
ALL = os.environ.get("MODELRIG_ALL") == "1"
USUAL = EACH_READ if ALL else INNER[::4]
"""Every fourth read by default, without the listings: that those are denied is a scenario of each check."""


NOT_NEEDED = {
    ("asg-gpu-floor", "ec2.DescribeLaunchTemplateVersions"),
    ("eip-unassociated", "ec2.DescribeNatGateways"),
    ("eks-idle-cluster", "sagemaker.ListClusters"),
    ("eni-unused", "ec2.DescribeNatGateways"),
    ("eni-unused", "ec2.DescribeVpcEndpoints"),
    ("kendra-index-idle", "bedrock-agent.ListKnowledgeBases"),
    ("nat-idle", "ec2.DescribeAddresses"),
    ("route53-empty-zone", "route53.ListResourceRecordSets"),
    ("ec2-stopped", "ec2.DescribeVolumes"),
    ("ec2-stopped", "ec2.DescribeAddresses"),
}
"""What is found without them, and named as unread: a group's instances say their type; AWS itself marks an address or
interface that is in use; a zone counts its records; a machine is stopped and a gateway idle whatever hangs on them; a
cluster without nodes and an index without queries stay where another service that may use them cannot be asked."""

FOUND_BY_TAGS = "own-expired"
"""What is ours stays found by its tags alone, without a price where nobody may look at it (test_own.py)."""


def denied_wrongly(check: str, operation: str, result: Scan) -> str:
    """What is wrong with a scan in which one read was denied; empty when nothing is."""
    if result.complete or operation not in {gap.call for gap in result.unread}:
        return f"complete: {result.complete}, unread: {[gap.call for gap in result.unread]}"
    tags = CHECKS[check].kind.tags_read
    if tags is not None and operation.rsplit(".", 1)[-1] == tags.operation:
        removable = [each.removable for each in result.findings]
        return "" if removable == [False] else f"removable: {removable}"
    needed = (check, operation) not in NOT_NEEDED and (check != FOUND_BY_TAGS or operation == LISTED[check])
    return f"found: {[each.resource for each in result.findings]}" if needed and result.findings else ""


def test_one_read_that_is_denied_makes_the_scan_incomplete_and_is_named(account: Account) -> None:
    wrong = {}
    for check, operation in USUAL:
        denied = with_answer(waste(check), operation, lambda each: replace(each, answer=DENIED, parameters=None))
        wrong[f"{check} {operation}"] = denied_wrongly(check, operation, account.scan(check, denied))
    assert {read: problem for read, problem in wrong.items() if problem} == {}


def test_a_scan_in_which_nothing_was_denied_would_be_noticed(account: Account) -> None:
    result = account.scan("ebs-unattached", waste("ebs-unattached"))
    assert denied_wrongly("ebs-unattached", "ec2.DescribeVolumes", result) == "complete: True, unread: []"


def metrics(check: WasteCheck) -> list[Metric]:
    return [read for read in check.reads if isinstance(read, Metric)]


def silent(each: Fixture) -> Fixture:
    """The same answer with no point in any series."""
    body = {
        "MetricDataResults": [
            {**series, "Values": [], "Timestamps": []} for series in each.answer.body["MetricDataResults"]
        ]
    }
    return replace(each, answer=Answer(200, body))


def broken(each: Fixture) -> Fixture:
    """CloudWatch answers, and says of every series that it could not be read."""
    body = {
        "MetricDataResults": [
            {**series, "Values": [], "Timestamps": [], "StatusCode": "InternalError"}
            for series in each.answer.body["MetricDataResults"]
        ]
    }
    return replace(each, answer=Answer(200, body))


MEASURED = [check for check in CHECKS.values() if "cloudwatch.GetMetricData" in operations(waste(check.id))]


def silence(check: WasteCheck) -> Scenario:
    return with_answer(waste(check.id), "cloudwatch.GetMetricData", silent)


def as_declared(check: WasteCheck, result: Scan) -> bool:
    """Whether an old resource without a series is judged as its check says: as unused, or not at all."""
    labels = {
        series["Label"]
        for each in waste(check.id).fixtures
        if each.operation == "GetMetricData"
        for series in each.answer.body["MetricDataResults"]
    }
    asked = {metric.absent for metric in metrics(check) if labels & set(metric.name.split(" + "))}
    if asked == {"zero"}:
        # An empty bucket has no size on record, and is no waste.
        return result.complete and len(result.findings) == (0 if check.id == "s3-noncurrent-versions" else 1)
    unresolved = sum(gap.resources for gap in result.unresolved)
    return result.findings == () and not result.complete and unresolved == 1


def test_an_old_resource_without_a_series_is_what_its_check_declares(account: Account) -> None:
    wrong = [check.id for check in MEASURED if not as_declared(check, account.scan(check.id, silence(check)))]
    assert wrong == []


def too_new(check: WasteCheck, account: Account) -> bool:
    """Whether a resource of ten minutes without a series is too new; where the cloud says no age, unresolved."""
    created = account.found(check.id).created
    if not created:
        result = account.scan(check.id, silence(check))
        return bool(result.unresolved) and result.findings == ()
    result = account.scan(check.id, silence(check), now=datetime.fromisoformat(created) + timedelta(minutes=10))
    young = sum(gap.resources for gap in result.too_new)
    return result.findings == () and young == 1 and result.unresolved == ()


def test_a_young_resource_without_a_series_is_too_new_and_not_idle(account: Account) -> None:
    assert [check.id for check in MEASURED[:: 1 if ALL else 3] if not too_new(check, account)] == []


def test_a_series_that_could_not_be_read_is_unread_and_never_zero(account: Account) -> None:
    wrong = {}
    for check in MEASURED[:: 1 if ALL else 3]:
        result = account.scan(check.id, with_answer(waste(check.id), "cloudwatch.GetMetricData", broken))
        said = (result.findings, result.complete, [gap.call for gap in result.unread])
        if said != ((), False, ["cloudwatch.GetMetricData"]):
            wrong[check.id] = said
    assert wrong == {}


AGED = [check for check in CHECKS.values() if check.kind.created is not None and check.age > timedelta(0)]


def test_nothing_younger_than_its_check_asks_for_is_reported(account: Account) -> None:
    wrong = []
    assert len(AGED) > 50
    for check in AGED[:: 1 if ALL else 3]:
        born = datetime.fromisoformat(account.found(check.id).created)
        result = account.scan(check.id, waste(check.id), now=born + check.age / 2)
        if result.findings or NOW - born < check.age:
            wrong.append(check.id)
    assert wrong == []
