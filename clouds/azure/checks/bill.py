"""What the bill of a subscription shows by service, and which of its services the checks look at.

Cost Management answers for one scope at a time, so that every subscription is asked once. Asking costs nothing and is
throttled: about four queries a minute and scope, and a budget of each tenant (Cost Management documentation, read
2026-11-29). Its figures are some hours old. How it spells its services was not seen live: one that is spelt otherwise
than here is shown as not covered.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from clouds.errors import Unexpected
from clouds.models import Call, Scope
from clouds.models.waste import Charge
from clouds.models.waste_pack import Bill

DAYS = 30
CHARGE = Charge(0.0, "query of a subscription (throttled)", "2026-11-29", "Cost Management documentation")
_VM = ("stopped-not", "deallocated", "idle-gpu", "unused-capacity", "idle-dedicated", "idle-ml", "unrouted-ml",
       "batch-pool", "databricks")  # fmt: skip
COVERED: Mapping[str, tuple[str, ...]] = {
    "Virtual Machines": _VM,
    "Azure Machine Learning": ("idle-ml", "unrouted-ml"),
    "Azure Container Apps": ("gpu-container-app", "idle-container-app", "empty-container-apps", "idle-workload"),
    "Container Instances": ("container-group",),
    "Container Registry": ("empty-container-registry",),
    "Azure Kubernetes Service": ("aks",),
    "Foundry Models": ("idle-provisioned", "idle-finetuned"),
    "Cognitive Services": ("idle-provisioned", "idle-finetuned"),
    "Azure Cognitive Search": ("search",),
    "Azure App Service": ("idle-app-service",),
    "Storage": ("unattached", "orphaned-snapshot", "unused-image", "gallery", "deallocated"),
    "Virtual Network": ("unused-public-ip", "public-ip-prefix", "private-endpoint", "orphaned-nic"),
    "NAT Gateway": ("idle-nat",),
    "Load Balancer": ("idle-load",),
    "Application Gateway": ("appgw",),
    "VPN Gateway": ("idle-vpn",),
    "ExpressRoute": ("expressroute", "idle-vpn"),
    "Azure Bastion": ("idle-bastion",),
    "Azure Firewall": ("idle-firewall",),
    "Azure DDOS Protection": ("ddos",),
    "Azure Front Door Service": ("front-door",),
    "Azure DNS": ("unused-dns", "private-dns"),
    "Traffic Manager": ("traffic-manager",),
    "SQL Database": ("elastic-pool", "paused-sql"),
    "Azure Database for PostgreSQL": ("postgres",),
    "Azure Database for MySQL": ("mysql",),
    "Azure Cosmos DB": ("idle-cosmos",),
    "Redis Cache": ("idle-redis", "managed-redis"),
    "Azure Synapse Analytics": ("synapse",),
    "Azure Data Explorer": ("kusto",),
    "Azure Databricks": ("databricks",),
    "Azure NetApp Files": ("netapp",),
    "Event Hubs": ("eventhubs",),
    "Service Bus": ("servicebus",),
    "API Management": ("apim",),
    "Key Vault": ("disabled-key",),
    "Backup": ("recovery-vault",),
}


def ask(now: datetime, scope: Scope) -> Call:
    """Thirty whole days until yesterday of one subscription, by service, in US dollars."""
    end = now.date() - timedelta(days=1)  # its last day is counted with
    body = {
        "type": "ActualCost",
        "timeframe": "Custom",
        "timePeriod": {"from": f"{end - timedelta(days=DAYS - 1)}T00:00:00Z", "to": f"{end}T23:59:59Z"},
        "dataset": {
            "granularity": "None",
            "aggregation": {
                "totalCost": {"name": "Cost", "function": "Sum"},
                "totalCostUSD": {"name": "CostUSD", "function": "Sum"},
            },
            "grouping": [{"type": "Dimension", "name": "ServiceName"}],
        },
    }
    return Call("Microsoft.CostManagement/query", "query", {"parent": f"/subscriptions/{scope.account}", "body": body})


def lines(answer: Any) -> Mapping[str, float]:
    """US dollars by service; empty where nothing was billed. Raises Unexpected for other columns or another currency.

    Credits and refunds come as negative rows of their service, and are added up with it.
    """
    about = (answer or {}).get("properties") or {}
    if not about:  # 204: nothing was billed
        return {}
    columns = [str(each.get("name", "")).lower() for each in about.get("columns") or ()]
    dollars = "costusd" in columns
    if "servicename" not in columns or not (dollars or {"cost", "currency"} <= set(columns)):
        raise _other(f"it answered the columns {', '.join(columns)[:120] or 'none'}")
    found: dict[str, float] = {}
    for row in about.get("rows") or ():
        named = dict(zip(columns, row, strict=False))
        if not dollars and str(named["currency"]).upper() != "USD":
            raise _other(f"the bill is in {str(named['currency'])[:8]}, which is not added to US dollars")
        service = str(named["servicename"] or "without a service")[:80]
        found[service] = found.get(service, 0.0) + float(named["costusd" if dollars else "cost"] or 0.0)
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def _other(answered: str) -> Unexpected:
    return Unexpected("reading Cost Management", answered=answered, fix="See the bill in the portal: Cost analysis.")


BILL = Bill(
    ask=ask,
    charge=CHARGE,
    lines=lines,
    days=DAYS,
    covered=COVERED,
    permission="Microsoft.CostManagement/query/action",
    each_place=True,
)
