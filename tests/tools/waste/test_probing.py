"""Which permissions of a scan are there: tried, not assumed; what needs a resource is not claimed."""

from __future__ import annotations

from dataclasses import replace

from clouds.base import Missing
from clouds.errors import NotOffered
from tests.tools.waste import toy
from tools.progress import CallProgress
from tools.waste.probing import Probed, probe


def tried(**answers: object) -> Probed:
    network = toy.Network({"north": dict(answers), "south": {}})
    found = probe(toy.cloud(network), CallProgress())
    assert found is not None
    assert {place for place, _, _ in network.sent} == {"north"}
    return found


def test_every_listing_is_sent_once_and_reads_of_single_resources_are_not_claimed() -> None:
    found = tried(ListDisks={"disks": [toy.disk("d1")]})
    assert found == Probed(cloud="toy", place="north", requests=3, allowed=3, not_here=0, not_tried=2)


def test_what_is_denied_is_named_by_its_permission() -> None:
    found = tried(ListDisks=toy.denied())
    assert (found.denied, found.allowed) == (("toy:ListDisks",), 2)


def test_a_service_that_is_not_there_is_neither_allowed_nor_denied() -> None:
    found = tried(ListMachines=NotOffered("ListMachines", answered="no such service here", fix=""))
    assert (found.allowed, found.not_here, found.denied) == (2, 1, ())


def test_any_other_failure_is_unclear_and_never_allowed() -> None:
    found = tried(ListDisks=RuntimeError("secret words"))
    assert (found.allowed, found.unclear) == (2, ("toy.ListDisks: fault: RuntimeError",))


def test_a_cloud_without_checks_has_nothing_to_try() -> None:
    cloud = replace(toy.cloud(toy.Network({})), waste_pack=Missing("none"))
    assert probe(cloud, CallProgress()) is None
