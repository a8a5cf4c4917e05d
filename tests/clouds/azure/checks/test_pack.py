"""Rules that hold for the whole pack."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest

from clouds.azure import paths, versions
from clouds.azure.checks import CHECKS, PACK, words
from clouds.azure.checks.permissions import providers
from clouds.azure.checks.usage import METRICS
from clouds.models import Call, Scope
from clouds.models.removal import Doomed
from clouds.models.waste import Detail, Listing, Metric, WasteCheck
from clouds.readonly import Forbidden, ReadOnly, changes
from clouds.replay import Replay, Request
from tests.clouds.azure.checks.stage import NOW, SUBSCRIPTION, Account, loaded, waste_scenario
from tools.cleanup.rereading import Sought, reread
from tools.progress import CallProgress

REMOVABLE = [check for check in CHECKS if not isinstance(check.remove, str)]
WRITES = sorted({step for check in CHECKS for step in check.steps if changes(step)})
ARTICLE = """
aks-idle-cluster deallocated-vm disabled-key-vault-key empty-ai-services-account empty-container-apps-environment
empty-container-registry empty-resource-group empty-vnet idle-app-service-plan idle-container-app idle-dedicated-host
idle-load-balancer idle-ml-compute idle-nat-gateway idle-provisioned-deployment idle-workload-profile orphaned-nic
orphaned-snapshot paused-sql-database stale-key-vault-secret unattached-disk unbounded-log-workspace
unmanaged-storage-account unused-availability-test unused-capacity-reservation unused-dns-zone unused-image unused-nsg
unused-public-ip unused-subnet
"""
"""The thirty checks of the article of 2026-09-24, by the ids that it lists."""


def test_the_thirty_checks_of_the_article_are_there_and_more_than_thirty_beside_them() -> None:
    ids = [check.id for check in CHECKS]
    assert [word for word, count in Counter(ids).items() if count > 1] == []
    assert set(ARTICLE.split()) <= set(ids)
    assert len(ARTICLE.split()) == 30
    assert len(ids) >= 60


def test_the_reads_of_the_pack_make_a_read_only_list() -> None:
    assert ReadOnly(PACK.reads).allow == PACK.reads


def test_the_read_only_guard_refuses_every_writing_operation_of_the_pack(account: Account) -> None:
    assert len(WRITES) > 30
    for operation in WRITES:
        service, _, name = operation.rpartition(".")
        with pytest.raises(Forbidden):
            account.guard.before(Request(service, name))


def test_a_write_through_the_transport_is_refused_and_nothing_is_sent(account: Account) -> None:
    account.stage.replay = Replay([])
    disk = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/lab/providers/Microsoft.Compute/disks/d"
    with pytest.raises(Forbidden):
        account.api.send(Call("Microsoft.Compute/disks", "delete", {"id": disk}), scope=Scope(None, SUBSCRIPTION))
    assert account.stage.replay.sent == []


def test_no_listing_is_declared_twice() -> None:
    reads = {read for check in CHECKS for read in check.all_reads if isinstance(read, Listing)}
    calls = Counter(
        f"{read.service}.{read.operation} {json.dumps(dict(read.parameters), sort_keys=True)}" for read in reads
    )
    assert [call for call, count in calls.items() if count > 1] == []


def test_a_check_says_what_a_person_needs() -> None:
    assert {check.id: said for check in CHECKS if (said := list(unsaid(check)))} == {}


def unsaid(check: WasteCheck) -> Iterator[str]:
    """What a person needs of a check and is not told."""
    if not check.title[0].isupper() or check.title.endswith("."):
        yield "a title"
    if not check.why.endswith(".") or not check.recovery.endswith("."):
        yield "why, or how it comes back"
    if not check.spares or not check.unchecked or not check.meter:
        yield "what it spares, what it does not look at, or its meter"
    if isinstance(check.remove, str) != (not check.steps):
        yield "its steps"


def test_a_metric_says_what_silence_means_and_where_that_is_written() -> None:
    assert {check.id: said for check in CHECKS if (said := list(unclear(check)))} == {}


def unclear(check: WasteCheck) -> Iterator[str]:
    """What is not told of the metrics of a check."""
    for read in check.reads:
        if isinstance(read, Metric):
            if read.absent not in ("zero", "unresolved"):
                yield f"{read.name}: what silence means"
            if not ("emitted" in read.source or "report" in read.source):
                yield f"{read.name}: where it is written"


def test_a_check_that_says_too_little_would_be_found() -> None:
    check = next(check for check in CHECKS if any(isinstance(read, Metric) for read in check.reads))
    reads = tuple(replace(read, source="") if isinstance(read, Metric) else read for read in check.reads)
    silent = replace(check, title="idle.", why="", meter="", unchecked="", reads=reads)
    assert list(unsaid(silent)) == [
        "a title",
        "why, or how it comes back",
        "what it spares, what it does not look at, or its meter",
    ]
    assert [said.partition(": ")[2] for said in unclear(silent)][:1] == ["where it is written"]


def test_a_check_that_reads_metrics_declares_the_metrics_provider_and_reads_its_registration() -> None:
    measured = [each for each in CHECKS if any(getattr(read, "service", "") == METRICS for read in each.reads)]
    assert len(measured) >= 15
    for check in measured:
        assert "Microsoft.Insights" in providers(check)
        assert "providers.list" in check.operations
    disks = next(each for each in CHECKS if each.id == "unattached-disk")
    assert providers(disks) == ("Microsoft.Authorization", "Microsoft.Compute", "Microsoft.Resources")


def test_every_type_that_is_read_or_changed_is_in_the_table_of_api_versions() -> None:
    every = PACK.reads | {step for check in CHECKS for step in check.steps}
    kinds = {call.rpartition(".")[0] for call in every}
    assert {kind for kind in kinds if versions.row(kind).type != kind} == set()


@pytest.mark.parametrize("check", REMOVABLE, ids=lambda check: check.id)
def test_the_steps_of_a_check_are_backed_up_first_declared_and_read_back(check: WasteCheck, account: Account) -> None:
    scenario = loaded(waste_scenario(check.id))
    found = account.known(waste_scenario(check.id)).scan.findings[0]
    assert found.removable, found.stays
    account.stage.replay = Replay([scenario, account.base])
    sought = Sought("azure", check.id, found.location, found.resource, found.account)
    again = reread([sought], lambda name: account.cloud, NOW, CallProgress())[sought].wasted
    assert again is not None
    assert again.fingerprint == found.fingerprint
    assert not isinstance(check.remove, str)
    judged = again.waste
    steps = check.remove(
        Doomed(again.row, again.scope, again.id, again.name, "c-abcdef-123456", judged.evidence, judged.meters)
    )
    assert steps
    for number, step in enumerate(steps):
        assert step.until is not None, f"{step.name} is not read back"
        assert not changes(str(step.until.call))
        assert {str(step.call), str(step.until.call)} <= set(check.steps)
        assert not step.backup or number == 0
        assert bool(step.makes) == step.backup, f"{step.name} makes what nobody can name"
        for meter in step.bills:
            assert account.cloud.prices.price(meter.key, "eastus") is not None, meter
        assert step.reversal != "recoverable" or step.recoverable_days
        for call in (step.call, step.until.call):
            assert paths.sending(call, again.scope).subscription == SUBSCRIPTION
    assert max(["can be undone", "recoverable", "cannot be undone"].index(each.reversal) for each in steps) <= [
        "can be undone",
        "recoverable",
        "cannot be undone",
    ].index(check.reversal)


def test_what_destroys_for_good_is_marked_so_and_what_has_a_window_says_how_long() -> None:
    marked = {check.id: check.reversal for check in REMOVABLE}
    assert {name for name, word in marked.items() if word == "cannot be undone"} >= {
        "unused-public-ip", "orphaned-snapshot", "empty-container-apps-environment", "aks-idle-cluster", "search-idle",
    }  # fmt: skip
    assert {name for name, word in marked.items() if word == "recoverable"} == {
        "empty-ai-services-account", "paused-sql-database", "apim-idle",
    }  # fmt: skip
    assert marked["unattached-disk"] == marked["idle-provisioned-deployment"] == "can be undone"


def test_every_detail_hangs_on_a_listing() -> None:
    for check in CHECKS:
        for read in check.all_reads:
            first = read
            while isinstance(first, Detail | Metric):
                first = first.of
            assert isinstance(first, Listing)


@pytest.mark.parametrize(
    ("tags", "owner"),
    [
        ({"managed-by": "terraform"}, "Terraform (managed-by=terraform)"),
        ({"azd-env-name": "demo"}, "azd environment demo"),
        ({"deployed-with": "Bicep"}, "Bicep (deployed-with=Bicep)"),
        ({"aks-managed-cluster-name": "lab"}, "AKS cluster lab"),
        ({"env": "prod"}, ""),
    ],
)
def test_the_owner_of_a_resource_is_read_from_its_tags(tags: dict[str, str], owner: str) -> None:
    assert words.owner(tags) == owner
