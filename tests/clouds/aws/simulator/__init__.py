"""An AWS account in memory with a clock of its own; `docs/aws-simulator.md` describes its state machines."""

from __future__ import annotations

from tests.clouds.aws.simulator import (
    capacity,
    catalog,
    ec2,
    endpoints,
    identity,
    logs,
    network,
    runtime,
    sagemaker,
    scheduler,
)
from tests.clouds.aws.simulator.account import Account, Quota
from tests.clouds.aws.simulator.catalog import offer
from tests.clouds.aws.simulator.clock import Clock
from tests.clouds.aws.simulator.faults import Fault, Killed
from tests.clouds.aws.simulator.seam import Drift, Refused, Seam, Sent

OPERATIONS = {
    **capacity.OPERATIONS,
    **catalog.OPERATIONS,
    **ec2.OPERATIONS,
    **identity.OPERATIONS,
    **logs.OPERATIONS,
    **network.OPERATIONS,
    **runtime.OPERATIONS,
    **scheduler.OPERATIONS,
    "sagemaker.CreateModel": sagemaker.create_model,
    "sagemaker.DescribeModel": sagemaker.describe_model,
    "sagemaker.DeleteModel": sagemaker.delete_model,
    "sagemaker.ListModels": sagemaker.list_models,
    "sagemaker.CreateEndpointConfig": sagemaker.create_config,
    "sagemaker.DescribeEndpointConfig": sagemaker.describe_config,
    "sagemaker.DeleteEndpointConfig": sagemaker.delete_config,
    "sagemaker.ListEndpointConfigs": sagemaker.list_configs,
    "sagemaker.AddTags": sagemaker.add_tags,
    "sagemaker.ListTags": sagemaker.list_tags,
    "sagemaker.CreateEndpoint": endpoints.create_endpoint,
    "sagemaker.DescribeEndpoint": endpoints.describe_endpoint,
    "sagemaker.ListEndpoints": endpoints.list_endpoints,
    "sagemaker.DeleteEndpoint": endpoints.delete_endpoint,
    "sagemaker.UpdateEndpoint": endpoints.update_endpoint,
}

__all__ = ["OPERATIONS", "Account", "Clock", "Drift", "Fault", "Killed", "Quota", "Refused", "Seam", "Sent", "offer"]
