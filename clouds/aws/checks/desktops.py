"""WorkSpaces that nobody signs in to, and directories that nothing uses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

from clouds.aws.checks import words
from clouds.aws.checks.database_reads import DATABASES
from clouds.aws.checks.filesystems import FSX_LIST
from clouds.aws.checks.steps import step, until
from clouds.aws.checks.vpn import CLIENT_VPNS
from clouds.models.removal import CleanupStep, Doomed
from clouds.models.waste import Detail, Kind, Listing, Meter, Row, Seen, Unresolved, Waste, WasteCheck

DESKTOPS = Listing("workspaces", "DescribeWorkspaces", "Workspaces")
STATUS = Listing("workspaces", "DescribeWorkspacesConnectionStatus", "WorkspacesConnectionStatus")
DESKTOP = Kind(
    name="WorkSpace",
    of=DESKTOPS,
    id=lambda row, at: words.arn("workspaces", at, f"workspace/{row['WorkspaceId']}"),
    label=lambda row: f"{row['WorkspaceId']} ({row.get('UserName', '')})",
    tags_read=Detail(
        DESKTOPS,
        "workspaces",
        "DescribeTags",
        lambda rows, _at: {"ResourceId": rows[0]["WorkspaceId"]},
        rows="TagList",
        late=True,
    ),
    tags_of=words.tag_row,
)


def _desktop_price(about: Mapping[str, Any]) -> str:
    """The key of its price without a licence, as of one that brings its own: the least that its bundle costs.

    AWS lists bundles by the sizes of both disks and by licence; DescribeWorkspaces does not say who brings the licence.
    """
    sizes = "-".join(str(about.get(f"{disk}VolumeSizeGib", "unknown")) for disk in ("Root", "User"))
    return f"workspaces/{str(about.get('ComputeTypeName', 'unknown')).lower()}/always-on/{sizes}"


def _desktop_key(row: Row) -> Iterable[Any]:
    return [row["WorkspaceId"]]


def _desktop(row: Row, seen: Seen) -> Waste | None:
    about = row.get("WorkspaceProperties", {})
    if row["State"] not in ("AVAILABLE", "UNHEALTHY", "IMPAIRED"):
        return None
    if not about.get("RunningMode"):
        raise Unresolved("AWS does not say whether it is always on")
    if about["RunningMode"] != "ALWAYS_ON":
        return None
    status = next(iter(seen.index(STATUS, _desktop_key).get(row["WorkspaceId"], ())), None)
    if status is None or not status.get("LastKnownUserConnectionTimestamp"):
        raise Unresolved("AWS gives no time of a last connection, and not when it was made")
    last = status["LastKnownUserConnectionTimestamp"]
    if status.get("ConnectionState") == "CONNECTED" or not words.older(seen, last, days=30):
        return None
    kind = str(about.get("ComputeTypeName", "unknown")).lower()
    return Waste(
        reason=f"always on, and nobody connected for {words.days_since(seen, last)} days",
        meters=(Meter(_desktop_price(about), "month"),),
        bound="at least",
        evidence={"type": kind, "user": row.get("UserName", ""), "last connection": str(last)},
    )


def _auto_stop(doomed: Doomed) -> tuple[CleanupStep, ...]:
    name = {"WorkspaceId": doomed.row["WorkspaceId"]}
    return (
        step(
            "switch",
            f"let {doomed.name} stop by itself after an hour; its volumes stay and are billed",
            "workspaces.ModifyWorkspaceProperties",
            {
                **name,
                "WorkspaceProperties": {"RunningMode": "AUTO_STOP", "RunningModeAutoStopTimeoutInMinutes": 60},
            },
            "can be undone",
            until=until(
                "workspaces.DescribeWorkspaces",
                {"WorkspaceIds": [doomed.row["WorkspaceId"]]},
                "Workspaces[].WorkspaceProperties.RunningMode",
                "AUTO_STOP",
                seconds=1800,
            ),
        ),
    )


DESKTOP_IDLE = WasteCheck(
    id="workspaces-idle",
    title="WorkSpace that is always on and never used",
    kind=DESKTOP,
    reads=(STATUS,),
    judge=_desktop,
    why="An always-on WorkSpace is billed by the month, used or not.",
    spares=("connected in 30 days", "stops by itself", "being made or maintained"),
    unchecked=("why: a leave, a new colleague", "whether AWS bills a Windows licence or applications on top"),
    meter="WorkSpaces months by compute type and disk sizes",
    remove=_auto_stop,
    reversal="can be undone",
    recovery="It can be set to always on again; files stay.",
    order=35,
    steps=("workspaces.ModifyWorkspaceProperties", "workspaces.DescribeWorkspaces"),
)

DIRECTORIES = Listing("ds", "DescribeDirectories", "DirectoryDescriptions")
REGISTERED = Listing("workspaces", "DescribeWorkspaceDirectories", "Directories")
DIRECTORY = Kind(
    name="directory",
    of=DIRECTORIES,
    id=lambda row, at: words.arn("ds", at, f"directory/{row['DirectoryId']}"),
    label=lambda row: f"{row['DirectoryId']} ({row.get('Name', '')})",
    created=lambda row: row["LaunchTime"],
    tags_read=Detail(
        DIRECTORIES,
        "ds",
        "ListTagsForResource",
        lambda rows, _at: {"ResourceId": rows[0]["DirectoryId"]},
        rows="Tags",
        late=True,
    ),
    tags_of=words.tag_row,
)


def _directory_key(row: Row) -> Iterable[Any]:
    return [row["DirectoryId"]]


def _file_systems(row: Row) -> Iterable[Any]:
    found = row.get("WindowsConfiguration", {}).get("ActiveDirectoryId")
    return [found] if found else []


def _vpn_logins(row: Row) -> Iterable[Any]:
    for each in row.get("AuthenticationOptions", ()):
        found = (each.get("ActiveDirectory") or {}).get("DirectoryId")
        if found:
            yield found


def _domains(row: Row) -> Iterable[Any]:
    return [each["Domain"] for each in row.get("DomainMemberships", ()) if each.get("Domain")]


_SHARED = ("Shared", "PendingAcceptance", "Sharing")
"""Share states of a directory that other accounts use or are asked to; the rest say that none does (DS API)."""


def _directory(row: Row, seen: Seen) -> Waste | None:
    """Microsoft AD is billed by its controllers (usage type MicrosoftAD-DC-Usage), the other kinds as a whole.

    The Price List says so of those: Small-Directory-Usage, "per hour for Large AD Connector per directory" (2024-10).
    """
    if row["Stage"] != "Active" or row.get("SsoEnabled") or row["Type"] == "SharedMicrosoftAD":
        return None
    if row.get("ShareStatus") in _SHARED:
        return None
    name = row["DirectoryId"]
    users = ((REGISTERED, _directory_key), (FSX_LIST, _file_systems), (CLIENT_VPNS, _vpn_logins), (DATABASES, _domains))
    if any(name in seen.index(read, by) for read, by in users):
        return None
    size = (row.get("Edition") or row.get("Size") or "unknown").lower()
    microsoft = row["Type"] == "MicrosoftAD"
    count = (row.get("DesiredNumberOfDomainControllers") or 2) if microsoft else 1
    return Waste(
        reason=f"no WorkSpaces, FSx, RDS or client VPN uses it ({row['Type']}, {size})",
        meters=(Meter(f"directory/{row['Type'].lower()}/{size}", "hour", count),),
        evidence={"type": row["Type"], "size": size, **({"domain controllers": count} if microsoft else {})},
    )


DIRECTORY_UNUSED = WasteCheck(
    id="directory-unused",
    title="Directory that nothing uses",
    kind=DIRECTORY,
    reads=(REGISTERED, FSX_LIST, CLIENT_VPNS, DATABASES),
    judge=_directory,
    why="A directory is billed by the hour: Microsoft AD for each domain controller, the other kinds as a whole.",
    spares=(
        "registered with WorkSpaces",
        "FSx, RDS or a client VPN uses it",
        "single sign-on is on",
        "shared by another account, or with one",
    ),
    unchecked=("machines that joined the domain", "trusts, IAM Identity Center, applications outside AWS"),
    meter="Directory Service hours by type and size",
    min_age=timedelta(days=14),
    remove="machines and trusts that hang on it cannot be seen from here",
    reversal="cannot be undone",
    recovery="Take a snapshot before it is deleted; users and passwords are lost otherwise.",
    order=70,
)
CHECKS = (DESKTOP_IDLE, DIRECTORY_UNUSED)
