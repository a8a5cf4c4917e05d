"""What a machine boots and what it serves with: the newest pinned vLLM container, and the Deep Learning AMI."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clouds.errors import NotFound
from clouds.models import Call, Scope

if TYPE_CHECKING:
    from clouds.aws.api import AwsApi

REGISTRY = "763104351884"
"""AWS's registry of Deep Learning Containers (article of 2026-09-26)."""
REPOSITORY = "vllm"
# Floating aliases (0.30-gpu-py312) move and -soci tags are indexes of another image: neither can be repeated. A patch
# rebuild of an older line can be the newest push, so the version decides (article of 2026-09-26).
_PINNED = re.compile(
    r"(?P<version>\d+\.\d+\.\d+)-gpu-py\d+-cu(?P<cuda>\d+)-(?!.*arm64).*-sagemaker-v(?P<build>\d+\.\d+)"
)
_AMI = "/aws/service/deeplearning/ami/x86_64/{}/latest/ami-id"
_AMI_KINDS = (
    "base-oss-nvidia-driver-gpu-ubuntu-22.04",
    "base-oss-nvidia-driver-ubuntu-22.04",
    "base-oss-nvidia-driver-gpu-ubuntu-24.04",
    "base-oss-nvidia-driver-ubuntu-24.04",
)
"""Names that AWS's docs have used for the same image (read 2026-11-29); the first that is there is taken."""
_AMI_NAME = "Deep Learning Base OSS Nvidia Driver GPU AMI (Ubuntu *)*"

CONTAINERS = Call(
    "ecr",
    "DescribeImages",
    {"registryId": REGISTRY, "repositoryName": REPOSITORY, "filter": {"tagStatus": "TAGGED"}},
)
READS = (CONTAINERS, Call("ssm", "GetParameter"), Call("ec2", "DescribeImages"))


@dataclass(frozen=True)
class Container:
    """One pinned container image. `uri` names it by tag, `exact` by digest; `pushed` is ISO 8601."""

    uri: str
    tag: str
    version: str
    digest: str
    pushed: str
    bytes: int

    @property
    def exact(self) -> str:
        """The image by digest: no later push can change what it names."""
        return f"{self.uri.rsplit(':', 1)[0]}@{self.digest}"


@dataclass(frozen=True)
class Ami:
    """One machine image. `found` says how: its public parameter, or the fallback search."""

    id: str
    name: str
    created: str
    root_device: str
    root_gib: int
    found: str


def newest_vllm(api: AwsApi, region: str, *, version: str = "") -> Container:
    """The newest pinned SageMaker build of vLLM in a region, or of one version. Raises NotFound."""
    details = api.send(CONTAINERS, scope=Scope(region))["imageDetails"]
    found = [
        (_rank(pin), pin[0], detail)
        for detail in details
        for tag in detail.get("imageTags", ())
        if (pin := _PINNED.fullmatch(tag)) and version in ("", pin["version"])
    ]
    if not found:
        raise NotFound(
            f"looking for a pinned vLLM {version or 'release'} for SageMaker in {region}",
            answered=f"none among {len(details)} images of {REGISTRY}/{REPOSITORY}",
            fix="Name another version or region, or give the image yourself.",
        )
    _, tag, detail = max(found, key=lambda item: (item[0], item[1]))
    return Container(
        uri=f"{REGISTRY}.dkr.ecr.{region}.amazonaws.com/{REPOSITORY}:{tag}",
        tag=tag,
        version=tag.split("-", 1)[0],
        digest=detail["imageDigest"],
        pushed=_iso(detail.get("imagePushedAt")),
        bytes=int(detail.get("imageSizeInBytes", 0)),
    )


def newest_ami(api: AwsApi, region: str) -> Ami:
    """The Deep Learning base AMI by its public parameter, else the newest that Amazon publishes. Raises NotFound."""
    for name in (_AMI.format(kind) for kind in _AMI_KINDS):
        try:
            ami = api.send(Call("ssm", "GetParameter", {"Name": name}), scope=Scope(region))["Parameter"]["Value"]
        except NotFound:
            continue
        images = api.send(Call("ec2", "DescribeImages", {"ImageIds": [ami]}), scope=Scope(region))["Images"]
        if images:
            return _ami(images[0], f"public parameter {name}")
    search = Call(
        "ec2",
        "DescribeImages",
        {
            "Owners": ["amazon"],
            "Filters": [
                {"Name": "name", "Values": [_AMI_NAME]},
                {"Name": "state", "Values": ["available"]},
                {"Name": "architecture", "Values": ["x86_64"]},
            ],
        },
    )
    images = api.send(search, scope=Scope(region))["Images"]
    if not images:
        raise NotFound(
            f"looking for the Deep Learning AMI in {region}",
            answered="neither its public parameter nor an image of that name",
            fix="Name an AMI with the NVIDIA driver and Docker yourself, or use another region.",
        )
    return _ami(max(images, key=lambda image: str(image.get("CreationDate", ""))), f"search for {_AMI_NAME}")


def _rank(pin: re.Match[str]) -> tuple[tuple[int, ...], int, tuple[int, ...]]:
    return _numbers(pin["version"]), int(pin["cuda"]), _numbers(pin["build"])


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


def _ami(image: dict[str, Any], found: str) -> Ami:
    root = image.get("RootDeviceName", "/dev/sda1")
    sizes = [
        m.get("Ebs", {}).get("VolumeSize", 0)
        for m in image.get("BlockDeviceMappings", ())
        if m.get("DeviceName") == root
    ]
    return Ami(
        image["ImageId"],
        image.get("Name", ""),
        _iso(image.get("CreationDate")),
        root,
        int(max(sizes, default=0)),
        found,
    )


def _iso(value: Any) -> str:
    return value.isoformat() if hasattr(value, "isoformat") else str(value or "")
