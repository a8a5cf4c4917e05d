from __future__ import annotations

import os
import stat
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from clouds.azure import session
from clouds.azure.tokens import ARM_SCOPE, Tokens
from clouds.errors import CloudError, CredentialExpired, NotInstalled, NotSignedIn, PermissionMissing, Unreachable
from tests.clouds.azure.rig import NOW, OTHER, TENANT, Clock, Credential, Token

AZ = """#!{python} -IS
import json, os, sys, time
with open(os.environ["AZ_LOG"], "a") as log:
    log.write(" ".join(sys.argv[1:]) + "\\n")
tenant = sys.argv[sys.argv.index("--tenant") + 1] if "--tenant" in sys.argv else "home"
broken = os.environ.get("AZ_BROKEN", "")
if broken and tenant == broken:
    print("ERROR: " + os.environ["AZ_SAYS"], file=sys.stderr)
    sys.exit(1)
print(json.dumps({{"accessToken": "secret-token-of-" + tenant, "expires_on": int(time.time()) + 3600}}))
"""
windows = pytest.mark.skipif(os.name == "nt", reason="the fake program is a script with a first line")


@pytest.fixture
def az(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program `az` on the path, for azure-identity's real credential; it writes down how it was called."""
    program, log = tmp_path / "bin" / "az", tmp_path / "log"
    program.parent.mkdir()
    program.write_text(AZ.format(python=sys.executable))
    program.chmod(program.stat().st_mode | stat.S_IEXEC)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("AZ_LOG", str(log))
    return log


def calls(log: Path) -> list[str]:
    return log.read_text().splitlines() if log.is_file() else []


@windows
def test_twenty_threads_start_one_process_of_the_real_credential(az: Path) -> None:
    tokens = Tokens(session.build)
    with ThreadPoolExecutor(20) as pool:
        found = set(pool.map(lambda _: tokens.get(TENANT), range(20)))
    assert found == {f"secret-token-of-{TENANT}"}
    asked = "account get-access-token --output json --resource https://management.azure.com"
    assert calls(az) == [f"{asked} --tenant {TENANT}"]


@windows
def test_a_tenant_that_is_not_named_is_the_one_of_the_sign_in(az: Path) -> None:
    assert Tokens(session.build).get() == "secret-token-of-home"
    assert "--tenant" not in calls(az)[0]


@windows
@pytest.mark.parametrize(
    ("says", "kind", "fix"),
    [
        ("Please run 'az login' to setup account.", NotSignedIn, f"az login --tenant {TENANT}"),
        ("AADSTS50076: you must use multi-factor authentication", CredentialExpired, "az login"),
        ("AADSTS700082: The refresh token has expired due to inactivity.", CredentialExpired, "az login"),
        ("AADSTS53003: Access has been blocked by Conditional Access policies.", PermissionMissing, "whoever runs it"),
        ("Found multiple accounts with the same username", NotSignedIn, "AZURE_CONFIG_DIR"),
    ],
)
def test_what_the_real_credential_says_is_worded_and_holds_no_token(
    says: str, kind: type[CloudError], fix: str, az: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AZ_BROKEN", TENANT)
    monkeypatch.setenv("AZ_SAYS", f"{says} Bearer eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.abcdefghij")
    tokens = Tokens(session.build)
    with pytest.raises(kind) as told:
        tokens.get(TENANT)
    assert type(told.value) is kind
    assert fix in told.value.fix
    assert told.value.sent is False
    everything = f"{told.value!r} {told.value} {told.value.answered} {told.value.__cause__!r}"
    assert "eyJ" not in everything
    assert "secret-token" not in everything


def test_without_the_program_the_fix_is_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotSignedIn) as told:
        Tokens(session.build).get()
    assert "Install the Azure CLI" in told.value.fix


def tokens_over(credential: Any, clock: Clock) -> Tokens:
    return Tokens(lambda: credential, clock)


def test_a_token_is_kept_until_five_minutes_before_its_end() -> None:
    clock = Clock()
    credential = Credential(clock, life=3600)
    tokens = tokens_over(credential, clock)
    first = tokens.get(TENANT)
    clock.now = NOW + 3600 - 301
    assert tokens.get(TENANT) == first
    clock.now = NOW + 3600 - 299
    assert tokens.get(TENANT) != first
    assert credential.asked == [TENANT, TENANT]


def test_a_token_that_comes_back_with_little_life_left_is_used_for_half_of_it() -> None:
    clock = Clock()
    credential = Credential(clock, life=120)
    tokens = tokens_over(credential, clock)
    tokens.get(TENANT)
    clock.now += 59
    tokens.get(TENANT)
    clock.now += 2
    tokens.get(TENANT)
    assert len(credential.asked) == 2


def test_a_token_that_has_ended_already_is_not_used() -> None:
    clock = Clock()
    with pytest.raises(CredentialExpired, match="has ended"):
        tokens_over(Credential(clock, life=5), clock).get(TENANT)


def test_each_tenant_and_each_audience_has_its_own_token() -> None:
    clock = Clock()
    credential = Credential(clock)
    tokens = tokens_over(credential, clock)
    assert len({tokens.get(TENANT), tokens.get(OTHER), tokens.get(TENANT, "https://other/.default")}) == 3
    assert tokens.fetched == 3
    tokens.forget(TENANT)
    tokens.get(TENANT, ARM_SCOPE)
    assert tokens.fetched == 4


class Slow:
    """A credential that fails once everybody waits for it."""

    def __init__(self, waiting: int) -> None:
        self.gate, self.asked = threading.Barrier(waiting), 0

    def get_token(self, *scopes: str, tenant_id: str | None = None) -> Token:
        self.asked += 1
        time.sleep(0.05)
        raise RuntimeError("Please run 'az login'")


def test_a_failure_is_shared_by_those_who_waited_for_it_and_asked_again_by_the_next() -> None:
    slow = Slow(8)
    tokens = Tokens(lambda: slow)

    def get(_: int) -> str:
        slow.gate.wait(5)
        try:
            return tokens.get(TENANT)
        except NotSignedIn as error:
            return error.kind

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(get, range(8))) == {"not_signed_in"}
    assert slow.asked == 1
    with pytest.raises(NotSignedIn):
        tokens.get(TENANT)
    assert slow.asked == 2


def test_two_hundred_gets_over_two_tenants_are_two_questions() -> None:
    clock = Clock()
    credential = Credential(clock)
    tokens = tokens_over(credential, clock)
    with ThreadPoolExecutor(20) as pool:
        list(pool.map(lambda n: tokens.get((TENANT, OTHER)[n % 2]), range(200)))
    assert sorted(credential.asked) == sorted([TENANT, OTHER])


def test_a_credential_that_takes_too_long_is_no_missing_sign_in(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stuck:
        def get_token(self, *scopes: str, tenant_id: str | None = None) -> Token:
            raise RuntimeError("Failed to invoke the Azure CLI")

    with pytest.raises(Unreachable):
        Tokens(Stuck).get()


@pytest.mark.parametrize(
    ("environ", "source"),
    [
        ({}, "Azure CLI"),
        ({"AZURE_CLIENT_ID": "x"}, "environment"),
        ({"AZURE_TOKEN_CREDENTIALS": "dev"}, "environment"),
    ],
)
def test_the_chain_of_credentials_is_used_only_where_the_environment_asks_for_it(
    environ: dict[str, str], source: str
) -> None:
    assert session.source(environ) == source


@windows
def test_the_chain_that_the_environment_names_signs_in_too(az: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_TOKEN_CREDENTIALS", "AzureCliCredential")
    assert Tokens(session.build).get(TENANT) == f"secret-token-of-{TENANT}"
    assert calls(az)[0].endswith(f"--tenant {TENANT}")


@windows
def test_a_credential_that_the_environment_names_is_not_mended_by_signing_in(
    az: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AZURE_TOKEN_CREDENTIALS", "AzureCliCredential")
    monkeypatch.setenv("AZ_BROKEN", TENANT)
    monkeypatch.setenv("AZ_SAYS", "Please run 'az login' to setup account.")
    with pytest.raises(NotSignedIn) as told:
        Tokens(session.build).get(TENANT)
    assert told.value.fix.startswith("AZURE_TOKEN_CREDENTIALS is set")


def test_without_the_sdk_the_fix_is_the_extra(az: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "azure.identity", None)
    with pytest.raises(NotInstalled) as told:
        Tokens(session.build).get()
    assert "requirements-azure.txt" in told.value.fix


def test_two_tenants_are_signed_in_to_one_after_the_other() -> None:
    class Busy:
        now = most = 0

        def get_token(self, *scopes: str, tenant_id: str | None = None) -> Token:
            self.now += 1
            self.most = max(self.most, self.now)
            time.sleep(0.01)
            self.now -= 1
            return Token(f"of-{tenant_id}", int(time.time()) + 3600)

    busy = Busy()
    tokens = Tokens(lambda: busy)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(tokens.get, ("t1", "t2", "t3", "t4")))
    assert busy.most == 1


def test_the_token_of_the_sign_in_serves_its_own_tenant_by_name() -> None:
    clock = Clock()

    class Named(Credential):
        def get_token(self, *scopes: str, tenant_id: str | None = None) -> Token:
            self.asked.append(tenant_id or "")
            return Token("x.eyJ0aWQiOiAiVC0xIn0.y", int(NOW + 3600))  # {"tid": "T-1"}

    credential = Named(clock)
    tokens = tokens_over(credential, clock)
    assert tokens.get() == tokens.get("t-1")
    assert credential.asked == [""]
