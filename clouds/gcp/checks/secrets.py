"""Versions of secrets and keys, subscriptions and topics that nobody uses."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from clouds.gcp.checks import words
from clouds.gcp.checks.reads import in_each, locations, named_kind
from clouds.gcp.checks.steps import remove_named
from clouds.models import Scope
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Detail, Listing, Meter, Row, Seen, Waste, WasteCheck

SECRETS = Listing("secretmanager", "projects.secrets.list", "secrets", assets=("secretmanager.googleapis.com/Secret",))


def _parent(rows: Sequence[Row], _at: Scope) -> dict[str, Any]:
    return {"parent": rows[0]["name"]}


SECRET_VERSIONS = Detail(SECRETS, "secretmanager", "projects.secrets.versions.list", _parent, rows="versions")
RINGS = in_each(
    locations("cloudkms"), "projects.locations.keyRings.list", "keyRings", "cloudkms.googleapis.com/KeyRing"
)
KEYS = Detail(RINGS, "cloudkms", "projects.locations.keyRings.cryptoKeys.list", _parent, rows="cryptoKeys")
KEY_VERSIONS = Detail(
    KEYS, "cloudkms", "projects.locations.keyRings.cryptoKeys.cryptoKeyVersions.list", _parent,
    rows="cryptoKeyVersions", when=lambda row: bool(row.get("rotationPeriod")),
)  # fmt: skip


def _project(at: Scope) -> dict[str, Any]:
    return {"project": f"projects/{at.account}"}


SUBSCRIPTIONS = Listing("pubsub", "projects.subscriptions.list", "subscriptions", ask=_project,
                        assets=("pubsub.googleapis.com/Subscription",))  # fmt: skip
TOPICS = Listing("pubsub", "projects.topics.list", "topics", ask=_project, assets=("pubsub.googleapis.com/Topic",))
SNAPSHOTS = Listing("pubsub", "projects.snapshots.list", "snapshots", ask=_project,
                    assets=("pubsub.googleapis.com/Snapshot",))  # fmt: skip

SECRET = named_kind("secret", SECRETS, "secretmanager", place=lambda _row, _at: "global")
KEY = named_kind("key", KEYS, "cloudkms", moving=("primary",))
SUBSCRIPTION = named_kind(
    "Pub/Sub subscription", SUBSCRIPTIONS, "pubsub", dated=False, place=lambda _row, _at: "global"
)
TOPIC = named_kind("Pub/Sub topic", TOPICS, "pubsub", dated=False, place=lambda _row, _at: "global")


def _secret(row: Row, seen: Seen) -> Waste | None:
    live = [each for each in seen.of(SECRET_VERSIONS, row) if each.get("state") in ("ENABLED", "DISABLED")]
    aliased = {str(each) for each in (row.get("versionAliases") or {}).values()}
    old = _old(live, aliased, seen)
    if not old:
        return None
    return Waste(f"{words.count(len(old), 'version')} older than 90 days beside the newest three",
                 (Meter("secretmanager/version", "version-month", float(len(old)), "global"),),
                 evidence={"old versions": len(old), "versions": len(live)})  # fmt: skip


def _old(live: Sequence[Row], aliased: set[str], seen: Seen) -> list[Row]:
    newest = sorted(live, key=lambda each: str(each.get("createTime")), reverse=True)[:3]
    kept = {str(each["name"]) for each in newest}
    return [each for each in live if each["name"] not in kept and words.last(each["name"]) not in aliased
            and words.older(seen, each.get("createTime"), days=90)]  # fmt: skip


SECRET_OLD = WasteCheck(
    id="secret-old-versions",
    title="Secret with many old versions",
    kind=SECRET,
    judge=_secret,
    reads=(SECRET_VERSIONS,),
    why="Every version that is not destroyed bills by the month, disabled or not.",
    remove="disable the old versions first and destroy them when nothing has failed for a while: who reads one by its "
    "number is not known here",
    reversal="recoverable",
    recovery="",
    order=88,
    meter="version-month",
    min_age=timedelta(days=90),
    spares=("the newest three", "versions with an alias", "younger than 90 days", "destroyed versions"),
    unchecked=("who reads a version by its number",),
)


def _rotation(row: Row) -> str:
    return words.span(row.get("rotationPeriod"))


def _keys(row: Row, seen: Seen) -> Waste | None:
    primary = (row.get("primary") or {}).get("name")
    old = [each for each in seen.of(KEY_VERSIONS, row) if each.get("state") == "ENABLED" and each["name"] != primary]
    if not row.get("rotationPeriod") or len(old) < 3:
        return None
    hard = str((row.get("versionTemplate") or {}).get("protectionLevel", "SOFTWARE")).startswith("HSM")
    key = "kms/key-version-hsm" if hard else "kms/key-version-software"
    place = words.name_place(row, seen.at)
    return Waste(f"{len(old)} versions beside the one in use; what they encrypted cannot be read without them",
                 (Meter(key, "version-month", float(len(old)), place),), saving=True, bound="at most",
                 evidence={"old versions": len(old), "rotates every": _rotation(row)})  # fmt: skip


KEY_OLD = WasteCheck(
    id="kms-old-versions", title="Key with many old versions", kind=KEY, judge=_keys, reads=(KEY_VERSIONS,),
    why="Each rotation leaves a version that bills by the month for as long as it is enabled or disabled.",
    remove="nothing is ever destroyed here: what an old version encrypted is lost without it; re-encrypt first",
    reversal="cannot be undone", recovery="", order=89, meter="version-month, at most", min_age=timedelta(days=90),
    spares=("the version in use", "fewer than three old ones", "keys that do not rotate"),
    unchecked=("what is encrypted with them",),
)  # fmt: skip


def _orphaned(row: Row) -> bool:
    return bool(row.get("topic") == "_deleted-topic_")


def _dead(row: Row, seen: Seen) -> Waste | None:
    del seen
    if not _orphaned(row):
        return None
    return Waste(
        "its topic is deleted: it can never get a message again",
        evidence={
            "keeps for": words.span(row.get("messageRetentionDuration")),
            "keeps read ones": bool(row.get("retainAckedMessages")),
        },
    )


def _delete_subscription(doomed: Doomed) -> tuple[CleanupStep, ...]:
    return (remove_named(doomed, "pubsub.projects.subscriptions", "subscription", param="subscription"),)


DEAD = WasteCheck(
    id="pubsub-subscription-dead", title="Subscription of a topic that is gone", kind=SUBSCRIPTION, judge=_dead,
    why="It keeps what it holds for as long as its retention says, and nobody can publish to it.",
    remove=_delete_subscription,
    steps=("pubsub.projects.subscriptions.delete", "pubsub.projects.subscriptions.get"), reversal="cannot be undone",
    recovery="The messages that it still holds are lost.", order=81,
    meter="message storage; how much it holds is not in any reading", spares=("its topic is there",),
    unchecked=("messages that it still holds", "its age, which Google does not say"),
)  # fmt: skip


def _topic_of(row: Row) -> tuple[str, ...]:
    return (str(row.get("topic")),)


def _silent(row: Row, seen: Seen) -> Waste | None:
    if not row.get("messageRetentionDuration") or row.get("ingestionDataSourceSettings"):
        return None
    name = str(row["name"])
    if seen.index(SUBSCRIPTIONS, _topic_of).get(name) or seen.index(SNAPSHOTS, _topic_of).get(name):
        return None
    return Waste(f"keeps messages for {words.span(row['messageRetentionDuration'])}, and nothing subscribes to it here",
                 evidence={"keeps for": words.span(row["messageRetentionDuration"])})  # fmt: skip


TOPIC_SILENT = WasteCheck(
    id="pubsub-topic-unread", title="Topic that keeps messages for nobody", kind=TOPIC, judge=_silent,
    reads=(SUBSCRIPTIONS, SNAPSHOTS), why="A topic with retention bills for every message that it keeps.",
    remove="subscriptions of other projects are not seen from here: ask who publishes, then take its retention away",
    reversal="can be undone", recovery="", order=81, meter="message storage; how much it holds is not in any reading",
    spares=("a subscription or snapshot of this project", "no retention", "it ingests by itself"),
    unchecked=("subscriptions of other projects", "its age, which Google does not say"),
)  # fmt: skip


CHECKS = (DEAD, TOPIC_SILENT, SECRET_OLD, KEY_OLD)
