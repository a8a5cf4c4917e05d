"""Rates that only the waste checks need. Few of them are bundled: a refresh brings the others from the public list.

Names of meters are those of published queries, of infracost's sources and of answers of the list that public
repositories keep (read 2026-11-29); none was asked here. A name that Azure does not list brings no row, and what it
would price stays unpriced.
"""

from __future__ import annotations

from collections.abc import Mapping

from clouds.azure.rates import GB_MONTH, HOUR, MONTH, RATES, Rate

_TIERS = {"Basic": "basic", "Standard": "standard", "Premium": "premium", "Ultra": "ultra", "Developer": "developer"}
_SIZES = {"Small": "small", "Medium": "medium", "Large": "large"}
_TIER = "(?P<tier>Basic|Standard|Premium)"
_PER_HOUR = {"1 Hour": 730.0, "1/Hour": 730.0}
_DAY = {"1/Day": 1 / 24}
_GIB_HOUR = {"1 GiB/Hour": 1.0, "1 GiB Hour": 1.0, "1 GB Hour": 1.0, "1 GB/Hour": 1.0, "1 Hour": 1.0}


def _of(service: str) -> str:
    return f"serviceName eq '{service}'"


def _pool(name: str, meter: str, units: Mapping[str, float], product: str, sku: str) -> Rate:
    """A unit of an elastic pool: the list has a row for each number of vCores, all of one meter."""
    where = _of("SQL Database")
    return Rate(f"sql-elastic-pool/{name}", "unit-hour", meter, units, where, product=rf"{product}$", sku=rf"^{sku}$")


def _redis(key: str, meter: str, product: str) -> Rate:
    """A size of Redis; newer meters count its nodes, and are the ones that are called primary."""
    return Rate(key, "instance-hour", meter, HOUR, _of("Redis Cache"), product=rf"{product}$")


WASTE = (
    Rate(
        "public-ip/basic-static-ipv4",
        "hour",
        r"Basic IPv4 Static Public IP",
        HOUR,
        "meterName eq 'Basic IPv4 Static Public IP'",
    ),
    Rate("firewall/{tier}", "hour", rf"{_TIER} Deployment", HOUR, _of("Azure Firewall"), words=_TIERS),
    Rate("bastion/{tier}", "hour", rf"{_TIER} Gateway", HOUR, _of("Azure Bastion"), words=_TIERS),
    Rate("bastion-scale-unit/{tier}", "hour", rf"{_TIER} Additional Gateway", HOUR, _of("Azure Bastion"), words=_TIERS),
    Rate(
        "application-gateway/waf-v2-fixed",
        "hour",
        r"Standard Fixed Cost",
        HOUR,
        _of("Application Gateway"),
        product=r"WAF v2$",
    ),
    Rate(
        "application-gateway/waf-v2-capacity-unit",
        "hour",
        r"Standard Capacity Units",
        HOUR,
        _of("Application Gateway"),
        product=r"WAF v2$",
    ),
    Rate(
        "application-gateway/standard-v2-fixed",
        "hour",
        r"Standard Fixed Cost",
        HOUR,
        _of("Application Gateway"),
        product=r"Standard v2$",
    ),
    Rate(
        "application-gateway/standard-v2-capacity-unit",
        "hour",
        r"Standard Capacity Units",
        HOUR,
        _of("Application Gateway"),
        product=r"Standard v2$",
    ),
    Rate(
        "application-gateway/v1/standard-{size}",
        "hour",
        r"(?P<size>Small|Medium|Large) Gateway",
        HOUR,
        _of("Application Gateway"),
        product=r"^Basic Application Gateway$",
        words=_SIZES,
    ),
    Rate(
        "application-gateway/v1/waf-{size}",
        "hour",
        r"(?P<size>Medium|Large) Gateway",
        HOUR,
        _of("Application Gateway"),
        product=r"^WAF Application Gateway$",
        words=_SIZES,
    ),
    Rate(
        "vpn-gateway/{sku}",
        "hour",
        r"(?P<sku>VpnGw[1-5](AZ)?|Basic)( Gateway)?",
        HOUR,
        _of("VPN Gateway"),
        words={"Basic": "basic"} | {f"VpnGw{n}{az}": f"vpngw{n}{az.lower()}" for n in range(1, 6) for az in ("", "AZ")},
    ),
    Rate(
        "expressroute-gateway/{sku}",
        "hour",
        r"(?P<sku>ErGw[1-3]AZ|Standard|High Performance|Ultra High Performance) Gateway",
        HOUR,
        _of("ExpressRoute"),
        words={
            "Standard": "standard",
            "High Performance": "highperformance",
            "Ultra High Performance": "ultraperformance",
            **{f"ErGw{n}AZ": f"ergw{n}az" for n in range(1, 4)},
        },
    ),
    Rate("ddos/network-protection-plan", "hour", r"Network Protection Plan", HOUR, _of("Azure DDOS Protection")),
    Rate(
        "dns/private-zone/first-25",
        "zone-month",
        r"Private Zone",
        MONTH,
        "meterName eq 'Private Zone'",
        regional=False,
        everywhere=True,
    ),
    Rate(
        "dns/private-zone/beyond-25",
        "zone-month",
        r"Private Zone",
        MONTH,
        "meterName eq 'Private Zone'",
        tier="last",
        regional=False,
        everywhere=True,
    ),
    Rate(
        "private-endpoint/hour",
        "hour",
        r"Standard Private Endpoint",
        HOUR,
        "meterName eq 'Standard Private Endpoint'",
        regional=False,
        everywhere=True,
    ),
    Rate(
        "front-door/{tier}-base",
        "month",
        rf"{_TIER} Base Fees",
        MONTH,
        _of("Azure Front Door Service"),
        regional=False,
        words=_TIERS,
        everywhere=True,
    ),
    Rate(
        "ai-search/{tier}",
        "unit-hour",
        r"(?P<tier>Basic|Standard S[123]|Storage Optimized L[12]) Unit",
        HOUR,
        _of("Azure Cognitive Search"),
        words={
            "Basic": "basic",
            "Standard S1": "standard",
            "Standard S2": "standard2",
            "Standard S3": "standard3",
            "Storage Optimized L1": "storage_optimized_l1",
            "Storage Optimized L2": "storage_optimized_l2",
        },
    ),
    # a free row has the same name, and is the one that is called primary
    Rate(
        "cosmos/manual-100-ru",
        "hour",
        r"100 RU/s",
        HOUR,
        _of("Azure Cosmos DB"),
        product=r"^Azure Cosmos DB$",
        sku=r"^RUs$",
    ),
    Rate(
        "cosmos/multi-write-100-ru",
        "hour",
        r"100 Multi-master RU/s",
        HOUR,
        _of("Azure Cosmos DB"),
        product=r"^Azure Cosmos DB$",
        sku=r"^mRUs$",
    ),
    _pool("gp_gen5", r"vCore", HOUR, "Pool General Purpose - Compute Gen5", "1 vCore"),
    _pool("gp_gen5-zones", r"Zone Redundancy vCore", HOUR, "Pool General Purpose - Compute Gen5", "1 vCore Zone.*"),
    _pool("bc_gen5", r"vCore", HOUR, "Pool Business Critical - Compute Gen5", "1 vCore"),
    _pool("basicpool", r"eDTUs", _DAY, "Elastic Pool - Basic", "1 DTU"),
    _pool("standardpool", r"eDTUs", _DAY, "Elastic Pool - Standard", "1 DTU"),
    _pool("premiumpool", r"eDTUs", _DAY, "Elastic Pool - Premium", "1 DTU"),
    Rate("cosmos/autoscale-100-ru", "hour", r"AP1 100 RUs", HOUR, _of("Azure Cosmos DB"), product=r"(?i)autoscale$"),
    Rate(
        "synapse/100-dwu",
        "hour",
        r"100 DWUs",
        HOUR,
        _of("Azure Synapse Analytics"),
        product=r"Dedicated SQL Pool$",
        sku=r"^DW100c$",
    ),
    Rate(
        "event-hubs/{tier}-unit",
        "hour",
        r"(?P<tier>Basic|Standard|Premium) (Throughput|Processing) Unit",
        HOUR,
        _of("Event Hubs"),
        words=_TIERS,
    ),
    Rate("service-bus/premium-unit", "hour", r"Premium Messaging Unit", HOUR, _of("Service Bus")),
    Rate(
        "api-management/{tier}",
        "unit-hour",
        r"(?P<tier>(Developer|Basic|Standard|Premium)( v2( Secondary)?)?|Secondary) Units?",
        HOUR,
        _of("API Management"),
        words={
            **_TIERS,
            "Secondary": "premium-further",
            **{f"{name} v2": f"{name.lower()}v2" for name in _TIERS},
            **{f"{name} v2 Secondary": f"{name.lower()}v2-further" for name in _TIERS},
        },
    ),
    _redis("redis/basic-c{size}", r"C(?P<size>\d) Cache", "Cache Basic"),
    _redis("redis/standard-c{size}", r"C(?P<size>\d) Cache Instance", "Cache Standard"),
    _redis("redis/premium-p{size}", r"P(?P<size>\d) Cache Instance", "Cache Premium"),
    _redis("redis-enterprise/enterprise_e{size}", r"E(?P<size>\d+) Cache", "Cache Enterprise"),
    _redis("redis-enterprise/enterpriseflash_f{size}", r"F(?P<size>\d+) Cache", "Cache Enterprise Flash"),
    _redis("redis-enterprise/balanced_b{size}", r"B(?P<size>\d+) Cache Instance", "Managed Redis - Balanced"),
    _redis("redis-enterprise/memoryoptimized_m{size}", r"M(?P<size>\d+) Cache Instance", "Redis - Memory Optimized"),
    _redis("redis-enterprise/computeoptimized_x{size}", r"X(?P<size>\d+) Cache Instance", "Redis - Compute Optimized"),
    _redis("redis-enterprise/flashoptimized_a{size}", r"A(?P<size>\d+) Cache Instance", "Redis - Flash Optimized"),
    Rate(
        "netapp/{tier}",
        "GiB-hour",
        r"(?P<tier>Standard|Premium|Ultra) Capacity",
        _GIB_HOUR,
        _of("Azure NetApp Files"),
        words=_TIERS,
    ),
    Rate("container-instances/vcpu", "vCPU-hour", r"Standard vCPU Duration", HOUR, _of("Container Instances")),
    Rate("container-instances/memory", "GiB-hour", r"Standard Memory Duration", _GIB_HOUR, _of("Container Instances")),
    Rate(
        "postgres-flexible/storage",
        "GiB-month",
        r"Storage Data Stored",
        GB_MONTH,
        _of("Azure Database for PostgreSQL"),
        product=r"Flex(ible)? Server Storage$",
    ),
    Rate(
        "mysql-flexible/storage",
        "GiB-month",
        r"Storage Data Stored",
        GB_MONTH,
        _of("Azure Database for MySQL"),
        product=r"Flex(ible)? Server Storage$",
    ),
    Rate(
        "disk-iops/{kind}_LRS",
        "IOPS-month",
        r"(?P<kind>Premium|Ultra) LRS Provisioned IOPS",
        _PER_HOUR,
        "serviceName eq 'Storage' and contains(meterName,'LRS Provisioned IOPS')",
        words={"Premium": "PremiumV2", "Ultra": "UltraSSD"},
    ),
    Rate(
        "disk-throughput/{kind}_LRS",
        "MBps-month",
        r"(?P<kind>Premium|Ultra) LRS Provisioned Throughput \(MBps\)",
        _PER_HOUR,
        "serviceName eq 'Storage' and contains(meterName,'LRS Provisioned Throughput')",
        words={"Premium": "PremiumV2", "Ultra": "UltraSSD"},
    ),
)
ALL = (*RATES, *WASTE)
"""What a refresh rebuilds, and what it adds."""
