from __future__ import annotations

import pytest

from clouds.aws.api import AwsApi
from clouds.aws.identity import AwsIdentity
from clouds.errors import CredentialExpired, PermissionMissing
from tests.clouds.aws.recorded import Recorded
from tests.clouds.aws.simulator import Account, Seam

KEYS = {"AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE", "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI"}


def from_environment(monkeypatch: pytest.MonkeyPatch, **variables: str) -> AwsIdentity:
    for name, value in {**KEYS, **variables}.items():
        monkeypatch.setenv(name, value)
    seam = Seam(Account())
    return AwsIdentity(AwsApi(prepare=seam.attach))


def test_a_caller_is_principal_account_and_place() -> None:
    scenario = Recorded("identity/caller/a_user_with_keys")
    scenario.check(AwsIdentity(scenario.api).read())


def test_an_expired_sign_in_is_one_sentence_and_one_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODELRIG_AWS_PROFILE", "work")
    scenario = Recorded("identity/caller/expired")
    with pytest.raises(CredentialExpired) as ended:
        AwsIdentity(scenario.api).read()
    scenario.check_error(ended.value)


def test_a_denied_caller_names_the_permission_and_the_policy_that_denies_it() -> None:
    scenario = Recorded("identity/caller/denied")
    with pytest.raises(PermissionMissing) as denied:
        AwsIdentity(scenario.api).read()
    scenario.check_error(denied.value)


def test_a_session_token_in_the_environment_is_recognised_and_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    identity = from_environment(monkeypatch, AWS_SESSION_TOKEN="IQoJb3JpZ2luX2Vj").read()
    assert (identity.kind, identity.renews) == (
        "session token in the environment",
        "cannot renew: it is a copy that ends on its own, and it outranks any login of this machine",
    )
    assert identity.details["environment"] == (
        "to use the login instead, unset the AWS_* keys or set MODELRIG_AWS_IGNORE_ENV_TOKEN=1"
    )
    assert "IQoJb3" not in identity.model_dump_json()


def test_keys_without_a_session_token_are_a_plain_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    identity = from_environment(monkeypatch).read()
    assert (identity.kind, "environment" in identity.details) == ("keys in the environment", False)
    assert KEYS["AWS_ACCESS_KEY_ID"] not in identity.model_dump_json()


def test_an_expired_session_token_of_the_environment_is_what_the_advice_is_about(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in {**KEYS, "AWS_SESSION_TOKEN": "x"}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(CredentialExpired, match="expired") as ended:
        AwsIdentity(Recorded("identity/caller/expired").api).read()
    assert ended.value.fix == (
        "Unset AWS_SESSION_TOKEN and the AWS_* keys beside it, which outrank your login and cannot renew, or set "
        "MODELRIG_AWS_IGNORE_ENV_TOKEN=1; then repeat this call."
    )
