"""Whether a region offers the GPU, and whether there is quota for one more."""

from __future__ import annotations

from clouds.azure.api import AzureApi
from clouds.azure.endpoints import preflight
from clouds.azure.sizes import Profile
from clouds.errors import NotOffered, QuotaTooSmall
from clouds.models import Call, Scope

PROFILE_TYPES = Call("Microsoft.App/locations/availableManagedEnvironmentsWorkloadProfileTypes", "list")
SUBSCRIPTION_USAGES = Call("Microsoft.App/locations/usages", "list")
ENVIRONMENT_USAGES = "Microsoft.App/managedEnvironments/usages"
GPU_QUOTA = {
    "T4": r"(?=.*consumption)(?=.*gpu)(?=.*t4)",
    "A100-80GB": r"(?=.*consumption)(?=.*gpu)(?=.*a100)",
}
"""What the names of the quotas hold, in either spelling; the whole names are not documented (2026-11-29)."""
UNSURE = (
    "Azure shows the serverless GPU quota only on an environment ({room}); it is read when that is made, "
    "before the app, and nothing has been paid by then"
)


def of(api: AzureApi, accelerator: str, region: str, subscription: str, environment: str = "") -> preflight.Room:
    """The quota of serverless GPUs: of an environment where there is one, else what the subscription shows."""
    call = Call(ENVIRONMENT_USAGES, "list_in", {"parent": environment}) if environment else SUBSCRIPTION_USAGES
    return preflight.usage(api, call, Scope(region, subscription), GPU_QUOTA[accelerator])


def check(room: preflight.Room, accelerator: str, region: str) -> None:
    """Raises QuotaTooSmall where there is surely no room for one more; what is not known is not "no"."""
    if room.free is None or room.free >= 1:
        return
    raise QuotaTooSmall(
        f"1 {accelerator} in {region}",
        answered=str(room),
        code="NoGpuQuota",
        fix=f"Ask for serverless GPU quota in {region}: Azure portal, Quotas, Azure Container Apps.",
    )


def check_offered(api: AzureApi, gpu: Profile, region: str, subscription: str) -> None:
    """Raises NotOffered where the region's own list of profile types lacks this one."""
    answer = api.send(PROFILE_TYPES, scope=Scope(region, subscription))
    names = {str(row.get("name", "")).lower() for row in (answer or {}).get("value", [])}
    if gpu.profile.lower() in names:
        return
    others = sorted(name for name in names if "gpu" in name)
    raise NotOffered(
        f"serverless {gpu.accelerator} in {region}",
        answered=f"the region offers {', '.join(others) or 'no GPU profile'}",
        fix="Name another region: swedencentral, westus3 and australiaeast were the first to have them.",
    )
