"""How Azure names things: ids that ignore case, places in two spellings, times with seven digits, who manages what."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from clouds.models import Scope
from clouds.models.waste import Row, Seen

_CODE = (
    ("aks-managed-cluster-name", "AKS cluster"),
    ("azd-env-name", "azd environment"),
    ("pulumi:stack", "Pulumi stack"),
    ("pulumi-stack", "Pulumi stack"),
)
_TERRAFORM = ("terraform", "opentofu", "atlantis", "terragrunt")
_MANAGED_GROUPS = (
    (re.compile(r"mc_.+_.+_.+"), "the node group of an AKS cluster"),
    (re.compile(r"databricks-rg-.+"), "Azure Databricks"),
    (re.compile(r"me_.+_.+_.+"), "a Container Apps environment"),
    (re.compile(r"capp-svc-.+"), "a Container Apps environment"),
    (re.compile(r"synapseworkspace-managedrg-.+"), "Azure Synapse"),
    (re.compile(r"azurebackuprg_.+"), "Azure Backup"),
)
_MANAGED_TAGS = (
    ("kubernetes.io-created-for-pvc-name", "a Kubernetes volume claim"),
    ("kubernetes.io-created-for-pv-name", "a Kubernetes volume claim"),
    ("k8s-azure-created-by", "a Kubernetes volume claim"),
    ("velero.io-backup", "a backup of Velero's"),
    ("k8s-azure-cluster-name", "a Kubernetes service"),
    ("k8s-azure-service", "a Kubernetes service"),
    ("aks-managed-cluster-name", "an AKS cluster"),
    ("managed-by-k8s-ingress", "a Kubernetes ingress controller"),
    ("rsvaultbackup", "Azure Backup"),
    ("asr-readonly-tag", "Azure Site Recovery"),
    ("databricks-instance-name", "Azure Databricks"),
)
_SPELT = {"xl": "xl", "flex": "flex", "noib": "noIB", "promo": "Promo"}
_MANAGED_NAMES = re.compile(r"(ms-asr-.*|.*-asrreplica(-.*)?|asrseeddisk-.*)", re.IGNORECASE)


def props(row: Row) -> Mapping[str, Any]:
    """The properties of a resource; {} where it has none."""
    found: Mapping[str, Any] = row.get("properties") or {}
    return found


def ident(row: Row, _at: Scope | None = None) -> str:
    """The full id, as Azure spells it."""
    return str(row["id"])


def key(row: Row) -> Iterable[str]:
    """The id in lower case, for an index: Azure spells one id several ways."""
    return (str(row["id"]).lower(),)


def last(resource: str) -> str:
    """The name at the end of an id."""
    return resource.rstrip("/").rsplit("/", 1)[-1]


def group(resource: str) -> str:
    """The resource group of an id; "" for none."""
    found = re.search(r"/resourceGroups/([^/]+)", resource, re.IGNORECASE)
    return found[1] if found else ""


def parent(resource: str, levels: int = 1) -> str:
    """The id of what holds a child: `.../accounts/a/deployments/d` -> `.../accounts/a`."""
    return resource.rstrip("/").rsplit("/", 2 * levels)[0]


def label(row: Row) -> str:
    """Name and resource group: a name alone is not unique."""
    return f"{last(row['id'])} ({group(row['id'])})"


def child_label(row: Row) -> str:
    """A child with its parent's name before it: `account/deployment (group)`."""
    parts = str(row["id"]).rstrip("/").split("/")
    return f"{parts[-3]}/{parts[-1]} ({group(row['id'])})"


def place(row: Row, at: Scope) -> str:
    """The region, as prices are keyed: "East US" and "eastus" are one. "global" where a resource has none."""
    return re.sub(r"[^a-z0-9]", "", str(row.get("location") or at.location or "global").lower())


def tags(row: Row) -> Mapping[str, str]:
    """The tags of a resource. Azure may change the case of a name: ours are read in lower case."""
    found = {str(name): str(value) for name, value in (row.get("tags") or {}).items()}
    return {name.lower() if name.lower().startswith("modelrig-") else name: value for name, value in found.items()}


def made(row: Row) -> Any:
    """When it was made, where ARM's own system data says it."""
    return (row.get("systemData") or {}).get("createdAt")


def managed(row: Row) -> str:
    """Which service manages a resource ("" for none): by its managedBy, its group's name, its tags or its own name."""
    return last(str(row["managedBy"])) if row.get("managedBy") else marked(row)


def marked(row: Row) -> str:
    """The same without `managedBy`, which on a disk only says which machine uses it."""
    where = group(row["id"]).lower()
    for pattern, who in _MANAGED_GROUPS:
        if pattern.fullmatch(where):
            return who
    own = {name.lower() for name in row.get("tags") or {}}
    for name, who in _MANAGED_TAGS:
        if name in own:
            return who
    return "Azure Site Recovery" if _MANAGED_NAMES.fullmatch(last(row["id"])) else ""


def owner(found: Mapping[str, str]) -> str:
    """The infrastructure as code that tags name: deleting beneath it drifts. "" when none is named."""
    for name, words in _CODE:
        if found.get(name):
            return f"{words} {found[name]}"[:120]
    for name, value in found.items():
        text = f"{name}={value}".lower()
        if any(word in text for word in _TERRAFORM):
            return f"Terraform ({name}={value})"[:120]
        if "bicep" in text:
            return f"Bicep ({name}={value})"[:120]
    return ""


def many(number: float, one: str) -> str:
    """A number with its noun: `1 rule`, `2 rules`, `0 addresses`, `3 copies`."""
    more = f"{one[:-1]}ies" if one.endswith("py") else f"{one}es" if one.endswith("s") else f"{one}s"
    return f"{number:g} {one if number == 1 else more}"


def moment(value: Any) -> datetime | None:
    """A time of an answer: ISO 8601 text with any number of digits, or Key Vault's epoch seconds. None for others."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return datetime.fromtimestamp(value, UTC)
    try:
        found = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    if found is None or found.year < 2000:  # Azure writes the year 1 for "never"
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def older(seen: Seen, value: Any, **span: float) -> bool | None:
    """Whether a time lies more than a span (days=, hours=) back; None when it is not known."""
    at = moment(value)
    return None if at is None else seen.now - at > timedelta(**span)


def days_since(seen: Seen, value: Any) -> int | None:
    """Whole days since a time; None when it is not known."""
    at = moment(value)
    return None if at is None else (seen.now - at).days


def size(name: str) -> str:
    """A VM size as the price table spells it: ML answers STANDARD_NC24ADS_A100_V4, Compute Standard_NC24ads_A100_v4."""
    parts = name.split("_")
    if len(parts) < 2:
        return name
    found = re.fullmatch(r"([A-Za-z]+?)(\d+)(-\d+)?([A-Za-z]*)", parts[1])
    main = f"{found[1].upper()}{found[2]}{found[3] or ''}{found[4].lower()}" if found else parts[1]
    return "_".join([parts[0].capitalize(), main, *(_part(part) for part in parts[2:])])


def _part(part: str) -> str:
    if re.fullmatch(r"[vV]\d{1,2}", part):
        return part.lower()
    return _SPELT.get(part.lower()) or part.upper()


def accelerated(name: str) -> bool:
    """Whether a VM size holds GPUs or FPGAs: the N families."""
    return size(name).split("_", 1)[-1].startswith("N")


def by(*path: str) -> Callable[[Row], Iterable[str]]:
    """A key for an index: the id at a path in lower case, or all ids of a list there. Make it once, at the top."""

    def find(row: Row) -> Iterable[str]:
        found: list[Any] = [row]
        for name in path:
            found = [each.get(name) for each in found if isinstance(each, Mapping)]
            found = [inner for each in found for inner in (each if isinstance(each, list) else [each])]
        return tuple(str(each).lower() for each in found if each)

    return find
