"""What AWS accounts pay for and nobody uses: every check, dearest kinds first, and how AWS is asked."""

from __future__ import annotations

from clouds.aws.checks import (
    ai_services,
    bedrock,
    bedrock_models,
    sagemaker_components,
    sagemaker_endpoints,
    sagemaker_leftovers,
    sagemaker_notebooks,
    sagemaker_studio,
    sagemaker_training,
    search,
    words,
)
from clouds.aws.checks.commands import account_line, command, query
from clouds.aws.checks.offered import offered
from clouds.aws.checks.permissions import permissions
from clouds.models.waste import Listing, WasteCheck, WastePack

CHECKS: tuple[WasteCheck, ...] = (
    *bedrock.CHECKS,
    *sagemaker_endpoints.CHECKS,
    *sagemaker_components.CHECKS,
    *sagemaker_training.CHECKS,
    *sagemaker_notebooks.CHECKS,
    *sagemaker_studio.CHECKS,
    *search.CHECKS,
    *ai_services.CHECKS,
    *bedrock_models.CHECKS,
    *sagemaker_leftovers.CHECKS,
)

PACK = WastePack(
    checks=CHECKS,
    places=Listing("ec2", "DescribeRegions", "Regions"),
    place=lambda row: "" if row.get("OptInStatus") == "not-opted-in" else row["RegionName"],
    home="us-east-1",
    permissions=permissions,
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
    keep_hint='tag modelrig-keep = "2027-03-31 why it is kept"',
)
