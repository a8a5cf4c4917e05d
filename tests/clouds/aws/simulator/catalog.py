"""What can be asked for: Service Quotas, the container registry's tags, public parameters, prices."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from tests.clouds.aws.simulator.account import Account, Quota, page
from tests.clouds.aws.simulator.sagemaker import DIGEST, in_use
from tests.clouds.aws.simulator.seam import Refused

Params = Mapping[str, Any]
DLC = "763104351884"
TAG = "0.30.0-gpu-py312-cu130-ubuntu24.04-sagemaker-v1.1"
PUSHED = datetime(2026, 9, 20, tzinfo=UTC)
IMAGES: tuple[tuple[tuple[str, ...], int], ...] = (
    ((TAG, "0.30-gpu-py312", "0.30.0-gpu-py312-cu130-ubuntu24.04-sagemaker"), 0),
    ((f"{TAG}-soci",), 0),
    (("0.30.0-gpu-py312-cu130-ubuntu24.04-sagemaker-v1.0",), -20),
    (("0.9.2-gpu-py312-cu128-ubuntu22.04-sagemaker-v1.9", "0.9-gpu-py312"), 30),
    (("0.11.2-gpu-py312-cu129-ubuntu22.04-sagemaker-v1.2",), -100),
    (("0.30.0-gpu-py312-cu130-ubuntu24.04-ec2-v1.1",), 1),
    (("omni-0.30.0-gpu-py312-cu130-ubuntu24.04-sagemaker-v1.1",), 2),
    (("server-sagemaker-cuda-v1", "server-sagemaker-cuda"), 5),
)
"""Tags of one image, and when it was pushed (days after the newest version): an older line got the newest push."""


def list_quotas(account: Account, region: str, params: Params) -> dict[str, Any]:
    """Rows of one service, 100 a page at most; a type that is not offered has none."""
    _deny(account, region)
    code = params["ServiceCode"]
    rows = [_row(account, region, quota) for quota in account[region].quotas.values() if quota.service == code]
    if params.get("QuotaCode"):
        rows = [row for row in rows if row["QuotaCode"] == params["QuotaCode"]]
    shown, more = page(rows, params, 100)
    return {"Quotas": shown, **more}


def _deny(account: Account, region: str) -> None:
    if account[region].denied:
        raise Refused(
            "AccessDeniedException",
            "User: arn:aws:iam::123456789012:user/dev is not authorized to perform: servicequotas:ListServiceQuotas "
            "with an explicit deny in a service control policy",
        )


def _row(account: Account, region: str, quota: Quota) -> dict[str, Any]:
    return {
        "ServiceCode": quota.service,
        "ServiceName": {"sagemaker": "Amazon SageMaker", "ec2": "Amazon Elastic Compute Cloud (Amazon EC2)"}[
            quota.service
        ],
        "QuotaArn": account.arn("servicequotas", region, f"{quota.service}/{quota.code}"),
        "QuotaCode": quota.code,
        "QuotaName": quota.name,
        "Value": quota.value,
        "Unit": "None",
        "Adjustable": quota.adjustable,
        "GlobalQuota": False,
    }


def offer(account: Account, region: str, kinds: Mapping[str, tuple[float, int]], *, others: int = 0) -> None:
    """Make SageMaker types known in a region: type -> (quota, free instances), among `others` unrelated quotas."""
    for number in range(others):
        name = f"ml.c{number}.large for training job usage"
        account[region].quotas[name] = Quota(name, f"L-{number:08X}", 20.0)
    for kind, (limit, free) in kinds.items():
        name = f"{kind} for endpoint usage"
        account[region].quotas[name] = Quota(name, f"L-E{abs(hash_of(kind)):07X}", float(limit))
        account[region].capacity[kind] = free


@cache
def hash_of(text: str) -> int:
    """A stable number for a name (the built-in hash differs from run to run)."""
    return sum(ord(letter) * 131**place for place, letter in enumerate(text)) % 0xFFFFFFF


def describe_images(account: Account, region: str, params: Params) -> dict[str, Any]:
    if params.get("registryId") != DLC or params["repositoryName"] != "vllm":
        raise Refused(
            "RepositoryNotFoundException",
            f"The repository with name '{params['repositoryName']}' does not exist in the registry with id "
            f"'{params.get('registryId', '')}'",
        )
    wanted = {one["imageTag"] for one in params.get("imageIds", []) if "imageTag" in one}
    rows = [
        {
            "registryId": DLC,
            "repositoryName": "vllm",
            "imageDigest": DIGEST if TAG in tags else f"sha256:{hash_of(tags[0]):064x}",
            "imageTags": list(tags),
            "imageSizeInBytes": 9_000_000_000,
            "imagePushedAt": PUSHED + timedelta(days=days),
        }
        for tags, days in IMAGES
        if not wanted or wanted & set(tags)
    ]
    if wanted and not rows:
        raise Refused("ImageNotFoundException", f"The image with imageId {{imageTag:'{min(wanted)}'}} does not exist.")
    shown, more = page(rows, params, 100, token="nextToken", limit="maxResults")
    return {"imageDetails": shown, **more}


def get_parameters(account: Account, region: str, params: Params) -> dict[str, Any]:
    known = "/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-ubuntu-22.04/latest/ami-id"
    value = f"ami-{hash_of(region):017x}"
    row = {"Name": known, "Type": "String", "Value": value, "Version": 7, "DataType": "text"}
    found = [row] if known in params["Names"] else []
    return {"Parameters": found, "InvalidParameters": [name for name in params["Names"] if name != known]}


def get_parameter(account: Account, region: str, params: Params) -> dict[str, Any]:
    found = get_parameters(account, region, {"Names": [params["Name"]]})["Parameters"]
    if not found:
        raise Refused("ParameterNotFound", "")
    return {"Parameter": found[0]}


def get_products(account: Account, region: str, params: Params) -> dict[str, Any]:
    """Price list rows, as JSON texts; without the filter on the component several rows of one type match."""
    want = {f["Field"]: f["Value"] for f in params.get("Filters", [])}
    rows = []
    for (key, place), usd in account.prices.items():
        service, kind = key.split("/")[:2]
        if (params["ServiceCode"] == "AmazonSageMaker") != (service == "sagemaker-hosting"):
            continue
        for attributes, price in _products(service, kind, place, usd):
            if all(attributes.get(field) == value for field, value in want.items()):
                rows.append(json.dumps(_product(params["ServiceCode"], attributes, price)))
    shown, more = page(rows, params, 100)
    return {"FormatVersion": "aws_v1", "PriceList": shown, **more}


def _products(service: str, kind: str, place: str, usd: float) -> list[tuple[dict[str, str], float]]:
    prefix = {"us-east-1": "USE1", "us-east-2": "USE2", "us-west-2": "USW2"}.get(place, "EUC1")
    if service == "sagemaker-hosting":
        base = {"instanceName": kind, "regionCode": place}
        return [
            (
                {
                    **base,
                    "instanceType": f"{kind}-Cluster",
                    "component": "Cluster",
                    "usagetype": f"{prefix}-Cluster:{kind}",
                },
                usd * 1.1,
            ),
            (
                {
                    **base,
                    "instanceType": f"{kind}-Hosting",
                    "component": "Hosting",
                    "usagetype": f"{prefix}-Host:{kind}",
                },
                usd,
            ),
        ]
    base = {
        "instanceType": kind,
        "regionCode": place,
        "operatingSystem": "Linux",
        "tenancy": "Shared",
        "preInstalledSw": "NA",
    }
    return [
        ({**base, "capacitystatus": "UnusedCapacityReservation", "usagetype": f"{prefix}-UnusedBox:{kind}"}, usd),
        ({**base, "capacitystatus": "Used", "usagetype": f"{prefix}-BoxUsage:{kind}"}, usd),
    ]


def _product(service: str, attributes: Mapping[str, str], usd: float) -> dict[str, Any]:
    sku = f"{hash_of(attributes['usagetype']):016X}"
    rate = {
        f"{sku}.T.R": {
            "unit": "Hrs",
            "description": f"${usd} per {attributes['usagetype']}",
            "beginRange": "0",
            "endRange": "Inf",
            "pricePerUnit": {"USD": f"{usd:.10f}"},
        }
    }
    return {
        "product": {
            "productFamily": "ML Instance" if "Host" in attributes["usagetype"] else "Compute Instance",
            "sku": sku,
            "attributes": dict(attributes),
        },
        "serviceCode": service,
        "terms": {"OnDemand": {f"{sku}.T": {"sku": sku, "priceDimensions": rate}}},
        "version": "20261120000000",
        "publicationDate": "2026-11-20T00:00:00Z",
    }


def usage(account: Account, region: str, kind: str) -> int:
    """Instances of a SageMaker type that hold quota now."""
    return in_use(account, region, kind)


OPERATIONS = {
    "service-quotas.ListServiceQuotas": list_quotas,
    "service-quotas.ListAWSDefaultServiceQuotas": list_quotas,
    "ecr.DescribeImages": describe_images,
    "ssm.GetParameter": get_parameter,
    "ssm.GetParameters": get_parameters,
    "pricing.GetProducts": get_products,
}
