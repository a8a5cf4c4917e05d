"""Looking at an app: what it says, and that a look wakes nothing and costs no token."""

from __future__ import annotations

from datetime import timedelta

import pytest

from clouds.errors import Conflict, NotFound
from clouds.models import EndpointRef, Scope
from tests.clouds.azure.endpoints import rig as rigs
from tests.clouds.azure.endpoints.rig import REF, Rig
from tests.clouds.azure.simulator import ID, Boot, Fault, Killed, groups


def test_looking_at_an_app_that_scaled_to_zero_leaves_it_there(rig: Rig) -> None:
    rig.deploy()
    rig.account.clock.sleep(900)
    before = len(rig.seam.sent)
    endpoint = rig.apps.get(REF)
    rig.apps.list(scope=Scope())
    rig.apps.logs(REF, since=timedelta(hours=1), limit=10)
    rig.account.clock.sleep(600)
    assert (endpoint.state, endpoint.billing) == ("stopped", False)
    assert endpoint.reason == "scaled to zero: nothing bills, and the next request wakes it"
    assert {one.arm for one in rig.seam.sent[before:]} == {True}
    assert rig.account.billing() == []


def test_a_ready_app_says_all_that_is_known_of_it(rig: Rig) -> None:
    rig.account.boot = Boot()
    made = rig.deploy()
    seen = rig.apps.get(REF)
    assert seen.model_copy(update={"phases": made.phases}) == made
    assert [(phase.name, phase.seconds) for phase in seen.phases] == [("cold start, as it was measured", 130.0)]
    assert (seen.url, seen.expires) == (
        "https://gemma.calm-1.swedencentral.azurecontainerapps.io",
        "2026-11-29T19:00:00Z",
    )


def test_the_price_of_replicas_that_stay_up_is_for_all_of_them(rig: Rig) -> None:
    rig.deploy()
    app = rig.account.of("Microsoft.App/containerApps")[0]
    app.properties["template"]["scale"]["minReplicas"] = 3
    price = rig.apps.get(REF).price
    assert price is not None
    assert (round(price.amount, 3), price.basis.endswith("3 replicas")) == (6.048, True)


def test_what_is_not_ours_is_not_listed_but_can_be_looked_at(rig: Rig) -> None:
    rig.deploy()
    for one in rig.account.resources.values():
        one.tags.clear()
    assert rig.apps.list(scope=Scope()).found == ()
    assert rig.apps.get(REF).deployment == ""


def test_two_apps_of_one_name_are_never_guessed_between(rig: Rig) -> None:
    for group in ("one", "two"):
        place = f"/subscriptions/{ID}/resourceGroups/{group}/providers/Microsoft.App/containerApps/gemma"
        groups.new(rig.account, place, "Microsoft.App/containerApps", {"location": "Sweden Central"})
    with pytest.raises(Conflict, match="2 have this name"):
        rig.apps.get(REF)


def test_an_app_in_another_region_is_not_this_one(rig: Rig) -> None:
    rig.deploy()
    with pytest.raises(NotFound):
        rig.apps.get(EndpointRef("azure", "containerapps", "westus3", "gemma"))


def test_a_subscription_that_cannot_be_read_is_said(rig: Rig) -> None:
    rig.deploy()
    rig.account.resources.pop(next(key for key in rig.account.resources if key.endswith("containerapps/gemma")))
    rig.account.providers["Microsoft.App"] = "NotRegistered"
    read = rig.apps.list(scope=Scope())
    assert [one.call for one in read.not_applicable] == ["Microsoft.App/containerApps.list"]
    assert [(one.state, one.billing) for one in read.found] == [("failed", False)]  # its group is still there


def test_lines_come_from_the_replica_and_go_with_it(rig: Rig) -> None:
    rig.account.boot = Boot()
    rig.deploy()
    page = rig.apps.logs(REF, since=timedelta(hours=1), limit=2)
    assert page.lines == (
        "INFO 11-29 15:01:50 [kv_cache_utils.py:1] GPU KV cache size: 321,280 tokens",
        "INFO:     Application startup complete.",
    )
    assert page.total == 4
    assert rig.apps.logs(REF, since=timedelta(seconds=30), limit=9).total == 2
    rig.account.clock.sleep(900)
    gone = rig.apps.logs(REF, since=timedelta(hours=1), limit=2)
    assert (gone.lines, gone.note) == (
        (),
        "no replica is up, and its lines go with it (no log workspace was made)",
    )


def test_an_environment_without_its_app_in_somebodys_group_is_listed_and_can_be_deleted(rig: Rig) -> None:
    plan = rig.begin(rig.apps.plan(rig.spec(settings={"resource_group": "theirs"})))
    rig.seam.fault = Fault(-1, "killed before", "PUT Microsoft.App/containerApps")
    with pytest.raises(Killed):
        rig.apps.create(plan, rig.book, rig.heard)
    rig.seam.fault, rig.seam.down = None, ""
    [left] = rig.apps.list(scope=Scope()).found
    assert (left.ref, left.billing, left.deployment) == (str(REF), False, plan.deployment)
    assert left.reason == "its managedEnvironments is there and no app is: nothing bills; delete_endpoint takes it away"
    assert rig.apps.delete(REF, rig.book, rig.heard).gone
    assert rig.account.of("Microsoft.App/managedEnvironments") == []
    assert rig.account.find(f"/subscriptions/{ID}/resourceGroups/theirs") is not None


def test_where_no_subscription_is_chosen_all_are_searched(rig: Rig) -> None:
    rig.deploy()
    rig.account.more_subscriptions = ("33333333-3333-3333-3333-333333333333",)
    elsewhere = rigs.rig(rig.book.home, rig.account, chosen=False)
    assert elsewhere.apps.get(REF).state == "ready"
    assert elsewhere.apps.delete(REF, rig.book, rig.heard).gone
    elsewhere.book.close()
