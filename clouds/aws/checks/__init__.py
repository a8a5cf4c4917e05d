"""What AWS accounts pay for and nobody uses: every check, dearest kinds first, and how AWS is asked."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from clouds.aws.checks import (
    addresses,
    ai_services,
    balancers,
    bedrock,
    bedrock_models,
    brokers,
    caches,
    containers,
    databases,
    desktops,
    ebs,
    ec2_capacity,
    ec2_instances,
    filesystems,
    jobs,
    keys,
    kubernetes,
    lightsail,
    logs_and_buckets,
    network,
    own,
    permissions,
    registry,
    sagemaker_components,
    sagemaker_endpoints,
    sagemaker_hyperpod,
    sagemaker_leftovers,
    sagemaker_notebooks,
    sagemaker_studio,
    sagemaker_training,
    search,
    serverless,
    snapshots,
    vpn,
    warehouses,
    words,
)
from clouds.aws.checks.bill import BILL
from clouds.aws.checks.commands import account_line, command, query
from clouds.aws.checks.offered import offered
from clouds.aws.meters import without_rate
from clouds.models import Scope
from clouds.models.waste import Listing, WasteCheck
from clouds.models.waste_pack import WastePack

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)

CHECKS: tuple[WasteCheck, ...] = (
    *own.CHECKS,
    *bedrock.CHECKS,
    *sagemaker_endpoints.CHECKS,
    *sagemaker_components.CHECKS,
    *sagemaker_hyperpod.CHECKS,
    *sagemaker_training.CHECKS,
    *ec2_instances.CHECKS,
    *ec2_capacity.CHECKS,
    *sagemaker_notebooks.CHECKS,
    *sagemaker_studio.CHECKS,
    *search.CHECKS,
    *ai_services.CHECKS,
    *warehouses.CHECKS,
    *databases.CHECKS,
    *caches.CHECKS,
    *brokers.CHECKS,
    *jobs.CHECKS,
    *kubernetes.CHECKS,
    *containers.CHECKS,
    *filesystems.CHECKS,
    *desktops.CHECKS,
    *network.CHECKS,
    *vpn.CHECKS,
    *balancers.CHECKS,
    *serverless.CHECKS,
    *ebs.CHECKS,
    *snapshots.CHECKS,
    *registry.CHECKS,
    *logs_and_buckets.CHECKS,
    *addresses.CHECKS,
    *keys.CHECKS,
    *lightsail.CHECKS,
    *bedrock_models.CHECKS,
    *sagemaker_leftovers.CHECKS,
)

PACK = WastePack(
    checks=CHECKS,
    places=Listing("ec2", "DescribeRegions", "Regions", {"AllRegions": False}),  # said, so that a replay can tell it
    place=lambda row: "" if row.get("OptInStatus") == "not-opted-in" else row["RegionName"],
    home="us-east-1",
    permissions=permissions.permissions,
    bill=BILL,
    policy=lambda: json.dumps(policies()["scanner"]),
    command=command,
    query=query,
    account_line=account_line,
    owner=words.owner,
    excludes=(
        "savings plans and reserved instances",
        "enterprise and private pricing",
        "free tier and credits",
        "data transfer and requests",
        "taxes",
    ),
    offered=offered,
    lost=words.lost,
    without_rate=without_rate,
    keep_hint='tag modelrig-keep = "2027-03-31 why it is kept"',
)


def policies() -> dict[str, dict[str, Any]]:
    """The two least-privilege policies: `scanner` looks, `cleaner` removes; they are published in policy/."""
    also = ("ec2.DescribeRegions", "sts.GetCallerIdentity", str(BILL.ask(EPOCH, Scope())))
    return {"scanner": permissions.scanner(CHECKS, also), "cleaner": permissions.cleaner(CHECKS)}
