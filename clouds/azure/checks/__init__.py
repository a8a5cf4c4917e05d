"""What Azure subscriptions pay for and nobody uses: every check, dearest kinds first, and how Azure is asked."""

from __future__ import annotations

import json
from typing import Any

from clouds.azure.checks import (
    addresses,
    analytics,
    circuits,
    clusters,
    cognitive,
    containerapps,
    databases,
    disks,
    doors,
    environments,
    gateways,
    groups,
    leftovers,
    machines,
    messaging,
    ml,
    networks,
    own,
    permissions,
    running,
    stores,
    storing,
    vaults,
    web,
    words,
)
from clouds.azure.checks.bill import BILL
from clouds.azure.checks.commands import account_line, command, query
from clouds.azure.prices import EXCLUDES
from clouds.azure.tenants import EVERY
from clouds.azure.unpriced import without_rate
from clouds.models import Scope
from clouds.models.waste import Listing, WasteCheck
from clouds.models.waste_pack import WastePack

CHECKS: tuple[WasteCheck, ...] = (
    *own.CHECKS,
    *cognitive.CHECKS,
    *containerapps.CHECKS,
    *ml.CHECKS,
    running.GPU_IDLE,
    *machines.CHECKS,
    *stores.CHECKS,
    *analytics.CHECKS,
    *circuits.CHECKS,
    *messaging.CHECKS,
    *gateways.CHECKS,
    *clusters.CHECKS,
    *environments.CHECKS,
    *databases.CHECKS,
    *web.CHECKS,
    *doors.CHECKS,
    *disks.CHECKS,
    *storing.CHECKS,
    *addresses.CHECKS,
    *vaults.CHECKS,
    *networks.CHECKS,
    *leftovers.CHECKS,
    *groups.CHECKS,
    running.ADVISOR,
)

PACK = WastePack(
    checks=CHECKS,
    places=Listing("subscriptions", "list", "value", {"tenant": EVERY}),
    place=lambda row: "" if row.get("state") == "Deleted" else row["subscriptionId"],  # disabled ones may still bill
    home="",
    permissions=permissions.permissions,
    policy=lambda: json.dumps(policies()["scanner"]),
    command=command,
    query=query,
    account_line=account_line,
    owner=words.owner,
    excludes=EXCLUDES,
    bill=BILL,
    without_rate=without_rate,
    scope_word="subscription",
    scope=lambda place, _account: Scope(None, place),
    keep_hint='tag modelrig-keep = "2027-03-31 why it is kept"',
)


def policies() -> dict[str, dict[str, Any]]:
    """The two least-privilege roles: `scanner` looks, `cleaner` removes; they are published in policy/."""
    also = ("subscriptions.list", "providers.list", "tenants.list")
    return {"scanner": permissions.scanner(CHECKS, also), "cleaner": permissions.cleaner(CHECKS)}
