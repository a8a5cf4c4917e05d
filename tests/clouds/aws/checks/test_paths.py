"""Every path that is followed through an answer exists in it, and every word waited for is one that AWS can say.

A wrong path holds nothing, which would read as "no waste" in a listing and as "gone" after a deletion.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from clouds.aws.checks import PACK
from clouds.aws.prices import AwsPrices
from clouds.models import Call, Scope
from clouds.models.removal import CleanupStep, Doomed, From
from clouds.models.waste import Meter, Metric, WasteCheck
from tests.clouds.aws.checks.stage import Account

REMOVABLE = [check for check in PACK.checks if not isinstance(check.remove, str)]


def shape_at(account: Account, call: str, path: str) -> Any:
    """botocore's shape at a path of an operation's answer, or None where there is none."""
    service, _, operation = call.partition(".")
    shape: Any = account.api.session.get_service_model(service).operation_model(operation).output_shape
    for word in path.replace("[]", "").split(".") if path else ():
        while shape is not None and shape.type_name == "list":
            shape = shape.member
        if shape is None or shape.type_name == "map":
            return shape.value if shape is not None else None
        shape = shape.members.get(word) if shape.type_name == "structure" else None
    while shape is not None and shape.type_name == "list":
        shape = shape.member
    return shape


def froms(value: Any) -> Iterator[From]:
    if isinstance(value, From):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from froms(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from froms(each)


def steps_of(check: WasteCheck, account: Account) -> tuple[CleanupStep, ...]:
    again = account.found_again(check.id)
    assert not isinstance(check.remove, str)
    waste = again.waste
    return check.remove(
        Doomed(again.row, again.scope, again.id, again.name, "c-abcdef-123456", waste.evidence, waste.meters)
    )


def test_the_rows_of_every_read_are_where_the_service_puts_them(account: Account) -> None:
    reads = {read for check in PACK.checks for read in check.all_reads if not isinstance(read, Metric)}
    lost = [read for read in reads if shape_at(account, f"{read.service}.{read.operation}", read.rows) is None]
    assert lost == []


@pytest.mark.parametrize("check", REMOVABLE, ids=lambda check: check.id)
def test_what_a_step_waits_for_can_be_said_by_the_service(check: WasteCheck, account: Account) -> None:
    calls: dict[str, Call] = {}
    for step in steps_of(check, account):
        calls[step.name] = step.call
        assert step.until is not None
        shape = shape_at(account, str(step.until.call), step.until.path)
        assert shape is not None, f"{step.until.call} has no {step.until.path}"
        if values := getattr(shape, "enum", None):
            waited = {*step.until.done, *step.until.failed, *step.until.gone_on}
            assert waited <= {*values, *(value.lower() for value in values)}, step.name
        leaves = step.backup or "FinalSnapshotIdentifier" in step.call.parameters
        assert bool(step.makes) == leaves, f"{step.name} makes what nobody can name"
        for each in (*froms(step.call.parameters), *froms(step.until.call.parameters), *froms(step.makes)):
            assert shape_at(account, str(calls[each.step]), each.path) is not None, each
        for ours, theirs in step.again.answer.items() if step.again is not None else ():
            assert shape_at(account, str(step.call), ours) is not None
            assert step.again is not None
            assert shape_at(account, str(step.again.call), theirs) is not None


STORED = {
    "ebs-unattached": [("ebs-snapshot/standard", 100.0)],
    "ebs-idle-attached": [("ebs-snapshot/standard", 100.0)],
    "rds-idle": [("rds-snapshot/backup", 200.0)],
    "lightsail-disk-unattached": [("lightsail/snapshot", 64.0)],
    "ec2-stopped": [],  # recorded without what the machine boots from
    "lightsail-instance-stopped": [],  # recorded without its disks
    "fsx-idle": [],  # no rate of its backups is in the table
}


def test_a_backup_bills_at_most_the_whole_size_where_that_and_its_rate_are_known(account: Account) -> None:
    for check in REMOVABLE:
        for step in steps_of(check, account) if check.id in STORED else ():
            if step.backup:
                assert [(each.key, each.quantity) for each in step.bills] == STORED[check.id], check.id
    prices = AwsPrices(None, Path("nowhere"))
    for key in {key for stored in STORED.values() for key, _ in stored}:
        price = prices.price(key, "us-east-1")
        assert price is not None, key
        assert price.unit.replace("GiB", "GB") == "GB-month"


def backup(check: str, row: Mapping[str, Any], *meters: Meter) -> CleanupStep:
    remove = next(each.remove for each in REMOVABLE if each.id == check)
    assert not isinstance(remove, str)
    evidence = {"deletes": "", "releases": ""}
    return next(iter(remove(Doomed(row, Scope("us-east-1", "1"), "i", "i", "c-abcdef-123456", evidence, meters))))


@pytest.mark.parametrize(("mapped", "gib"), [(2, 108.0), (3, None), (0, None)], ids=["all", "one is kept", "not said"])
def test_an_image_has_a_price_only_where_every_disk_in_it_is_known(mapped: int, gib: float | None) -> None:
    row = {"InstanceId": "i-1", "BlockDeviceMappings": [{"Ebs": {"VolumeId": f"vol-{each}"}} for each in range(mapped)]}
    disks = (
        Meter("ebs/gp3", "GiB-month", 8),
        Meter("ebs/io2", "GiB-month", 100),
        Meter("ebs/io2-iops", "IOPS-month", 9),
    )
    step = backup("ec2-stopped", row, *disks)
    assert [each.quantity for each in step.bills] == ([] if gib is None else [gib])
    assert step.makes == From("image", "ImageId")


def test_a_lightsail_snapshot_is_of_all_its_disks() -> None:
    step = backup(
        "lightsail-instance-stopped", {"name": "web", "hardware": {"disks": [{"sizeInGb": 40}, {"sizeInGb": 8}]}}
    )
    assert [(each.key, each.quantity) for each in step.bills] == [("lightsail/snapshot", 48.0)]
    assert step.makes == step.call.parameters["instanceSnapshotName"]


def test_a_path_that_is_not_there_would_be_noticed(account: Account) -> None:
    assert shape_at(account, "ec2.DescribeSnapshots", "Snapshots[].State") is not None
    assert shape_at(account, "ec2.DescribeSnapshots", "Snapshots[].Status") is None
    assert shape_at(account, "ec2.DescribeSnapshots", "Snapshot[].State") is None


BY_PREFIX = {"logGroupNamePrefix", "logGroupNamePattern", "Filters"}
"""What AWS compares the beginning of a name with, or any part of it: others would be read beside the one meant."""


def test_what_is_read_back_is_named_in_full(account: Account) -> None:
    loose = []
    for check in REMOVABLE:
        for step in steps_of(check, account):
            assert step.until is not None
            asked = step.until.call
            names = {each["Name"] for each in asked.parameters.get("Filters", ()) if "Name" in each}
            if BY_PREFIX & set(asked.parameters) and not (asked.service in ("ec2", "dms") and names):
                loose.append(f"{check.id}: {asked}")
    assert loose == []
