"""What Google Cloud projects pay for and nobody uses: every check, dearest kinds first, and how Google is asked."""

from __future__ import annotations

from collections.abc import Sequence

from clouds.gcp.checks import (
    caches,
    capacity,
    databases,
    disks,
    jobs,
    links,
    machines,
    network,
    own,
    permissions,
    platform,
    run,
    secrets,
    stores,
    tpu,
    vertex,
    vertex_more,
    words,
)
from clouds.gcp.checks.bill import BILL
from clouds.gcp.checks.commands import account_line, command, query
from clouds.gcp.unpriced import without_rate
from clouds.models import Call, Scope
from clouds.models.waste import Listing, Row, WasteCheck
from clouds.models.waste_pack import Inventory, WastePack

CHECKS: tuple[WasteCheck, ...] = (
    *own.CHECKS,
    *tpu.CHECKS,
    *vertex.CHECKS,
    *machines.CHECKS,
    *run.CHECKS,
    *capacity.CHECKS,
    *vertex_more.CHECKS,
    *platform.CHECKS,
    *databases.CHECKS,
    *caches.CHECKS,
    *jobs.CHECKS,
    *disks.CHECKS,
    *network.CHECKS,
    *links.CHECKS,
    *stores.CHECKS,
    *secrets.CHECKS,
)
_PROJECT = "cloudresourcemanager.googleapis.com/Project"


def _search(root: Row, sorts: Sequence[str]) -> Call:
    parameters = {"scope": root["name"], "assetTypes": [_PROJECT, *sorts], "pageSize": 500,
                  "readMask": "assetType,project,location"}  # fmt: skip
    return Call("cloudasset", "v1.searchAllResources", parameters)


def _asset(row: Row) -> tuple[str, str, str]:
    return str(row["project"]), str(row["assetType"]), str(row.get("location") or "")


INVENTORY = Inventory(
    roots=Listing("cloudresourcemanager", "organizations.search", "organizations"),
    ask=_search,
    rows="results",
    # a project is looked at where the answer holds the project itself
    answers_for=lambda row: str(row["project"]) if row["assetType"] == _PROJECT else "",
    asset=_asset,
    number=lambda row: str(row["name"]),
    operation="cloudasset.v1.searchAllResources",
)
PACK = WastePack(
    checks=CHECKS,
    places=Listing("cloudresourcemanager", "projects.search", "projects", {"query": "state:ACTIVE"}),
    place=lambda row: str(row["projectId"]) if row.get("state", "ACTIVE") == "ACTIVE" else "",
    home="",
    scope=lambda place, _account: Scope(None, place),
    inventory=INVENTORY,
    bill=BILL,
    lost=words.lost,
    permissions=permissions.permissions,
    policy=permissions.scanner_text,
    command=command,
    query=query,
    account_line=account_line,
    owner=words.owner,
    excludes=(
        "committed and sustained use discounts",
        "enterprise and private pricing",
        "free tier and credits",
        "data transfer and requests",
        "taxes",
    ),
    without_rate=without_rate,
    scope_word="project",
    keep_hint='label modelrig-keep = "2027-03-31_why_it_is_kept"',
)
