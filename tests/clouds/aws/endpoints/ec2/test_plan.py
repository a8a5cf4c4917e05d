"""A machine's plan: places in order under the ceiling, one address for SSH, its own end, a disk that goes with it."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess

import pytest

from clouds.errors import CloudError, Conflict, InvalidInput, NotFound, QuotaTooSmall
from clouds.models import DeploymentPlan
from tests.clouds.aws.rig import DIGEST, Rig

BASH = shutil.which("bash") or "/bin/bash"
EVERYWHERE = "0.0.0.0"  # noqa: S104 - inside the container
CHANGES = ("Create", "Put", "Delete", "Authorize", "Run", "Send", "Terminate", "Add")


def runs(plan: DeploymentPlan) -> list[dict[str, object]]:
    return [dict(step.call.parameters) for step in plan.steps if step.call.operation == "RunInstances"]


def test_planning_changes_nothing_and_names_every_place_in_order(rig: Rig) -> None:
    plan = rig.ec2.plan(rig.machine_spec())
    assert [one for one in rig.seam.operations() if one.split(".")[1].startswith(CHANGES)] == []
    assert [step.text for step in plan.steps] == [
        "make a security group",
        "open it for SSH from 203.0.113.7/32 alone; the model's port stays closed",
        "start one g6.xlarge (on-demand) in us-east-1a; it ends itself at 2026-11-29 19:00 UTC",
        "if none is free there: start one g6.xlarge (on-demand) in us-east-1b; it ends itself at 2026-11-29 19:00 UTC",
        "if none is free there: start one g6.2xlarge (on-demand) in us-east-1a; it ends itself at 2026-11-29 19:00 UTC",
        "if none is free there: start one g6.2xlarge (on-demand) in us-east-1b; it ends itself at 2026-11-29 19:00 UTC",
    ]
    assert plan.price is not None
    assert (str(plan.ref), plan.price.amount, plan.worst_usd_per_hour) == (
        "aws:ec2:us-east-1:gemma-4-e2b",
        0.8048,
        0.9776,
    )


def test_the_machine_is_closed_encrypted_and_ends_itself(rig: Rig) -> None:
    first = runs(rig.ec2.plan(rig.machine_spec()))[0]
    assert first["InstanceInitiatedShutdownBehavior"] == "terminate"
    assert first["MetadataOptions"] == {
        "HttpTokens": "required",
        "HttpEndpoint": "enabled",
        "HttpPutResponseHopLimit": 1,
    }
    assert first["BlockDeviceMappings"] == [
        {
            "DeviceName": "/dev/sda1",
            "Ebs": {"VolumeSize": 150, "VolumeType": "gp3", "Encrypted": True, "DeleteOnTermination": True},
        }
    ]
    assert "IamInstanceProfile" not in first
    assert "KeyName" not in first
    text = str(first["UserData"])
    assert "OnCalendar=2026-11-29 19:00:00 UTC" in text
    assert text.index("modelrig-end.timer") < text.index("docker pull")
    assert "-p 127.0.0.1:8000:8000" in text
    assert f"docker.io/vllm/vllm-openai:v0.30.0@{DIGEST}" in text


def test_ssh_is_open_to_one_address_and_nothing_else_is(rig: Rig) -> None:
    plan = rig.ec2.plan(rig.machine_spec(settings={"ssh_from": "198.51.100.20/32"}))
    (rule,) = [s.call.parameters for s in plan.steps if s.call.operation == "AuthorizeSecurityGroupIngress"]
    assert rule["IpPermissions"] == [
        {"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "IpRanges": [{"CidrIp": "198.51.100.20/32"}]}
    ]


def test_spot_has_the_ceiling_as_its_price_and_ends_when_it_is_taken_back(rig: Rig) -> None:
    plan = rig.ec2.plan(rig.machine_spec(settings={"market": "spot"}))
    assert runs(plan)[0]["InstanceMarketOptions"] == {
        "MarketType": "spot",
        "SpotOptions": {"SpotInstanceType": "one-time", "InstanceInterruptionBehavior": "terminate", "MaxPrice": "1.5"},
    }
    assert plan.price is not None
    assert plan.price.basis.startswith("spot")


def test_llama_cpp_serves_a_gguf_with_its_own_flags(rig: Rig) -> None:
    settings = {"engine": "llama.cpp", "file": "gemma-4-E2B-it-q4_0-exact.gguf", "parallel": 4, "--spec-draft-n-max": 2}
    model = "xbill9/gemma-4-E2B-it-qat-q4_0-exact-gguf"
    plan = rig.ec2.plan(rig.machine_spec(model=model, settings=settings))
    text = str(runs(plan)[0]["UserData"])
    line = next(line for line in text.splitlines() if line.startswith("exec docker run"))
    words = shlex.split(line)
    image = f"ghcr.io/ggml-org/llama.cpp:server-cuda@{DIGEST}"
    assert words[words.index(image) + 1 :] == [
        "-hf", model, "--host", EVERYWHERE, "--port", "8000", "--hf-file", "gemma-4-E2B-it-q4_0-exact.gguf",
        "-ngl", "99",        "-fa", "1", "-c", "8192", "--parallel", "4", "--metrics", "--spec-draft-n-max", "2",
    ]  # fmt: skip


def test_an_image_by_digest_is_taken_as_it_is(rig: Rig) -> None:
    image = f"registry.example/team/vllm@{DIGEST}"
    plan = rig.ec2.plan(rig.machine_spec(settings={"image": image}))
    assert plan.engine is not None
    assert plan.engine.image == image


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"engine": "llama.cpp", "file": "a.gguf", "--alias": 'it\'s $(touch x) `y` "z"'},
        {"hf_token_from": "arn:aws:secretsmanager:us-east-1:123456789012:secret:hf-AbCdEf", "tool_calls": True},
    ],
)
def test_the_machine_s_script_is_sound_shell_whatever_is_in_it(rig: Rig, settings: dict[str, str]) -> None:
    text = str(runs(rig.ec2.plan(rig.machine_spec(settings=settings)))[0]["UserData"])
    assert subprocess.run([BASH, "-n"], input=text, text=True, check=False).returncode == 0
    assert "hf_" not in re.sub(r"hf_token_from|HF_TOKEN", "", text)
    inner = next(line for line in text.splitlines() if line.startswith("exec docker run"))
    if "--alias" in settings:
        assert shlex.split(inner)[-1] == settings["--alias"]
    checker = shutil.which("shellcheck")
    if checker:
        done = subprocess.run([checker, "-S", "warning", "-"], input=text, text=True, capture_output=True, check=False)
        assert done.returncode == 0, done.stdout


def test_a_secret_is_read_by_a_role_of_this_machine_alone(rig: Rig) -> None:
    arn = "arn:aws:secretsmanager:us-east-1:123456789012:secret:hf-AbCdEf"
    plan = rig.ec2.plan(rig.machine_spec(settings={"hf_token_from": arn}))
    assert [step.call.operation for step in plan.steps][:4] == [
        "CreateRole",
        "PutRolePolicy",
        "CreateInstanceProfile",
        "AddRoleToInstanceProfile",
    ]
    assert runs(plan)[0]["IamInstanceProfile"] == {"Name": "modelrig-gemma-4-e2b"}


def test_too_few_vcpus_is_a_quota_and_says_how_many(rig: Rig) -> None:
    rig.account["us-east-1"].quotas["Running On-Demand G and VT instances"].value = 2
    with pytest.raises(QuotaTooSmall) as told:
        rig.ec2.plan(rig.machine_spec())
    assert told.value.answered == "Running On-Demand G and VT instances: 2 of 2 vCPUs are left, 4 are needed"
    assert told.value.code == "L-DB2E81BA"


def test_a_type_with_more_vcpus_than_are_left_is_out_by_name(rig: Rig) -> None:
    rig.account["us-east-1"].quotas["Running On-Demand G and VT instances"].value = 4
    plan = rig.ec2.plan(rig.machine_spec())
    assert {run["InstanceType"] for run in runs(plan)} == {"g6.xlarge"}
    assert "g6.2xlarge in us-east-1: it has 8 vCPUs and 4 of 4 are left" in plan.left_out


def test_zones_are_tried_as_named_and_one_that_does_not_offer_it_is_not(rig: Rig) -> None:
    plan = rig.ec2.plan(rig.machine_spec(settings={"zones": "us-east-1b,us-east-1c"}, instance_types=("g6.xlarge",)))
    assert [step.text.split(" in ")[-1][:10] for step in plan.steps if "start" in step.text] == ["us-east-1b"]


def test_no_default_network_is_said_with_the_way_out(rig: Rig) -> None:
    rig.account.default_vpc = False
    with pytest.raises(NotFound, match="there is no default VPC") as told:
        rig.ec2.plan(rig.machine_spec())
    assert "subnet" in told.value.fix


def test_a_group_that_somebody_else_made_under_that_name_is_refused(rig: Rig) -> None:
    rig.account["us-east-1"].groups["sg-1"] = {"GroupName": "modelrig-gemma-4-e2b", "Description": "", "rules": []}
    with pytest.raises(Conflict, match="that modelrig did not make"):
        rig.ec2.plan(rig.machine_spec())


WRONG = [
    ("an unknown setting", {"settings": {"engin": "vllm"}}, "settings", "Did you mean engine?"),
    ("an engine nobody has", {"settings": {"engine": "tgi"}}, "engine", "vllm, llama.cpp"),
    ("a token", {"settings": {"hf_token": "hf_abc"}}, "hf_token", "Secrets Manager"),
    ("a flag that is ours", {"settings": {"--host": EVERYWHERE}}, "settings", "cannot be set"),
    ("a flag with a key", {"settings": {"--api-key": "x"}}, "settings", "cannot be set"),
    ("a flag with a line break", {"settings": {"--alias": "a\nMODELRIG\nreboot"}}, "--alias", "cannot be shown"),
    ("SSH open to the world", {"settings": {"ssh_from": "0.0.0.0/0"}}, "ssh_from", "4,294,967,296 addresses"),
    ("SSH from no address", {"settings": {"ssh_from": "home"}}, "ssh_from", "not an IPv4 range"),
    ("a disk too small", {"settings": {"disk_gib": 5}}, "disk_gib", "60 to 2000"),
    ("an AMI that is none", {"settings": {"ami": "ubuntu"}}, "ami", "an AMI's id"),
    ("a GGUF for vLLM", {"model": "me/gemma-gguf"}, "model", "llama.cpp"),
    ("types of two kinds", {"instance_types": ("g6.xlarge", "g5.xlarge")}, "instance_types", "not all of one"),
    ("a chip without CUDA", {"accelerator": "Inferentia2"}, "accelerator", "NVIDIA"),
    ("a ceiling below everything", {"max_usd_per_hour": 0.5}, "max_usd_per_hour", "0.8048"),
    ("a name too long", {"name": "x" * 49}, "name", "cannot be an endpoint's name"),
]


@pytest.mark.parametrize(("why", "changes", "field", "words"), WRONG, ids=[row[0] for row in WRONG])
def test_what_is_wrong_is_refused_by_name_and_nothing_is_made(
    rig: Rig, why: str, changes: dict[str, object], field: str, words: str
) -> None:
    with pytest.raises(InvalidInput) as told:
        rig.ec2.plan(rig.machine_spec(**changes))
    assert told.value.field == field
    assert words in f"{told.value} {told.value.fix}"
    assert [one for one in rig.seam.operations() if one.split(".")[1].startswith(CHANGES)] == []


def test_user_data_that_is_too_long_is_refused_before_it_is_sent(rig: Rig) -> None:
    flags = {f"--flag-{number}": "x" * 400 for number in range(20)}
    with pytest.raises(CloudError, match="bytes of user data"):
        rig.ec2.plan(rig.machine_spec(settings=flags))
