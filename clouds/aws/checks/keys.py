"""Keys, secrets and DNS zones that are billed by the month and that nobody uses."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from clouds.aws.checks import database_reads, words
from clouds.aws.checks.ec2_reads import SNAPSHOTS, VOLUMES
from clouds.aws.checks.filesystems import EFS_LIST, FSX_LIST
from clouds.aws.checks.logs_and_buckets import GROUPS
from clouds.aws.checks.steps import gone, step, told, until
from clouds.aws.checks.warehouses import WAREHOUSES
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Detail, Kind, Listing, Meter, Row, Seen, Unresolved, Unseen, Waste, WasteCheck

KEY_LIST = Listing("kms", "ListKeys", "Keys")
KEY = Detail(
    KEY_LIST, "kms", "DescribeKey", lambda rows, _at: {"KeyId": rows[0]["KeyId"]}, rows="KeyMetadata", each=True
)


def ours(row: Row) -> bool:
    """A key of the customer that is billed: not one of AWS, and not one that is being deleted."""
    return row["KeyManager"] == "CUSTOMER" and row["KeyState"] in ("Enabled", "Disabled")


LAST_USE = Detail(KEY, "kms", "GetKeyLastUsage", lambda rows, _at: {"KeyId": rows[0]["KeyId"]}, when=ours)
GRANTS = Detail(KEY, "kms", "ListGrants", lambda rows, _at: {"KeyId": rows[0]["KeyId"]}, rows="Grants", when=ours)
CUSTOMER_KEY = Kind(
    name="KMS key",
    of=KEY,
    id=lambda row, _at: row["Arn"],
    label=lambda row: row.get("Description") or row["KeyId"],
    created=lambda row: row["CreationDate"],
    tags_read=Detail(
        KEY, "kms", "ListResourceTags", lambda rows, _at: {"KeyId": rows[0]["KeyId"]}, rows="Tags", late=True
    ),
    tags_of=words.tag_row,
    managed=lambda row: "" if row["KeyManager"] == "CUSTOMER" else "AWS",
)


SECRETS = Listing("secretsmanager", "ListSecrets", "SecretList")
ENCRYPTED = (
    VOLUMES, SNAPSHOTS, database_reads.DATABASES, database_reads.CLUSTERS, database_reads.SNAPSHOTS,
    database_reads.CLUSTER_SNAPSHOTS, EFS_LIST, FSX_LIST, WAREHOUSES, GROUPS, SECRETS,
)  # fmt: skip
"""What is encrypted with a key and lies still without using it: it is lost with its key."""


def key_of(row: Row) -> Iterable[Any]:
    """The key that a row of these is encrypted with: its full id, or the short one."""
    return [row[name] for name in ("KmsKeyId", "kmsKeyId") if row.get(name)]


def _key(row: Row, seen: Seen) -> Waste | None:
    if not ours(row) or row.get("MultiRegionConfiguration", {}).get("MultiRegionKeyType") == "REPLICA":
        return None
    if seen.of(GRANTS, row):
        return None
    if any(name in seen.index(read, key_of) for read in ENCRYPTED for name in (row["Arn"], row["KeyId"])):
        return None
    about = seen.one(LAST_USE, row) or {}
    used = about.get("KeyLastUsage", {}).get("Timestamp")
    if used is not None:
        if not words.older(seen, used, days=180):
            return None
        reason = f"last used {words.days_since(seen, used)} days ago"
    else:
        begun, made = words.moment(about.get("TrackingStartDate")), words.moment(row["CreationDate"])
        if begun is None or made is None or made < begun:
            # The key is older than the record of its use: that there is no use on record says nothing.
            if begun is None or not words.older(seen, begun, days=180):
                raise Unresolved("its use is on record only since after it was made, and for less than 180 days")
            reason = f"not used since its use is on record, {words.days_since(seen, begun)} days"
        else:
            reason = "never used"
    copies = [each.get("Region", "?") for each in row.get("MultiRegionConfiguration", {}).get("ReplicaKeys") or ()]
    return Waste(
        reason=f"{reason}; {row['KeyState'].lower()}, no grant, and nothing that is listed is encrypted with it",
        meters=(Meter("kms/key", "key-month"),),
        evidence={"state": row["KeyState"], "spec": row.get("KeySpec", ""), "last used": str(used or "not on record")},
        # Its deletion would wait for that of every replica, and each region has a last use of its own (KMS docs).
        blocked=f"it has replicas in {', '.join(copies)}, whose use is not looked at: judge those first"
        if copies
        else "",
    )


def _disable(doomed: Doomed) -> tuple[CleanupStep, ...]:
    name = {"KeyId": doomed.row["KeyId"]}
    disable = step(
        "disable",
        f"disable key {doomed.name}: what still needs it fails, and it can be enabled at once",
        "kms.DisableKey",
        name,
        "can be undone",
        until=until("kms.DescribeKey", name, "KeyMetadata.KeyState", "Disabled", "PendingDeletion", seconds=120),
    )
    delete = step(
        "schedule",
        f"schedule the deletion of key {doomed.name} in 30 days: everything encrypted with it is lost then",
        "kms.ScheduleKeyDeletion",
        {**name, "PendingWindowInDays": 30},
        "recoverable",
        until=until("kms.DescribeKey", name, "KeyMetadata.KeyState", "PendingDeletion", seconds=120),
        days=30,
    )
    return (delete,) if doomed.row["KeyState"] == "Disabled" else (disable, delete)


KEY_UNUSED = WasteCheck(
    id="kms-unused",
    title="KMS key that nothing uses",
    kind=CUSTOMER_KEY,
    reads=(GRANTS, LAST_USE, *ENCRYPTED),
    judge=_key,
    why="A customer's key is billed by the month until it is scheduled for deletion.",
    spares=(
        "used in 180 days",
        "with a grant",
        "a replica of a multi-Region key",
        "a volume, a snapshot, a database, a cluster, a file system, a log group or a secret is encrypted with it",
        "pending deletion, which is free",
        "its use is not on record long enough",
    ),
    unchecked=("objects, tables, streams, backups and files elsewhere that were encrypted with it and lie still",),
    meter="KMS key months; rotations cost on top",
    min_age=timedelta(days=90),
    remove=_disable,
    reversal="recoverable",
    recovery="For 30 days the deletion can be cancelled; after that everything encrypted with the key is lost.",
    order=95,
    steps=("kms.DisableKey", "kms.ScheduleKeyDeletion", "kms.DescribeKey"),
)

SECRET = Kind(
    name="secret",
    of=SECRETS,
    id=lambda row, _at: row["ARN"],
    label=lambda row: row["Name"],
    created=lambda row: row.get("CreatedDate"),
    tags=words.tags,
    managed=lambda row: row.get("OwningService") or "",
    moving=("LastAccessedDate",),
)


def _secret(row: Row, seen: Seen) -> Waste | None:
    if row.get("DeletedDate") or row.get("RotationEnabled"):
        return None
    if row.get("PrimaryRegion") and row["PrimaryRegion"] != seen.at.location:
        return None  # a replica: its primary is judged
    signs = [row[name] for name in ("LastAccessedDate", "LastChangedDate", "CreatedDate") if row.get(name)]
    if not signs or not all(words.older(seen, sign, days=90) for sign in signs):
        return None
    read = words.days_since(seen, row.get("LastAccessedDate"))
    return Waste(
        reason=f"last read {read} days ago" if read is not None else "never read since it is on record",
        meters=(Meter("secretsmanager/secret", "secret-month"),),
        evidence={
            "last accessed": str(row.get("LastAccessedDate", "never")),
            "changed": str(row.get("LastChangedDate", "")),
        },
        # AWS deletes no primary that has replicas, and a read of a replica is on record in its own region only.
        blocked="it is replicated to other regions, whose reads are not looked at" if row.get("PrimaryRegion") else "",
    )


def _delete_secret(doomed: Doomed) -> tuple[CleanupStep, ...]:
    name = {"SecretId": doomed.row["ARN"]}
    return (
        step(
            "delete", f"delete secret {doomed.name} with a recovery window of 30 days", "secretsmanager.DeleteSecret",
            {**name, "RecoveryWindowInDays": 30}, "recoverable", days=30,
            until=told("secretsmanager.DescribeSecret", name, "DeletedDate"),
        ),
    )  # fmt: skip


SECRET_UNUSED = WasteCheck(
    id="secret-unused",
    title="Secret that nobody reads",
    kind=SECRET,
    judge=_secret,
    why="A secret is billed by the month, read or not.",
    spares=("read, changed or made in 90 days", "rotated", "owned by a service", "a replica", "being deleted"),
    unchecked=("a job that reads it less often than every 90 days", "a break-glass credential"),
    meter="Secrets Manager secret months",
    min_age=timedelta(days=90),
    remove=_delete_secret,
    reversal="recoverable",
    recovery="For 30 days restore-secret brings it back; it cannot be read in that time.",
    order=95,
    steps=("secretsmanager.DeleteSecret", "secretsmanager.DescribeSecret"),
)

ZONES = Listing("route53", "ListHostedZones", "HostedZones", once=True)
RECORDS = Detail(
    ZONES, "route53", "ListResourceRecordSets", lambda rows, _at: {"HostedZoneId": rows[0]["Id"].rsplit("/", 1)[-1]},
    rows="ResourceRecordSets", when=lambda row: row.get("ResourceRecordSetCount", 0) <= 2,
)  # fmt: skip
ZONE = Kind(
    name="hosted zone",
    of=ZONES,
    id=lambda row, at: words.arn("route53", at, row["Id"].lstrip("/"), region=False, account=False),
    label=lambda row: row["Name"],
    tags_read=Detail(
        ZONES, "route53", "ListTagsForResource",
        lambda rows, _at: {"ResourceType": "hostedzone", "ResourceId": rows[0]["Id"].rsplit("/", 1)[-1]},
        rows="ResourceTagSet.Tags", late=True,
    ),
    tags_of=words.tag_row,
    managed=lambda row: row.get("LinkedService", {}).get("ServicePrincipal", ""),
    place=lambda _row, _at: "global",
)  # fmt: skip


def _registered(row: Row) -> bool:
    """Whether Route 53 made a zone with the registration of its domain, so that the domain is delegated to it."""
    made = str(row.get("CallerReference", "")).startswith("RISWorkflow-")
    return made or "Route53 Registrar" in str(row.get("Config", {}).get("Comment", ""))


def _empty_zone(row: Row, seen: Seen) -> Waste | None:
    if row.get("Config", {}).get("PrivateZone") or row.get("ResourceRecordSetCount", 0) > 2 or _registered(row):
        return None
    try:
        if any(record["Type"] not in ("NS", "SOA") for record in seen.of(RECORDS, row)):
            return None
    except Unseen:  # the scan names it as unread; of two records none can be another: a zone is made with NS and SOA
        if row.get("ResourceRecordSetCount") is None:
            raise
    # The first 25 zones cost $0.50, further ones $0.10: what deleting one saves depends on how many there are.
    tier = "first-25" if len(seen.rows(ZONES)) <= 25 else "additional"
    return Waste(
        reason="holds nothing but the records that name itself",
        meters=(Meter(f"route53/hosted-zone/{tier}", "zone-month", location="global"),),
        evidence={"records": row.get("ResourceRecordSetCount"), "zones in all": len(seen.rows(ZONES))},
    )


def _delete_zone(doomed: Doomed) -> tuple[CleanupStep, ...]:
    name = {"Id": doomed.row["Id"].rsplit("/", 1)[-1]}
    return (
        step(
            "delete", f"delete hosted zone {doomed.name}", "route53.DeleteHostedZone", name, "cannot be undone",
            until=gone("route53.GetHostedZone", name, "HostedZone.Id", seconds=300),
        ),
    )  # fmt: skip


EMPTY_ZONE = WasteCheck(
    id="route53-empty-zone",
    title="Hosted zone without a record",
    kind=ZONE,
    reads=(RECORDS,),
    judge=_empty_zone,
    why="A hosted zone is billed by the month from its second day.",
    spares=("any record but NS and SOA", "private zones", "linked to a service", "of a domain registered here"),
    unchecked=("a registrar that delegates to its name servers", "since when it is empty: AWS does not say"),
    meter="Route 53 zone months of the tier that one less would save",
    min_age=timedelta(0),
    remove=_delete_zone,
    reversal="cannot be undone",
    recovery="A new zone of that name has other name servers, which the registrar has to be told.",
    order=95,
    steps=("route53.DeleteHostedZone", "route53.GetHostedZone"),
)
CHECKS = (KEY_UNUSED, SECRET_UNUSED, EMPTY_ZONE)
