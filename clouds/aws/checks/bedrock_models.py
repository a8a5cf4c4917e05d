"""Bedrock: own models that are stored, and billed for it, and that nothing serves."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from clouds.aws.checks import words
from clouds.aws.checks.bedrock import DEPLOYMENTS, SOURCE, THROUGHPUTS, called, tags_read
from clouds.aws.checks.metrics import usage
from clouds.aws.checks.steps import gone, step
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Kind, Listing, Meter, Row, Seen, Waste, WasteCheck

CUSTOM_MODELS = Listing("bedrock", "ListCustomModels", "modelSummaries")
IMPORTED_MODELS = Listing("bedrock", "ListImportedModels", "modelSummaries")
CUSTOM_MODEL = Kind(
    name="Bedrock custom model",
    of=CUSTOM_MODELS,
    id=lambda row, _at: row["modelArn"],
    label=lambda row: row["modelName"],
    created=lambda row: row["creationTime"],
    tags_read=tags_read(CUSTOM_MODELS, "modelArn"),
    tags_of=words.tag_row,
)
IMPORTED_MODEL = Kind(
    name="Bedrock imported model",
    of=IMPORTED_MODELS,
    id=lambda row, _at: row["modelArn"],
    label=lambda row: row["modelName"],
    created=lambda row: row["creationTime"],
    tags_read=tags_read(IMPORTED_MODELS, "modelArn"),
    tags_of=words.tag_row,
)
IMPORTED_USE = usage(
    "AWS/Bedrock",
    "Invocations",
    IMPORTED_MODELS,
    by=called("modelArn"),
    days=60,
    absent="zero",
    unit="requests",
    source=SOURCE,
)


def _models_served(row: Row) -> Iterable[Any]:
    return [row[name] for name in ("modelArn", "desiredModelArn") if row.get(name)]


def _custom_model(row: Row, seen: Seen) -> Waste | None:
    if row.get("modelStatus", "Active") != "Active":
        return None
    if row["modelArn"] in seen.index(THROUGHPUTS, _models_served):
        return None
    if row["modelArn"] in seen.index(DEPLOYMENTS, _models_served):
        return None
    return Waste(
        reason=f"no deployment and no provisioned throughput serves it ({row.get('customizationType', 'custom')})",
        meters=(Meter("bedrock/custom-model-storage", "month"),),
        evidence={"base model": row.get("baseModelName", ""), "customization": row.get("customizationType", "")},
    )


def _delete_custom(doomed: Doomed) -> tuple[CleanupStep, ...]:
    name = {"modelIdentifier": doomed.row["modelArn"]}
    return (
        step(
            "delete", f"delete custom model {doomed.name}: its weights are lost", "bedrock.DeleteCustomModel", name,
            "cannot be undone", until=gone("bedrock.GetCustomModel", name, "modelArn"),
        ),
    )  # fmt: skip


CUSTOM_STORAGE = WasteCheck(
    id="bedrock-custom-model-storage",
    title="Bedrock custom model that nothing serves",
    kind=CUSTOM_MODEL,
    reads=(THROUGHPUTS, DEPLOYMENTS),
    judge=_custom_model,
    why="Every custom model is billed by the month for being stored.",
    spares=("served by a throughput or a deployment", "younger than 60 days", "being made"),
    unchecked=("whether it is the teacher of a distillation", "whether its training data is still there"),
    meter="Bedrock custom model storage months",
    category="ai",
    min_age=timedelta(days=60),
    remove=_delete_custom,
    reversal="cannot be undone",
    recovery="Only training it again from its data brings it back.",
    order=75,
    steps=("bedrock.DeleteCustomModel", "bedrock.GetCustomModel"),
)


def _imported_model(row: Row, seen: Seen) -> Waste | None:
    if seen.metric(IMPORTED_USE, row):
        return None
    return Waste(
        reason=f"imported {row.get('modelArchitecture', '')} model without a request in 60 days".replace("  ", " "),
        meters=(Meter("bedrock/imported-model-storage", "unit-month"),),
        bound="at least",
        evidence={"architecture": row.get("modelArchitecture", "")},
    )


def _delete_imported(doomed: Doomed) -> tuple[CleanupStep, ...]:
    name = {"modelIdentifier": doomed.row["modelArn"]}
    return (
        step(
            "delete",
            f"delete imported model {doomed.name}; the files it came from in S3 stay",
            "bedrock.DeleteImportedModel",
            name,
            "can be undone",
            until=gone("bedrock.GetImportedModel", name, "modelArn"),
        ),
    )


IMPORTED_STORAGE = WasteCheck(
    id="bedrock-imported-model-storage",
    title="Bedrock imported model that nobody calls",
    kind=IMPORTED_MODEL,
    reads=(IMPORTED_USE,),
    judge=_imported_model,
    why="An imported model is billed by the month for each model unit that it needs to be stored.",
    spares=("called in 60 days",),
    unchecked=("how many model units it is stored as: at least one",),
    meter="Bedrock custom model unit storage months",
    category="ai",
    min_age=timedelta(days=60),
    remove=_delete_imported,
    reversal="can be undone",
    recovery="It can be imported again from its files in S3, where those are still there.",
    order=75,
    steps=("bedrock.DeleteImportedModel", "bedrock.GetImportedModel"),
)
CHECKS = (CUSTOM_STORAGE, IMPORTED_STORAGE)
