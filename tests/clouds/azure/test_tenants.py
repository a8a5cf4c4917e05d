from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from clouds.azure.claims import who
from clouds.azure.identity import AzureIdentity
from clouds.errors import CredentialExpired, InvalidInput, NotSignedIn
from clouds.models import Call, Scope
from tests.clouds.azure.rig import NOW, OTHER, SUBSCRIPTION, Answer, Clock, Token, problem, registered, rig

WORK, HOME = "aaaaaaaa-0000-0000-0000-000000000001", "bbbbbbbb-0000-0000-0000-000000000002"
TENANTS = {
    "value": [
        {"tenantId": WORK, "displayName": "Contoso", "tenantCategory": "Home"},
        {"tenantId": HOME, "displayName": "Default Directory", "tenantCategory": "Home"},
    ]
}


def jwt(**payload: Any) -> str:
    body = base64.urlsafe_b64encode(json.dumps(payload).encode()).decode().rstrip("=")
    return f"eyJhbGciOiJub25lIn0.{body}.signature"


PERSONAL = {
    "idp": "live.com",
    "unique_name": "live.com#ada@example.com",
    "scp": "user_impersonation",
    "tid": HOME,
    "oid": "oid-b",
}
SCHOOL = {"upn": "ada@example.com", "scp": "user_impersonation", "tid": WORK, "oid": "oid-a"}


class TwoIdentities:
    """One address, two directories: the token of each tenant is another identity's."""

    def __init__(self, broken: str = "") -> None:
        self.asked: list[str] = []
        self.broken = broken

    def get_token(self, *scopes: str, tenant_id: str | None = None) -> Token:
        self.asked.append(tenant_id or "")
        if tenant_id and tenant_id == self.broken:
            raise RuntimeError("AADSTS50076: you must use multi-factor authentication to access this tenant")
        claims = PERSONAL if tenant_id == HOME else SCHOOL
        return Token(jwt(**claims), int(NOW + 3600))


def subscription(number: str, name: str, **more: Any) -> dict[str, Any]:
    return {"subscriptionId": number, "displayName": name, "state": "Enabled", **more}


def answers(*lists: Answer) -> dict[str, Answer | list[Answer]]:
    return {"GET /tenants": (200, TENANTS), "GET /subscriptions": list(lists)}


def test_two_identities_of_one_address_are_told_apart_and_no_token_is_shown() -> None:
    api, network, _ = rig(
        answers(
            (200, {"value": [subscription(SUBSCRIPTION, "Research")]}), (200, {"value": [subscription(OTHER, "Mine")]})
        ),
        credential=TwoIdentities(),
        signed_in=({"id": SUBSCRIPTION, "tenantId": WORK, "isDefault": True},),
    )
    found = AzureIdentity(api).read()
    assert found.model_dump() == {
        "principal": "ada@example.com",
        "account": SUBSCRIPTION,
        "kind": "work or school account; personal Microsoft account ada@example.com in Default Directory bbbbbbbb",
        "renews": "renews itself through the Azure CLI until its sign-in ends",
        "location": WORK,
        "details": {
            "sign-in": "Azure CLI",
            "subscription": SUBSCRIPTION,
            "tenant Contoso aaaaaaaa": f"{WORK}; signed in as ada@example.com, work or school account, object oid-a; "
            f"1 subscription(s): Research {SUBSCRIPTION}",
            "tenant Default Directory bbbbbbbb": f"{HOME}; signed in as ada@example.com, personal Microsoft account, "
            f"object oid-b; 1 subscription(s): Mine {OTHER}",
            "subscriptions": "2 in 2 of 2 tenants",
        },
    }
    assert "eyJ" not in found.model_dump_json()
    assert [each.token for each in network.sent if each.path == "/subscriptions"] == [jwt(**SCHOOL), jwt(**PERSONAL)]


def test_a_tenant_that_fails_does_not_stop_the_others() -> None:
    api, _, _ = rig(
        answers((200, {"value": [subscription(SUBSCRIPTION, "Research")]})), credential=TwoIdentities(broken=HOME)
    )
    found = AzureIdentity(api).read()
    assert found.account == SUBSCRIPTION
    assert found.details["subscriptions"] == "1 in 1 of 2 tenants"
    assert found.details["not read"] == "1 tenant(s): Default Directory bbbbbbbb"
    broken = found.details["tenant Default Directory bbbbbbbb"]
    assert "could NOT be read: AADSTS50076" in broken
    assert f"az login --tenant {HOME}" in broken
    assert found.kind.startswith("work or school account; tenant Default Directory bbbbbbbb could NOT be read (AADSTS")


def test_a_tenant_that_failed_is_asked_again_and_one_that_answered_is_not() -> None:
    credential = TwoIdentities(broken=HOME)
    rows = (200, {"value": [subscription(SUBSCRIPTION, "Research")]})
    api, network, clock = rig(answers(rows, (200, {"value": []})), credential=credential)
    assert [each.problem is None for each in api.directory.tenants()] == [True, False]
    credential.broken = ""
    assert [each.problem is None for each in api.directory.tenants()] == [True, False]
    clock.now += 31
    assert [each.problem is None for each in api.directory.tenants()] == [True, True]
    api.directory.tenants()
    assert network.paths == ["GET /tenants", "GET /subscriptions", "GET /subscriptions"]


def test_a_sign_in_that_just_happened_is_noticed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AZURE_CONFIG_DIR", str(tmp_path))
    credential = TwoIdentities(broken=HOME)
    rows = (200, {"value": [subscription(SUBSCRIPTION, "Research")]})
    api, _, _ = rig(answers(rows, (200, {"value": []})), credential=credential)
    assert [each.problem is None for each in api.directory.tenants()] == [True, False]
    credential.broken = ""
    (tmp_path / "azureProfile.json").write_text("{}")
    assert [each.problem is None for each in api.directory.tenants()] == [True, True]


def test_a_tenant_that_was_only_out_of_reach_is_asked_again_at_once() -> None:
    rows = (200, {"value": [subscription(SUBSCRIPTION, "Research")]})
    api, _, _ = rig(answers(rows, (500, None), (200, {"value": []})), credential=TwoIdentities(), attempts=1)
    assert [each.problem is None for each in api.directory.tenants()] == [True, False]
    assert [each.problem is None for each in api.directory.tenants()] == [True, True]


def test_a_list_of_tenants_that_was_not_answered_is_not_taken_for_the_ones_that_are_known() -> None:
    rows = (200, {"value": [subscription(SUBSCRIPTION, "Research")]})
    api, _, _ = rig(
        {"GET /tenants": [(500, None), (200, TENANTS)], "GET /subscriptions": [rows, rows, (200, {"value": []})]},
        credential=TwoIdentities(),
        signed_in=({"id": SUBSCRIPTION, "tenantId": WORK, "isDefault": True},),
        attempts=1,
    )
    assert [(each.id, each.problem is None) for each in api.directory.tenants()] == [(WORK, True), ("unlisted", False)]
    assert [(each.id, each.problem is None) for each in api.directory.tenants()] == [(WORK, True), (HOME, True)]


def test_where_every_tenant_fails_the_reason_is_the_answer() -> None:
    class Ended(TwoIdentities):
        def get_token(self, *scopes: str, tenant_id: str | None = None) -> Token:
            raise RuntimeError("AADSTS700082: The refresh token has expired")

    api, _, _ = rig({}, credential=Ended(), signed_in=({"id": SUBSCRIPTION, "tenantId": WORK},))
    with pytest.raises(CredentialExpired):
        AzureIdentity(api).read()


def test_without_any_sign_in_the_fix_is_to_sign_in() -> None:
    class Nobody:
        def get_token(self, *scopes: str, tenant_id: str | None = None) -> Token:
            raise RuntimeError("Please run 'az login' to setup account.")

    api, _, _ = rig({}, credential=Nobody())
    with pytest.raises(NotSignedIn) as told:
        AzureIdentity(api).read()
    assert told.value.fix == "Run `az login` in a terminal, then repeat this call."


def test_a_subscription_that_is_managed_for_another_tenant_is_listed_once() -> None:
    shared = subscription(SUBSCRIPTION, "Shared", managedByTenants=[{"tenantId": WORK}])
    api, _, _ = rig(answers((200, {"value": [shared]}), (200, {"value": [shared]})), credential=TwoIdentities())
    assert [(each.id, each.tenant, each.managed_by) for each in api.directory.subscriptions()] == [
        (SUBSCRIPTION, WORK, (WORK,))
    ]


def test_a_subscription_that_is_not_enabled_is_named_since_it_may_still_cost_money() -> None:
    old = subscription(OTHER, "Old") | {"state": "Disabled"}
    api, _, _ = rig(
        answers((200, {"value": [subscription(SUBSCRIPTION, "Research"), old]}), (200, {"value": []})),
        credential=TwoIdentities(),
    )
    found = AzureIdentity(api).read()
    assert found.account == SUBSCRIPTION
    assert f"Old {OTHER} [Disabled; may still cost money]" in found.details["tenant Contoso aaaaaaaa"]


def test_where_several_are_there_and_none_is_chosen_they_are_named() -> None:
    both = [subscription(SUBSCRIPTION, "Research"), subscription(OTHER, "Mine")]
    api, _, _ = rig(answers((200, {"value": both}), (200, {"value": []})), credential=TwoIdentities())
    with pytest.raises(InvalidInput) as told:
        api.directory.default()
    assert told.value.allowed == (SUBSCRIPTION, OTHER)


def test_the_one_that_the_environment_names_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_SUBSCRIPTION_ID", OTHER)
    api, _, _ = rig({})
    assert api.directory.default() == OTHER


def test_one_may_be_chosen_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    both = [subscription(SUBSCRIPTION, "Research"), subscription(OTHER, "Mine"), subscription("x", "mine")]
    api, _, _ = rig(answers((200, {"value": both}), (200, {"value": []})), credential=TwoIdentities())
    monkeypatch.setenv("MODELRIG_AZURE_SUBSCRIPTION", "research")
    assert api.directory.default() == SUBSCRIPTION
    for name, problem_ in (("Mine", "2 subscriptions are named"), ("Nobody's", "no subscription is named")):
        monkeypatch.setenv("MODELRIG_AZURE_SUBSCRIPTION", name)
        with pytest.raises(InvalidInput, match=problem_):
            api.directory.default()


def test_a_subscription_of_another_tenant_is_asked_with_that_tenants_token() -> None:
    apps = f"/subscriptions/{OTHER}/providers/Microsoft.App/containerApps"
    api, network, _ = rig(
        {f"GET {apps}": (200, {"value": [{"name": "a"}]})},
        signed_in=({"id": SUBSCRIPTION, "tenantId": WORK}, {"id": OTHER.upper(), "tenantId": HOME}),
    )
    api.send(Call("Microsoft.App/containerApps", "list"), scope=Scope(account=OTHER))
    assert [each.token for each in network.sent] == [f"token-of-{HOME}-1"]


def test_a_wrong_tenant_is_learnt_from_the_answer_and_asked_once_more() -> None:
    apps = f"GET /subscriptions/{SUBSCRIPTION}/providers/Microsoft.App/containerApps"
    says = (
        "The access token is from the wrong issuer 'https://sts.windows.net/x/'. It must match the tenant "
        f"'https://sts.windows.net/{HOME}/' associated with this subscription."
    )
    api, network, _ = rig({apps: [(401, problem("InvalidAuthenticationTokenTenant", says)), (200, {"value": [1]})]})
    call, scope = Call("Microsoft.App/containerApps", "list"), Scope(account=SUBSCRIPTION)
    assert api.send(call, scope=scope) == {"value": [1]}
    assert api.send(call, scope=scope) == {"value": [1]}
    assert [each.token for each in network.sent] == ["token-of-home-1", f"token-of-{HOME}-2", f"token-of-{HOME}-2"]


def test_a_refused_token_that_ended_early_is_renewed_once_and_then_told() -> None:
    apps = f"GET /subscriptions/{SUBSCRIPTION}/providers/Microsoft.App/containerApps"
    api, network, _ = rig({apps: (401, problem("ExpiredAuthenticationToken", "The access token expiry"))})
    with pytest.raises(CredentialExpired):
        api.send(Call("Microsoft.App/containerApps", "list"), scope=Scope(account=SUBSCRIPTION))
    assert [each.token for each in network.sent] == ["token-of-home-1", "token-of-home-2"]


def test_a_token_that_was_ended_for_us_is_renewed_under_all_its_names() -> None:
    apps = f"GET /subscriptions/{SUBSCRIPTION}/providers/Microsoft.App/containerApps"
    asks = f'Bearer authorization_uri="https://login.windows.net/{WORK}", error="invalid_token"'
    refused = (401, problem("ExpiredAuthenticationToken", "ended"), {"WWW-Authenticate": asks})
    api, network, _ = rig({apps: [refused, (200, {"value": [1]})]}, credential=TwoIdentities())
    api.send(Call("Microsoft.App/containerApps", "list"), scope=Scope(account=SUBSCRIPTION))
    assert (len(network.sent), api.tokens.fetched) == (2, 2)


@pytest.mark.parametrize(
    ("payload", "kind", "name"),
    [
        ({"idtyp": "app", "appid": "app-1", "oid": "o"}, "service principal", "app-1"),
        ({"appid": "app-1", "xms_mirid": "/subscriptions/x"}, "managed identity", "app-1"),
        ({"scp": "x", "idp": "https://sts.windows.net/other/", "unique_name": "guest@example.com"}, "guest", "guest@"),
        (SCHOOL, "work or school account", "ada@example.com"),
        (PERSONAL, "personal Microsoft account", "ada@example.com"),
    ],
)
def test_the_kind_of_account_is_in_the_token(payload: dict[str, Any], kind: str, name: str) -> None:
    found = who(jwt(**payload))
    assert found.kind.startswith(kind)
    assert found.name.startswith(name)


@pytest.mark.parametrize("token", ["", "a.b", "a.!!!.c", f"a.{base64.b64encode(b'[1]').decode()}.c"])
def test_a_token_that_cannot_be_read_says_nothing(token: str) -> None:
    assert who(token).kind == "unknown kind of account"


def test_the_registered_providers_are_read_once_a_minute() -> None:
    clock = Clock()
    providers = f"GET /subscriptions/{SUBSCRIPTION}/providers"
    api, network, clock = rig({providers: [(200, registered("Microsoft.App")), (200, registered("Microsoft.Web"))]})
    assert api.registration("microsoft.app", SUBSCRIPTION) == "Registered"
    assert api.registration("Microsoft.Web", SUBSCRIPTION) == "NotRegistered"
    clock.now += 61
    assert api.registration("Microsoft.Web", SUBSCRIPTION) == "Registered"
    assert len(network.sent) == 2
