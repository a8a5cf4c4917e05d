"""What a cleanup takes along with a resource: what its price holds and nothing else, never what is to be kept."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from clouds.aws.checks import PACK
from clouds.aws.checks.database_prices import bound
from clouds.aws.checks.ec2_reads import stopped_at, system_part
from clouds.models.removal import Doomed
from clouds.replay import Replay, load
from tests.clouds.aws.checks.stage import FIXTURES, NOW, Account
from tools.cleanup.rereading import Sought, reread
from tools.progress import CallProgress
from tools.waste.state import Wasted


def again(check: str, scenario: str, account: Account) -> Wasted:
    """What is read again of the one finding of a scenario."""
    (found,) = account.scan(check, load(FIXTURES / check / scenario)).findings
    sought = Sought("aws", check, found.location, found.resource)
    account.stage.replay = Replay([load(FIXTURES / check / scenario), load(FIXTURES / "account" / "one_region")])
    wasted = reread([sought], lambda _name: account.cloud, NOW, CallProgress())[sought].wasted
    assert wasted is not None
    return wasted


def sent(check: str, scenario: str, account: Account) -> list[tuple[str, Mapping[str, Any]]]:
    """The calls that would remove it."""
    it = again(check, scenario, account)
    assert not isinstance(it.check.remove, str)
    steps = it.check.remove(Doomed(it.row, it.scope, it.id, it.name, "c-abcdef-123456", it.waste.evidence))
    assert {str(step.call) for step in steps} <= set(it.check.steps)
    return [(step.call.operation, step.call.parameters) for step in steps]


def test_what_a_stopped_machine_is_priced_with_goes_with_it(account: Account) -> None:
    calls = sent("ec2-stopped", "stopped_half_a_year_ago", account)
    assert [operation for operation, _ in calls] == [
        "CreateImage",
        "TerminateInstances",
        "DeleteVolume",
        "ReleaseAddress",
    ]
    assert calls[2:] == [
        ("DeleteVolume", {"VolumeId": "vol-0aaa"}),
        ("ReleaseAddress", {"AllocationId": "eipalloc-0aaa"}),
    ]


def test_a_volume_that_is_to_be_kept_or_of_several_machines_stays(account: Account) -> None:
    calls = sent("ec2-stopped", "what_it_holds_is_kept_or_shared", account)
    assert [asked["VolumeId"] for operation, asked in calls if operation == "DeleteVolume"] == ["vol-0aaa"]


def test_a_gateways_address_is_released_unless_it_is_to_be_kept(account: Account) -> None:
    released = [operation for operation, _ in sent("nat-idle", "no_byte_in_seven_days", account)]
    assert released == ["DeleteNatGateway", "ReleaseAddress"]
    kept = [operation for operation, _ in sent("nat-idle", "its_address_is_to_be_kept", account)]
    assert kept == ["DeleteNatGateway"]


def test_a_snapshot_that_another_image_needs_is_not_deleted_with_an_image(account: Account) -> None:
    alone = [operation for operation, _ in sent("ami-unused", "nothing_starts_from_it", account)]
    assert alone == ["DeregisterImage", "DeleteSnapshot"]
    shared = [operation for operation, _ in sent("ami-unused", "another_image_needs_its_snapshot", account)]
    assert shared == ["DeregisterImage"]


def test_a_volume_is_as_fast_after_it_became_gp3(account: Account) -> None:
    assert sent("ebs-gp2-to-gp3", "faster_than_a_plain_gp3", account) == [
        ("ModifyVolume", {"VolumeId": "vol-0aaa", "VolumeType": "gp3", "Throughput": 250})
    ]


def test_a_tag_to_keep_on_what_would_go_along_is_a_change(account: Account) -> None:
    before = again("nat-idle", "no_byte_in_seven_days", account)
    after = again("nat-idle", "its_address_is_to_be_kept", account)
    assert json.dumps(before.row, default=str) == json.dumps(after.row, default=str)
    assert before.fingerprint != after.fingerprint


def test_a_stopped_database_gets_no_plan_since_it_cannot_be_backed_up() -> None:
    check = next(each for each in PACK.checks if each.id == "rds-stopped")
    assert isinstance(check.remove, str)
    assert check.steps == ()


@pytest.mark.parametrize(
    ("words", "at"),
    [
        ("User initiated (2026-06-01 08:00:00 GMT)", "2026-06-01T08:00:00+00:00"),
        ("User initiated (2026-06-01 08:00:00 UTC)", "2026-06-01T08:00:00+00:00"),
        ("Server.InternalError", None),
        ("", None),
    ],
)
def test_when_a_machine_stopped_is_read_from_its_words(words: str, at: str | None) -> None:
    found = stopped_at({"StateTransitionReason": words})
    assert (found.isoformat() if found else None) == at


@pytest.mark.parametrize(
    ("platform", "part"),
    [
        (None, ""),
        ("Linux/UNIX", ""),
        ("Windows", "/windows"),
        ("Red Hat Enterprise Linux", "/red-hat-enterprise-linux"),
    ],
)
def test_only_linux_has_the_plain_rate(platform: str | None, part: str) -> None:
    assert system_part(platform) == part


@pytest.mark.parametrize(
    ("row", "word"),
    [
        ({"StorageType": "io1", "Iops": 3000}, "at least"),
        ({"StorageType": "io2", "Iops": 3000}, "at least"),
        ({"StorageType": "gp3", "Iops": 3000}, "exact"),
        ({"StorageType": "gp3", "Iops": 3000, "StorageThroughput": 125}, "exact"),
        ({"StorageType": "gp3", "Iops": 12000}, "at least"),
        ({"StorageType": "gp3", "Iops": 3000, "StorageThroughput": 500}, "at least"),
        ({"StorageType": "gp2"}, "exact"),
        ({"StorageType": "gp2", "AdditionalStorageVolumes": []}, "exact"),
        ({"StorageType": "gp2", "AdditionalStorageVolumes": [{"VolumeName": "rdsdbdata2"}]}, "at least"),
    ],
)
def test_a_database_with_more_than_its_storage_costs_at_least_what_is_priced(row: dict[str, Any], word: str) -> None:
    assert bound(row) == word
