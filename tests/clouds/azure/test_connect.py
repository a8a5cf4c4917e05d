from __future__ import annotations

import os
from pathlib import Path

import pytest

from clouds.azure import connect
from clouds.azure.api import OWN_READS, AzureApi
from clouds.azure.identity import AzureIdentity
from clouds.base import Missing
from clouds.errors import CloudError
from clouds.models import Call, Scope
from clouds.readonly import Forbidden, ReadOnly
from clouds.replay import VARIABLE, NotRecorded
from tests.clouds.azure.recorded import FIXTURES, Recorded
from tests.clouds.azure.rig import SUBSCRIPTION, Network, rig

ROOT = Path(__file__).parents[3]
CALLER = FIXTURES / "identity" / "caller" / "two_tenants"


def test_a_connected_cloud_has_all_its_ports(tmp_path: Path) -> None:
    cloud = connect(tmp_path)
    ports = (cloud.quotas, cloud.capacity, cloud.prices, cloud.api, cloud.waste)
    assert (cloud.name, [port for port in ports if isinstance(port, Missing)]) == ("azure", [])
    assert list(cloud.endpoints) == ["containerapps", "ml"]
    assert cloud.reading is not None
    assert cloud.reading(OWN_READS) is cloud.reading(OWN_READS)


def test_both_apis_of_a_cloud_have_one_sign_in(tmp_path: Path) -> None:
    cloud = connect(tmp_path)
    assert cloud.reading is not None
    assert isinstance(cloud.api, AzureApi)
    reading = cloud.reading(OWN_READS)
    assert isinstance(reading, AzureApi)
    assert reading.tokens is cloud.api.tokens


def test_with_replay_the_whole_cloud_answers_from_recordings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(VARIABLE, str(CALLER))
    cloud = connect(tmp_path)
    identity = cloud.identity.read()
    assert (identity.account, identity.kind) == (SUBSCRIPTION, "recorded answers")
    assert not isinstance(cloud.api, Missing)
    with pytest.raises(NotRecorded):
        cloud.api.send(Call("Microsoft.App/containerApps", "list"), scope=Scope(account=SUBSCRIPTION))


def test_with_replay_this_machines_own_sign_in_is_not_looked_at(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "azureProfile.json").write_text(
        '\ufeff{"subscriptions": [{"id": "mine", "tenantId": "secret-tenant", "isDefault": true}]}', "utf-8"
    )
    monkeypatch.setenv("AZURE_CONFIG_DIR", str(tmp_path))
    monkeypatch.setenv(VARIABLE, str(CALLER))
    identity = connect(tmp_path).identity.read()
    assert "mine" not in identity.model_dump_json()
    assert "secret-tenant" not in identity.model_dump_json()


def test_the_sign_in_of_the_cli_says_which_subscription_is_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "azureProfile.json").write_text(
        '\ufeff{"subscriptions": [{"id": "A", "tenantId": "T"}, {"id": "B", "tenantId": "U", "isDefault": true}]}',
        "utf-8",
    )
    monkeypatch.setenv("AZURE_CONFIG_DIR", str(tmp_path))
    api = AzureApi(inner=Network({}))
    assert (api.directory.default(), api.directory.tenant_of("a")) == ("b", "t")


def test_the_reading_api_refuses_what_is_not_on_its_list_before_it_signs_in() -> None:
    listing = Call("Microsoft.App/containerApps", "list")

    class Never:
        def get_token(self, *scopes: str, tenant_id: str | None = None) -> None:
            raise AssertionError("a sign-in was started")

    allow = frozenset({str(listing)}) | OWN_READS
    api, network, _ = rig({}, credential=Never(), taps=(ReadOnly(allow),))
    app = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/rg/providers/Microsoft.App/containerApps/a"
    for verb in ("delete", "put", "patch", "listSecrets", "stop"):
        with pytest.raises(Forbidden):
            api.send(Call("Microsoft.App/containerApps", verb, {"id": app}), scope=Scope())
        with pytest.raises(Forbidden):
            api.begin(Call("Microsoft.App/containerApps", verb, {"id": app}), scope=Scope())
    assert network.sent == []


def test_what_the_api_reads_of_its_own_accord_makes_a_read_only_list() -> None:
    assert ReadOnly(OWN_READS).allow == OWN_READS


def test_nobody_can_sign_in_where_there_is_neither_a_cli_nor_a_credential(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    signed_out = connect(tmp_path).signed_out()
    assert isinstance(signed_out, CloudError)
    assert "az login" in signed_out.fix
    monkeypatch.setenv("AZURE_CLIENT_ID", "x")
    assert connect(tmp_path).signed_out() is None


@pytest.mark.skipif(os.name == "nt", reason="another program's name there")
def test_where_there_is_a_cli_it_is_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "az"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert connect(tmp_path).signed_out() is None


@pytest.mark.parametrize("scenario", ["two_tenants", "one_of_two_tenants_is_broken"])
def test_every_tenant_is_read_and_a_broken_one_is_named(scenario: str) -> None:
    recorded = Recorded(f"identity/caller/{scenario}")
    recorded.check(AzureIdentity(recorded.api).read())
