"""Rules that hold for the whole pack."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from clouds.gcp import methods
from clouds.gcp.checks import CHECKS, PACK, words
from clouds.models import Call, Scope
from clouds.models.removal import CleanupStep, Doomed, From
from clouds.models.waste import Detail, Listing, Metric, WasteCheck
from clouds.readonly import Forbidden, ReadOnly, changes
from clouds.replay import Request
from tests.clouds.gcp.checks.stage import NOW, PROJECT, Account, scenarios, waste
from tests.clouds.gcp.schemas import wrong
from tools.cleanup.rereading import Sought, reread
from tools.progress import CallProgress

REMOVABLE = [check for check in CHECKS if not isinstance(check.remove, str)]
WRITES = sorted({step for check in CHECKS for step in check.steps if changes(step)})
AT = Scope(None, PROJECT)


def test_there_are_at_least_forty_five_checks_with_ids_of_their_own() -> None:
    assert len(CHECKS) >= 45
    assert [word for word, count in Counter(check.id for check in CHECKS).items() if count > 1] == []


def test_the_reads_of_the_pack_make_a_read_only_list() -> None:
    assert ReadOnly(PACK.reads).allow == PACK.reads


def test_the_read_only_guard_refuses_every_writing_operation_of_the_pack(account: Account) -> None:
    assert len(WRITES) > 30
    for operation in WRITES:
        service, _, name = operation.partition(".")
        with pytest.raises(Forbidden):
            account.guard.before(Request(service, name))


def test_a_write_through_the_real_api_is_refused_and_nothing_is_sent(account: Account) -> None:
    sent = len(account.stage.sent)
    call = Call("compute", "disks.delete", {"project": PROJECT, "zone": "us-central1-a", "disk": "d1"})
    with pytest.raises(Forbidden):
        account.api.send(call, scope=AT)
    assert len(account.stage.sent) == sent


def test_no_listing_is_declared_twice() -> None:
    reads = {read for check in CHECKS for read in check.all_reads if isinstance(read, Listing)}
    calls = Counter(f"{read.at(AT)} {json.dumps(dict(read.at(AT).parameters), sort_keys=True)}" for read in reads)
    assert [call for call, count in calls.items() if count > 1] == []


def test_a_check_says_what_a_person_needs() -> None:
    assert {check.id: said for check in CHECKS if (said := list(unsaid(check)))} == {}


def unsaid(check: WasteCheck) -> Iterator[str]:
    """What a person needs of a check and is not told."""
    if not check.title[0].isupper() or check.title.endswith("."):
        yield "a title"
    if not check.why.endswith("."):
        yield "why"
    if not check.spares or not check.meter:
        yield "what it spares, or its meter"
    if not check.unchecked and check.id != "disk-of-stopped":
        yield "what it does not look at"
    if isinstance(check.remove, str) != (not check.steps):
        yield "its steps"
    if not isinstance(check.remove, str) and not check.recovery.endswith("."):
        yield "how it comes back"


def test_a_metric_says_what_silence_means_and_where_that_is_written() -> None:
    assert {check.id: said for check in CHECKS if (said := list(unclear(check)))} == {}


def unclear(check: WasteCheck) -> Iterator[str]:
    """What is not told of the metrics of a check."""
    for read in check.reads:
        if isinstance(read, Metric):
            if "2026-11-29" not in read.source or not ("emitted" in read.source or "report" in read.source):
                yield f"{read.name}: where it is written"
            # silence is "nothing" only for counters: a gauge that is silent was not measured
            if read.absent != "unresolved" and read.fold != "sum" and read.name != "bytes stored":
                yield f"{read.name}: what silence means"


def test_a_check_that_says_too_little_would_be_found() -> None:
    check = next(check for check in CHECKS if any(isinstance(read, Metric) for read in check.reads))
    reads = tuple(replace(read, source="") if isinstance(read, Metric) else read for read in check.reads)
    silent = replace(check, title="idle.", why="", meter="", unchecked="", reads=reads)
    assert list(unsaid(silent)) == ["a title", "why", "what it spares, or its meter", "what it does not look at"]
    assert [said.partition(": ")[2] for said in unclear(silent)][:1] == ["where it is written"]


def test_every_finding_has_a_location_a_full_id_and_its_project(account: Account) -> None:
    found = [
        (f"{check.id}: {name}", each)
        for check in CHECKS
        for name in scenarios(check.id)
        for each in account.known(check.id, name).scan.findings
    ]
    assert len(found) >= len(CHECKS)
    assert [name for name, each in found if each.location in ("", PROJECT) or each.account != PROJECT] == []
    ids = [(name, each.resource.partition("//")) for name, each in found]
    assert [name for name, (before, _, path) in ids if before or "/" not in path] == []


@cache
def steps_of(check: WasteCheck, account: Account) -> tuple[CleanupStep, ...]:
    """The steps for the first waste scenario, made from what a second reading gives."""
    scenario = waste(check.id)
    found = account.known(check.id).scan.findings[0]
    sought = Sought("gcp", check.id, found.location, found.resource, found.account)
    account.stage.put_on(scenario)
    again = reread([sought], lambda name: account.cloud, NOW, CallProgress())[sought].wasted
    assert again is not None
    assert again.fingerprint == found.fingerprint
    assert not isinstance(check.remove, str)
    judged = again.waste
    return check.remove(
        Doomed(again.row, again.scope, again.id, again.name, "c-abcdef-123456", judged.evidence, judged.meters)
    )


@pytest.mark.parametrize("check", REMOVABLE, ids=lambda check: check.id)
def test_the_steps_of_a_check_are_backed_up_first_declared_and_read_back(check: WasteCheck, account: Account) -> None:
    steps = steps_of(check, account)
    assert steps
    for number, step in enumerate(steps):
        assert str(step.call) in check.steps
        assert step.until is not None, f"{step.name} is not read back"
        assert str(step.until.call) in check.steps
        assert not changes(str(step.until.call))
        assert not step.backup or number == 0
        assert bool(step.makes) == step.backup, f"{step.name} makes what nobody can name"
        for meter in step.bills:
            assert account.cloud.prices.price(meter.key, meter.location) is not None, meter
        calls = [step.call, step.until.call]
        if step.again is not None:
            assert str(step.again.call) in check.steps
            calls.append(step.again.call)
        for call in calls:
            fits(call)


def fits(call: Call) -> None:
    """Path, query and body are ones that the method takes."""
    method = methods.method(call)
    filled = method.filled(_filled(dict(call.parameters)), AT)
    assert method.url(filled).startswith("https://")
    assert wrong(call.service, method.body, filled.get("body")) == []


def _filled(value: Any) -> Any:
    if isinstance(value, From):
        return "x"
    if isinstance(value, Mapping):
        return {key: _filled(each) for key, each in value.items()}
    return [_filled(each) for each in value] if isinstance(value, list) else value


def test_a_step_with_a_misspelt_parameter_or_body_would_be_found() -> None:
    with pytest.raises(Exception, match="has no dsk"):
        fits(Call("compute", "disks.delete", {"project": PROJECT, "zone": "z", "dsk": "d"}))
    with pytest.raises(AssertionError):
        fits(Call("sqladmin", "instances.patch", {"project": PROJECT, "instance": "i", "body": {"setings": {}}}))


def test_what_destroys_data_for_good_is_marked_so() -> None:
    lost = {check.id for check in REMOVABLE if check.reversal == "cannot be undone"}
    assert {"ip-unused", "snapshot-old", "image-unused", "tpu-node-idle", "memcache-idle", "log-bucket-long"} <= lost
    kept = {check.id: check.reversal for check in REMOVABLE}
    assert (kept["disk-unattached"], kept["vm-stopped"], kept["filestore-idle"]) == ("can be undone",) * 3


def test_the_dearest_and_ai_checks_come_first_in_the_pack() -> None:
    first = [check.category for check in CHECKS[:12]]
    assert set(first) <= {"own", "ai"}


@pytest.mark.parametrize(
    ("labels", "owner"),
    [
        ({"goog-terraform-provisioned": "true"}, "Terraform"),
        ({"managed-by": "pulumi"}, "Pulumi (managed-by=pulumi)"),
        ({"goog-dm": "shop"}, "Deployment Manager"),
        ({"goog-terraform-provisioned": "false"}, ""),
        ({"team": "shop"}, ""),
    ],
)
def test_the_owner_of_a_resource_is_read_from_its_labels(labels: dict[str, str], owner: str) -> None:
    assert words.owner(labels).replace("Terraform (goog-terraform-provisioned=false)", "") == owner


def test_every_detail_hangs_on_a_listing() -> None:
    for check in CHECKS:
        for read in check.all_reads:
            first = read
            while isinstance(first, Detail | Metric):
                first = first.of
            assert isinstance(first, Listing)
