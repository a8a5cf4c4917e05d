"""Small offers of the Price List as its documentation and public quotes show them, each with what it must become.

A row: service, family, usage type, unit, price, further attributes, and the key and rate of our table that it makes;
no key for a twin that stands beside it in the list and is another thing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from clouds.replay import Answer, Request

MULTI, SINGLE = {"deploymentOption": "Multi-AZ"}, {"deploymentOption": "Single-AZ"}
RDS = {"instanceType": "db.r5d.2xlarge", "databaseEngine": "PostgreSQL"}
AURORA = {**SINGLE, "instanceType": "db.r6g.large", "databaseEngine": "Aurora MySQL"}
ACU = {"databaseEngine": "Aurora PostgreSQL"}
CACHE = {"instanceType": "cache.r7g.large", "cacheEngine": "Valkey", "locationType": "AWS Region"}
WINDOWS = {"fileSystemType": "Windows", "storageType": "SSD"}
_EC2, _VPC, _ES, _FSX, _SM = "AmazonEC2", "AmazonVPC", "AmazonES", "AmazonFSx", "AmazonSageMaker"
_SO, _KAFKA = "System Operation", "Managed Streaming for Apache Kafka (MSK)"
Offered = tuple[str, str, str, str, float, Mapping[str, str], str, float]
OFFERS: tuple[Offered, ...] = (
    (_EC2, _SO, "EBS:VolumeP-IOPS.gp3", "IOPS-Mo", 0.005, {}, "ebs/gp3-iops", 0.005),
    (_EC2, _SO, "EBS:VolumeP-IOPS.piops", "IOPS-Mo", 0.065, {}, "ebs/io1-iops", 0.065),
    (_EC2, _SO, "EBS:VolumeP-IOPS.io2", "IOPS-Mo", 0.065, {}, "ebs/io2-iops", 0.065),
    (_EC2, _SO, "EBS:VolumeP-IOPS.io2.tier2", "IOPS-Mo", 0.046, {}, "ebs/io2-iops-tier2", 0.046),
    (_EC2, _SO, "EBS:VolumeP-IOPS.io2.tier3", "IOPS-Mo", 0.032, {}, "ebs/io2-iops-tier3", 0.032),
    (_EC2, _SO, "EBS:VolumeIOUsage", "IOs", 5e-8, {}, "", 0),
    (_EC2, "Provisioned Throughput", "EBS:VolumeP-Throughput.gp3", "GiBps-mo", 40.96, {}, "ebs/gp3-throughput", 0.04),
    (_EC2, "Provisioned Throughput", "EBS:VolumeP-Throughput.gp3", "MiBps-Mo", 0.0476, {}, "", 0),
    (_EC2, "Fast Snapshot Restore", "EBS:FastSnapshotRestore", "hours", 0.75, {}, "ebs/fast-snapshot-restore", 0.75),
    (_EC2, "Fast Snapshot Restore", "EBS:SnapshotArchiveRetrieval", "GB", 0.03, {}, "", 0),
    (_EC2, "Dedicated Host", "HostUsage:mac2", "Hrs", 0.65, {}, "ec2-host/mac2", 0.65),
    (_EC2, "Dedicated Host", "ReservedHostUsage:mac2", "Hrs", 0.4, {}, "", 0),
    (_VPC, "", "USE1-TransitGateway-Hours", "hour", 0.05, {"operation": "TransitGatewayVPC"},
     "transit-gateway/attachment", 0.05),
    (_VPC, "", "USE1-TransitGateway-Hours", "hour", 0.07, {"operation": "TransitGatewayPeering"}, "", 0),
    (_VPC, "Cloud Connectivity", "VPN-Usage-Hours:ipsec.1", "Hrs", 0.05, {}, "vpn/connection", 0.05),
    (_VPC, "Cloud Connectivity", "USE1-VPN-large-Usage-Hours:ipsec.1", "Hrs", 0.6, {}, "", 0),
    (_VPC, "", "USE1-ClientVPN-EndpointHours", "Hrs", 0.1, {}, "client-vpn/association", 0.1),
    (_VPC, "", "USE1-ClientVPN-ConnectionHours", "Hrs", 0.05, {}, "", 0),
    (_VPC, "VpcEndpoint", "VpcEndpoint-GWLBE-Hours", "Hrs", 0.01, {}, "vpc-endpoint/gateway-load-balancer", 0.01),
    (_VPC, "VpcEndpoint", "VpcEndpoint-GWLBE-Bytes", "GB", 0.0035, {}, "", 0),
    ("AWSELB", "Load Balancer-Gateway", "LoadBalancerUsage", "Hrs", 0.0125, {}, "elb/gateway", 0.0125),
    ("AWSELB", "Load Balancer-Gateway", "LCUUsage", "LCU-Hrs", 0.004, {}, "", 0),
    # The usage type shortens 2xlarge; the attribute does not.
    ("AmazonRDS", "Database Instance", "Multi-AZUsage:db.r5d.2xl", "Hrs", 1.4, {**RDS, **MULTI},
     "rds/db.r5d.2xlarge/postgres/multi", 1.4),
    ("AmazonRDS", "Database Instance", "InstanceUsage:db.r5d.2xl", "Hrs", 0.7, {**RDS, **SINGLE},
     "rds/db.r5d.2xlarge/postgres/single", 0.7),
    ("AmazonRDS", "Database Instance", "InstanceUsage:db.r5d.2xl", "Hrs", 2.1,
     {**RDS, **SINGLE, "databaseEngine": "Oracle"}, "", 0),
    ("AmazonRDS", "Database Instance", "Multi-AZUsage:db.r5d.2xl", "Hrs", 1.9,
     {**RDS, "deploymentOption": "Multi-AZ (readable standbys)"}, "", 0),
    # Standard and I/O-Optimized have usage types of their own, as have provisioned and serverless instances.
    ("AmazonRDS", "Database Instance", "InstanceUsage:db.r6g.large", "Hrs", 0.26, AURORA,
     "rds/db.r6g.large/aurora-mysql/single", 0.26),
    ("AmazonRDS", "Database Instance", "InstanceUsageIOOptimized:db.r6g.large", "Hrs", 0.338, AURORA,
     "rds/db.r6g.large/aurora-mysql/io-optimized", 0.338),
    ("AmazonRDS", "Database Instance", "InstanceUsageIOOptimized:db.r6g.large", "Hrs", 0.4,
     {**AURORA, "databaseEngine": "Any"}, "", 0),
    ("AmazonRDS", "ServerlessV2", "Aurora:ServerlessV2Usage", "ACU-Hr", 0.12, ACU,
     "aurora-serverless/aurora-postgresql/standard", 0.12),
    ("AmazonRDS", "ServerlessV2", "Aurora:ServerlessV2IOOptimizedUsage", "ACU-Hr", 0.156, ACU,
     "aurora-serverless/aurora-postgresql/io-optimized", 0.156),
    ("AmazonRDS", "ServerlessV2", "Aurora:ServerlessUsage", "ACU-Hr", 0.06, ACU, "", 0),
    ("AmazonRDS", "Storage Snapshot", "Aurora:BackupUsage", "GB-Mo", 0.021, {}, "aurora-snapshot/backup", 0.021),
    ("AmazonRDS", "Storage Snapshot", "RDS:ChargedBackupUsage", "GB-Mo", 0.095, {}, "", 0),
    ("AmazonElastiCache", "Cache Instance", "NodeUsage:cache.r7g.large", "Hrs", 0.1752, CACHE,
     "elasticache/cache.r7g.large/valkey", 0.1752),
    ("AmazonElastiCache", "Cache Instance", "Outpost-NodeUsage:cache.r7g.large", "Hrs", 0.2,
     {**CACHE, "locationType": "AWS Outposts"}, "", 0),
    ("AmazonRedshift", "Compute Instance", "Node:ra3.xlplus", "Hrs", 1.086, {"instanceType": "ra3.xlplus"},
     "redshift/ra3.xlplus/on-demand", 1.086),
    ("AmazonRedshift", "Compute Instance", "CS:ra3.xlplus", "seconds", 0.0003, {"instanceType": "ra3.xlplus"}, "", 0),
    ("AmazonRedshift", "Storage Snapshot", "Redshift:PaidSnapshots", "GB-Mo", 0.023, {},
     "redshift-snapshot/backup", 0.023),
    ("AmazonRedshift", "Storage Snapshot", "Redshift:FreeSnapshots", "GB-Mo", 0.01, {}, "", 0),
    (_ES, "", "ESInstance:m7g.large", "Hrs", 0.135, {"instanceType": "m7g.large.search"},
     "opensearch/m7g.large.search", 0.135),
    (_ES, "", "OpenSearchExtendedSupport", "Hrs", 0.02, {"instanceType": "m7g.large.search"}, "", 0),
    (_ES, "", "ES:GP3-Storage", "GB-Mo", 0.122, {"storageMedia": "GP3"}, "opensearch-storage/gp3", 0.122),
    (_ES, "", "USE1-StorageUsedInS3ByteHour", "GB-Mo", 0.024, {"storageMedia": "Managed-Storage"}, "", 0),
    (_ES, "", "USE1-SearchOCU", "OCU-Hours", 0.24, {}, "opensearch-serverless/ocu", 0.24),
    (_ES, "", "USE1-IndexingOCU-GPU", "OCU-Hours", 0.9, {}, "", 0),
    ("AWSDatabaseMigrationSvc", "", "InstanceUsg:dms.t3.medium", "Hrs", 0.0745,
     {"instanceType": "t3.medium", "availabilityZone": "Single"}, "dms/dms.t3.medium/single", 0.0745),
    ("AWSDatabaseMigrationSvc", "", "Multi-AZUsg:dms.t3.medium", "Hrs", 0.149,
     {"instanceType": "t3.medium", "availabilityZone": "Multiple"}, "dms/dms.t3.medium/multi", 0.149),
    ("AWSDatabaseMigrationSvc", "", "DMS-Serverless:DCU", "Hrs", 0.08, {"availabilityZone": "Single"}, "", 0),
    (_FSX, "Storage", "USE1-Storage_MAZ_SSD", "GB-Mo", 0.23, {**WINDOWS, **MULTI}, "fsx-windows/ssd/multi", 0.23),
    (_FSX, "Storage", "USE1-BackupUsage", "GB-Mo", 0.05, {**WINDOWS, **MULTI}, "", 0),
    (_FSX, "Storage", "USE1-Storage_ZFS_SSD", "GB-Mo", 0.09, {**WINDOWS, **SINGLE, "fileSystemType": "OpenZFS"},
     "fsx-openzfs/ssd/single-az-1", 0.09),
    (_FSX, "Storage", "USE1-BackupUsage_ZFS", "GB-Mo", 0.04, {**WINDOWS, **SINGLE, "fileSystemType": "OpenZFS"}, "", 0),
    (_FSX, "Provisioned Throughput", "USE1-ThroughputCapacity", "MiBps-Mo", 2.2, {**WINDOWS, **SINGLE},
     "fsx-windows/throughput/single", 2.2),
    (_FSX, "Provisioned Throughput", "USE1-ThroughputCapacity", "MiBps-Mo", 0.26,
     {"fileSystemType": "Lustre", **SINGLE}, "", 0),
    (_FSX, "Provisioned Throughput", "USE1-ThroughputCapacity", "MiBps-Mo", 0.26,
     {"fileSystemType": "OpenZFS", **SINGLE}, "fsx-openzfs/throughput/single-az-1", 0.26),
    (_FSX, "", "APN1-Storage.MAZ:SSD", "GB-Mo", 0.3, {}, "fsx-ontap/ssd/multi-az-1", 0.3),
    (_FSX, "", "APN1-Storage.SAZ_2N:SSD", "GB-Mo", 0.15, {}, "fsx-ontap/ssd/single-az-1", 0.15),
    (_FSX, "", "APN1-Storage.MAZ:CPoolStd", "GB-Mo", 0.0476, {}, "", 0),
    (_FSX, "", "APN1-ThroughputCapacity.MAZ", "MiBps-Mo", 1.511, {}, "fsx-ontap/throughput/multi-az-1", 1.511),
    (_FSX, "", "APN1-ThroughputCapacity.SAZ_2N", "MiBps-Mo", 0.906, {}, "fsx-ontap/throughput/single-az-1", 0.906),
    (_FSX, "", "APN1-ProvisionedSSDIOPS.MAZ", "IOPS-Mo", 0.0408, {}, "", 0),
    ("AmazonEFS", "", "USE1-IATimedStorage-ByteHrs", "GB-Mo", 0.016, {}, "efs/infrequent-access", 0.016),
    ("AmazonEFS", "", "USE1-IATimedStorage-Z-ByteHrs", "GB-Mo", 0.0133, {}, "", 0),
    ("AmazonEFS", "", "USE1-ProvisionedTP-MiBpsHrs", "MiBps-Mo", 6.0, {}, "efs/provisioned-throughput", 6.0),
    ("AmazonKinesis", "", "Storage-ShardHour", "hours", 0.015, {}, "kinesis/shard", 0.015),
    ("AmazonKinesis", "", "Extended-ShardHour", "hours", 0.02, {}, "", 0),
    ("AmazonKinesis", "", "OnDemand-StreamHour", "StreamHr", 0.04, {}, "kinesis/on-demand-stream", 0.04),
    ("AmazonKinesis", "", "OnDemand-BilledIncomingBytes", "GB", 0.08, {}, "", 0),
    ("AmazonMSK", _KAFKA, "USE1-Kafka.m5.large", "hours", 0.21, {}, "msk/kafka.m5.large", 0.21),
    ("AmazonMSK", _KAFKA, "USE1-Express.m7g.large", "hours", 0.408, {}, "msk/express.m7g.large", 0.408),
    ("AmazonMSK", _KAFKA, "USE1-Kafka.Serverless-Hours", "hours", 0.75, {}, "", 0),
    ("AmazonMSK", _KAFKA, "USE1-Kafka.Storage.GP2", "GB-Mo", 0.1, {}, "msk/storage", 0.1),
    ("AmazonMQ", "Broker Instances", "USE1-Usage:mq.m5.large", "Hrs", 0.288,
     {**SINGLE, "brokerEngine": "ActiveMQ"}, "mq/mq.m5.large/activemq", 0.288),
    ("AmazonMQ", "Broker Instances", "USE1-Multi-AZUsage:mq.m5.large", "Hrs", 0.576,
     {**MULTI, "brokerEngine": "ActiveMQ"}, "", 0),
    ("AmazonEKS", "Compute", "USE1-AmazonEKS-Hours:perCluster", "Hours", 0.1, {}, "eks/cluster", 0.1),
    ("AmazonEKS", "Compute", "USE1-AmazonEKS-Hours:extendedSupport", "Hours", 0.5, {}, "", 0),
    ("AmazonECS", "Compute", "USE1-Fargate-vCPU-Hours:perCPU", "hours", 0.04048, {}, "fargate/vcpu", 0.04048),
    ("AmazonECS", "Compute", "USE1-Fargate-ARM-vCPU-Hours:perCPU", "hours", 0.03238, {}, "fargate/vcpu-arm", 0.03238),
    ("AmazonECS", "Compute", "USE1-Fargate-GB-Hours", "hours", 0.004445, {}, "fargate/memory", 0.004445),
    ("AmazonECS", "Compute", "USE1-Fargate-ARM-GB-Hours", "hours", 0.00356, {}, "fargate/memory-arm", 0.00356),
    ("AmazonECS", "Compute", "USE1-SpotUsage:Fargate-vCPU-Hours", "hours", 0.0127, {}, "", 0),
    ("AWSLambda", "Serverless", "Lambda-Provisioned-Concurrency", "Lambda-GB-Second", 4.1667e-6, {},
     "lambda/provisioned-concurrency", 4.1667e-6),
    ("AWSLambda", "Serverless", "Lambda-Provisioned-Concurrency-ARM", "Lambda-GB-Second", 3.3334e-6, {},
     "lambda/provisioned-concurrency-arm", 3.3334e-6),
    ("AWSLambda", "Serverless", "Lambda-Provisioned-GB-Second", "Lambda-GB-Second", 9.7222e-6, {}, "", 0),
    ("ElasticMapReduce", "", "USE1-BoxUsage:m5.xlarge", "Hrs", 0.048, {}, "emr/m5.xlarge", 0.048),
    ("ElasticMapReduce", "", "USE1-EMR-SERVERLESS-vCPUHours", "hours", 0.052624, {}, "", 0),
    ("AWSGlue", "", "USE1-DEVED-DPU-Hour", "DPU-Hour", 0.44, {}, "glue/dev-endpoint-dpu", 0.44),
    ("AWSGlue", "", "USE1-ETL-DPU-Hour", "DPU-Hour", 0.44, {}, "", 0),
    # One SKU a base model, all of one rate.
    ("AmazonBedrock", "", "USE1-NovaPro-Customization-Storage", "Model/month", 1.95, {}, "bedrock/custom-model-storage",
     1.95),
    ("AmazonBedrock", "", "USE1-NovaCanvas-Customization-Storage", "Model/month", 1.95, {},
     "bedrock/custom-model-storage", 1.95),
    ("AmazonBedrock", "", "USE1-NovaPro-Customization-Training", "1K tokens", 0.008, {}, "", 0),
    ("AWSDirectoryService", "", "USE1-Std-MicrosoftAD-DC-Usage", "Hrs", 0.06, {},
     "directory/microsoftad/standard", 0.06),
    ("AWSDirectoryService", "", "USE1-MicrosoftAD-DC-Usage", "Hrs", 0.2, {}, "directory/microsoftad/enterprise", 0.2),
    ("AWSDirectoryService", "", "USE1-Small-Directory-Usage", "Hrs", 0.05, {}, "", 0),
    ("AmazonKendra", "", "USE1-Kendra-Enterprise-Edition", "Hrs", 1.4, {}, "kendra/enterprise", 1.4),
    ("AmazonKendra", "", "USE1-KendraEnterpriseEdition", "Hrs", 7.0, {}, "", 0),
    (_SM, "", "USE1-MLflow:TrackingServerCompute-Small", "Hrs", 0.6, {}, "sagemaker-mlflow/small", 0.6),
    (_SM, "", "USE1-Notebk:ml.t3.medium", "Hrs", 0.05, {}, "sagemaker-notebook/ml.t3.medium/on-demand", 0.05),
    (_SM, "", "USE1-Notebk:VolumeUsage.gp2", "GB-Mo", 0.14, {}, "sagemaker-notebook/volume", 0.14),
    (_SM, "", "USE1-Train:ml.g5.xlarge", "Hrs", 1.408, {}, "sagemaker-training/ml.g5.xlarge/on-demand", 1.408),
    (_SM, "", "USE1-Cluster:ml.g5.8xlarge", "Hrs", 3.06, {}, "sagemaker-cluster/ml.g5.8xlarge/on-demand", 3.06),
    (_SM, "", "USE1-Cluster:ml.g5.8xlarge-Reserved", "Hrs", 1.9, {}, "", 0),
    (_SM, "", "USE1-Studio:JupyterLab-ml.r6i.4xlarge", "Hrs", 1.21, {},
     "sagemaker-studio/ml.r6i.4xlarge/on-demand", 1.21),
    (_SM, "", "USE1-Studio:KernelGateway-ml.r6i.4xlarge", "Hrs", 1.3, {}, "", 0),
    (_SM, "", "USE1-Processing:ml.r6i.4xlarge", "Hrs", 1.3, {}, "", 0),
    (_SM, "", "USE1-Studio:VolumeUsage.gp3", "GB-Mo", 0.112, {}, "sagemaker-studio/volume", 0.112),
    (_SM, "", "USE1-UnifiedStudio:VolumeUsage.gp3", "GB-Mo", 0.2, {}, "", 0),
)  # fmt: skip


def listed(offered: Offered) -> str:
    """The text of one item of a `PriceList`."""
    service, family, usage, unit, usd, attributes, *_ = offered
    said = {"usagetype": usage, "regionCode": "us-east-1", "servicecode": service, **attributes}
    price = {"unit": unit, "beginRange": "0", "pricePerUnit": {"USD": f"{usd:.12f}"}, "description": usage}
    item = {
        "product": {"productFamily": family, "attributes": said},
        "terms": {"OnDemand": {"a": {"priceDimensions": {"b": price}, "effectiveDate": "2026-11-01T00:00:00Z"}}},
        "publicationDate": "2026-11-20T00:00:00Z",
    }
    return json.dumps(item)


class PriceList:
    """Answers GetProducts from these offers: every filter of a question must match, as AWS's own do."""

    def __init__(self, offered: Sequence[Offered] = OFFERS) -> None:
        self.offered, self.asked = offered, list[str]()

    def before(self, request: Request) -> Answer:
        about: Mapping[str, Any] = request.parameters
        wanted = {each["Field"]: each["Value"] for each in about["Filters"]}
        self.asked.append(f"{about['ServiceCode']} {sorted(wanted.items())}")
        found = [
            listed(each)
            for each in self.offered
            if each[0] == about["ServiceCode"]
            and all(
                {"productFamily": each[1], "regionCode": "us-east-1", **each[5]}.get(name) == value
                for name, value in wanted.items()
            )
        ]
        return Answer(200, {"PriceList": found, "FormatVersion": "aws_v1"})

    def after(self, request: Request, answer: Answer) -> None: ...
