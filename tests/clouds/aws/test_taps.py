from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, date, datetime
from functools import cache
from pathlib import Path
from typing import Any

import botocore.session
import pytest
from botocore.awsrequest import AWSResponse
from botocore.config import Config
from botocore.exceptions import ClientError, EventStreamError
from botocore.parsers import ResponseParserError

from clouds.aws.session import frugal, recorded
from clouds.aws.taps import attach
from clouds.readonly import Forbidden, ReadOnly
from clouds.record import Recorder
from clouds.replay import Answer, Fixture, NotRecorded, Origin, Replay, Scenario, Tap, read_placebo
from tests.clouds.aws.recorded import STAGE

ORIGIN = Origin("documentation", "a test", date(2026, 11, 29))
RECORDINGS = Path(__file__).parents[4] / "shared/recordings/cloud-custodian/aws"


@cache
def session() -> botocore.session.Session:
    made = frugal(recorded())
    attach(made, [STAGE])
    return made


def client(service: str, *taps: Tap, **config: Any) -> Any:
    """A client of the SDK with these taps on stage."""
    STAGE.taps = taps
    return session().create_client(service, region_name="us-east-2", config=Config(**config))


def replay(service: str, *answers: tuple[str, dict[str, Any]], **answer: Any) -> Replay:
    fixtures = tuple(
        Fixture(f"{n:02}_{service}.{operation}.json", service, operation, **conditions)
        for n, (operation, conditions) in enumerate(answers, 1)
    )
    return Replay([Scenario(Path(), ORIGIN, fixtures)])


def test_a_parsed_answer_comes_out_in_the_types_of_botocore() -> None:
    body = {"Volumes": [{"VolumeId": "vol-1", "Size": 65, "CreateTime": "2026-11-01T10:00:00Z", "FutureMember": 1}]}
    ec2 = client("ec2", replay("ec2", ("DescribeVolumes", {"answer": Answer(200, body, {"x": "y"})})))
    volume = {"VolumeId": "vol-1", "Size": 65, "CreateTime": datetime(2026, 11, 1, 10, tzinfo=UTC), "FutureMember": 1}
    about = {"RequestId": "replayed", "HTTPStatusCode": 200, "HTTPHeaders": {"x": "y"}, "RetryAttempts": 0}
    assert ec2.describe_volumes() == {"Volumes": [volume], "ResponseMetadata": about}


@pytest.mark.parametrize(
    "written",
    ["2026-11-01T10:00:00Z", "2026-11-01 10:00:00", "Sun, 01 Nov 2026 10:00:00 GMT", "1793527200.0", 1793527200],
)
def test_a_time_is_read_in_every_spelling_that_it_may_be_recorded_in(written: str | int) -> None:
    body = {"Volumes": [{"CreateTime": written}]}
    ec2 = client("ec2", replay("ec2", ("DescribeVolumes", {"answer": Answer(200, body)})))
    assert ec2.describe_volumes()["Volumes"][0]["CreateTime"] == datetime(2026, 11, 1, 10, tzinfo=UTC)


def test_a_recorded_error_is_raised_as_its_own_class() -> None:
    error = {"Error": {"Code": "ResourceLimitExceeded", "Message": "1 Instances"}}
    sagemaker = client("sagemaker", replay("sagemaker", ("DescribeEndpoint", {"answer": Answer(400, error)})))
    with pytest.raises(sagemaker.exceptions.ResourceLimitExceeded, match="1 Instances"):
        sagemaker.describe_endpoint(EndpointName="g")


def test_a_paginator_of_the_sdk_walks_recorded_pages_also_an_empty_one() -> None:
    pages = replay(
        "service-quotas",
        (
            "ListServiceQuotas",
            {"parameters": {"ServiceCode": "sagemaker"}, "answer": Answer(body={"Quotas": [], "NextToken": "2"})},
        ),
        (
            "ListServiceQuotas",
            {
                "parameters": {"ServiceCode": "sagemaker", "NextToken": "2"},
                "answer": Answer(body={"Quotas": [{"QuotaCode": "L-1"}]}),
            },
        ),
    )
    paginator = client("service-quotas", pages).get_paginator("list_service_quotas")
    assert paginator.paginate(ServiceCode="sagemaker").build_full_result() == {"Quotas": [{"QuotaCode": "L-1"}]}
    assert pages.operations == ["service-quotas.ListServiceQuotas"] * 2


def test_a_blob_body_streams_and_a_binary_member_is_bytes() -> None:
    runtime = replay("sagemaker-runtime", ("InvokeEndpoint", {"answer": Answer(body={"Body": '{"ok": true}'})}))
    answer = client("sagemaker-runtime", runtime).invoke_endpoint(EndpointName="g", Body=b"{}")
    assert answer["Body"].read() == b'{"ok": true}'
    secret = replay("secretsmanager", ("GetSecretValue", {"answer": Answer(body={"SecretBinary": "AAE="})}))
    assert client("secretsmanager", secret).get_secret_value(SecretId="s")["SecretBinary"] == b"\x00\x01"


def test_a_policy_that_was_recorded_open_is_opened_once_and_not_twice() -> None:
    policy = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:Get*", "Resource": "100%25"}]}
    role = {"Path": "/", "RoleName": "r", "RoleId": "AROAEXAMPLEEXAMPLE00", "Arn": "arn:aws:iam::111122223333:role/r"}
    about = {**role, "CreateDate": "2026-11-29T15:00:00+00:00", "AssumeRolePolicyDocument": policy}
    answer = client("iam", replay("iam", ("GetRole", {"answer": Answer(200, {"Role": about})}))).get_role(RoleName="r")
    assert answer["Role"]["AssumeRolePolicyDocument"] == policy


def test_an_unmatched_request_is_an_error_and_opens_no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    def closed(*_: Any, **__: Any) -> Any:
        raise AssertionError("the network was reached")

    monkeypatch.setattr("botocore.httpsession.URLLib3Session.send", closed)
    ec2 = client("ec2", replay("ec2", ("DescribeVolumes", {"answer": Answer()})))
    with pytest.raises(NotRecorded, match=r"ec2\.DescribeSnapshots in us-east-2"):
        ec2.describe_snapshots()


def test_raw_bytes_go_through_retries_and_the_real_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("botocore.endpoint.time.sleep", lambda _: None)
    throttled = Answer(400, wire=b'{"__type": "ThrottlingException", "message": "Rate exceeded"}')
    good = Answer(
        200, headers={"content-type": "application/x-amz-json-1.1"}, wire=b'{"Endpoints": [{"EndpointName": "g"}]}'
    )
    tape = replay("sagemaker", ("ListEndpoints", {"answer": throttled}), ("ListEndpoints", {"answer": good}))
    answer = client("sagemaker", tape, retries={"mode": "standard", "total_max_attempts": 2}).list_endpoints()
    assert (answer["Endpoints"], answer["ResponseMetadata"]["RetryAttempts"]) == ([{"EndpointName": "g"}], 1)


def test_a_malformed_answer_fails_in_the_parser_as_it_would_for_real() -> None:
    tape = replay("ec2", ("DescribeVolumes", {"answer": Answer(200, wire=b"<html>gateway</html")}))
    with pytest.raises(ResponseParserError):
        client("ec2", tape, retries={"total_max_attempts": 1}).describe_volumes()


def test_an_error_in_the_middle_of_a_stream_is_raised_while_reading() -> None:
    headers = {"content-type": "application/vnd.amazon.eventstream"}
    wire = _event("exception", "ModelStreamError", b'{"Message": "out of memory", "ErrorCode": "500"}')
    tape = replay(
        "sagemaker-runtime", ("InvokeEndpointWithResponseStream", {"answer": Answer(200, None, headers, wire)})
    )
    answer = client("sagemaker-runtime", tape).invoke_endpoint_with_response_stream(EndpointName="g", Body=b"{}")
    with pytest.raises(EventStreamError, match="out of memory"):
        list(answer["Body"])


def test_a_guard_refuses_below_the_client_whatever_method_was_called() -> None:
    guard = ReadOnly(frozenset({"ec2.DescribeVolumes"}))
    tape = replay("ec2", ("DescribeVolumes", {"answer": Answer()}), ("DeleteVolume", {"answer": Answer()}))
    ec2 = client("ec2", guard, tape)
    ec2.describe_volumes()
    with pytest.raises(Forbidden, match=r"ec2\.DeleteVolume in us-east-2"):
        ec2.delete_volume(VolumeId="vol-1")
    assert tape.operations == ["ec2.DescribeVolumes"]


def test_a_recorder_writes_what_the_network_answered_and_nothing_of_how_we_sign_in(tmp_path: Path) -> None:
    session = frugal(recorded())
    attach(session, [Recorder(tmp_path / "new", source="a test", on=date(2026, 11, 29))])
    xml = (
        b"<Response><GetCallerIdentityResult><Account>644160558196</Account></GetCallerIdentityResult>"
        b"<AssumeRoleResult/></Response>"
    )

    def network(request: Any, **_: Any) -> AWSResponse:
        return AWSResponse(request.url, 200, {}, _Raw(xml))

    session.get_component("event_emitter").register("before-send.sts", network)
    sts = session.create_client("sts", region_name="us-east-2")
    sts.get_caller_identity()
    sts.assume_role(RoleArn="arn:aws:iam::644160558196:role/r", RoleSessionName="me")
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == [
        "01_sts.GetCallerIdentity.json",
        "origin.json",
    ]
    assert "644160558196" not in (tmp_path / "new/01_sts.GetCallerIdentity.json").read_text()


def test_threads_share_a_client_of_a_replay() -> None:
    tape = replay("ec2", ("DescribeVolumes", {"answer": Answer(body={"Volumes": []})}))
    ec2 = client("ec2", tape)
    threads = [threading.Thread(target=ec2.describe_volumes) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(tape.sent) == 16


def test_another_session_is_untouched() -> None:
    attach(frugal(recorded()), [replay("ec2")])
    other = frugal(recorded()).create_client("ec2", "us-east-2")
    other.meta.events.register(
        "before-send.ec2", lambda request, **_: AWSResponse(request.url, 200, {}, _Raw(b"<DescribeVolumesResponse/>"))
    )
    assert other.describe_volumes()["ResponseMetadata"]["HTTPStatusCode"] == 200


@pytest.mark.parametrize(
    ("folder", "service", "method", "count"),
    [
        ("test_ebs_volume_query", "ec2", "describe_volumes", ("Volumes", 2)),
        ("test_sagemaker_model", "sagemaker", "list_models", ("Models", 1)),
        ("test_eip_used_by", "ec2", "describe_addresses", ("Addresses", 3)),
        ("test_appelb_delete_force", "elbv2", "describe_load_balancers", ("LoadBalancers", 1)),
    ],
)
def test_answers_recorded_by_others_replay_through_a_real_client(
    folder: str, service: str, method: str, count: tuple[str, int]
) -> None:
    if not (RECORDINGS / folder).is_dir():
        pytest.skip(f"the recordings of Cloud Custodian are not beside this checkout ({folder})")
    origin = Origin("recorded", "Cloud Custodian's test recordings (Apache-2.0)", date(2026, 11, 29))
    answer = getattr(client(service, Replay([read_placebo(RECORDINGS / folder, origin)])), method)()
    assert len(answer[count[0]]) == count[1]


def test_an_error_recorded_by_others_is_raised() -> None:
    folder = RECORDINGS / "test_secrets_manager_describe"
    if not folder.is_dir():
        pytest.skip(f"the recordings of Cloud Custodian are not beside this checkout ({folder.name})")
    secrets = client("secretsmanager", Replay([read_placebo(folder, ORIGIN)]))
    secrets.describe_secret(SecretId="one")
    with pytest.raises(ClientError, match="AccessDeniedException"):
        secrets.describe_secret(SecretId="two")


class _Raw:
    def __init__(self, content: bytes) -> None:
        self._content = content

    def read(self) -> bytes:
        return self._content

    def stream(self, **_: Any) -> Iterator[bytes]:
        yield self._content


def _event(kind: str, name: str, payload: bytes) -> bytes:
    """One frame of the event stream encoding (lengths, CRC, headers, payload, CRC)."""
    import struct
    import zlib

    def header(key: str, value: str) -> bytes:
        return bytes([len(key)]) + key.encode() + b"\x07" + struct.pack(">H", len(value)) + value.encode()

    headers = (
        header(":message-type", kind) + header(f":{kind}-type", name) + header(":content-type", "application/json")
    )
    prelude = struct.pack(">II", len(headers) + len(payload) + 16, len(headers))
    frame = prelude + struct.pack(">I", zlib.crc32(prelude)) + headers + payload
    return frame + struct.pack(">I", zlib.crc32(frame))
