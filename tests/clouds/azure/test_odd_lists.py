"""Lists of tenants, subscriptions and providers in which a row lacks what tells it apart."""

from __future__ import annotations

from typing import Any

import pytest

from clouds.azure.identity import AzureIdentity
from clouds.errors import Unexpected
from clouds.models import Call, Scope
from tests.clouds.azure.rig import OTHER, SUBSCRIPTION, TENANT, rig

SECOND = "00000000-0000-0000-0000-0000000000b2"
GOOD = {"subscriptionId": OTHER, "displayName": "lab", "state": "Enabled"}


@pytest.mark.parametrize("row", [None, "x", {"displayName": "x"}, {"subscriptionId": None}, {"subscriptionId": ""}])
def test_a_tenant_with_a_row_that_says_nothing_is_named_and_the_other_is_read(row: Any) -> None:
    tenants = [{"tenantId": TENANT, "displayName": "One"}, {"tenantId": SECOND, "displayName": "Two"}]
    api, _, _ = rig(
        {
            "GET /tenants": (200, {"value": tenants}),
            "GET /subscriptions": [(200, {"value": [row]}), (200, {"value": [GOOD]})],
        }
    )
    identity = AzureIdentity(api).read()
    assert identity.account == OTHER
    assert "tenant One 00000000 could NOT be read (a row without subscriptionId" in identity.kind


@pytest.mark.parametrize("row", [None, {"displayName": "x"}])
def test_a_list_of_tenants_that_names_none_is_an_error(row: Any) -> None:
    api, _, _ = rig({"GET /tenants": (200, {"value": [row]})})
    with pytest.raises(Unexpected, match="a row without tenantId"):
        AzureIdentity(api).read()


@pytest.mark.parametrize("row", [None, {"namespace": "Microsoft.App"}])
def test_an_empty_page_is_not_believed_where_a_registration_is_not_said(row: Any) -> None:
    path = f"/subscriptions/{SUBSCRIPTION}/providers"
    empty, said = (200, {"value": []}), (200, {"value": [row]})
    api, _, _ = rig({f"GET {path}": said, f"GET {path}/Microsoft.App/containerApps": empty})
    with pytest.raises(Unexpected, match="a row without namespace or registrationState"):
        api.send(Call("Microsoft.App/containerApps", "list"), scope=Scope(account=SUBSCRIPTION))


def test_a_subscription_that_others_manage_in_an_odd_row_is_still_listed() -> None:
    row = {**GOOD, "managedByTenants": [None, {"tenantId": SECOND}]}
    api, _, _ = rig(
        {"GET /tenants": (200, {"value": [{"tenantId": TENANT}]}), "GET /subscriptions": (200, {"value": [row]})}
    )
    assert [each.managed_by for each in api.directory.subscriptions()] == [(SECOND,)]
