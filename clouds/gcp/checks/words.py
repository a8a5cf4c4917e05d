"""How Google names things: full ids, places inside names, labels, who manages a resource, which code it belongs to."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from clouds.gcp.pages import gaps
from clouds.models import Scope
from clouds.models.waste import Row, Seen, Unresolved

_HOST = re.compile(r"https://(?:www\.googleapis\.com/compute|compute\.googleapis\.com/compute)/[^/]+/")
_MANAGERS = (
    ("goog-gke-node", "GKE"),
    ("goog-gke-volume", "GKE"),
    ("goog-k8s-cluster-name", "GKE"),
    ("goog-dataproc-cluster-name", "Dataproc"),
    ("goog-composer-environment", "Composer"),
    ("goog-dataflow-job-id", "Dataflow"),
    ("goog-batch-job-uid", "Batch"),
    ("goog-workstations-workstation", "Cloud Workstations"),
    ("goog-notebooks-instance", "Workbench"),
    ("notebooks-product", "Workbench"),
)
"""Labels that Google's services put on what they make (seen in public copies of Google's documentation, 2026-11-29)."""
_CODE = (
    ("goog-terraform-provisioned", "Terraform"),
    ("goog-dm", "Deployment Manager"),
    ("goog-config-connector", "Config Connector"),
    ("goog-solutions-console-deployment-name", "a marketplace deployment"),
)
_TOOLS = ("terraform", "opentofu", "pulumi", "crossplane", "atlantis", "config-connector")


def last(path: Any) -> str:
    """The last part of a name or a link: "us-central1-a" of ".../zones/us-central1-a"."""
    return str(path or "").rstrip("/").rsplit("/", 1)[-1]


def part(name: Any, word: str) -> str:
    """What follows a word in a name: "r" after "locations" in "projects/p/locations/r/x/y"."""
    parts = str(name or "").split("/")
    return parts[parts.index(word) + 1] if word in parts[:-1] else ""


def spot(row: Row) -> str:
    """Zone or region of a Compute Engine row; "global" where it has neither."""
    return last(row.get("zone") or row.get("region")) or "global"


def region(place: str) -> str:
    """The region of a zone; a region stays what it is."""
    return place.rsplit("-", 1)[0] if re.fullmatch(r"[a-z]+-[a-z]+\d+-[a-z]", place) else place


def compute_place(row: Row, _at: Scope) -> str:
    """Where a Compute Engine row is."""
    return spot(row)


def compute_id(row: Row, _at: Scope) -> str:
    """`//compute.googleapis.com/projects/p/zones/z/disks/d`, from the row's own link."""
    return "//compute.googleapis.com/" + _HOST.sub("", str(row["selfLink"]))


def name_id(service: str) -> Callable[[Row, Scope], str]:
    """The full id of rows that carry `projects/p/locations/l/things/t` as their name."""
    return lambda row, _at: f"//{service}.googleapis.com/{row['name']}"


def name_place(row: Row, _at: Scope) -> str:
    """The location inside a row's name; "global" where it has none."""
    return part(row["name"], "locations") or "global"


def short(row: Row) -> str:
    """What a person calls it."""
    return last(row["name"])


def shown(row: Row) -> str:
    """Its display name, with its id where the two differ."""
    own, given = last(row["name"]), str(row.get("displayName") or "")
    return own if given in ("", own) else f"{given[:80]} ({own})"


def labels(row: Row) -> Mapping[str, str]:
    """Its labels."""
    found = row.get("labels") or row.get("resourceLabels") or {}
    return {str(key): str(value) for key, value in found.items()}


def managed(row: Row) -> str:
    """Which of Google's services made it ("" for none): such a one is never touched."""
    found = labels(row)
    return next((who for label, who in _MANAGERS if label in found), "")  # GKE's are there without a value


def made_by(row: Row) -> str:
    """The instance group that made a machine; "" for a machine on its own."""
    items = (row.get("metadata") or {}).get("items") or ()
    value = next((str(each.get("value", "")) for each in items if each.get("key") == "created-by"), "")
    return f"the instance group {last(value)}" if "instanceGroupManagers" in value else ""


def machine_managed(row: Row) -> str:
    """Who manages a machine: a service of Google's, or an instance group."""
    return managed(row) or made_by(row)


def owner(found: Mapping[str, str]) -> str:
    """The infrastructure as code that labels name: deleting beneath it drifts. "" when none is named."""
    for key, words in _CODE:
        if found.get(key, "").lower() not in ("", "false"):
            return words
    for key, value in found.items():
        text = f"{key}={value}".lower()
        if any(word in text for word in _TOOLS):
            return f"{next(word for word in _TOOLS if word in text).capitalize()} ({key}={value})"[:120]
    return ""


def moment(value: Any) -> datetime | None:
    """A time of an answer; None when it is none."""
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) and value else None
    except ValueError:
        return None


def older(seen: Seen, value: Any, **span: float) -> bool | None:
    """Whether a time lies more than a span (days=, hours=) back; None when it is not known."""
    at = moment(value)
    return None if at is None or at.tzinfo is None else seen.now - at > timedelta(**span)


def days_since(seen: Seen, value: Any) -> int | None:
    """Whole days since a time; None when it is not known."""
    at = moment(value)
    return None if at is None or at.tzinfo is None else (seen.now - at).days


def stopped_since(machine: Row) -> str:
    """When a machine that is off was last stopped or suspended. Raises Unresolved: it is not off since it was made."""
    suspended = machine.get("status") == "SUSPENDED"
    since = machine.get("lastSuspendedTimestamp" if suspended else "lastStopTimestamp")
    if not moment(since):
        raise Unresolved("Google does not say since when its machine is off: it may have been yesterday")
    return str(since)


def span(duration: Any) -> str:
    """Google's `2678400s` as a person says it: `31 days`; "" for none, other words as they are."""
    found = re.fullmatch(r"(\d{1,12})(?:\.\d+)?s", str(duration or ""))
    if found is None:
        return str(duration or "")
    seconds = int(found[1])
    for length, word in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= length and seconds % length == 0:
            return count(seconds // length, word)
    return count(seconds, "second")


def number(value: Any) -> float:
    """A number of an answer, where int64 comes as text; nothing is 0."""
    return float(value or 0)


def count(number_: float, word: str) -> str:
    """ "1 disk", "2 disks"."""
    return f"{number_:,.0f} {word}{'' if number_ == 1 else 's'}"


def gib(value: Any) -> float:
    """Bytes as GiB."""
    return number(value) / 2**30


def by_link(name: str) -> Callable[[Row], Iterable[str]]:
    """A key for an index: the tail of the link in a field, from `projects/` on. Make it once, at a module's top."""
    return lambda row: (tail(row.get(name)),) if row.get(name) else ()


def tail(link: Any) -> str:
    """A link from `projects/` on, whatever host and version stand before it."""
    text = str(link or "")
    return text[text.index("projects/") :] if "projects/" in text else text


def lost(answer: Any) -> Sequence[str]:
    """What an answer says it could not read: places that did not answer, and Cloud SQL's and Bigtable's own words."""
    if not isinstance(answer, Mapping):
        return ()
    warned = [each for each in answer.get("warnings") or () if isinstance(each, Mapping)]
    named = [": ".join(str(each[key]) for key in ("code", "region", "message") if each.get(key)) for each in warned]
    return (
        *gaps(answer),
        *named,
        *(str(each) for each in answer.get("failedLocations") or ()),
        *(str(each.get("name", each)) for each in answer.get("failedLocation") or ()),
    )
