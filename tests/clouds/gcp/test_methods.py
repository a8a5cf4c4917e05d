"""The table of operations is what Google's own documents say, and a call that they do not know is never sent."""

from __future__ import annotations

from pathlib import Path

import pytest

from clouds.errors import InvalidInput
from clouds.gcp import methods
from clouds.models import Call, Scope
from scripts import gcp_methods

ZONE = Scope("us-west4-a", "p")
NODE = "projects/p/locations/us-west4-a/nodes/n"


def test_the_files_are_what_the_documents_say() -> None:
    made = dict(gcp_methods.files())
    assert {path.name: path.read_text("utf-8") for path in made} == {path.name: text for path, text in made.items()}
    assert set(methods.services()) == {path.stem for path in made}


def test_the_list_of_operations_is_sorted_and_says_each_once() -> None:
    lines = (gcp_methods.METHODS / "used.txt").read_text("utf-8").split()
    assert lines == sorted(set(lines))


@pytest.mark.parametrize("wrong", ["instances.inserts", "instance.insert", "projects.locations.nodes.create"])
def test_a_misspelt_operation_cannot_be_generated(wrong: str) -> None:
    with pytest.raises(SystemExit, match="compute:v1 has no"):
        gcp_methods.method_of(gcp_methods.document("compute"), wrong)


def test_a_service_without_a_document_cannot_be_generated() -> None:
    with pytest.raises(SystemExit, match="no discovery document"):
        gcp_methods.document("computes")


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (Call("compute", "instances.explode"), "is not among the operations"),
        (Call("computer", "instances.insert"), "there is no service 'computer'"),
        (Call("../aws", "x"), "there is no service"),
    ],
)
def test_an_unknown_call_is_refused(call: Call, says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        methods.method(call)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (Call("tpu", "projects.locations.nodes.create", {"nodeID": "n", "body": {}}), "has no nodeID"),
        (Call("tpu", "projects.locations.nodes.get", {"body": {}, "name": NODE}), "has no body"),
        (Call("tpu", "projects.locations.nodes.get"), "needs `name`"),
        (Call("tpu", "projects.locations.nodes.get", {"name": "n"}), "takes no name like 'n'"),
        (Call("compute", "instances.get", {"instance": ""}), "takes no instance like ''"),
        (Call("compute", "instances.get", {"instance": "a/../../b"}), "takes no instance like"),
    ],
)
def test_parameters_that_the_documents_do_not_know_are_refused(call: Call, says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        methods.method(call).filled(call.parameters, ZONE)


@pytest.mark.parametrize(
    ("call", "filled", "url"),
    [
        (
            Call("compute", "instances.get", {"instance": "vm1"}),
            {"project": "p", "zone": "us-west4-a", "instance": "vm1"},
            "https://compute.googleapis.com/compute/v1/projects/p/zones/us-west4-a/instances/vm1",
        ),
        (
            Call("tpu", "projects.locations.nodes.list"),
            {"parent": "projects/p/locations/us-west4-a"},
            "https://tpu.googleapis.com/v2/projects/p/locations/us-west4-a/nodes",
        ),
        (
            Call("tpu-v2alpha1", "projects.locations.queuedResources.list"),
            {"parent": "projects/p/locations/us-west4-a"},
            "https://tpu.googleapis.com/v2alpha1/projects/p/locations/us-west4-a/queuedResources",
        ),
        (
            Call("monitoring", "projects.timeSeries.list", {"filter": "f"}),
            {"name": "projects/p", "filter": "f"},
            "https://monitoring.googleapis.com/v3/projects/p/timeSeries",
        ),
        (
            Call("tpu", "projects.locations.nodes.getGuestAttributes", {"name": NODE, "body": {}}),
            {"name": NODE, "body": {}},
            f"https://tpu.googleapis.com/v2/{NODE}:getGuestAttributes",
        ),
    ],
)
def test_project_and_place_come_from_the_scope(call: Call, filled: dict[str, object], url: str) -> None:
    method = methods.method(call)
    assert method.filled(call.parameters, ZONE) == filled
    assert method.url(filled) == url


def test_a_place_that_is_not_named_is_every_place() -> None:
    method = methods.method(Call("tpu", "projects.locations.nodes.list"))
    assert method.filled({}, Scope(account="p")) == {"parent": "projects/p/locations/-"}


def test_a_list_repeats_its_name_in_the_query_and_a_truth_is_lower_case() -> None:
    method = methods.table("monitoring")["projects.timeSeries.list"]
    assert method.query({"aggregation.groupByFields": ["a", "b"], "filter": "f"}) == [
        ("aggregation.groupByFields", "a"),
        ("aggregation.groupByFields", "b"),
        ("filter", "f"),
    ]
    delete = methods.table("tpu")["projects.locations.queuedResources.delete"]
    assert delete.query({"name": NODE, "force": True}) == [("force", "true")]


@pytest.mark.parametrize("service", methods.services())
def test_every_operation_is_recognised_by_its_own_address(service: str) -> None:
    samples = {"parent": "projects/p/locations/z", "name": "projects/p/locations/z/nodes/n"}
    for method in methods.table(service).values():
        if any(pattern for pattern in method.in_path.values()):
            continue
        filled = {name: samples.get(name, "x") for name in method.in_path}
        url = method.url(filled)
        found = methods.recognise(service, method.verb, url.removeprefix(method.root.rstrip("/")))
        assert found == (method, filled)


def test_a_method_word_after_a_colon_is_not_part_of_a_name() -> None:
    got = methods.recognise("tpu", "POST", f"/v2/{NODE}:getGuestAttributes", {})
    assert got is not None
    assert (got[0].operation, got[1]) == ("projects.locations.nodes.getGuestAttributes", {"name": NODE, "body": {}})
    assert methods.recognise("tpu", "GET", f"/v2/{NODE}:getGuestAttributes") is None


def test_what_reads_is_told_from_what_writes() -> None:
    reads = {"instances.get", "instances.aggregatedList", "advice.capacity", "instances.getSerialPortOutput"}
    writes = {"instances.insert", "instances.delete", "instances.stop"}
    table = methods.table("compute")
    assert {name for name in reads | writes if table[name].reads} == reads


def test_the_overlay_says_where_each_of_its_facts_is_from() -> None:
    import json

    overlay = json.loads((Path(methods.__file__).parent / "overlay.json").read_text("utf-8"))
    assert all(entry["source"] and entry["on"] for entry in overlay.values())
