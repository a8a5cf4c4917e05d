"""Dedicated hosts that no instance runs on."""

from __future__ import annotations

from clouds.aws.checks import words
from clouds.aws.checks.steps import gone, step
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Kind, Listing, Meter, Row, Seen, Waste, WasteCheck

HOSTS = Listing("ec2", "DescribeHosts", "Hosts")


def _host_manager(row: Row) -> str:
    """License Manager allocates and releases the hosts of its host resource groups by itself (EC2 API, Host)."""
    return "License Manager (host resource group)" if row.get("MemberOfServiceLinkedResourceGroup") else ""


HOST = Kind(
    name="dedicated host",
    of=HOSTS,
    id=lambda row, at: words.arn("ec2", at, f"dedicated-host/{row['HostId']}"),
    label=lambda row: words.named(row, "HostId"),
    created=lambda row: row.get("AllocationTime"),
    tags=words.tags,
    managed=_host_manager,
)


def _empty_host(row: Row, seen: Seen) -> Waste | None:
    if row.get("OwnerId", seen.at.account) != seen.at.account:
        return None  # shared with this account, and billed to the other
    if row["State"] != "available" or row.get("Instances") or row.get("HostReservationId") or row.get("OutpostArn"):
        return None
    about = row.get("HostProperties", {})
    family = about.get("InstanceFamily") or str(about.get("InstanceType", "")).split(".")[0] or "unknown"
    return Waste(
        reason=f"no instance on this {family} host",
        meters=(Meter(f"ec2-host/{family}", "hour"),),
        evidence={"family": family, "sockets": about.get("Sockets"), "cores": about.get("Cores")},
    )


def _release_host(doomed: Doomed) -> tuple[CleanupStep, ...]:
    host = doomed.row["HostId"]
    return (
        step(
            "release",
            f"release host {doomed.name}",
            "ec2.ReleaseHosts",
            {"HostIds": [host]},
            "can be undone",
            capacity=True,
            until=gone(
                "ec2.DescribeHosts", {"HostIds": [host]}, "Hosts[].State", "released", "released-permanent-failure"
            ),
        ),
    )


HOST_EMPTY = WasteCheck(
    id="dedicated-host-empty",
    title="Dedicated host without an instance",
    kind=HOST,
    judge=_empty_host,
    why="A dedicated host is billed as a whole by the hour, whatever runs on it.",
    spares=(
        "covered by a host reservation",
        "on an Outpost",
        "of another account, which pays for it",
        "of a host resource group, which License Manager fills and empties",
        "younger than a day (Mac hosts are held for 24 hours)",
    ),
    unchecked=("licences bound to its sockets",),
    meter="EC2 dedicated host hours by family",
    remove=_release_host,
    reversal="can be undone",
    recovery="Another host can be allocated, if there is capacity then; licences bound to this one must be moved.",
    order=25,
    steps=("ec2.ReleaseHosts", "ec2.DescribeHosts"),
)
