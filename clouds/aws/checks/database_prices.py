"""What an instance of RDS is billed by: its hours and its storage.

RDS API (botocore 1.44.8 model): a cluster of Aurora names its storage type only where that is `aurora-iopt1`
(CreateDBCluster), and the least capacity of a serverless one is that of each instance
(ServerlessV2ScalingConfigurationInfo).
"""

from __future__ import annotations

from clouds.models.waste import Bound, Meter, Row

SERVERLESS = "db.serverless"
_LICENSED = ("oracle-", "sqlserver-", "db2-", "custom-")
_OPTIMIZED = "aurora-iopt1"
_AURORA = {"": "", "aurora": "", _OPTIMIZED: "io-optimized"}
"""Storage type of an Aurora cluster -> the word of its rates; the standard ones have none of their own."""


def licence(row: Row) -> str:
    """The licence of an engine that is priced by it; empty for the other engines."""
    return str(row.get("LicenseModel") or "unknown licence") if str(row["Engine"]).startswith(_LICENSED) else ""


def hours(row: Row) -> Meter:
    """The hours of an instance that is in no cluster."""
    section, zones = "rds-licensed" if licence(row) else "rds", "multi" if row.get("MultiAZ") else "single"
    return Meter(f"{section}/{row['DBInstanceClass']}/{row['Engine']}/{zones}", "hour")


def least(cluster: Row) -> float | None:
    """The ACU that each serverless instance of a cluster holds at least, in use or not; None where AWS says none."""
    held = (cluster.get("ServerlessV2ScalingConfiguration") or {}).get("MinCapacity")
    return None if held is None else float(held)


def member_hours(row: Row, cluster: Row) -> tuple[Meter, ...]:
    """The hours of one member of a cluster; none where what it holds, or its kind of storage, is not known."""
    kind, engine = row["DBInstanceClass"], str(row["Engine"])
    if not engine.startswith("aurora"):  # one of the three of a Multi-AZ cluster
        return (Meter(f"rds-cluster/{kind}/{engine}", "hour"),)
    rates = _AURORA.get(cluster.get("StorageType") or "")
    if rates is None:
        return ()
    if kind != SERVERLESS:
        return (Meter(f"rds/{kind}/{engine}/{rates or 'single'}", "hour"),)
    held = least(cluster)
    return (Meter(f"aurora-serverless/{engine}/{rates or 'standard'}", "ACU-hour", held),) if held else ()


def member_words(row: Row, cluster: Row) -> str:
    """What a member is, as far as its price depends on it."""
    said = f"{row['DBInstanceClass']} {row['Engine']}"
    kept = cluster.get("StorageType") or ""
    if kept == _OPTIMIZED:
        said += ", I/O-Optimized"
    elif str(row["Engine"]).startswith("aurora") and kept not in _AURORA:
        said += f", of a storage type whose rates are not known ({kept})"
    if row["DBInstanceClass"] != SERVERLESS:
        return said
    held = least(cluster)
    if held is None:
        return f"{said}; AWS does not say how many ACU it holds"
    return f"{said}; " + (
        f"it holds {held:g} ACU or more" if held else "it may pause at 0 ACU, when only storage is billed"
    )


def storage(row: Row) -> tuple[Meter, ...]:
    """What an instance's storage costs; Aurora's is its cluster's."""
    size, kind = row.get("AllocatedStorage") or 0, row.get("StorageType", "gp2")
    if row.get("DBClusterIdentifier") or kind.startswith("aurora") or not size:
        return ()
    return (Meter(f"rds-storage/{'multi' if row.get('MultiAZ') else 'single'}/{kind}", "GB-month", size),)


def bound(row: Row) -> Bound:
    """Provisioned input and output, and further volumes, cost on top, by rates that the tables do not hold."""
    kind = str(row.get("StorageType", ""))
    # Every gp3 has 3,000 IOPS and 125 MiB/s; which larger ones have more depends on the engine, so more may cost.
    fast = kind == "gp3" and ((row.get("Iops") or 0) > 3000 or (row.get("StorageThroughput") or 0) > 125)
    provisioned = fast or (kind.startswith("io") and row.get("Iops"))
    return "at least" if provisioned or row.get("AdditionalStorageVolumes") else "exact"
