"""The allow-list and the role of whoever deploys are what is sent, and nothing else."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from clouds.gcp import methods, policy
from clouds.models import Call
from clouds.readonly import ReadOnly, changes

ROOT = Path(__file__).parents[3]


def written() -> set[str]:
    """Every operation that is spelt in the sources of the three services, with the service before it."""
    sources = "".join(path.read_text("utf-8") for path in (ROOT / "clouds/gcp/endpoints").rglob("*.py"))
    pairs = re.findall(r'Call\(\s*"([a-z0-9-]+)",\s*"([A-Za-z.]+)"', sources)
    return {f"{service}.{operation}" for service, operation in pairs}


def test_every_read_of_every_port_is_an_operation_that_reads() -> None:
    calls = [call for calls in policy.READS.values() for call in calls]
    assert [str(call) for call in calls if not methods.method(call).reads] == []
    assert ReadOnly(policy.reads()).allow == policy.reads()


def test_a_write_cannot_stand_among_the_reads() -> None:
    assert changes("compute.instances.insert")
    assert changes("tpu.projects.locations.queuedResources.delete")
    assert not methods.method(Call("compute", "instances.stop")).reads


def test_whoever_deploys_may_send_everything_that_the_services_send() -> None:
    allowed = set(policy.deployer()["includedPermissions"])
    known = {name for name in written() if name.split(".", 1)[1] in methods.table(name.split(".", 1)[0])}
    assert len(known) > 15
    assert {name for name in known if not policy.permissions([name]) <= allowed} == set()


def test_every_permission_is_a_service_a_resource_and_a_verb() -> None:
    strange = [
        one
        for one in policy.deployer()["includedPermissions"]
        if not re.fullmatch(r"[a-z]+\.[a-zA-Z]+\.[a-zA-Z]+", one)
    ]
    assert strange == []


def test_the_file_is_the_role() -> None:
    file = ROOT / "policy" / "gcp-deployer.json"
    if os.environ.get("UPDATE_EXPECTED"):
        file.write_text(policy.deployer_text(), "utf-8")
    assert file.read_text("utf-8") == policy.deployer_text(), "UPDATE_EXPECTED=1 writes it anew"
    assert json.loads(file.read_text("utf-8"))["stage"] == "GA"
