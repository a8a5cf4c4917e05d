from __future__ import annotations

from pathlib import Path

import pytest

from clouds.aws import session
from clouds.aws.api import AwsApi
from clouds.errors import NotSignedIn
from clouds.models import Call, Scope


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(session, "VENDOR", tmp_path / "no-vendor")
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    return tmp_path


def test_a_machine_without_any_credential_is_told_before_the_sdk_is_loaded(bare: Path) -> None:
    with pytest.raises(NotSignedIn, match="no credential is set up") as told:
        AwsApi().send(Call("sts", "GetCallerIdentity"), scope=Scope(location="us-east-1"))
    assert told.value.sent is False


@pytest.mark.parametrize(
    "environ", [{"AWS_PROFILE": "work"}, {"AWS_ACCESS_KEY_ID": "x"}, {"AWS_WEB_IDENTITY_TOKEN_FILE": "/t"}]
)
def test_whatever_may_hold_a_credential_is_left_to_the_sdk(bare: Path, environ: dict[str, str]) -> None:
    assert not session.nothing_to_sign_in_with(environ, bare)
    assert session.nothing_to_sign_in_with({}, bare)


def test_a_file_of_the_sdk_or_a_machine_of_ec2_is_left_to_the_sdk(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (bare / ".aws").mkdir()
    (bare / ".aws" / "config").touch()
    assert not session.nothing_to_sign_in_with({}, bare)
    (bare / ".aws" / "config").unlink()
    vendor = bare / "vendor"
    vendor.write_text("Amazon EC2")
    monkeypatch.setattr(session, "VENDOR", vendor)
    monkeypatch.setattr(session, "may_be_ec2", lambda: True)
    assert not session.nothing_to_sign_in_with({}, bare)
