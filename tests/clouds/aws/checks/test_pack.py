"""Rules that hold for the whole pack."""

from __future__ import annotations

import json
from collections import Counter
from datetime import timedelta

import pytest

from clouds.aws.checks import CHECKS, PACK, words
from clouds.models import Call, Scope
from clouds.models.removal import Doomed, From
from clouds.models.waste import Detail, Listing, Metric, WasteCheck
from clouds.readonly import Forbidden, ReadOnly, changes
from clouds.replay import Request
from tests.clouds.aws.checks.stage import FIXTURES, NOW, Account, scenario, waste
from tools.progress import CallProgress

REMOVABLE = [check for check in CHECKS if not isinstance(check.remove, str)]
WRITES = sorted({step for check in CHECKS for step in check.steps if changes(step)})


def test_there_are_at_least_fifty_checks_with_ids_of_their_own() -> None:
    assert len(CHECKS) >= 50
    assert [word for word, count in Counter(check.id for check in CHECKS).items() if count > 1] == []


def test_the_reads_of_the_pack_make_a_read_only_list() -> None:
    assert ReadOnly(PACK.reads).allow == PACK.reads


def test_the_read_only_guard_refuses_every_writing_operation_of_the_pack(account: Account) -> None:
    def passes(operation: str) -> bool:
        service, _, name = operation.partition(".")
        try:
            account.guard.before(Request(service, name))
        except Forbidden:
            return False
        return True

    assert len(WRITES) >= 50
    assert [operation for operation in WRITES if passes(operation)] == []
    assert passes("ec2.DescribeVolumes")


def test_a_write_through_the_real_sdk_is_refused_and_nothing_is_sent(account: Account) -> None:
    sent = len(account.stage.replay.sent)
    with pytest.raises(Forbidden):
        account.api.send(Call("ec2", "DeleteVolume", {"VolumeId": "vol-1"}), scope=Scope("us-east-1"))
    assert len(account.stage.replay.sent) == sent


def test_no_listing_is_declared_twice() -> None:
    reads = {read for check in CHECKS for read in check.all_reads if isinstance(read, Listing)}
    calls = Counter(
        f"{read.service}.{read.operation} {json.dumps(dict(read.parameters), sort_keys=True)}" for read in reads
    )
    assert [call for call, count in calls.items() if count > 1] == []


def test_a_check_says_what_a_person_needs() -> None:
    def says(check: WasteCheck) -> bool:
        shown = isinstance(check.remove, str)
        return all(
            (
                check.title[0].isupper() and not check.title.endswith("."),
                check.why.endswith("."),
                check.spares,
                check.meter,
                shown == (not check.steps),
                shown or check.recovery.endswith("."),
            )
        )

    assert [check.id for check in CHECKS if not says(check)] == []


def test_a_metric_says_what_silence_means_and_where_that_is_written() -> None:
    def says(check: WasteCheck, read: Metric) -> bool:
        written = "emitted" in read.source or "report" in read.source
        return read.absent in ("zero", "unresolved") and written and check.age >= timedelta(days=read.days)

    metrics = [(check, read) for check in CHECKS for read in check.reads if isinstance(read, Metric)]
    assert [f"{check.id}: {read.name}" for check, read in metrics if not says(check, read)] == []


@pytest.mark.parametrize("check", REMOVABLE, ids=lambda check: check.id)
def test_the_steps_of_a_check_are_backed_up_first_declared_and_read_back(check: WasteCheck, account: Account) -> None:
    again = account.found_again(check.id)
    assert again.fingerprint == account.found(check.id).fingerprint
    assert not isinstance(check.remove, str)
    steps = check.remove(Doomed(again.row, again.scope, again.id, again.name, "c-abcdef-123456", again.waste.evidence))
    session = account.api.session
    for number, step in enumerate(steps):
        assert str(step.call) in check.steps
        assert step.until is not None, f"{step.name} is not read back"
        assert str(step.until.call) in check.steps
        assert not changes(str(step.until.call))
        assert not step.backup or number == 0
        if step.again is not None:
            assert str(step.again.call) in check.steps
        for call in (step.call, step.until.call):
            _fits(session, call)
        assert step.reversal != "recoverable" or step.recoverable_days
    assert {str(step.call) for step in steps} | {str(step.until.call) for step in steps if step.until} <= set(
        check.steps
    )


def _fits(session: object, call: Call) -> None:
    """The parameters are ones that the operation takes."""
    from botocore.validate import ParamValidator

    model = session.get_service_model(call.service).operation_model(call.operation)  # type: ignore[attr-defined]
    report = ParamValidator().validate(_filled(dict(call.parameters)), model.input_shape)
    assert not report.has_errors(), f"{call}: {report.generate_report()}"


def _filled(value: object) -> object:
    if isinstance(value, From):
        return "x-0123456789abcdef0"
    if isinstance(value, dict):
        return {key: _filled(each) for key, each in value.items()}
    return [_filled(each) for each in value] if isinstance(value, list) else value


def test_what_destroys_data_for_good_is_marked_so() -> None:
    lost = {check.id: check.reversal for check in REMOVABLE if check.reversal == "cannot be undone"}
    assert {"eip-unassociated", "snapshot-orphan", "kinesis-idle", "rds-snapshot-old", "vpn-idle"} <= set(lost)
    kept = {check.id: check.reversal for check in REMOVABLE}
    assert (kept["ebs-unattached"], kept["rds-idle"], kept["kms-unused"]) == (
        "can be undone",
        "can be undone",
        "recoverable",
    )


def test_details_that_two_checks_declare_are_sent_once(account: Account) -> None:
    from tools.waste.survey import Survey

    both = [check for check in CHECKS if check.id in ("sm-endpoint-idle", "sm-orphan-models")]
    account.play(waste("sm-endpoint-idle"), scenario(FIXTURES / "sm-orphan-models" / "a_configuration_names_it"))
    survey = Survey(PACK, account.api, "123456789012", NOW, CallProgress())
    survey.run(tuple(both), ("us-east-1",))
    assert account.stage.replay.operations.count("sagemaker.DescribeEndpointConfig") == 1


@pytest.mark.parametrize(
    ("tags", "owner"),
    [
        ({"aws:cloudformation:stack-name": "shop"}, "CloudFormation stack shop"),
        ({"managed-by": "terraform"}, "Terraform (managed-by=terraform)"),
        ({"kubernetes.io/cluster/lab": "owned"}, "Kubernetes cluster lab"),
        ({"aws-cdk:auto-delete": "true"}, "CDK (aws-cdk:auto-delete)"),
        ({"Name": "web"}, ""),
    ],
)
def test_the_owner_of_a_resource_is_read_from_its_tags(tags: dict[str, str], owner: str) -> None:
    assert words.owner(tags) == owner


def test_every_detail_hangs_on_a_listing() -> None:
    for check in CHECKS:
        for read in check.all_reads:
            first = read
            while isinstance(first, Detail | Metric):
                first = first.of
            assert isinstance(first, Listing)
