"""Model deployments that hold throughput or hosting and serve nothing; accounts without a model."""

from __future__ import annotations

import re
from datetime import timedelta

from clouds.azure.checks import words
from clouds.azure.checks.reads import check, children, kind, listing, located
from clouds.azure.checks.steps import delete, sends
from clouds.azure.checks.usage import DEFINITIONS, Usage, usage
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Detail, Kind, Meter, Row, Seen, Unresolved, Waste

ACCOUNTS = listing("Microsoft.CognitiveServices/accounts")


def _serves_models(row: Row) -> bool:
    """The kinds that models are deployed in; the others (Speech, Vision ...) would answer with an error."""
    return str(row.get("kind", "")) in ("AIServices", "OpenAI")


def _has_projects(row: Row) -> bool:
    return str(row.get("kind", "")) == "AIServices"


DEPLOYMENTS = children(ACCOUNTS, "Microsoft.CognitiveServices/accounts/deployments", _serves_models)
PROJECTS = children(ACCOUNTS, "Microsoft.CognitiveServices/accounts/projects", _has_projects)
ACCOUNT = kind("AI Services account", ACCOUNTS, lambda row: words.made(row) or words.props(row).get("dateCreated"))
DEPLOYMENT = Kind(
    name="model deployment",
    of=DEPLOYMENTS,
    id=words.ident,
    label=words.child_label,
    created=words.made,
    tags=words.tags,
    place=words.place,
)
PTU = {
    "ProvisionedManaged": "regional",
    "GlobalProvisionedManaged": "global",
    "DataZoneProvisionedManaged": "data-zone",
}


def sku(row: Row) -> str:
    """The name of a deployment's SKU."""
    return str((row.get("sku") or {}).get("name", ""))


def held(row: Row) -> int:
    """The capacity of a deployment's SKU: PTU for the provisioned ones."""
    return int((row.get("sku") or {}).get("capacity") or 0)


def tuned(row: Row) -> bool:
    """Whether a deployment serves a fine-tune: its model's name holds the mark that the service gives it."""
    model = words.props(row).get("model") or {}
    return ".ft-" in str(model.get("name", "")) or bool(model.get("sourceAccount"))


def _counted(row: Row) -> bool:
    return sku(row) in PTU or tuned(row)


# Which of the two metrics counts the calls depends on the account: both are asked where both are defined, since a
# metric that is defined and never written would make a busy deployment look idle.
DEFINED = Detail(ACCOUNTS, DEFINITIONS, "list_in", lambda rows, _at: {"parent": rows[0]["id"]}, "value", _serves_models)


def _account_of(definition: Row) -> str:
    return str(definition.get("resourceId") or re.split(r"(?i)/providers/microsoft.insights/", definition["id"])[0])


def _counting(name: str) -> Detail:
    """The deployments of those accounts that define a metric."""
    return Detail(
        DEFINED,
        "Microsoft.CognitiveServices/accounts/deployments",
        "list_in",
        lambda rows, _at: {"parent": _account_of(rows[0])},
        rows="value",
        when=lambda row: row["name"]["value"] == name,
    )


def _calls(name: str, of: Detail) -> Usage:
    return usage(
        name,
        of,
        days=7,
        absent="zero",
        by="ModelDeploymentName",
        each=True,
        when=_counted,
        unit="requests",
        source=f"Azure Monitor, Cognitive Services: {name} is emitted for each call of a deployment",
    )


_MODEL, _OPENAI = _counting("ModelRequests"), _counting("AzureOpenAIRequests")
MODEL_REQUESTS, OPENAI_REQUESTS = _calls("ModelRequests", _MODEL), _calls("AzureOpenAIRequests", _OPENAI)
CALLS = tuple(dict.fromkeys((*MODEL_REQUESTS.reads, *OPENAI_REQUESTS.reads)))


def calls(row: Row, seen: Seen) -> float:
    """Requests of a deployment in the window, by every metric that its account defines. Raises Unseen, Unresolved."""
    if words.made(row) is None:
        raise Unresolved("nobody says when it was made, so that silence may only mean that it is new")
    name = str(row["id"]).lower()
    both = ((MODEL_REQUESTS, _MODEL), (OPENAI_REQUESTS, _OPENAI))
    found = [(each, rows[0]) for each, read in both if (rows := seen.index(read, words.key).get(name))]
    if not found:
        raise Unresolved("neither ModelRequests nor AzureOpenAIRequests is among the metrics that this type defines")
    return sum(each.of(seen, one) for each, one in found)


def _spilled_to(row: Row) -> tuple[str, ...]:
    name = words.props(row).get("spilloverDeploymentName")
    return (f"{words.parent(row['id'])}/deployments/{name}".lower(),) if name else ()


def _idle_ptu(row: Row, seen: Seen) -> Waste | None:
    scope = PTU.get(sku(row))
    if scope is None or not held(row) or words.props(row).get("provisioningState", "Succeeded") != "Succeeded":
        return None
    if seen.index(DEPLOYMENTS, _spilled_to).get(str(row["id"]).lower()):
        return None
    if calls(row, seen):
        return None
    located(row, seen, ACCOUNTS)
    model = (words.props(row).get("model") or {}).get("name", "")
    return Waste(
        reason=f"no request in 7 days; holds {held(row)} PTU ({scope}) of {model}",
        meters=(Meter(f"ptu/{scope}", "PTU-hour", held(row)),),
        bound="at most",
        evidence={"PTU": held(row), "sort": scope, "model": model},
    )


def _delete_deployment(doomed: Doomed) -> tuple[CleanupStep, ...]:
    return (
        delete(
            "Microsoft.CognitiveServices/accounts/deployments",
            doomed.id,
            f"delete deployment {doomed.name}; its model and the account stay",
            "can be undone",
            capacity=True,
        ),
    )


IDLE_PTU = check(
    id="idle-provisioned-deployment",
    title="Provisioned model deployment that serves nothing",
    kind=DEPLOYMENT,
    reads=CALLS,
    judge=_idle_ptu,
    why="Provisioned throughput bills each PTU every hour, whether a request comes or not.",
    spares=(
        "a request came in 7 days",
        "younger than 7 days",
        "another deployment spills over to it",
        "pay-as-you-go and batch deployments, which cost nothing idle",
    ),
    unchecked=("a reservation for PTU that pays for it", "a launch that it is kept for"),
    meter="PTU-hours of its sort at list price; a PTU reservation costs less, so an upper bound",
    category="ai",
    remove=_delete_deployment,
    reversal="can be undone",
    recovery="It can be deployed again with the same model and PTU, if there is capacity then.",
    order=10,
    steps=sends("Microsoft.CognitiveServices/accounts/deployments", "delete"),
)


def _idle_tuned(row: Row, seen: Seen) -> Waste | None:
    name = sku(row)
    if not tuned(row) or name in PTU or "Developer" in name or calls(row, seen):
        return None
    if str(words.props(row).get("deploymentState", "Running")) == "Paused":
        return None
    model = (words.props(row).get("model") or {}).get("name", "")
    located(row, seen, ACCOUNTS)
    sort = "global" if name.startswith("Global") else "data-zone" if name.startswith("DataZone") else "regional"
    return Waste(
        reason=f"hosts a fine-tuned model ({model}), and no request came in 7 days",
        meters=(Meter(f"fine-tuned-hosting/{sort}", "hour"),),
        evidence={"model": model, "sku": name},
    )


IDLE_TUNED = check(
    id="idle-finetuned-deployment",
    title="Fine-tuned model that is hosted and not called",
    kind=DEPLOYMENT,
    reads=CALLS,
    judge=_idle_tuned,
    why="A fine-tuned model is billed by the hour for being hosted, apart from its tokens.",
    spares=("a request came in 7 days", "the developer tier, which ends by itself", "paused", "provisioned"),
    unchecked=("the service deletes it by itself after 15 days without a call",),
    meter="hours of fine-tuned hosting",
    category="ai",
    remove=_delete_deployment,
    reversal="can be undone",
    recovery="The fine-tuned model stays and can be deployed again.",
    order=11,
    steps=sends("Microsoft.CognitiveServices/accounts/deployments", "delete"),
)  # fmt: skip


def _empty(row: Row, seen: Seen) -> Waste | None:
    if not _serves_models(row) or seen.of(DEPLOYMENTS, row) or seen.of(PROJECTS, row):
        return None
    return Waste(
        reason=f"an account of the kind {row['kind']} with no model deployed and no project",
        free=True,
        evidence={"kind": row["kind"], "public": words.props(row).get("publicNetworkAccess", "")},
    )


EMPTY_ACCOUNT = check(
    id="empty-ai-services-account",
    title="AI Services account with nothing in it",
    kind=ACCOUNT,
    reads=(DEPLOYMENTS, PROJECTS),
    judge=_empty,
    why="It costs nothing by itself; it holds a name, keys that still work, and quota for its region.",
    spares=(
        "a model is deployed",
        "a project, which can use models that are hosted elsewhere",
        "Speech, Vision and other kinds, which bill by the call",
    ),
    unchecked=("keys of it that an application still holds",),
    meter="none: an account without deployments bills nothing",
    category="ai",
    min_age=timedelta(days=7),
    remove=lambda doomed: (
        delete(
            "Microsoft.CognitiveServices/accounts", doomed.id, f"delete account {doomed.name}", "recoverable", days=2,
        ),
    ),
    reversal="recoverable",
    recovery="A deleted account can be recovered for 48 hours; then its name is free again.",
    order=60,
    steps=sends("Microsoft.CognitiveServices/accounts", "delete"),
)  # fmt: skip

CHECKS = (IDLE_PTU, IDLE_TUNED, EMPTY_ACCOUNT)
