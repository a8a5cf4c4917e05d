from __future__ import annotations

import json
import os
import re

import pytest

from clouds.gcp.checks import CHECKS, PACK
from clouds.gcp.checks.permissions import permissions, reads_only, roles
from tests.clouds.gcp.checks.stage import ROOT

POLICY = ROOT / "policy"


@pytest.mark.parametrize("name", ["scanner", "cleaner"])
def test_the_published_role_is_the_one_that_is_derived_from_the_checks(name: str) -> None:
    file = POLICY / f"gcp-{name}.json"
    derived = json.dumps(roles()[name], indent=2) + "\n"
    if os.environ.get("UPDATE_EXPECTED"):
        file.write_text(derived, "utf-8")
    assert file.read_text("utf-8") == derived, "UPDATE_EXPECTED=1 writes it anew"


def test_the_scanner_can_only_read() -> None:
    held = roles()["scanner"]["includedPermissions"]
    assert [each for each in held if not reads_only(each)] == []
    assert len(held) > 60


def test_a_permission_that_changes_something_would_be_noticed() -> None:
    assert not reads_only("compute.disks.delete")
    assert not reads_only("secretmanager.versions.access")


def test_no_role_can_read_a_secret_or_change_who_may_do_what() -> None:
    held = {each for role in roles().values() for each in role["includedPermissions"]}
    assert {each for each in held if re.search(r"setIamPolicy|versions\.access|actAs|getAccessToken", each)} == set()


def test_a_permission_has_googles_form() -> None:
    for role in roles().values():
        for each in role["includedPermissions"]:
            assert re.fullmatch(r"[a-z]+\.[a-zA-Z]+\.[a-zA-Z]+", each), each


def test_the_cleaner_holds_what_every_step_needs_and_nothing_else() -> None:
    needed = {
        name for check in CHECKS for step in check.steps for name in permissions(*step.split(".", 1))
    }  # fmt: skip
    assert set(roles()["cleaner"]["includedPermissions"]) == needed


@pytest.mark.parametrize(
    ("call", "needed"),
    [
        ("compute.disks.aggregatedList", ("compute.disks.list",)),
        ("compute.regionDisks.delete", ("compute.disks.delete",)),
        ("compute.disks.createSnapshot", ("compute.disks.createSnapshot", "compute.snapshots.create",
                                          "compute.snapshots.setLabels")),
        ("tpu.projects.locations.nodes.list", ("tpu.nodes.list",)),
        ("tpu-v2alpha1.projects.locations.queuedResources.delete", ("tpu.nodes.delete",)),
        ("sqladmin.instances.patch", ("cloudsql.instances.update",)),
        ("dns-v1.managedZones.list", ("dns.managedZones.list",)),
        ("bigtableadmin.projects.instances.clusters.list", ("bigtable.clusters.list",)),
        ("aiplatform.projects.locations.endpoints.undeployModel", ("aiplatform.endpoints.undeploy",)),
        ("cloudasset.v1.searchAllResources", ("cloudasset.assets.searchAllResources",)),
        ("monitoring.projects.timeSeries.list", ("monitoring.timeSeries.list",)),
    ],
)  # fmt: skip
def test_a_call_is_the_permissions_that_it_needs(call: str, needed: tuple[str, ...]) -> None:
    assert permissions(*call.split(".", 1)) == needed


def test_the_role_that_check_setup_gives_is_the_published_one() -> None:
    assert json.loads(PACK.policy()) == json.loads((POLICY / "gcp-scanner.json").read_text("utf-8"))
