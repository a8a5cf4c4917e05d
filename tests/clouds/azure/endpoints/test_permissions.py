"""The permissions that are published are those of the calls that are sent, and looking needs none but reads."""

from __future__ import annotations

from dataclasses import replace

import pytest

from clouds.models import Change, Scope
from clouds.readonly import ReadOnly, reads
from tests.clouds.azure.endpoints import rig as rigs
from tests.clouds.azure.endpoints.rig import ML_REF, REF, Rig
from tests.clouds.azure.simulator import ID, groups


def written(rig: Rig) -> set[str]:
    """`type.verb` of every write and every POST that reads out a key."""
    found = set()
    for one in rig.seam.sent:
        if one.changes:
            found.add(f"{one.type.lower()}.{one.method.lower()}")
        elif one.arm and one.method == "POST":
            kind, _, action = one.type.rpartition("/")
            found.add(f"{kind.lower() or one.type.lower()}.{action}")
    return {name for name in found if not name.endswith(("getAuthToken", "getLogs"))}


def declared(service: object) -> set[str]:
    writes = service.writes  # type: ignore[attr-defined] # both services have it
    return {f"{call.service.lower()}.{call.operation}" for call in writes}


def test_container_apps_send_what_their_permissions_say(rig: Rig) -> None:
    place = f"/subscriptions/{ID}/resourceGroups/theirs/providers/Microsoft.App/managedEnvironments/env"
    plain = {"name": "Consumption", "workloadProfileType": "Consumption"}
    body = {"location": "swedencentral", "properties": {"workloadProfiles": [plain]}}
    env = groups.new(rig.account, place, "Microsoft.App/managedEnvironments", body)
    env.properties["defaultDomain"] = "env.swedencentral.azurecontainerapps.io"
    rig.deploy(settings={"environment": place})
    rig.account.clock.sleep(900)
    rig.apps.update(REF, Change(ttl_hours=1, settings={"max_model_len": 4096}), rig.book, rig.heard)
    rig.apps.delete(REF, rig.book, rig.heard)
    rig.deploy(name="warm", settings={"min_replicas": 1})
    rig.apps.delete(replace(REF, name="warm"), rig.book, rig.heard)
    assert written(rig) == declared(rig.apps) - {"microsoft.app/containerapps.listSecrets"}


def test_azure_ml_sends_what_its_permissions_say(rig: Rig) -> None:
    rig.account.capacity["swedencentral", rigs.SIZE] = 2
    rig.deploy_ml()
    rig.ml.update(ML_REF, Change(ttl_hours=1, settings={"max_model_len": 4096}), rig.book, rig.heard)
    rig.ml.delete(ML_REF, rig.book, rig.heard)
    assert {name for name in written(rig) if "listkeys" not in name.lower()} == {
        name for name in declared(rig.ml) if "listkeys" not in name.lower()
    }


@pytest.mark.parametrize("name", ["apps", "ml"])
def test_looking_passes_the_read_only_guard(rig: Rig, name: str) -> None:
    service = getattr(rig, name)
    rig.deploy() if name == "apps" else rig.deploy_ml()
    guard = ReadOnly(reads(service.reads))
    looking = rigs.guarded(rig, guard)
    target = REF if name == "apps" else ML_REF
    seen = getattr(looking, name)
    assert seen.get(target).state == "ready"
    assert len(seen.list(scope=Scope()).found) == 1
    assert guard.refused == []
