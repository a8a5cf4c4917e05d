"""Comprehend, Rekognition and Personalize: capacity that is held for a trained model while nobody asks it."""

from __future__ import annotations

from datetime import timedelta

from clouds.aws.checks import words
from clouds.aws.checks.metrics import usage
from clouds.aws.checks.steps import gone, step, until
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Detail, Kind, Listing, Meter, Row, Seen, Unresolved, Waste, WasteCheck, Young

COMPREHEND = Listing("comprehend", "ListEndpoints", "EndpointPropertiesList")
COMPREHEND_ENDPOINT = Kind(
    name="Comprehend endpoint",
    of=COMPREHEND,
    id=lambda row, _at: row["EndpointArn"],
    label=lambda row: row["EndpointArn"].rsplit("/", 1)[-1],
    created=lambda row: row["CreationTime"],
    tags_read=Detail(
        COMPREHEND, "comprehend", "ListTagsForResource", lambda rows, _at: {"ResourceArn": rows[0]["EndpointArn"]},
        rows="Tags", late=True,
    ),
    tags_of=words.tag_row,
)  # fmt: skip
CONSUMED = usage(
    "AWS/Comprehend",
    "ConsumedInferenceUnits",
    COMPREHEND,
    by=lambda row: [{"EndpointArn": row["EndpointArn"]}],
    days=7,
    absent="zero",
    stat="Maximum",
    when=lambda row: row["Status"] == "IN_SERVICE",
    unit="inference units",
    source="Comprehend docs, endpoint metrics: ConsumedInferenceUnits is emitted with requests",
)


def _comprehend(row: Row, seen: Seen) -> Waste | None:
    if row["Status"] != "IN_SERVICE" or row.get("FlywheelArn") or seen.metric(CONSUMED, row):
        return None
    units = row.get("CurrentInferenceUnits") or row["DesiredInferenceUnits"]
    return Waste(
        reason=f"no request in 7 days; holds {units} inference unit{'s' if units != 1 else ''}",
        meters=(Meter("comprehend/inference-unit", "unit-second", units),),
        evidence={"inference units": units, "model": row["ModelArn"]},
    )


def _delete_comprehend(doomed: Doomed) -> tuple[CleanupStep, ...]:
    name = {"EndpointArn": doomed.id}
    return (
        step(
            "delete", f"delete Comprehend endpoint {doomed.name}; its model stays", "comprehend.DeleteEndpoint", name,
            "can be undone", until=gone("comprehend.DescribeEndpoint", name, "EndpointProperties.Status"),
        ),
    )  # fmt: skip


COMPREHEND_IDLE = WasteCheck(
    id="comprehend-endpoint-idle",
    title="Comprehend endpoint that nobody calls",
    kind=COMPREHEND_ENDPOINT,
    reads=(CONSUMED,),
    judge=_comprehend,
    why="An endpoint is billed by the second for each inference unit from the moment it is there.",
    spares=("called in 7 days", "belongs to a flywheel", "being made or changed"),
    meter="Comprehend inference unit seconds",
    category="ai",
    remove=_delete_comprehend,
    reversal="can be undone",
    recovery="The model stays; a new endpoint for it takes minutes.",
    order=12,
    steps=("comprehend.DeleteEndpoint", "comprehend.DescribeEndpoint"),
)

PROJECTS = Listing("rekognition", "DescribeProjects", "ProjectDescriptions")
VERSIONS = Detail(
    PROJECTS, "rekognition", "DescribeProjectVersions", lambda rows, _at: {"ProjectArn": rows[0]["ProjectArn"]},
    rows="ProjectVersionDescriptions",
)  # fmt: skip
LABELS = Kind(
    name="Rekognition Custom Labels model",
    of=VERSIONS,
    id=lambda row, _at: row["ProjectVersionArn"],
    label=lambda row: "/".join(row["ProjectVersionArn"].split("/")[1:4:2]),
    created=lambda row: row["CreationTimestamp"],
    tags_read=Detail(
        VERSIONS, "rekognition", "ListTagsForResource", lambda rows, _at: {"ResourceArn": rows[0]["ProjectVersionArn"]},
        rows="Tags", late=True,
    ),
)  # fmt: skip


def _version_name(row: Row) -> list[dict[str, str]]:
    """arn:…:project/NAME/version/VERSION/TIME -> the dimensions that Rekognition's metrics carry."""
    parts = row["ProjectVersionArn"].split("/")
    return [{"Operation": "DetectCustomLabels", "ProjectName": parts[1], "VersionName": parts[3]}]


DETECTED = usage(
    "AWS/Rekognition",
    "SuccessfulRequestCount",
    VERSIONS,
    by=_version_name,
    days=7,
    absent="zero",
    when=lambda row: row["Status"] == "RUNNING",
    unit="requests",
    source="Rekognition docs, CloudWatch metrics: SuccessfulRequestCount is emitted with requests",
)


# The documentation names the operation as the one dimension for sure: by it a figure of the model itself is checked.
DETECTED_AT_ALL = usage(
    "AWS/Rekognition",
    "SuccessfulRequestCount",
    VERSIONS,
    by=lambda _row: [{"Operation": "DetectCustomLabels"}],
    days=7,
    absent="zero",
    when=lambda row: row["Status"] == "RUNNING",
    unit="requests to all models",
    source="Rekognition docs, CloudWatch metrics: SuccessfulRequestCount by Operation is emitted with requests",
)


def _asked(row: Row, seen: Seen) -> bool:
    """Whether a model was asked. Raises Unresolved where models were and no figure says which of them."""
    if seen.metric(DETECTED_AT_ALL, row) and not any(_figure(each, seen) for each in seen.rows(VERSIONS)):
        raise Unresolved("requests came in 7 days, and no figure says to which model")
    return bool(seen.metric(DETECTED, row))


def _figure(row: Row, seen: Seen) -> float:
    """Requests to one model, 0 where it does not run or was made within the window."""
    try:
        return seen.metric(DETECTED, row) if row["Status"] == "RUNNING" else 0.0
    except Young:
        return 0.0


def _labels(row: Row, seen: Seen) -> Waste | None:
    if row["Status"] != "RUNNING" or _asked(row, seen):
        return None
    units, project = row.get("MinInferenceUnits") or 1, _project(row, seen)
    return Waste(
        reason=f"runs with {units} inference unit{'s' if units != 1 else ''} and answered nothing in 7 days",
        meters=(Meter("rekognition/custom-labels-inference-unit", "unit-hour", units),),
        bound="at least",
        evidence={"least inference units": units, "project": project},
        blocked="" if project else "its project was not listed, so that nobody could read back whether it stopped",
    )


def _project(row: Row, seen: Seen) -> str:
    """The full id of a version's project: the version's own id holds its name alone, and names are unique."""
    named = seen.index(PROJECTS, lambda each: [each["ProjectArn"].split("/")[1]])
    found: Row = next(iter(named.get(row["ProjectVersionArn"].split("/")[1], ())), {})
    return str(found.get("ProjectArn", ""))


def _stop_labels(doomed: Doomed) -> tuple[CleanupStep, ...]:
    version = doomed.row["ProjectVersionArn"]
    return (
        step(
            "stop", f"stop model {doomed.name}; it stays trained", "rekognition.StopProjectVersion",
            {"ProjectVersionArn": version}, "can be undone", capacity=True,
            until=until(
                "rekognition.DescribeProjectVersions",
                {"ProjectArn": doomed.evidence["project"], "VersionNames": [version.split("/")[3]]},
                "ProjectVersionDescriptions[].Status", "STOPPED", failed=("FAILED",),
            ),
        ),
    )  # fmt: skip


LABELS_IDLE = WasteCheck(
    id="rekognition-custom-labels-running",
    title="Custom Labels model that runs and answers nothing",
    kind=LABELS,
    reads=(DETECTED, DETECTED_AT_ALL),
    judge=_labels,
    why="A started model is billed by the hour for each inference unit until it is stopped.",
    spares=("answered in 7 days", "stopped, or being started"),
    unchecked=("more than the least inference units that autoscaling may hold",),
    meter="Rekognition Custom Labels inference unit hours",
    category="ai",
    remove=_stop_labels,
    reversal="can be undone",
    recovery="It stays trained, and start-project-version takes it up again where capacity is free.",
    order=12,
    steps=("rekognition.StopProjectVersion", "rekognition.DescribeProjectVersions"),
)

CAMPAIGNS = Listing("personalize", "ListCampaigns", "campaigns")
CAMPAIGN_DETAIL = Detail(
    CAMPAIGNS, "personalize", "DescribeCampaign", lambda rows, _at: {"campaignArn": rows[0]["campaignArn"]},
    rows="campaign", each=True,
)  # fmt: skip
CAMPAIGN = Kind(
    name="Personalize campaign",
    of=CAMPAIGN_DETAIL,
    id=lambda row, _at: row["campaignArn"],
    label=lambda row: row["name"],
    created=lambda row: row["creationDateTime"],
    tags_read=Detail(
        CAMPAIGN_DETAIL, "personalize", "ListTagsForResource",
        lambda rows, _at: {"resourceArn": rows[0]["campaignArn"]}, rows="tags", late=True,
    ),
    tags_of=words.tag_row,
)  # fmt: skip
RECOMMENDED = usage(
    "AWS/Personalize",
    "GetRecommendations GetPersonalizedRanking",
    CAMPAIGN_DETAIL,
    by=lambda row: [{"CampaignArn": row["campaignArn"]}],
    days=7,
    absent="zero",
    when=lambda row: row["status"] == "ACTIVE" and bool(row.get("minProvisionedTPS")),
    unit="requests",
    source="Personalize docs, CloudWatch metrics: counts are emitted with requests",
)


def _campaign(row: Row, seen: Seen) -> Waste | None:
    least = row.get("minProvisionedTPS") or 0
    if row["status"] != "ACTIVE" or not least or seen.metric(RECOMMENDED, row):
        return None
    return Waste(
        reason=f"no request in 7 days; {least} requests a second are provisioned",
        meters=(Meter("personalize/tps", "unit-hour", least),),
        evidence={"least provisioned TPS": least},
    )


def _delete_campaign(doomed: Doomed) -> tuple[CleanupStep, ...]:
    name = {"campaignArn": doomed.id}
    return (
        step(
            "delete", f"delete campaign {doomed.name}; its solution stays", "personalize.DeleteCampaign", name,
            "can be undone", until=gone("personalize.DescribeCampaign", name, "campaign.status"),
        ),
    )  # fmt: skip


CAMPAIGN_IDLE = WasteCheck(
    id="personalize-campaign-idle",
    title="Personalize campaign that nobody asks",
    kind=CAMPAIGN,
    reads=(RECOMMENDED,),
    judge=_campaign,
    why="A campaign is billed every hour for its least provisioned requests a second.",
    spares=("asked in 7 days", "no least provisioned", "being made or changed"),
    unchecked=("recommenders of domain dataset groups",),
    meter="Personalize requests-a-second hours",
    category="ai",
    min_age=timedelta(days=7),
    remove=_delete_campaign,
    reversal="can be undone",
    recovery="The trained solution version stays; a new campaign for it takes some minutes.",
    order=12,
    steps=("personalize.DeleteCampaign", "personalize.DescribeCampaign"),
)
CHECKS = (COMPREHEND_IDLE, LABELS_IDLE, CAMPAIGN_IDLE)
