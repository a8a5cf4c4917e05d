"""Unknown is never "no": what happens to every check when one of its reads fails, or says nothing.

Made from the scenarios in which each check finds waste: one answer is replaced, everything else stays.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from clouds.gcp.checks import CHECKS, words
from clouds.models.waste import Metric, WasteCheck
from tests.clouds.gcp.checks.reading import NoSuchField, watched
from tests.clouds.gcp.checks.stage import DENIED, NOW, OFF, SERIES, Account, waste
from tests.clouds.rows import some

MEASURED = [check for check in CHECKS if any(isinstance(read, Metric) for read in check.reads)]


@pytest.mark.parametrize("check", some(CHECKS, 4), ids=lambda check: check.id)
def test_every_single_read_that_is_denied_makes_the_scan_incomplete_and_is_named(
    check: WasteCheck, account: Account
) -> None:
    scenario = waste(check.id)
    sent = account.known(check.id).sent - {"cloudresourcemanager.projects.search"}
    for operation in sorted(sent):
        result = account.scan(check.id, scenario.but(**{operation: DENIED}))
        assert not result.complete, operation
        assert operation in {gap.call for gap in result.unread}
        assert "ermission" in " ".join(gap.reason for gap in result.unread if gap.call == operation)
        assert result.findings == () or operation in NOT_NEEDED.get(check.id, ()), operation


NOT_NEEDED = {
    "vm-stopped": {"compute.disks.aggregatedList"},
    "workbench-idle": {"compute.instances.aggregatedList"},
    "lb-no-backend": {"compute.targetHttpsProxies.aggregatedList", "compute.targetPools.aggregatedList"},
}
"""What only names the machine below, so that it is booked once; the other sorts of targets that a rule may have; the
disks of a machine that is off."""


def silent(check: WasteCheck) -> dict[str, Any]:
    return {kind: [] for kind in waste(check.id).metrics}


@pytest.mark.parametrize("check", some(MEASURED, 3), ids=lambda check: check.id)
def test_an_old_resource_without_a_series_is_what_its_check_declares(check: WasteCheck, account: Account) -> None:
    result = account.scan(check.id, waste(check.id).measured(silent(check)))
    declared = {read.absent for read in check.reads if isinstance(read, Metric)}
    if declared == {"zero"}:
        assert result.complete
        # an empty bucket has no size on record, and is no waste
        assert len(result.findings) == (0 if check.id.startswith("bucket-") else 1)
    else:
        assert result.findings == ()
        assert not result.complete
        assert sum(gap.resources for gap in result.unresolved) == 1


@pytest.mark.parametrize("check", some(MEASURED, 3, 1), ids=lambda check: check.id)
def test_a_young_resource_without_a_series_is_too_new_and_not_idle(check: WasteCheck, account: Account) -> None:
    scenario = waste(check.id)
    created = account.known(check.id).scan.findings[0].created
    if not created:  # Google does not say when it was made: then silence is unresolved, whatever its age
        result = account.scan(check.id, scenario.measured(silent(check)))
        assert result.unresolved
        assert result.findings == ()
        return
    born = datetime.fromisoformat(created)
    result = account.scan(check.id, scenario.measured(silent(check)), now=born + timedelta(minutes=10))
    assert result.findings == ()
    if check.id not in JOINED:
        assert sum(gap.resources for gap in result.too_new) == 1
        assert result.unresolved == ()


JOINED = {"tpu-queued-no-end", "group-idle"}
"""Judged by the usage of other rows (nodes, members), which are older here than what holds them."""


@pytest.mark.parametrize("check", some(MEASURED, 4, 2), ids=lambda check: check.id)
def test_a_series_that_could_not_be_read_is_unread_and_never_zero(check: WasteCheck, account: Account) -> None:
    broken = {"timeSeries": [], "executionErrors": [{"code": 14, "message": "a shard did not answer"}]}
    result = account.scan(check.id, waste(check.id).but(**{SERIES: broken}))
    assert result.findings == ()
    assert not result.complete
    assert {gap.call for gap in result.unread} == {SERIES}
    assert "a shard did not answer" in " ".join(gap.reason for gap in result.unread)


@pytest.mark.parametrize("check", some(MEASURED, 5), ids=lambda check: check.id)
def test_monitoring_that_is_not_enabled_is_never_read_as_idle(check: WasteCheck, account: Account) -> None:
    result = account.scan(check.id, waste(check.id).but(**{SERIES: OFF}))
    assert result.findings == ()
    assert not result.complete


AGED = [check for check in CHECKS if check.kind.created is not None and check.age > timedelta(0)]


@pytest.mark.parametrize("check", some(AGED, 4, 1), ids=lambda check: check.id)
def test_nothing_younger_than_its_check_asks_for_is_reported(check: WasteCheck, account: Account) -> None:
    scenario = waste(check.id)
    found = account.known(check.id).scan.findings[0]
    assert NOW - datetime.fromisoformat(found.created) >= check.age
    result = account.scan(check.id, scenario, now=datetime.fromisoformat(found.created) + check.age / 2)
    assert result.findings == ()


def test_a_field_that_the_document_does_not_have_cannot_be_read() -> None:
    from clouds.models import Call

    answer = watched(Call("compute", "disks.aggregatedList"), {"items": {"zones/z": {"disks": [{"name": "d"}]}}})
    row = answer["items"]["zones/z"]["disks"][0]
    assert row.get("sizeGb") is None
    with pytest.raises(NoSuchField):
        row.get("sizeGB")
    with pytest.raises(NoSuchField):
        row["diskSize"]


def test_an_api_that_is_off_although_its_places_are_known_does_not_apply(account: Account) -> None:
    result = account.scan(
        "dataproc-idle", waste("dataproc-idle").but(**{"dataproc.projects.regions.clusters.list": OFF})
    )
    assert result.complete
    assert [gap.check for gap in result.not_applicable] == ["dataproc-idle"]


def test_an_api_that_is_denied_in_its_places_is_unread(account: Account) -> None:
    denied = {"dataproc.projects.regions.clusters.list": DENIED}
    result = account.scan("dataproc-idle", waste("dataproc-idle").but(**denied))
    assert not result.complete
    assert result.not_applicable == ()


@pytest.mark.parametrize(
    ("told", "said"),
    [("2678400s", "31 days"), ("86400s", "1 day"), ("5400s", "90 minutes"), ("3600.5s", "1 hour"), ("7s", "7 seconds"),
     ("", ""), (None, ""), ("soon", "soon")],
)  # fmt: skip
def test_a_duration_of_google_s_is_said_as_a_person_says_it(told: str | None, said: str) -> None:
    assert words.span(told) == said


def test_a_place_that_is_no_text_is_unread_and_ends_no_scan(account: Account) -> None:
    scenario, listed = waste("gke-no-nodes"), "container.projects.locations.clusters.list"
    clusters = [{**each, "location": 3} for each in scenario.answers[listed]["clusters"]]
    result = account.scan("gke-no-nodes", scenario.but(**{listed: {"clusters": clusters}}))
    assert (result.findings, result.complete) == ((), False)
