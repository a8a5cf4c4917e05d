"""What the api does when AWS throttles, fails, or refuses the credential."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clouds.aws.api import AwsApi
from clouds.errors import CredentialExpired, InvalidInput, NotSignedIn, Throttled, Unexpected, Unreachable
from clouds.models import Call, Scope
from tests.clouds.aws.network import Wire

OHIO = Scope("us-east-2")
QUOTAS = Call("service-quotas", "ListServiceQuotas", {"ServiceCode": "sagemaker"})


def error(code: str, status: int = 400) -> tuple[int, bytes]:
    return status, json.dumps({"__type": code, "message": code}).encode()


OK = (200, b'{"Quotas": []}')


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the SDK would have waited for: its back-off, and the rate that it allows itself after a throttling."""
    noted: list[str] = []
    monkeypatch.setattr("botocore.endpoint.time.sleep", lambda _: noted.append("back-off"))
    monkeypatch.setattr("botocore.retries.bucket.TokenBucket.acquire", lambda *_, **__: noted.append("rate"))
    return noted


@pytest.mark.usefixtures("keys")
def test_throttling_that_legacy_retries_never_retried_is_waited_out(waits: list[str]) -> None:
    wire = Wire(error("TooManyRequestsException", 429), error("TooManyRequestsException", 429), OK)
    assert AwsApi(prepare=wire.attach).send(QUOTAS, scope=OHIO) == {"Quotas": []}
    assert (wire.sent, waits) == (3, ["back-off", "rate", "back-off", "rate"])


@pytest.mark.usefixtures("keys")
def test_throttling_without_end_is_an_error_after_five_sends(waits: list[str]) -> None:
    wire = Wire(error("ThrottlingException"))
    with pytest.raises(Throttled):
        AwsApi(prepare=wire.attach).send(QUOTAS, scope=OHIO)
    assert (wire.sent, waits.count("back-off")) == (5, 4)


@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize("how", ["once", "measuring"])
def test_a_creating_call_and_a_measured_one_are_sent_once(how: str) -> None:
    wire = Wire(error("InternalFailure", 500))
    api = AwsApi(prepare=wire.attach)
    if how == "once":
        with pytest.raises(Unexpected):
            api.send(QUOTAS, scope=OHIO, once=True)
    else:
        client = api.client("service-quotas", "us-east-2", measuring=64)
        with pytest.raises(client.exceptions.ClientError):
            client.list_service_quotas(ServiceCode="sagemaker")
        assert client.meta.config.max_pool_connections == 64
    assert wire.sent == 1


@pytest.mark.usefixtures("keys")
def test_no_answer_is_unreachable_and_may_have_acted() -> None:
    from botocore.exceptions import ReadTimeoutError

    wire = Wire(ReadTimeoutError(endpoint_url="https://x"))
    with pytest.raises(Unreachable) as lost:
        AwsApi(prepare=wire.attach, attempts=1).send(QUOTAS, scope=OHIO)
    assert (lost.value.sent, lost.value.fix) == (
        True,
        "It may or may not have happened: look at what is there before repeating this call.",
    )


def credentials(path: Path, token: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        f"[default]\naws_access_key_id = AKIAIOSFODNN7EXAMPLE\naws_secret_access_key = s\naws_session_token = {token}\n"
    )


@pytest.fixture
def file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    path = tmp_path / "aws" / "credentials"
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(path))
    credentials(path, "old")
    return path


def test_credentials_that_were_rotated_on_disk_are_picked_up_by_one_rebuild_and_one_retry(file: Path) -> None:
    wire = Wire(OK, error("ExpiredTokenException", 403), OK)
    made: list[object] = []
    api = AwsApi(prepare=lambda session: (made.append(session), wire.attach(session)))
    api.send(QUOTAS, scope=OHIO)
    credentials(file, "new")
    assert api.send(QUOTAS, scope=OHIO) == {"Quotas": []}
    assert (wire.tokens, len(made)) == (["", "old", "old", "new"], 2)


def test_an_expired_credential_that_nobody_renewed_is_not_sent_again(file: Path) -> None:
    wire = Wire(error("ExpiredTokenException", 403))
    with pytest.raises(CredentialExpired):
        AwsApi(prepare=wire.attach).send(QUOTAS, scope=OHIO)
    assert wire.sent == 1


def test_a_new_credential_that_is_refused_too_is_an_error_after_one_retry(file: Path) -> None:
    wire = Wire(OK, error("ExpiredTokenException", 403))
    api = AwsApi(prepare=wire.attach)
    api.send(QUOTAS, scope=OHIO)
    credentials(file, "new")
    with pytest.raises(CredentialExpired):
        api.send(QUOTAS, scope=OHIO)
    assert wire.tokens == ["", "old", "old", "new"]


def test_a_sign_in_after_a_refusal_is_seen_by_the_next_call(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "credentials"
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(path))
    wire = Wire(OK)
    api = AwsApi(prepare=wire.attach)
    with pytest.raises(NotSignedIn):
        api.send(QUOTAS, scope=OHIO)
    credentials(path, "fresh")
    assert api.send(QUOTAS, scope=OHIO) == {"Quotas": []}


@pytest.mark.usefixtures("keys")
def test_a_profile_that_is_not_there_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODELRIG_AWS_PROFILE", "wrok")
    with pytest.raises(InvalidInput, match="wrok"):
        AwsApi().send(QUOTAS, scope=OHIO)
    with pytest.raises(InvalidInput, match="wrok"):
        _ = AwsApi().region
