"""An answer that is none, of each protocol that AWS speaks: it is an error, never an empty list."""

from __future__ import annotations

from functools import cache

import pytest

from clouds.aws.api import AwsApi
from clouds.errors import PermissionMissing, Unexpected
from clouds.models import Call, Scope
from tests.clouds.aws.network import Wire
from tests.clouds.aws.recorded import build

OHIO = Scope("us-east-2")
TABLES = Call("dynamodb", "ListTables")  # JSON
CLUSTERS = Call("eks", "ListClusters")  # JSON over REST
VOLUMES = Call("ec2", "DescribeVolumes")  # EC2's XML
DATABASES = Call("rds", "DescribeDBInstances")  # query
BUCKETS = Call("s3", "ListBuckets")  # XML over REST
PAGE = b"<html><body>Sign in to the network</body></html>"


WIRE = Wire()


@cache
def api() -> AwsApi:
    return AwsApi(build=build, prepare=WIRE.attach, attempts=1)


def answered(call: Call, status: int, body: bytes) -> object:
    WIRE.answers = [(status, body)]
    return api().send(call, scope=OHIO)


@pytest.mark.parametrize("call", [TABLES, CLUSTERS, VOLUMES, DATABASES, BUCKETS], ids=str)
def test_a_page_of_html_with_status_200_is_no_answer(call: Call) -> None:
    with pytest.raises(Unexpected, match="ResponseParserError"):
        answered(call, 200, PAGE)


@pytest.mark.parametrize("call", [TABLES, CLUSTERS, VOLUMES, DATABASES, BUCKETS], ids=str)
def test_nothing_at_all_with_status_200_is_no_answer(call: Call) -> None:
    with pytest.raises(Unexpected, match="ResponseParserError"):
        answered(call, 200, b"")


@pytest.mark.parametrize("body", [b'{"TableNames": ["carts", "ord', b"null", b'["carts"]', b"\xff\xfe"])
def test_half_an_answer_of_json_or_another_sort_of_it_is_no_answer(body: bytes) -> None:
    for call in (TABLES, CLUSTERS):
        with pytest.raises(Unexpected, match="the answer is no JSON"):
            answered(call, 200, body)


@pytest.mark.parametrize(
    ("call", "body", "holds"),
    [
        (TABLES, b'{"TableNames": ["carts"]}', {"TableNames": ["carts"]}),
        (CLUSTERS, b'{"clusters": ["prod"]}', {"clusters": ["prod"]}),
        (VOLUMES, b"<DescribeVolumesResponse><volumeSet/></DescribeVolumesResponse>", {"Volumes": []}),
        (
            DATABASES,
            b"<DescribeDBInstancesResponse><DescribeDBInstancesResult/></DescribeDBInstancesResponse>",
            {},
        ),
        (BUCKETS, b"<ListAllMyBucketsResult><Buckets/></ListAllMyBucketsResult>", {"Buckets": []}),
        (Call("eks", "TagResource", {"resourceArn": "a", "tags": {}}), b"", {}),
    ],
    ids=lambda each: str(each) if isinstance(each, Call) else None,
)
def test_an_answer_is_read_as_before(call: Call, body: bytes, holds: dict[str, object]) -> None:
    found = answered(call, 200, body)
    assert isinstance(found, dict)
    assert {key: value for key, value in found.items() if value is not None} == holds


@pytest.mark.parametrize("call", [TABLES, CLUSTERS], ids=str)
def test_a_refusal_by_a_page_of_html_keeps_its_status(call: Call) -> None:
    with pytest.raises(PermissionMissing):
        answered(call, 403, PAGE)
