"""Databases, caches, warehouses, search and file systems.

Usage types and attributes: filters of public cost tools (infracost `db_instance.go`, `elasticache_cluster.go`,
`redshift_cluster.go`, `elasticsearch_domain.go`, `dms_replication_instance.go`, `fsx_windows_file_system.go`,
`fsx_openzfs_file_system.go`) and Price List answers that public repositories quote; read 2026-11-29. None was asked
of a live account here. No source that could be read quotes a row of Aurora I/O-Optimized or of its serverless
instances: under another usage type or unit they stay without a rate, and the refresh names their meters as empty.
"""

from __future__ import annotations

from clouds.aws.meters.meter import GB_MONTHS, HOURS, Meter

_ZONES = {"Single-AZ": "single", "Multi-AZ": "multi"}
_RATES = ("MiBps-Mo", "MBps-Mo", "MiBps-month", "MBps-month")
_NO_BACKUP = r"(?!.*Backup).*"
_FSX = "AmazonFSx"
_AURORA = {"Aurora MySQL": "aurora-mysql", "Aurora PostgreSQL": "aurora-postgresql"}
_ENGINES = {"MySQL": "mysql", "PostgreSQL": "postgres", "MariaDB": "mariadb", **_AURORA}
_ACU = ("ACU-Hr", "ACU-Hrs", "ACU-hr", "ACU-hrs", "ACU-Hour", "ACU-Hours", "ACU-hour", "ACU-hours")
DATABASES = (
    # Oracle and SQL Server are listed per edition and licence, and not taken. Aurora by its standard rates.
    Meter(
        "rds/{kind}/{engine}/{zones}",
        "AmazonRDS",
        r"(?:InstanceUsage|Multi-AZUsage):db\.\S+",
        HOURS,
        "hour",
        {"productFamily": "Database Instance"},
        each_region=True,
        said={
            "kind": ("instanceType", {}),
            "engine": ("databaseEngine", _ENGINES),
            "zones": ("deploymentOption", _ZONES),
        },
    ),
    Meter(
        "rds/{kind}/{engine}/io-optimized",
        "AmazonRDS",
        r"InstanceUsageIO-?Optimized:db\.\S+",
        HOURS,
        "hour",
        {"productFamily": "Database Instance"},
        each_region=True,
        said={"kind": ("instanceType", {}), "engine": ("databaseEngine", _AURORA)},
    ),
    # An instance of Serverless v2 by the capacity unit (2 GiB of memory and what goes with it).
    *(
        Meter(
            f"aurora-serverless/{{engine}}/{rates}",
            "AmazonRDS",
            rf"Aurora:ServerlessV2{usage}Usage",
            _ACU,
            "ACU-hour",
            {"productFamily": "ServerlessV2"},
            said={"engine": ("databaseEngine", _AURORA)},
        )
        for rates, usage in (("standard", ""), ("io-optimized", "IO-?Optimized"))
    ),
    # What is beyond an Aurora cluster's own size; both Aurora engines have one rate, else neither is taken.
    Meter(
        "aurora-snapshot/backup",
        "AmazonRDS",
        r"Aurora:BackupUsage",
        GB_MONTHS,
        "GB-month",
        {"productFamily": "Storage Snapshot"},
    ),
    Meter(
        "elasticache/{kind}/{engine}",
        "AmazonElastiCache",
        r"NodeUsage:cache\.\S+",
        HOURS,
        "hour",
        {"productFamily": "Cache Instance"},
        having={"locationType": "AWS Region"},
        said={
            "kind": ("instanceType", {}),
            "engine": ("cacheEngine", {"Redis": "redis", "Memcached": "memcached", "Valkey": "valkey"}),
        },
    ),
    Meter(
        "redshift/{kind}/on-demand",
        "AmazonRedshift",
        r"Node:\S+",
        HOURS,
        "hour",
        {"productFamily": "Compute Instance"},
        said={"kind": ("instanceType", {})},
    ),
    Meter(
        "redshift-snapshot/backup",
        "AmazonRedshift",
        r"(?:Redshift:)?PaidSnapshots",
        GB_MONTHS,
        "GB-month",
        {"productFamily": "Storage Snapshot"},
    ),
    # The instance type ends in .search; the usage type leaves that out.
    Meter("opensearch/{kind}", "AmazonES", r"ESInstance:\S+", HOURS, "hour", said={"kind": ("instanceType", {})}),
    Meter(
        "opensearch-storage/{kind}",
        "AmazonES",
        r"ES:(?:GP[23]|PIOPS)-Storage",
        GB_MONTHS,
        "GB-month",
        said={"kind": ("storageMedia", {"GP2": "gp2", "GP3": "gp3", "PIOPS-Storage": "io1"})},
    ),
    # Indexing and search units have one rate; where they ever differ, neither is taken.
    Meter(
        "opensearch-serverless/ocu",
        "AmazonES",
        r"(?:Indexing|Search)OCU",
        (*HOURS, "OCU-Hours", "OCU-hours", "OCU-Hrs", "OCU-hour"),
        "unit-hour",
    ),
    Meter(
        "dms/dms.{kind}/{zones}",
        "AWSDatabaseMigrationSvc",
        r"(?:InstanceUsg|Multi-AZUsg):dms\.\S+",
        HOURS,
        "hour",
        said={
            "kind": ("instanceType", {}),
            "zones": ("availabilityZone", {"Single": "single", "Multiple": "multi"}),
        },
    ),
)
"""What answers queries."""
FILES = (
    Meter(
        "fsx-windows/{medium}/{zones}",
        _FSX,
        _NO_BACKUP,
        GB_MONTHS,
        "GB-month",
        {"productFamily": "Storage"},
        having={"fileSystemType": "Windows"},
        said={"medium": ("storageType", {"SSD": "ssd", "HDD": "hdd"}), "zones": ("deploymentOption", _ZONES)},
    ),
    Meter(
        "fsx-openzfs/{medium}/{zones}",
        _FSX,
        _NO_BACKUP,
        GB_MONTHS,
        "GB-month",
        {"productFamily": "Storage"},
        having={"fileSystemType": "OpenZFS"},
        said={"medium": ("storageType", {"SSD": "ssd"}), "zones": ("deploymentOption", {"Single-AZ": "single-az-1"})},
    ),
    Meter(
        "fsx-{system}/throughput/{zones}",
        _FSX,
        r".*",
        _RATES,
        "MBps-month",
        {"productFamily": "Provisioned Throughput"},
        having={"fileSystemType": "Windows"},
        said={"system": ("fileSystemType", {"Windows": "windows"}), "zones": ("deploymentOption", _ZONES)},
    ),
    Meter(
        "fsx-openzfs/throughput/{zones}",
        _FSX,
        r".*",
        _RATES,
        "MBps-month",
        {"productFamily": "Provisioned Throughput"},
        having={"fileSystemType": "OpenZFS"},
        said={"zones": ("deploymentOption", {"Single-AZ": "single-az-1"})},
    ),
    # ONTAP's first generation by its own usage types; the second generation has others and stays unpriced.
    Meter("fsx-ontap/ssd/multi-az-1", _FSX, r"Storage\.MAZ:SSD", GB_MONTHS, "GB-month"),
    Meter("fsx-ontap/ssd/single-az-1", _FSX, r"Storage\.SAZ_2N:SSD", GB_MONTHS, "GB-month"),
    Meter("fsx-ontap/throughput/multi-az-1", _FSX, r"ThroughputCapacity\.MAZ", _RATES, "MBps-month"),
    Meter("fsx-ontap/throughput/single-az-1", _FSX, r"ThroughputCapacity\.SAZ_2N", _RATES, "MBps-month"),
    Meter("efs/infrequent-access", "AmazonEFS", r"IATimedStorage-ByteHrs", GB_MONTHS, "GB-month"),
    Meter("efs/provisioned-throughput", "AmazonEFS", r"ProvisionedTP-MiBpsHrs", _RATES, "MiBps-month"),
)
"""File systems."""
