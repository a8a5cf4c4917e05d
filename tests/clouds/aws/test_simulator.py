"""The simulated account answers as AWS does: in its words, within its shapes, and on its own clock."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from botocore.exceptions import ClientError, EventStreamError

from clouds.aws.endpoints import shapes
from clouds.models import Call
from tests.clouds.aws.rig import shared
from tests.clouds.aws.simulator import OPERATIONS, Account, Drift, Quota, boot, offer
from tests.clouds.aws.simulator.catalog import DLC
from tests.clouds.aws.simulator.runtime import Script

TRUST = '{"Principal": {"Service": "sagemaker.amazonaws.com scheduler.amazonaws.com"}}'


class Desk:
    """boto's own clients at a simulated account."""

    def __init__(self) -> None:
        self.account = Account()
        self.seam, self._api = shared()
        self.seam.start(self.account)

    def __getattr__(self, service: str) -> Any:
        return self._api.client(service.replace("_", "-"), "us-east-2")

    def role(self) -> str:
        made = self.iam.create_role(RoleName="r", AssumeRolePolicyDocument=TRUST)
        self.account.clock.sleep(10)
        return str(made["Role"]["Arn"])

    def endpoint(self, *types: str) -> None:
        offer(
            self.account,
            "us-east-2",
            {kind: (1, 1) for kind in types if kind not in self.account["us-east-2"].capacity},
        )
        role = self.role()
        self.sagemaker.create_model(ModelName="m", ExecutionRoleArn=role, PrimaryContainer={"Image": "a/vllm:1"})
        pools = [{"InstanceType": kind, "Priority": n} for n, kind in enumerate(types, 1)]
        variant = {
            "VariantName": "AllTraffic",
            "ModelName": "m",
            "InitialInstanceCount": 1,
            "InstancePools": pools,
            "VariantInstanceProvisionTimeoutInSeconds": 300,
            "ContainerStartupHealthCheckTimeoutInSeconds": 1800,
        }
        self.sagemaker.create_endpoint_config(EndpointConfigName="m", ProductionVariants=[variant])
        self.sagemaker.create_endpoint(EndpointName="m", EndpointConfigName="m")


@pytest.fixture
def desk() -> Desk:
    return Desk()


def told(error: pytest.ExceptionInfo[ClientError]) -> tuple[str, str]:
    return error.value.response["Error"]["Code"], error.value.response["Error"]["Message"]


def test_every_operation_it_has_exists_in_botocore() -> None:
    for name in OPERATIONS:
        service, operation = name.split(".")
        assert shapes.operation(Call(service, operation)).name == operation


def test_an_answer_that_aws_could_not_give_ends_the_test(desk: Desk) -> None:
    desk.account.operations = {**OPERATIONS, "sts.GetCallerIdentity": lambda *_: {"Colour": "red"}}
    with pytest.raises(Drift, match="Unknown parameter"):
        desk.sts.get_caller_identity()
    wrong = lambda *_: {"EndpointName": "x" * 70, "EndpointArn": "arn", "EndpointStatus": "Napping"}  # noqa: E731
    desk.account.operations = {**OPERATIONS, "sagemaker.DescribeEndpoint": wrong}
    with pytest.raises(Drift, match="enum value set"):
        desk.sagemaker.describe_endpoint(EndpointName="m")


def test_an_operation_it_does_not_have_ends_the_test_and_reaches_no_network(desk: Desk) -> None:
    with pytest.raises(Drift, match=r"the simulator has no sagemaker\.ListDomains"):
        desk.sagemaker.list_domains()


def test_what_the_service_would_refuse_is_refused_in_its_style(desk: Desk) -> None:
    with pytest.raises(ClientError) as error:
        desk.sagemaker.describe_endpoint(EndpointName="a b")
    code, words = told(error)
    assert code == "ValidationException"
    assert words.startswith("1 validation error detected: Value 'a b' at 'endpointName' failed to satisfy constraint: ")


def test_an_endpoint_is_placed_boots_and_serves_with_the_first_free_type(desk: Desk) -> None:
    offer(desk.account, "us-east-2", {"ml.g6.xlarge": (1, 0)})
    desk.endpoint("ml.g6.xlarge", "ml.g6.2xlarge")
    desk.account.clock.sleep(boot.VLLM.done + 4)
    assert desk.sagemaker.describe_endpoint(EndpointName="m")["EndpointStatus"] == "Creating"
    desk.account.clock.sleep(2)
    found = desk.sagemaker.describe_endpoint(EndpointName="m")
    assert found["EndpointStatus"] == "InService"
    assert [pool["CurrentInstanceCount"] for pool in found["ProductionVariants"][0]["InstancePools"]] == [0, 1]
    assert desk.account.billing() == ["endpoint m (ml.g6.2xlarge, us-east-2)"]


def test_without_capacity_it_fails_after_the_time_out_in_aws_s_words_and_never_bills(desk: Desk) -> None:
    offer(desk.account, "us-east-2", {"ml.g6.xlarge": (1, 0)})
    desk.endpoint("ml.g6.xlarge")
    desk.account.clock.sleep(299)
    assert desk.sagemaker.describe_endpoint(EndpointName="m")["EndpointStatus"] == "Creating"
    desk.account.clock.sleep(40)
    found = desk.sagemaker.describe_endpoint(EndpointName="m")
    assert (found["EndpointStatus"], found["FailureReason"]) == ("Failed", boot.NO_CAPACITY)
    assert desk.account.bills == []


def test_a_log_group_appears_only_after_placement_and_outlives_its_endpoint(desk: Desk) -> None:
    desk.endpoint("ml.g6.xlarge")
    group = {"logGroupName": "/aws/sagemaker/Endpoints/m"}
    with pytest.raises(ClientError) as error:
        desk.logs.describe_log_streams(**group)
    assert told(error) == ("ResourceNotFoundException", "The specified log group does not exist.")
    desk.account.clock.sleep(700)
    desk.sagemaker.delete_endpoint(EndpointName="m")
    desk.account.clock.sleep(120)
    assert len(desk.logs.describe_log_streams(**group)["logStreams"]) == 1


def test_a_creating_endpoint_refuses_deletion_word_for_word(desk: Desk) -> None:
    desk.endpoint("ml.g6.xlarge")
    with pytest.raises(ClientError) as error:
        desk.sagemaker.delete_endpoint(EndpointName="m")
    assert told(error) == (
        "ValidationException",
        'Cannot update in-progress endpoint "arn:aws:sagemaker:us-east-2:123456789012:endpoint/m".',
    )


def test_a_pool_holds_quota_of_every_type_and_a_second_endpoint_is_refused_as_in_the_article(desk: Desk) -> None:
    desk.endpoint("ml.g6.xlarge", "ml.g6.2xlarge")
    variant = {"VariantName": "V", "ModelName": "m", "InitialInstanceCount": 1, "InstanceType": "ml.g6.2xlarge"}
    desk.sagemaker.create_endpoint_config(EndpointConfigName="n", ProductionVariants=[variant])
    with pytest.raises(ClientError) as error:
        desk.sagemaker.create_endpoint(EndpointName="n", EndpointConfigName="n")
    code, words = told(error)
    assert code == "ResourceLimitExceeded"
    assert words.startswith(
        "The account-level service limit 'ml.g6.2xlarge for endpoint usage' is 1 Instances, with current utilization "
        "of 1 Instances and a request delta of 1 Instances."
    )


def test_quotas_come_in_pages_of_a_hundred_and_too_many_at_once_are_throttled(desk: Desk) -> None:
    offer(desk.account, "us-east-2", {"ml.g6.xlarge": (1, 1)}, others=250)
    first = desk.service_quotas.list_service_quotas(ServiceCode="sagemaker")
    assert (len(first["Quotas"]), "NextToken" in first) == (100, True)
    pages = desk.service_quotas.get_paginator("list_service_quotas").paginate(ServiceCode="sagemaker")
    assert [len(page["Quotas"]) for page in pages] == [100, 100, 51]
    desk.account.answer_after = 0.02

    def ask(_: int) -> str:
        try:
            desk.service_quotas.list_service_quotas(ServiceCode="sagemaker")
        except ClientError as error:
            return str(error.response["Error"]["Code"])
        return "answered"

    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(ask, range(12)))
    assert set(answers) == {"answered", "TooManyRequestsException"}


def test_the_registry_has_pinned_floating_soci_and_foreign_tags(desk: Desk) -> None:
    rows = desk.ecr.describe_images(registryId=DLC, repositoryName="vllm")["imageDetails"]
    tags = {tag for row in rows for tag in row["imageTags"]}
    assert {"0.30-gpu-py312", "server-sagemaker-cuda"} <= tags
    assert any(tag.endswith("-soci") for tag in tags)
    newest = max(rows, key=lambda row: row["imagePushedAt"])
    assert newest["imageTags"][0].startswith("0.9.2")


def test_a_stream_is_read_by_botocore_and_breaks_in_the_middle(desk: Desk) -> None:
    desk.endpoint("ml.g6.xlarge")
    desk.account.clock.sleep(700)
    asked = {"EndpointName": "m", "Body": b"{}"}
    parts = [
        e["PayloadPart"]["Bytes"] for e in desk.sagemaker_runtime.invoke_endpoint_with_response_stream(**asked)["Body"]
    ]
    assert b"".join(parts).endswith(b"data: [DONE]\n\n")
    assert not all(part.endswith(b"\n\n") for part in parts)
    desk.account.model = Script(breaks_after=2)
    with pytest.raises(EventStreamError, match="the model stopped"):
        list(desk.sagemaker_runtime.invoke_endpoint_with_response_stream(**asked)["Body"])


def test_an_endpoint_that_does_not_serve_is_not_found_by_its_runtime(desk: Desk) -> None:
    with pytest.raises(ClientError) as error:
        desk.sagemaker_runtime.invoke_endpoint(EndpointName="m", Body=b"{}")
    assert told(error) == ("ValidationError", "Endpoint m of account 123456789012 not found.")


EC2_REFUSALS = [
    (
        "us-east-2a",
        0,
        8,
        "InsufficientInstanceCapacity",
        "We currently do not have sufficient g6.xlarge capacity in the",
    ),
    (
        "us-east-2a",
        1,
        0,
        "VcpuLimitExceeded",
        "You have requested more vCPU capacity than your current vCPU limit of 0",
    ),
    ("us-east-2c", 1, 8, "Unsupported", "Your requested instance type (g6.xlarge) is not supported in your requested"),
]


@pytest.mark.parametrize(("zone", "free", "vcpus", "code", "words"), EC2_REFUSALS, ids=[row[3] for row in EC2_REFUSALS])
def test_a_machine_is_refused_in_ec2_s_words(
    desk: Desk, zone: str, free: int, vcpus: int, code: str, words: str
) -> None:
    desk.account["us-east-2"].capacity["g6.xlarge@us-east-2a"] = free
    desk.account["us-east-2"].quotas["G"] = Quota("Running On-Demand G and VT instances", "L-DB2E81BA", vcpus, "ec2")
    with pytest.raises(ClientError) as error:
        desk.ec2.run_instances(
            ImageId="ami-1", InstanceType="g6.xlarge", MinCount=1, MaxCount=1, SubnetId=f"subnet-{zone}"
        )
    assert told(error)[0] == code
    assert told(error)[1].startswith(words)


def test_the_same_client_token_is_the_same_machine(desk: Desk) -> None:
    desk.account["us-east-2"].capacity["g6.xlarge@us-east-2a"] = 2
    desk.account["us-east-2"].quotas["G"] = Quota("Running On-Demand G and VT instances", "L-DB2E81BA", 8, "ec2")
    asked = {
        "ImageId": "ami-1",
        "InstanceType": "g6.xlarge",
        "MinCount": 1,
        "MaxCount": 1,
        "SubnetId": "subnet-us-east-2a",
    }
    made = [desk.ec2.run_instances(ClientToken="t", **asked)["Instances"][0]["InstanceId"] for _ in range(2)]
    assert made[0] == made[1]
    assert len(desk.account.bills) == 1


def test_a_schedule_fires_once_at_its_moment_and_goes(desk: Desk) -> None:
    desk.endpoint("ml.g6.xlarge")
    target = {
        "Arn": "arn:aws:scheduler:::aws-sdk:sagemaker:deleteEndpoint",
        "RoleArn": "arn:aws:iam::123456789012:role/r",
        "Input": '{"EndpointName": "m"}',
    }
    rest = {"FlexibleTimeWindow": {"Mode": "OFF"}, "Target": target, "ActionAfterCompletion": "DELETE"}
    with pytest.raises(ClientError) as error:
        desk.scheduler.create_schedule(Name="s", ScheduleExpression="at(2026-11-29T14:00:00)", **rest)
    assert told(error)[0] == "ValidationException"
    desk.scheduler.create_schedule(Name="s", ScheduleExpression="at(2026-11-29T15:30:00)", **rest)
    desk.account.clock.sleep(40 * 60)
    assert (desk.account["us-east-2"].endpoints, desk.account["us-east-2"].schedules) == ({}, {})
