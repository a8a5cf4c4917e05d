from __future__ import annotations

from pathlib import Path

import pytest

from clouds.aws import session as sessions

TOKEN = {"AWS_ACCESS_KEY_ID": "AKIAENV", "AWS_SECRET_ACCESS_KEY": "s", "AWS_SESSION_TOKEN": "t"}


@pytest.mark.parametrize(
    ("environment", "there", "aside"),
    [
        ({}, False, False),
        (TOKEN, True, False),
        (TOKEN | {sessions.IGNORE: "1"}, True, True),
        (TOKEN | {sessions.IGNORE: "true"}, True, True),
        (TOKEN | {sessions.IGNORE: "0"}, True, False),
        ({"AWS_SESSION_TOKEN": "t", sessions.IGNORE: "1"}, False, False),
        ({"AWS_ACCESS_KEY_ID": "AKIAENV", "AWS_SECRET_ACCESS_KEY": "s", sessions.IGNORE: "1"}, False, False),
    ],
)
def test_a_session_token_in_the_environment_is_seen_and_set_aside_only_when_asked(
    environment: dict[str, str], there: bool, aside: bool
) -> None:
    assert (sessions.token_in_environment(environment), sessions.token_set_aside(environment)) == (there, aside)


@pytest.fixture
def file(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("aws") / "credentials"
    path.write_text(
        "[default]\naws_access_key_id = AKIAFILE\naws_secret_access_key = s\n"
        "[work]\naws_access_key_id = AKIAWORK\naws_secret_access_key = s\n"
    )
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(path))


@pytest.mark.usefixtures("file")
@pytest.mark.parametrize(
    ("environment", "key"),
    [
        ({}, "AKIAFILE"),
        (TOKEN, "AKIAENV"),
        (TOKEN | {"AWS_PROFILE": "work"}, "AKIAENV"),
        (TOKEN | {"AWS_PROFILE": "work", sessions.IGNORE: "1"}, "AKIAWORK"),
        (TOKEN | {sessions.IGNORE: "1"}, "AKIAFILE"),
        (TOKEN | {sessions.PROFILE: "work"}, "AKIAWORK"),
    ],
)
def test_which_credential_is_used(monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], key: str) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    credentials = sessions.build().get_credentials()
    assert credentials is not None
    assert credentials.access_key == key


@pytest.mark.usefixtures("file")
def test_a_fingerprint_tells_credentials_apart_and_holds_none(monkeypatch: pytest.MonkeyPatch) -> None:
    first = sessions.fingerprint(sessions.build())
    monkeypatch.setenv(sessions.PROFILE, "work")
    second = sessions.fingerprint(sessions.build())
    assert first is not None
    assert first != second
    assert "AKIA" not in first


@pytest.mark.parametrize(
    ("said", "may_be"),
    [("Amazon EC2\n", True), ("Xen\n", True), ("", True), (None, True), ("LENOVO\n", False), ("QEMU\n", False)],
)
def test_a_machine_that_says_it_is_another_is_not_asked_for_a_role(
    tmp_path: Path, said: str | None, may_be: bool
) -> None:
    vendor = tmp_path / "sys_vendor"
    if said is not None:
        vendor.write_text(said)
    assert sessions.may_be_ec2(vendor) is may_be


def test_nobody_signed_in_has_no_fingerprint() -> None:
    assert sessions.fingerprint(sessions.build()) is None


@pytest.mark.usefixtures("file")
def test_recorded_answers_need_nobody_s_files_and_no_credential(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "missing")
    monkeypatch.delenv("AWS_PROFILE")
    session = sessions.recorded()
    credentials = session.get_credentials()
    assert credentials is not None
    assert (credentials.access_key, sessions.region(session)) == ("replay", "us-east-1")


def test_a_login_without_its_library_or_its_token_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    from clouds.aws.api import AwsApi
    from clouds.errors import CredentialExpired
    from clouds.models import Call, Scope

    config = tmp_path_factory.mktemp("login") / "config"
    config.write_text("[profile work]\nlogin_session = arn:aws:iam::111122223333:user/dev\nregion = us-east-2\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(config))
    monkeypatch.setenv(sessions.PROFILE, "work")
    with pytest.raises(CredentialExpired) as ended:
        AwsApi().send(Call("sts", "GetCallerIdentity"), scope=Scope("us-east-2"))
    assert (ended.value.sent, ended.value.fix) == (
        False,
        "Run `aws login --profile work` in a terminal, then repeat this call.",
    )


def test_a_second_account_reads_no_model_again(monkeypatch: pytest.MonkeyPatch) -> None:
    first = sessions.frugal(sessions.recorded())
    first.create_client("sts")
    monkeypatch.setattr("botocore.loaders.JSONFileLoader.load_file", lambda *_: pytest.fail("a model was read again"))
    second = sessions.frugal(sessions.recorded())
    assert second is not first
    assert second.create_client("sts").meta.service_model.service_name == "sts"


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-29T15:00:00Z",
        "2026-11-29T15:00:00.000Z",
        "2026-11-29T15:00:00.123456+09:00",
        "Sun, 29 Nov 2026 15:00:00 GMT",
        "1795964400",
        1795964400.5,
        "20261129T150000Z",
    ],
)
def test_a_time_is_read_as_botocore_reads_it(text: str | float) -> None:
    from botocore.utils import parse_timestamp

    assert sessions.moment(text) == parse_timestamp(text)  # type: ignore[arg-type]
    assert sessions.moment(text).tzinfo is not None


def test_what_is_no_time_is_an_error_as_in_botocore() -> None:
    with pytest.raises(ValueError, match="Invalid timestamp"):
        sessions.moment("2026-13-41T99:00:00Z")
