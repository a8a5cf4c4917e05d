"""A plan reads only, shows every call as the CLI's own command, and refuses what AWS would refuse too late."""

from __future__ import annotations

import json
import shlex

import pytest

from clouds.errors import CloudError, Conflict, InvalidInput, QuotaTooSmall
from tests.clouds.aws.rig import REGIONS, Rig
from tests.clouds.aws.simulator import Quota, offer

CHANGES = ("Create", "Put", "Delete", "Update", "Add", "Run", "Invoke", "Send", "Terminate", "Attach")


def test_planning_changes_nothing_and_names_every_call_in_order(rig: Rig) -> None:
    plan = rig.plan()
    assert [one for one in rig.seam.operations() if one.split(".")[1].startswith(CHANGES)] == []
    assert [step.call.operation for step in plan.steps] == [
        "CreateRole",
        "PutRolePolicy",
        "CreateRole",
        "PutRolePolicy",
        "CreateModel",
        "CreateEndpointConfig",
        *["CreateSchedule"] * 4,
        "CreateEndpoint",
    ]
    assert {step.location for step in plan.steps} == {"us-east-2"}


def test_the_plan_says_each_price_the_worst_and_what_was_left_out(rig: Rig) -> None:
    plan = rig.plan()
    assert plan.price is not None
    assert (plan.price.amount, plan.worst_usd_per_hour) == (1.1267, 1.222)
    assert plan.warnings[0].startswith("us-east-2: ml.g6.xlarge $1.1267/h, ml.g6.2xlarge $1.222/h (AWS Price List API")
    assert plan.left_out == (
        "ml.g6.4xlarge in us-east-2: $1.654 an hour is over the ceiling of $1.5",
        "ml.g6.8xlarge in us-east-2: no price known, so the ceiling could not be kept",
        "ml.g6.16xlarge in us-east-2: no price known, so the ceiling could not be kept",
    )
    assert plan.hardware is not None
    assert (plan.hardware.instance_type, plan.hardware.accelerators) == ("ml.g6.xlarge", ("L4",))


def test_the_model_is_the_article_s_call_with_the_image_by_digest(rig: Rig) -> None:
    (model,) = [step.call.parameters for step in rig.plan().steps if step.call.operation == "CreateModel"]
    container = model["PrimaryContainer"]
    assert container["Image"] == "763104351884.dkr.ecr.us-east-2.amazonaws.com/vllm@sha256:" + "4f2c" * 16
    assert container["Environment"] == {
        "SM_VLLM_MODEL": "google/gemma-4-E2B-it",
        "SM_VLLM_SERVED_MODEL_NAME": "google/gemma-4-E2B-it",
        "SM_VLLM_MAX_MODEL_LEN": "8192",
        "SM_VLLM_GPU_MEMORY_UTILIZATION": "0.9",
    }


def test_the_image_is_named_by_version_tag_and_digest(rig: Rig) -> None:
    texts = [step.text for step in rig.plan().steps]
    tag = "0.30.0-gpu-py312-cu130-ubuntu24.04-sagemaker-v1.1"
    assert f"make the model: vLLM 0.30.0 ({tag}, sha256:4f2c4f2c…) with google/gemma-4-E2B-it" in texts


def test_pools_are_in_order_and_every_time_out_is_set(rig: Rig) -> None:
    (config,) = [step.call.parameters for step in rig.plan().steps if step.call.operation == "CreateEndpointConfig"]
    (variant,) = config["ProductionVariants"]
    assert variant == {
        "VariantName": "AllTraffic",
        "ModelName": "gemma-4-e2b",
        "InitialInstanceCount": 1,
        "InstancePools": [
            {"InstanceType": "ml.g6.xlarge", "Priority": 1},
            {"InstanceType": "ml.g6.2xlarge", "Priority": 2},
        ],
        "VariantInstanceProvisionTimeoutInSeconds": 300,
        "ContainerStartupHealthCheckTimeoutInSeconds": 1800,
        "ModelDataDownloadTimeoutInSeconds": 1800,
    }


def test_larger_weights_get_the_longest_time_outs(rig: Rig) -> None:
    plan = rig.plan(model="google/gemma-4-26b-a4b-it-qat-w4a16-ct", settings={"startup_seconds": 2400})
    assert _variant(plan)["ContainerStartupHealthCheckTimeoutInSeconds"] == 2400
    plan = rig.plan(model="google/gemma-4-31b-it")
    assert _variant(plan)["ContainerStartupHealthCheckTimeoutInSeconds"] == 3600
    assert any("takes about 57.7 GiB by its name and 1 x L4 has 22.4 GiB" in word for word in plan.warnings)


def _variant(plan: object) -> dict[str, object]:
    calls = [step.call.parameters for step in plan.steps if step.call.operation == "CreateEndpointConfig"]  # type: ignore[attr-defined]
    return calls[0]["ProductionVariants"][0]


def test_every_command_is_a_whole_shell_line_that_names_region_and_account(rig: Rig) -> None:
    for step in rig.plan().steps:
        words = shlex.split(step.command)
        assert words[words.index("--region") + 1] == "us-east-2"
        assert "123456789012" in words
        at = words.index("aws")
        assert words[at + 1] in {"iam", "sagemaker", "scheduler"}


def test_a_profile_takes_the_place_of_the_account(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "work")
    assert all(step.command.endswith("--region us-east-2 --profile work") for step in rig.plan().steps)
    assert not any("test " in step.command for step in rig.plan().steps)


def test_roles_that_exist_and_allow_the_same_are_not_made_again(rig: Rig) -> None:
    rig.deploy()
    plan = rig.plan(name="second", regions=("us-west-2",))
    assert plan.steps[0].call.operation == "CreateModel"
    rig.account.roles["modelrig-scheduler"]["policies"]["modelrig-scheduler"] = '{"Statement": []}'
    plan = rig.plan(name="second", regions=("us-west-2",))
    assert [step.call.operation for step in plan.steps][:2] == ["PutRolePolicy", "CreateModel"]


def test_regions_are_tried_in_the_order_given_and_each_has_its_own_calls(rig: Rig) -> None:
    plan = rig.plan(regions=("us-west-2", "us-east-1"))
    assert str(plan.ref) == "aws:sagemaker:us-west-2:gemma-4-e2b"
    ends = [step.location for step in plan.steps if step.call.operation == "CreateEndpoint"]
    assert ends == ["us-west-2", "us-east-1"]


def test_a_type_without_quota_left_is_out_since_a_pool_holds_one_of_each(rig: Rig) -> None:
    rig.deploy(name="first", regions=("us-east-2",))
    with pytest.raises(QuotaTooSmall) as told:
        rig.plan(name="second")
    assert told.value.answered == "the quota is 1 and 1 in use"
    assert "Service Quotas for us-east-2" in told.value.fix
    plan = rig.plan(name="second", regions=("us-east-2", "us-west-2"))
    assert plan.ref.location == "us-west-2"
    assert "ml.g6.xlarge in us-east-2: the quota is 1 and 1 in use" in plan.left_out


def test_not_offered_is_not_the_same_as_a_quota_of_zero(rig: Rig) -> None:
    del rig.account["us-east-2"].quotas["ml.g6.xlarge for endpoint usage"]
    rig.account["us-east-2"].quotas["ml.g6.2xlarge for endpoint usage"].value = 0
    with pytest.raises(QuotaTooSmall):
        rig.plan()
    plan = rig.plan(regions=REGIONS)
    assert "ml.g6.xlarge in us-east-2: not offered" in plan.left_out
    assert "ml.g6.2xlarge in us-east-2: the quota is 0" in plan.left_out


def test_a_quota_that_cannot_be_read_is_a_warning_and_not_a_no(rig: Rig) -> None:
    rig.account["us-east-2"].denied = True
    plan = rig.plan()
    (word,) = [word for word in plan.warnings if "could not be read" in word]
    assert word.startswith("the quota of ml.g6.xlarge, ml.g6.2xlarge in us-east-2 could not be read (AccessDenied")
    assert "service control policy" in word
    assert [step.location for step in plan.steps if step.call.operation == "CreateEndpoint"] == ["us-east-2"]


def test_what_is_dearer_than_the_ceiling_everywhere_is_refused_with_the_cheapest(rig: Rig) -> None:
    with pytest.raises(InvalidInput, match=r"us-east-2: the cheapest is \$1.1267 an hour") as told:
        rig.plan(max_usd_per_hour=1.0)
    assert (told.value.field, told.value.fix) == ("max_usd_per_hour", "Allow max_usd_per_hour=1.1267.")
    with pytest.raises(InvalidInput, match="no region can be used: ") as told:
        rig.plan(regions=("us-east-2", "us-west-2"), max_usd_per_hour=1.0)
    assert (told.value.field, told.value.fix) == ("max_usd_per_hour", "Allow max_usd_per_hour=1.1267.")


def test_six_types_make_a_pool_of_five(rig: Rig) -> None:
    sizes = ("xlarge", "2xlarge", "4xlarge", "8xlarge", "16xlarge")
    for size in sizes:
        offer(rig.account, "us-east-2", {f"ml.g6.{size}": (1, 1)})
        rig.account.prices[f"sagemaker-hosting/ml.g6.{size}", "us-east-2"] = 1.2
    types = tuple(f"ml.g6.{size}" for size in sizes)
    assert len(_variant(rig.plan(instance_types=types))["InstancePools"]) == 5  # type: ignore[arg-type]


def test_a_name_that_somebody_else_uses_is_refused_before_anything_is_made(rig: Rig) -> None:
    rig.deploy(regions=("us-east-2",))
    rig.account.tags.clear()
    with pytest.raises(Conflict, match="exists there that modelrig did not make"):
        rig.plan()


WRONG = [
    ("an unknown setting", {"settings": {"max_model_length": 5}}, "settings", "Did you mean max_model_len?"),
    ("a token instead of a reference", {"settings": {"HF_TOKEN": "hf_abc"}}, "HF_TOKEN", "readable by everybody"),
    ("a token as the reference", {"settings": {"hf_token_from": "hf_abcdefgh"}}, "hf_token_from", "not a Secrets"),
    ("a token as a vLLM flag", {"settings": {"SM_VLLM_HF_TOKEN": "hf_abc"}}, "SM_VLLM_HF_TOKEN", "readable"),
    ("a start-up time-out above AWS's", {"settings": {"startup_seconds": 4000}}, "startup_seconds", "60 to 3600"),
    ("a wait below AWS's", {"settings": {"capacity_wait_seconds": 60}}, "capacity_wait_seconds", "300 to 3600"),
    ("a share above one", {"settings": {"gpu_memory_utilization": 90}}, "gpu_memory_utilization", "0.1 to 0.98"),
    ("an AMI version that does not exist", {"settings": {"ami": "al2023-none"}}, "ami", "is none of"),
    ("an image that is none", {"settings": {"image": "has space"}}, "image", "does not match"),
    ("a name with a space", {"name": "my endpoint"}, "name", "cannot be an endpoint's name"),
    ("a name too long for its schedule", {"name": "x" * 47}, "name", "cannot be an endpoint's name"),
    ("a model id without an owner", {"model": "gemma-4"}, "model", "not a Hugging Face model id"),
    ("a GGUF repository", {"model": "me/gemma-4-gguf"}, "model", "does not load"),
    ("an on-device format", {"model": "google/gemma-4-E2B-it-qat-mobile-x"}, "model", "on-device"),
    ("types of two kinds", {"instance_types": ("ml.g6.xlarge", "ml.g5.xlarge")}, "instance_types", "not all of one"),
    ("a type that does not exist", {"instance_types": ("ml.g99.huge",)}, "instance_types", "no accelerated type"),
    ("a type and another accelerator", {"instance_types": ("ml.g5.xlarge",)}, "accelerator", "is not what"),
    ("an accelerator nobody knows", {"accelerator": "L40"}, "accelerator", "L40S"),
    ("an end before the start", {"ttl_hours": 0.0}, "ttl_hours", "720"),
    ("no ceiling", {"max_usd_per_hour": 0.0}, "max_usd_per_hour", "not above 0"),
    ("a region that is none", {"regions": ("mars-1",)}, "region", "is not an AWS region"),
    (
        "tool calls without a parser",
        {"model": "a/unheard-of", "settings": {"tool_calls": True}},
        "tool_calls",
        "parser",
    ),
]


@pytest.mark.parametrize(("why", "changes", "field", "words"), WRONG, ids=[row[0] for row in WRONG])
def test_what_is_wrong_is_refused_by_name_and_nothing_is_made(
    rig: Rig, why: str, changes: dict[str, object], field: str, words: str
) -> None:
    with pytest.raises(InvalidInput) as told:
        rig.plan(**changes)
    assert told.value.field == field
    assert words in f"{told.value} {told.value.fix}"
    assert [one for one in rig.seam.operations() if one.split(".")[1].startswith(CHANGES)] == []


def test_a_secret_is_a_reference_that_only_this_deployment_may_read(rig: Rig) -> None:
    arn = "arn:aws:secretsmanager:us-east-2:123456789012:secret:hf-AbCdEf"
    plan = rig.plan(settings={"hf_token_from": arn})
    (model,) = [step.call.parameters for step in plan.steps if step.call.operation == "CreateModel"]
    assert model["PrimaryContainer"]["Environment"]["HF_TOKEN_SECRET_ARN"] == arn
    policies = [step.call.parameters for step in plan.steps if step.call.operation == "PutRolePolicy"]
    own = next(one for one in policies if one["PolicyName"] == "modelrig-gemma-4-e2b")
    assert json.loads(own["PolicyDocument"])["Statement"] == [
        {"Effect": "Allow", "Action": "secretsmanager:GetSecretValue", "Resource": arn}
    ]
    assert any("not verified" in word for word in plan.warnings)
    endpoint = rig.deploy(settings={"hf_token_from": arn})
    assert "modelrig-gemma-4-e2b" in rig.account.roles["modelrig-sagemaker"]["policies"]
    rig.sagemaker.delete(plan.ref, rig.book, rig.heard)
    assert endpoint.state == "ready"
    assert set(rig.account.roles["modelrig-sagemaker"]["policies"]) == {"modelrig-sagemaker"}


def test_weights_in_s3_are_mounted_and_their_folder_alone_is_readable(rig: Rig) -> None:
    plan = rig.plan(model="s3://my-models/gemma/e2b/", name="gemma")
    (model,) = [step.call.parameters for step in plan.steps if step.call.operation == "CreateModel"]
    assert model["PrimaryContainer"]["ModelDataSource"]["S3DataSource"]["S3Uri"] == "s3://my-models/gemma/e2b/"
    assert model["PrimaryContainer"]["Environment"]["SM_VLLM_MODEL"] == "/opt/ml/model"
    policy = next(s.call.parameters for s in plan.steps if s.call.parameters.get("PolicyName") == "modelrig-gemma")
    assert "arn:aws:s3:::my-models/gemma/e2b/*" in policy["PolicyDocument"]


def test_tool_calls_set_the_parser_of_the_family(rig: Rig) -> None:
    plan = rig.plan(settings={"tool_calls": True, "SM_VLLM_MAX_NUM_SEQS": 16, "SM_VLLM_ENFORCE_EAGER": True})
    (model,) = [step.call.parameters for step in plan.steps if step.call.operation == "CreateModel"]
    environment = model["PrimaryContainer"]["Environment"]
    assert environment["SM_VLLM_TOOL_CALL_PARSER"] == "gemma4"
    assert (environment["SM_VLLM_ENABLE_AUTO_TOOL_CHOICE"], environment["SM_VLLM_ENFORCE_EAGER"]) == ("", "")
    assert environment["SM_VLLM_MAX_NUM_SEQS"] == "16"


def test_no_role_of_ours_gives_more_than_it_needs(rig: Rig) -> None:
    text = " ".join(step.command for step in rig.plan().steps)
    assert "FullAccess" not in text
    for step in rig.plan().steps:
        if step.call.operation != "PutRolePolicy":
            continue
        for statement in json.loads(step.call.parameters["PolicyDocument"])["Statement"]:
            actions = statement["Action"] if isinstance(statement["Action"], list) else [statement["Action"]]
            assert not any("*" in action for action in actions)
            open_to_all = {"ecr:GetAuthorizationToken", "cloudwatch:PutMetricData"}
            assert statement["Resource"] != "*" or set(actions) <= open_to_all


def test_a_region_that_refuses_us_is_left_out_in_its_own_words(rig: Rig) -> None:
    name = "ml.g6.xlarge for endpoint usage"
    rig.account["eu-west-1"].quotas[name] = Quota(name, "L-1", 1.0)
    with pytest.raises(CloudError, match="no price is known"):
        rig.plan(regions=("eu-west-1",))
    plan = rig.plan(regions=("eu-west-1", "us-east-2"))
    assert any("eu-west-1" in word for word in plan.left_out)


def test_one_copy_over_more_accelerators_than_there_are_is_refused_before_anything_is_sent(rig: Rig) -> None:
    with pytest.raises(InvalidInput, match="4 is more than the 1 accelerator of the instance"):
        rig.plan(settings={"tensor_parallel_size": 4})
    with pytest.raises(InvalidInput, match="4 is more than the 1 accelerator of the instance"):
        rig.ec2.plan(rig.machine_spec(settings={"tensor_parallel_size": 4}))
    assert rig.seam.operations() == []
    assert rig.plan(settings={"tensor_parallel_size": 1}).ref.name == "gemma-4-e2b"
