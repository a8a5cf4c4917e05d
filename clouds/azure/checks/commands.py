"""A call of a cleanup in the words of the Azure CLI, one word each, not yet quoted; always with its subscription.

A deletion is the CLI's own command where its core has one, else `az rest` with the very address that is sent. With
`--ids` the CLI ignores `--subscription` (az 2.91.0, run 2026-11-29): resources are named by name and group instead.
`--yes` stands only with commands that would ask, since the others refuse it (their help in 2.91.0, run 2026-11-29).
"""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from typing import Any

from clouds.azure.checks import words
from clouds.azure.paths import sending
from clouds.models import Call, Scope

ARM = "https://management.azure.com"


@dataclass(frozen=True)
class Native:
    """A delete command of the CLI's core: whether it asks, and how it names the parent of a child."""

    verb: str
    asks: bool = False
    parent: str = ""


NATIVE = {
    "Microsoft.ApiManagement/service": Native("apim", asks=True),
    "Microsoft.App/managedEnvironments": Native("containerapp env", asks=True),
    "Microsoft.CognitiveServices/accounts": Native("cognitiveservices account"),
    "Microsoft.Compute/capacityReservationGroups/capacityReservations": Native(
        "capacity reservation", asks=True, parent="--capacity-reservation-group"
    ),
    "Microsoft.Compute/disks": Native("disk", asks=True),
    "Microsoft.Compute/hostGroups/hosts": Native("vm host", asks=True, parent="--host-group"),
    "Microsoft.Compute/snapshots": Native("snapshot"),
    "Microsoft.Compute/virtualMachines": Native("vm", asks=True),
    "Microsoft.ContainerInstance/containerGroups": Native("container", asks=True),
    "Microsoft.ContainerRegistry/registries": Native("acr", asks=True),
    "Microsoft.ContainerService/managedClusters": Native("aks", asks=True),
    "Microsoft.EventHub/namespaces": Native("eventhubs namespace"),
    "Microsoft.Network/applicationGateways": Native("network application-gateway"),
    "Microsoft.Network/ddosProtectionPlans": Native("network ddos-protection"),
    "Microsoft.Network/dnsZones": Native("network dns zone", asks=True),
    "Microsoft.Network/loadBalancers": Native("network lb"),
    "Microsoft.Network/natGateways": Native("network nat gateway"),
    "Microsoft.Network/networkInterfaces": Native("network nic"),
    "Microsoft.Network/networkSecurityGroups": Native("network nsg"),
    "Microsoft.Network/privateEndpoints": Native("network private-endpoint"),
    "Microsoft.Network/publicIPAddresses": Native("network public-ip"),
    "Microsoft.Network/publicIPPrefixes": Native("network public-ip prefix"),
    "Microsoft.Network/virtualNetworkGateways": Native("network vnet-gateway"),
    "Microsoft.Network/virtualNetworks/subnets": Native("network vnet subnet", parent="--vnet-name"),
    "Microsoft.Search/searchServices": Native("search service", asks=True),
    "Microsoft.Sql/servers/databases": Native("sql db", asks=True, parent="--server"),
    "Microsoft.Sql/servers/elasticPools": Native("sql elastic-pool", parent="--server"),
    "Microsoft.Web/serverfarms": Native("appservice plan", asks=True),
}


def command(call: Call, scope: Scope) -> tuple[Any, ...]:
    """`az disk delete --name d --resource-group g --yes --subscription 3db3ce66-...`."""
    subscription = ("--subscription", scope.account or "")
    if call.operation == "delete":
        resource = str(call.parameters["id"])
        if call.service == "Microsoft.Resources/resourceGroups":
            return ("az", "group", "delete", "--name", words.last(resource), "--yes", *subscription)
        if native := NATIVE.get(call.service):
            return (*_native(native, resource), *subscription)
    what = sending(call, scope)
    query = "&".join(f"{name}={value}" for name, value in what.query.items())
    found: list[Any] = ["az", "rest", "--method", what.method.lower(), "--url", f"{ARM}{what.path}?{query}"]
    if what.body is not None:
        found += ["--body", json.dumps(what.body, ensure_ascii=False)]
    return (*found, *subscription)


def _native(native: Native, resource: str) -> list[Any]:
    found = ["az", *native.verb.split(), "delete", "--name", words.last(resource)]
    found += ["--resource-group", words.group(resource)]
    if native.parent:
        found += [native.parent, words.last(words.parent(resource))]
    return [*found, "--yes"] if native.asks else found


def query(path: str) -> tuple[str, ...]:
    """Our paths are JMESPath, but for the list of a machine's states: those are printed as one word."""
    if path == "statuses.code":
        path = "join('|', statuses[].code)"
    return ("--query", path, "--output", "tsv") if path else ("--output", "json")


def account_line(account: str) -> str:
    """Every command names its subscription; this asks once whether the sign-in reaches it at all."""
    name = shlex.quote(account)
    return f'[[ "$(az account show --subscription {name} --query id --output tsv)" == {name} ]]'
