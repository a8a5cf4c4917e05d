from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from clouds.azure import paths, versions
from clouds.azure.paths import meant, sending
from clouds.errors import InvalidInput
from clouds.models import Call, Scope
from tests.clouds.azure.asking import asking
from tests.clouds.azure.rig import ARM, SUBSCRIPTION

PUBLISHED = Path(__file__).parents[4] / "shared" / "facts" / "azure-api-versions.json"
HERE = Scope("eastus", SUBSCRIPTION)
GROUP = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/rg"
ENV = f"{GROUP}/providers/Microsoft.App/managedEnvironments/env"


def published() -> dict[str, list[str]]:
    if not PUBLISHED.is_file():
        pytest.skip("the list of published API versions is not beside this checkout")
    return {kind.lower(): found for kind, found in json.loads(PUBLISHED.read_text("utf-8")).items()}


def wrong(rows: list[versions.Row], known: dict[str, list[str]]) -> list[str]:
    """Rows whose version is not published: for their type, else (a path that is no resource) for their provider.

    A row that was sent to Azure needs no list; of a provider that no list names, something has to say that it exists.
    """
    providers: dict[str, set[str]] = {}
    for kind, found in known.items():
        providers.setdefault(kind.split("/")[0], set()).update(each for each in found if "preview" not in each)
    problems = []
    for row in rows:
        listed = {each for each in known.get(row.type.lower(), ()) if "preview" not in each}
        around = providers.get(row.provider.lower(), set())
        if listed and row.version not in listed:
            problems.append(f"{row.type} {row.version} is not among {max(listed)} and older")
        if not listed and around and row.version not in around and not row.evidence.startswith("live"):
            problems.append(f"{row.type} {row.version} is no version of {row.provider}")
        if not listed and not row.evidence:
            problems.append(f"{row.type} is not published and nothing says that it exists")
        if "preview" in row.version:
            problems.append(f"{row.type} {row.version} is a preview")
    return problems


def test_every_pinned_version_is_published_and_stable() -> None:
    assert wrong(list(versions.rows().values()), published()) == []


@pytest.mark.parametrize(
    ("kind", "version", "evidence", "problem"),
    [
        ("Microsoft.App/containerApps", "2019-01-01", "published types", "is not among"),
        ("Microsoft.App/nothing", "2019-01-01", "specification", "is no version of Microsoft.App"),
        ("Microsoft.Nobody/things", "2026-01-01", "", "nothing says that it exists"),
        ("Microsoft.App/containerApps", "2025-10-02-preview", "published types", "is a preview"),
    ],
)
def test_the_check_of_versions_bites(kind: str, version: str, evidence: str, problem: str) -> None:
    row = versions.Row(kind, version, "subscription", evidence, "2026-11-29")
    assert any(problem in each for each in wrong([row], published()))


def test_every_row_is_dated_and_the_table_is_sorted() -> None:
    kinds = [entry[0] for entry in json.loads(versions.TABLE.read_text("utf-8"))["rows"]]
    assert kinds == sorted(kinds, key=str.lower)
    assert [row.type for row in versions.rows().values() if not re.fullmatch(r"\d{4}-\d\d-\d\d", row.checked)] == []


@pytest.mark.parametrize(
    ("call", "scope", "method", "path"),
    [
        (Call("tenants", "list"), Scope(), "GET", "/tenants"),
        (Call("subscriptions", "list"), Scope(), "GET", "/subscriptions"),
        (Call("subscriptions", "get"), HERE, "GET", f"/subscriptions/{SUBSCRIPTION}"),
        (Call("locations", "list"), HERE, "GET", f"/subscriptions/{SUBSCRIPTION}/locations"),
        (Call("providers", "list"), HERE, "GET", f"/subscriptions/{SUBSCRIPTION}/providers"),
        (
            Call("Microsoft.Resources/resourceGroups", "list"),
            HERE,
            "GET",
            f"/subscriptions/{SUBSCRIPTION}/resourceGroups",
        ),
        (Call("Microsoft.Resources/resourceGroups", "put", {"id": GROUP, "body": {}}), HERE, "PUT", GROUP),
        (Call("Microsoft.Resources/resources", "list_in", {"parent": GROUP}), HERE, "GET", f"{GROUP}/resources"),
        (
            Call("Microsoft.App/managedEnvironments", "list"),
            HERE,
            "GET",
            f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.App/managedEnvironments",
        ),
        (
            Call("Microsoft.App/managedEnvironments", "list_in", {"parent": GROUP}),
            HERE,
            "GET",
            f"{GROUP}/providers/Microsoft.App/managedEnvironments",
        ),
        (Call("Microsoft.App/managedEnvironments/usages", "list_in", {"parent": ENV}), HERE, "GET", f"{ENV}/usages"),
        (
            Call("Microsoft.App/locations/usages", "list"),
            Scope("East US", SUBSCRIPTION),
            "GET",
            f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.App/locations/eastus/usages",
        ),
        (
            Call("Microsoft.Compute/locations/placementScores/spot", "generate", {"body": {}}),
            HERE,
            "POST",
            f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Compute/locations/eastus/placementScores/spot/generate",
        ),
        (
            Call("Microsoft.Insights/metrics", "list_in", {"parent": ENV, "query": {"metricnames": "Requests"}}),
            HERE,
            "GET",
            f"{ENV}/providers/Microsoft.Insights/metrics",
        ),
        (
            Call("Microsoft.CostManagement/query", "query", {"parent": f"/subscriptions/{SUBSCRIPTION}", "body": {}}),
            HERE,
            "POST",
            f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.CostManagement/query",
        ),
        (
            Call("Microsoft.ResourceGraph/resources", "query", {"body": {}}),
            HERE,
            "POST",
            "/providers/Microsoft.ResourceGraph/resources",
        ),
        (
            Call("Microsoft.ContainerRegistry/registries", "listUsages", {"id": f"{GROUP}/providers/M.C/registries/r"}),
            HERE,
            "GET",
            f"{GROUP}/providers/M.C/registries/r/listUsages",
        ),
        (
            Call("Microsoft.App/containerApps", "listSecrets", {"id": f"{GROUP}/providers/M.A/containerApps/a"}),
            HERE,
            "POST",
            f"{GROUP}/providers/M.A/containerApps/a/listSecrets",
        ),
        (Call("prices", "list", {"query": {"$filter": "x eq 'y'"}}), Scope(), "GET", "/api/retail/prices"),
    ],
)
def test_a_call_has_one_path_and_a_recorded_path_has_one_call(call: Call, scope: Scope, method: str, path: str) -> None:
    found = sending(call, scope)
    assert (found.method, found.path) == (method, path)
    if "M.C" not in path and "M.A" not in path and call.service != "prices":
        assert meant(method, f"{ARM}{path}?api-version=2020-01-01") == (call.service, call.operation)


def test_a_version_goes_with_every_request_and_none_with_the_price_list() -> None:
    assert sending(Call("tenants", "list"), Scope()).query == {"api-version": "2022-12-01"}
    assert sending(Call("prices", "list", {"query": {"a": 1}}), Scope()).query == {"a": "1"}


@pytest.mark.parametrize(
    ("method", "path", "named"),
    [
        ("POST", f"{GROUP}/providers/Microsoft.App/containerApps/a/stop", ("Microsoft.App/containerApps", "stop")),
        (
            "GET",
            f"{GROUP}/providers/Microsoft.ContainerRegistry/registries/r/listUsages",
            ("Microsoft.ContainerRegistry/registries", "listUsages"),
        ),
        ("DELETE", f"{GROUP}/providers/Microsoft.App/containerApps/a", ("Microsoft.App/containerApps", "delete")),
        ("GET", f"{GROUP}/providers/microsoft.app/containerapps/a", ("Microsoft.App/containerApps", "get")),
        ("GET", f"{GROUP}/providers/Microsoft.New/things", ("Microsoft.New/things", "list_in")),
        ("POST", f"{GROUP}/providers/Microsoft.New/things/t/go", ("Microsoft.New/things", "go")),
        ("GET", GROUP, ("Microsoft.Resources/resourceGroups", "get")),
    ],
)
def test_an_address_that_somebody_else_recorded_is_named(method: str, path: str, named: tuple[str, str]) -> None:
    assert meant(method, f"{ARM}{path}") == named


@pytest.mark.parametrize(
    ("resource", "kind", "group"),
    [
        (ENV, "Microsoft.App/managedEnvironments", "rg"),
        (ENV.upper(), "MICROSOFT.APP/MANAGEDENVIRONMENTS", "RG"),
        (f"{ENV}/usages/x", "Microsoft.App/managedEnvironments/usages", "rg"),
        (f"{ENV}/providers/Microsoft.Authorization/locks/l", "Microsoft.Authorization/locks", "rg"),
        (GROUP, "Microsoft.Resources/resourceGroups", "rg"),
        (f"/subscriptions/{SUBSCRIPTION}", "", ""),
    ],
)
def test_an_id_says_its_type_group_and_subscription(resource: str, kind: str, group: str) -> None:
    assert (paths.type_of(resource), paths.group_of(resource)) == (kind, group)
    assert paths.subscription_of(resource) == SUBSCRIPTION


def test_a_child_is_listed_under_its_own_parent_only() -> None:
    with pytest.raises(InvalidInput, match="is no parent of"):
        sending(Call("Microsoft.App/containerApps/revisions", "list_in", {"parent": ENV}), HERE)


def test_every_row_of_the_table_can_be_asked_live() -> None:
    calls = {kind: asking(row, HERE) for kind, row in versions.rows().items()}
    asked = {kind: sending(call, HERE).query.get("api-version", "") for kind, call in calls.items() if call is not None}
    assert asked == {kind: versions.row(kind).version for kind in asked}
    assert {kind for kind, call in calls.items() if call is None} == {
        "microsoft.costmanagement/query",
        "microsoft.resourcegraph/resources",
    }


@pytest.mark.parametrize("location", [None, "", "east/us", "../x"])
def test_a_location_that_cannot_be_one_is_refused(location: str | None) -> None:
    with pytest.raises(InvalidInput):
        sending(Call("Microsoft.App/locations/usages", "list"), Scope(location, SUBSCRIPTION))
