"""Bedrock: throughput that is bought and not used, and deployments of own and Marketplace models."""

from __future__ import annotations

import re
from datetime import timedelta

from clouds.aws.checks import words
from clouds.aws.checks.metrics import Dimensions, usage
from clouds.aws.checks.sagemaker_endpoints import CALLS, ENDPOINT, ENDPOINTS, serving
from clouds.aws.checks.steps import gone, step
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Detail, Kind, Listing, Meter, Row, Seen, Source, Waste, WasteCheck

SOURCE = "Bedrock docs, runtime metrics: Invocations counts requests by ModelId; emitted on use"


def tags_read(of: Source, field: str) -> Detail:
    """The tags of a Bedrock resource, read when it was judged waste."""
    return Detail(
        of, "bedrock", "ListTagsForResource", lambda rows, _at: {"resourceARN": rows[0][field]}, rows="tags", late=True
    )


def called(field: str) -> Dimensions:
    """How requests are counted: by the full id that they name, or by its last part, as for inference profiles."""

    def by(row: Row) -> list[dict[str, str]]:
        return [{"ModelId": each} for each in dict.fromkeys((row[field], row[field].rsplit("/", 1)[-1]))]

    return by


THROUGHPUTS = Listing("bedrock", "ListProvisionedModelThroughputs", "provisionedModelSummaries")
THROUGHPUT = Kind(
    name="Bedrock provisioned throughput",
    of=THROUGHPUTS,
    id=lambda row, _at: row["provisionedModelArn"],
    label=lambda row: row["provisionedModelName"],
    created=lambda row: row["creationTime"],
    tags_read=tags_read(THROUGHPUTS, "provisionedModelArn"),
    tags_of=words.tag_row,
)
THROUGHPUT_USE = usage(
    "AWS/Bedrock",
    "Invocations",
    THROUGHPUTS,
    by=called("provisionedModelArn"),
    days=3,
    absent="zero",
    when=lambda row: row["status"] == "InService",
    unit="requests",
    source=SOURCE,
)


_CONTEXT = re.compile(r":\d+k$")
"""Throughput is bought for a variant by context length (`amazon.nova-2-lite-v1:0:256k`, Bedrock's guide); AWS lists one
price for all variants of a model (`Nova2.0Lite-ProvisionedThroughput-NoCommit-ModelUnits`)."""


def _throughput(row: Row, seen: Seen) -> Waste | None:
    if row["status"] != "InService" or seen.metric(THROUGHPUT_USE, row):
        return None
    model = (row.get("foundationModelArn") or row["modelArn"]).rsplit("/", 1)[-1]
    commitment = row.get("commitmentDuration")
    end = words.moment(row.get("commitmentExpirationTime"))
    bound = commitment is not None and (end is None or end > seen.now)
    until = f" until {end.date().isoformat()}" if end else ""
    units = row["modelUnits"]
    return Waste(
        reason=f"no request in 3 days; {units} model unit{'s' if units != 1 else ''} of {model}"
        + (f", committed{until}" if bound else ", no commitment"),
        meters=(
            Meter(f"bedrock-provisioned/{_CONTEXT.sub('', model)}/{commitment or 'no-commitment'}", "unit-hour", units),
        ),
        evidence={"model": model, "model units": units, "commitment": commitment or "none", "ends": str(end or "")},
        blocked=f"it is committed{until} and AWS deletes none before that" if bound else "",
    )


def _delete_throughput(doomed: Doomed) -> tuple[CleanupStep, ...]:
    name = {"provisionedModelId": doomed.row["provisionedModelArn"]}
    return (
        step(
            "delete", f"delete provisioned throughput {doomed.name}", "bedrock.DeleteProvisionedModelThroughput", name,
            "can be undone", until=gone("bedrock.GetProvisionedModelThroughput", name, "status"), capacity=True,
        ),
    )  # fmt: skip


PROVISIONED = WasteCheck(
    id="bedrock-provisioned-throughput",
    title="Bedrock provisioned throughput that nobody calls",
    kind=THROUGHPUT,
    reads=(THROUGHPUT_USE,),
    judge=_throughput,
    why="A model unit is billed every hour, and is among the dearest things an account can leave on.",
    spares=("called in 3 days", "being made or changed"),
    unchecked=("callers that use a model id of another account",),
    meter="Bedrock model unit hours by model and commitment",
    category="ai",
    min_age=timedelta(days=3),
    remove=_delete_throughput,
    reversal="can be undone",
    recovery="It can be bought again where units are free; a custom model can serve only through one.",
    order=10,
    steps=("bedrock.DeleteProvisionedModelThroughput", "bedrock.GetProvisionedModelThroughput"),
)

DEPLOYMENTS = Listing("bedrock", "ListCustomModelDeployments", "modelDeploymentSummaries")
DEPLOYMENT = Kind(
    name="Bedrock custom model deployment",
    of=DEPLOYMENTS,
    id=lambda row, _at: row["customModelDeploymentArn"],
    label=lambda row: row["customModelDeploymentName"],
    created=lambda row: row["createdAt"],
    tags_read=tags_read(DEPLOYMENTS, "customModelDeploymentArn"),
    tags_of=words.tag_row,
)
DEPLOYMENT_USE = usage(
    "AWS/Bedrock",
    "Invocations",
    DEPLOYMENTS,
    by=called("customModelDeploymentArn"),
    days=7,
    absent="zero",
    when=lambda row: row["status"] == "Active",
    unit="requests",
    source=SOURCE,
)


def _deployment(row: Row, seen: Seen) -> Waste | None:
    if row["status"] != "Active" or seen.metric(DEPLOYMENT_USE, row):
        return None
    model = row["modelArn"].rsplit("/", 1)[-1]
    return Waste(
        reason=f"no request in 7 days to the deployment of {model}; on demand it bills by the token",
        free=True,
        evidence={"model": row["modelArn"], "status": row["status"]},
    )


def _delete_deployment(doomed: Doomed) -> tuple[CleanupStep, ...]:
    name = {"customModelDeploymentIdentifier": doomed.row["customModelDeploymentArn"]}
    return (
        step(
            "delete", f"delete custom model deployment {doomed.name}; the model stays",
            "bedrock.DeleteCustomModelDeployment", name, "can be undone",
            until=gone("bedrock.GetCustomModelDeployment", name, "status"),
        ),
    )  # fmt: skip


CUSTOM_DEPLOYMENT = WasteCheck(
    id="bedrock-custom-model-deployment",
    title="Bedrock deployment of an own model that nobody calls",
    kind=DEPLOYMENT,
    reads=(DEPLOYMENT_USE,),
    judge=_deployment,
    why="It keeps its model from being deleted, and that one is billed for its storage.",
    spares=("called in 7 days", "being made or failed"),
    meter="none: on-demand custom models bill by the token",
    category="ai",
    remove=_delete_deployment,
    reversal="can be undone",
    recovery="The model stays and can be deployed again.",
    order=11,
    steps=("bedrock.DeleteCustomModelDeployment", "bedrock.GetCustomModelDeployment"),
)

MARKET = Listing("bedrock", "ListMarketplaceModelEndpoints", "marketplaceModelEndpoints")
MARKET_ENDPOINT = Detail(
    MARKET, "bedrock", "GetMarketplaceModelEndpoint", lambda rows, _at: {"endpointArn": rows[0]["endpointArn"]},
    rows="marketplaceModelEndpoint", each=True,
)  # fmt: skip
MARKETPLACE = Kind(
    name="Bedrock Marketplace endpoint",
    of=MARKET_ENDPOINT,
    id=lambda row, _at: row["endpointArn"],
    label=lambda row: row["endpointArn"].rsplit("/", 1)[-1],
    created=lambda row: row["createdAt"],
    tags_read=tags_read(MARKET_ENDPOINT, "endpointArn"),
    tags_of=words.tag_row,
)
MARKET_USE = usage(
    "AWS/Bedrock",
    "Invocations",
    MARKET_ENDPOINT,
    by=called("endpointArn"),
    days=7,
    absent="zero",
    when=lambda row: row["status"] == "REGISTERED",
    unit="requests",
    source=SOURCE,
)


_BY_ARN = words.by("EndpointArn")


def _market(row: Row, seen: Seen) -> Waste | None:
    if row["status"] != "REGISTERED" or seen.metric(MARKET_USE, row):
        return None
    # It is an endpoint of the account, which SageMaker's own API may be asked too: Bedrock does not count that.
    for endpoint in seen.index(ENDPOINT, _BY_ARN).get(row["endpointArn"], ()):
        if serving(endpoint) and seen.metric(CALLS, endpoint):
            return None
    held = row.get("endpointConfig", {}).get("sageMaker", {})
    count, kind = held.get("initialInstanceCount"), held.get("instanceType")
    told = bool(count and kind)
    shown = f"{count} x {kind}" if told else "instances of which nothing is told"
    return Waste(
        reason=f"no request in 7 days; holds {shown}",
        meters=(Meter(f"sagemaker-hosting/{kind}/on-demand", "hour", count),) if told else (),
        bound="at least",
        evidence={"model": row["modelSourceIdentifier"], "instances": shown},
    )


def _delete_market(doomed: Doomed) -> tuple[CleanupStep, ...]:
    name = {"endpointArn": doomed.row["endpointArn"]}
    return (
        step(
            "delete", f"delete Marketplace endpoint {doomed.name}", "bedrock.DeleteMarketplaceModelEndpoint", name,
            "can be undone", until=gone("bedrock.GetMarketplaceModelEndpoint", name, "marketplaceModelEndpoint.status"),
            capacity=True,
        ),
    )  # fmt: skip


MARKET_IDLE = WasteCheck(
    id="bedrock-marketplace-endpoint",
    title="Bedrock Marketplace endpoint that nobody calls",
    kind=MARKETPLACE,
    reads=(MARKET_USE, ENDPOINTS, ENDPOINT, CALLS),
    judge=_market,
    why="A Marketplace model runs on SageMaker instances that are billed by the hour; its vendor may bill on top.",
    spares=("called in 7 days, through Bedrock or SageMaker", "not registered"),
    unchecked=("a schedule that calls it less than once a week",),
    meter="SageMaker hosting instance hours; the vendor's price is not known",
    category="ai",
    remove=_delete_market,
    reversal="can be undone",
    recovery="It can be made again from the same model, if there is capacity then.",
    order=10,
    steps=("bedrock.DeleteMarketplaceModelEndpoint", "bedrock.GetMarketplaceModelEndpoint"),
)

CHECKS = (PROVISIONED, MARKET_IDLE, CUSTOM_DEPLOYMENT)
