from __future__ import annotations

import json
from typing import Any

import pytest

from clouds.record import Scrubber

PLANTED: dict[str, tuple[Any, str]] = {
    "account id": ({"OwnerId": "644160558196"}, "644160558196"),
    "account in a bucket": ({"Name": "sagemaker-us-east-1-644160558196"}, "644160558196"),
    "account in an ARN": ({"Arn": "arn:aws:ec2:us-east-1:644160558196:volume/vol-1"}, "644160558196"),
    "user in an ARN": ({"Arn": "arn:aws:iam::644160558196:user/alice.doe"}, "alice"),
    "session in an ARN": ({"Arn": "arn:aws:sts::644160558196:assumed-role/Admin/alice@corp.example"}, "alice"),
    "e-mail": ({"Note": "ask alice.doe@corp.example"}, "alice.doe"),
    "access key id": ({"AccessKeyId": "AKIAIOSFODNN7EXAMPLE"}, "AKIAIOSFODNN7EXAMPLE"),
    "user id": ({"UserId": "AIDACKCEVSQ6C2EXAMPLE"}, "AIDACKCEVSQ6C2EXAMPLE"),
    "secret key": ({"SecretAccessKey": "wJalrXUtnFEMI/K7MDENG"}, "wJalr"),
    "session token": ({"SessionToken": "IQoJb3JpZ2luX2Vj"}, "IQoJb3"),
    "page token": ({"NextToken": "AAAB6441605581960bm9kZQ=="}, "AAAB6441"),
    "bearer": ({"Header": "Bearer abc.def.ghi-123"}, "abc.def"),
    "JWT": ({"x": "eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJ"}, "eyJhbGci"),
    "Hugging Face token": ({"Environment": {"SM_X": "hf_abcdefghijklmnopqrst"}}, "hf_abc"),
    "environment by name": ({"Environment": {"HF_TOKEN": "plainwords"}}, "plainwords"),
    "name and value": ([{"Name": "DB_PASSWORD", "Value": "hunter2hunter2"}], "hunter2"),
    "password": ({"MasterUserPassword": "hunter2"}, "hunter2"),
    "user data": ({"UserData": {"Value": "IyEvYmluL3No"}, "user_data": "IyEvYmluL3No"}, "IyEv"),
    "AWS signature": ({"Url": "https://s/?X-Amz-Signature=0a1b2c&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F1"}, "0a1b2c"),
    "SAS signature": ({"Uri": "https://b/c?sv=1&sig=Zm9vYmFy%3D"}, "Zm9v"),
    "private key": ({"x": "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----"}, "MIIE"),
    "IPv4": ({"PublicIp": "52.14.10.9"}, "52.14.10.9"),
    "IPv4 in a name": ({"Dns": "ec2-52-14-10-9.us-east-2.compute.amazonaws.com"}, "52-14-10-9"),
    "IPv6": ({"Ip": "2600:1f16:abc::1"}, "2600:1f16"),
    "subscription": ({"id": "/subscriptions/0b1f6471-1bf0-4dda-aec3-cb9272f09590/x"}, "0b1f6471"),
    "account keys": ({"primaryKey": "c2VjcmV0", "x": {"secondaryMasterKey": "c2VjcmV0"}}, "c2VjcmV0"),
    "a key of a map": ({"644160558196": 1}, "644160558196"),
}


@pytest.mark.parametrize("kind", PLANTED)
def test_a_planted_secret_of_each_kind_does_not_survive(kind: str) -> None:
    value, secret = PLANTED[kind]
    clean = json.dumps(Scrubber().clean(value))
    assert secret in json.dumps(value)
    assert secret not in clean


def test_what_matched_before_matches_after() -> None:
    scrubber = Scrubber()
    first = scrubber.clean({"Arn": "arn:aws:sagemaker:us-east-2:644160558196:endpoint/g", "NextToken": "aGVsbG8="})
    second = scrubber.clean({"Owner": "644160558196", "Other": "310430021111", "NextToken": "aGVsbG8="})
    assert first == {"Arn": "arn:aws:sagemaker:us-east-2:111122223333:endpoint/g", "NextToken": "page1"}
    assert second == {"Owner": "111122223333", "Other": "444455556666", "NextToken": "page1"}


def test_a_link_still_leads_to_its_host_and_says_nothing_more() -> None:
    scrubber = Scrubber()
    link = "https://management.azure.com/providers/x?api-version=1&t=638&s=c2lnbmF0dXJl"
    assert scrubber.clean({"nextLink": link, "Azure-AsyncOperation": link, "location": "eastus"}) == {
        "nextLink": "https://management.azure.com/providers/x?page=1",
        "Azure-AsyncOperation": "https://management.azure.com/providers/x?page=1",
        "location": "eastus",
    }
    once = scrubber.clean({"nextLink": link})
    assert scrubber.clean(once) == once


def test_scrubbing_twice_changes_nothing_more() -> None:
    scrubber = Scrubber()
    once = scrubber.clean([value for value, _ in PLANTED.values()])
    assert scrubber.clean(once) == once


def test_what_is_public_or_harmless_stays() -> None:
    value = {
        "Image": "763104351884.dkr.ecr.us-east-2.amazonaws.com/vllm:0.30.0-gpu-py312-cu130-ubuntu24.04-sagemaker-v1.1",
        "imageDigest": "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
        "USD": "1.1267000000",
        "CidrIp": "10.0.0.0/16",
        "Local": "127.0.0.1",
        "SecretName": "hf",
        "PasswordLastUsed": "2026-11-29T10:00:00+00:00",
        "Size": 98362432,
        "Empty": "",
        "None": None,
        "On": True,
    }
    scrubber = Scrubber()
    assert scrubber.clean(value) == value
    assert scrubber.kinds == set()


def test_known_names_are_replaced_as_text_and_as_number() -> None:
    scrubber = Scrubber({"acme-prod": "a-project", "4711": "1"})
    assert scrubber.clean({"name": "projects/acme-prod", "number": 4711}) == {
        "name": "projects/a-project",
        "number": "1",
    }
    assert scrubber.kinds == {"known names"}
