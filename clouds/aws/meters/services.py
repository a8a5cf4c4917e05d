"""Streams, brokers, containers, functions, clusters, directories, and SageMaker beside hosting.

Usage types: filters of public cost tools (infracost `kinesis_stream.go`, `msk_cluster.go`, `mq_broker.go`,
`eks_cluster.go`, `ecs_service.go`, `lambda_provisioned_concurrency_config.go`, `directory_service_directory.go`) and
Price List answers and bills that public repositories quote; read 2026-11-29. None was asked of a live account here.
"""

from __future__ import annotations

from collections.abc import Mapping

from clouds.aws.meters.meter import GB_MONTHS, HOURS, Meter

_KIND = r"(?P<kind>ml\.[a-z0-9-]+\.[a-z0-9]+)"
"""An instance type of SageMaker, whole: `ml.p5.48xlarge-Reserved` is not one."""
_SAGEMAKER = "AmazonSageMaker"
_SECONDS = ("Lambda-GB-Second", "GB-Seconds", "GB-Second", "Second")
_FUNCTIONS, _TASKS = {"productFamily": "Serverless"}, {"productFamily": "Compute"}
_KAFKA = r"(?P<kind>[a-z][a-z0-9]*\.[a-z0-9]+)"
SERVICES = (
    Meter("kinesis/shard", "AmazonKinesis", r"Storage-ShardHour", (*HOURS, "ShardHour"), "hour"),
    Meter("kinesis/on-demand-stream", "AmazonKinesis", r"OnDemand-StreamHour", (*HOURS, "StreamHr"), "hour"),
    Meter("msk/kafka.{kind}", "AmazonMSK", r"Kafka\." + _KAFKA, HOURS, "hour"),
    Meter("msk/express.{kind}", "AmazonMSK", r"Express\." + _KAFKA, HOURS, "hour"),
    Meter("msk/storage", "AmazonMSK", r"Kafka\.Storage\.GP2", GB_MONTHS, "GB-month"),
    # The price of one broker; a pair or a cluster is counted by its brokers.
    Meter(
        "mq/{kind}/{engine}",
        "AmazonMQ",
        r"\S*Usage:(?P<kind>mq\.\S+)",
        HOURS,
        "hour",
        {"productFamily": "Broker Instances"},
        having={"deploymentOption": "Single-AZ"},
        said={"engine": ("brokerEngine", {"ActiveMQ": "activemq", "RabbitMQ": "rabbitmq"})},
    ),
    # The surcharge of an old Kubernetes version is AmazonEKS-Hours:extendedSupport, and not this.
    Meter("eks/cluster", "AmazonEKS", r"AmazonEKS-Hours:perCluster", HOURS, "hour"),
    # x86 on Linux, and ARM; Windows tasks and Fargate Spot have other prices.
    *(
        Meter(f"fargate/{what}{ours}", "AmazonECS", usage.format(theirs), (*HOURS, *units), unit, _TASKS)
        for ours, theirs in (("", ""), ("-arm", "ARM-"))
        for what, usage, units, unit in (
            ("vcpu", r"Fargate-{}vCPU-Hours:perCPU", ("vCPU-Hours",), "vCPU-hour"),
            ("memory", r"Fargate-{}GB-Hours", ("GB-Hours",), "GB-hour"),
        )
    ),
    Meter(
        "lambda/provisioned-concurrency",
        "AWSLambda",
        r"Lambda-Provisioned-Concurrency",
        _SECONDS,
        "GB-second",
        _FUNCTIONS,
    ),
    Meter(
        "lambda/provisioned-concurrency-arm",
        "AWSLambda",
        r"Lambda-Provisioned-Concurrency-ARM",
        _SECONDS,
        "GB-second",
        _FUNCTIONS,
    ),
    # What EMR takes on top of the EC2 instance; editions of other makers at another price leave a type unpriced.
    Meter(
        "emr/{kind}",
        "ElasticMapReduce",
        r"BoxUsage:(?P<kind>[a-z0-9-]+\.[a-z0-9]+)",
        HOURS,
        "hour",
        each_region=True,
    ),
    # AWS shortens "development endpoint" to DEVED (a public scanner's answer of 2026-06-27, SKU H5SXAYMQH485TMM7).
    Meter("glue/dev-endpoint-dpu", "AWSGlue", r"DEVED-DPU-Hour", ("DPU-Hour", *HOURS), "DPU-hour"),
    # One SKU a base model, and all 22 of one rate (a public scanner's answer of 2026-08-10).
    Meter(
        "bedrock/custom-model-storage",
        "AmazonBedrock",
        r"\S+-Customization-Storage",
        ("Model/month", "Model/Month"),
        "month",
    ),
    Meter("directory/microsoftad/standard", "AWSDirectoryService", r"Std-MicrosoftAD-DC-Usage", HOURS, "hour"),
    Meter("directory/microsoftad/enterprise", "AWSDirectoryService", r"MicrosoftAD-DC-Usage", HOURS, "hour"),
    # An older SKU, KendraEnterpriseEdition without hyphens, lists five times as much ($7.00 against $1.40, 2026-10-13).
    Meter("kendra/enterprise", "AmazonKendra", r"Kendra-Enterprise-Edition", HOURS, "hour"),
)
"""Services that bill while nobody uses them."""
SAGEMAKER = (
    Meter("sagemaker-notebook/{kind}/on-demand", _SAGEMAKER, rf"Notebk:{_KIND}", HOURS, "hour", each_region=True),
    Meter("sagemaker-notebook/volume", _SAGEMAKER, r"Notebk:VolumeUsage\.gp2", GB_MONTHS, "GB-month", each_region=True),
    Meter("sagemaker-training/{kind}/on-demand", _SAGEMAKER, rf"Train:{_KIND}", HOURS, "hour", each_region=True),
    Meter("sagemaker-cluster/{kind}/on-demand", _SAGEMAKER, rf"Cluster:{_KIND}", HOURS, "hour", each_region=True),
    Meter(
        "sagemaker-studio/{kind}/on-demand",
        _SAGEMAKER,
        rf"Studio:JupyterLab-{_KIND}",  # its rows are the table's; other apps have usage types of their own
        HOURS,
        "hour",
        each_region=True,
    ),
    Meter("sagemaker-studio/volume", _SAGEMAKER, r"Studio:VolumeUsage\.gp3", GB_MONTHS, "GB-month", each_region=True),
    # Seen in a bill (APS3-MLflow:TrackingServerCompute-Small); the larger sizes in none.
    Meter("sagemaker-mlflow/small", _SAGEMAKER, r"MLflow:TrackingServerCompute-Small", HOURS, "hour", each_region=True),
)
"""SageMaker beside its endpoints: one listing a region, shared by all of these."""
_NO_TYPE = "no usage type of it stands in a source that could be read (2026-11-30), so nothing fetches its rate"
_DIRECTORIES = "which usage type is of which kind and size stands in no source that could be read"
UNMETERED: Mapping[str, str] = {
    "bedrock-provisioned/": "usage types name models in a way of their own (Nova2.0Lite), not by model id",
    "bedrock/imported-model-storage": _NO_TYPE,
    "comprehend/": _NO_TYPE,
    "directory/adconnector/": _DIRECTORIES,
    "directory/simplead/": _DIRECTORIES,
    "fargate/memory-windows": "its licence is billed apart",
    "fargate/vcpu-windows": "its licence is billed apart",
    "fsx-lustre/": "its price depends on deployment, throughput tier and compression at once",
    "kendra/developer": _NO_TYPE,
    "kendra/gen-ai": _NO_TYPE,
    "personalize/": _NO_TYPE,
    "rds-cluster/": "AWS lists Multi-AZ clusters apart; no dated source says if for each instance or all three",
    "rds-licensed/": "AWS lists it by edition and licence, and no table here tells these apart",
    "rekognition/": _NO_TYPE,
    "s3/unfinished-uploads": "its size is not known before every part is listed",
    "sagemaker-feature-store/": _NO_TYPE,
    "sagemaker-mlflow/large": _NO_TYPE,
    "sagemaker-mlflow/medium": _NO_TYPE,
    "workspaces/": f"AWS lists it by bundle, licence and disk sizes; {_NO_TYPE}",
}
"""What checks count and nothing fetches, by the beginning of its key, with the reason that a person is told."""
