"""Container Apps environments, and dedicated profiles in them, that nothing runs in."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from clouds.azure.checks import words
from clouds.azure.checks.containerapps import APPS, ENVIRONMENTS, environment_of
from clouds.azure.checks.reads import check, kind, listing
from clouds.azure.checks.steps import delete, sends
from clouds.azure.checks.web import SITES
from clouds.models.waste import Meter, Row, Seen, Waste

JOBS = listing("Microsoft.App/jobs")
POOLS = listing("Microsoft.App/sessionPools")
USERS = (APPS, JOBS, POOLS, SITES)
"""What runs in an environment: functions that are hosted there are sites, and stand in no list of apps."""
ENVIRONMENT = kind("Container Apps environment", ENVIRONMENTS)
# vCPU and GiB of one node of each dedicated profile (Container Apps docs, workload profiles, read 2026-11-29).
PROFILES = {
    "D4": (4, 16), "D8": (8, 32), "D16": (16, 64), "D32": (32, 128),
    "E4": (4, 32), "E8": (8, 64), "E16": (16, 128), "E32": (32, 256),
    "NC24-A100": (24, 220), "NC48-A100": (48, 440), "NC96-A100": (96, 880),
}  # fmt: skip


def _users(seen: Seen, environment: Row) -> int:
    held = str(environment["id"]).lower()
    return sum(len(seen.index(read, environment_of).get(held, ())) for read in USERS)


def dedicated(environment: Row) -> list[Row]:
    """The profiles of an environment that hold nodes of their own."""
    return [
        each
        for each in words.props(environment).get("workloadProfiles") or ()
        if not str(each.get("workloadProfileType", "")).startswith("Consumption")
    ]


def node_meters(profile: Row) -> tuple[Meter, ...]:
    """What the minimum of a dedicated profile costs."""
    count = int(profile.get("minimumCount") or 0)
    sort = str(profile.get("workloadProfileType", "")).upper()
    if not count:
        return ()
    if sort not in PROFILES:
        return (Meter(f"container-apps/profile-{sort.lower()}", "hour", count),)
    cpu, memory = PROFILES[sort]
    gpus = {"NC24-A100": 1, "NC48-A100": 2, "NC96-A100": 4}.get(sort, 0)
    return (
        Meter("container-apps/dedicated-vcpu", "vCPU-hour", cpu * count),
        Meter("container-apps/dedicated-memory", "GiB-hour", memory * count),
        *((Meter("container-apps/dedicated-gpu", "GPU-hour", gpus * count),) if gpus else ()),
    )


def _empty(row: Row, seen: Seen) -> Waste | None:
    if _users(seen, row):
        return None
    held = dedicated(row)
    meters = tuple(meter for profile in held for meter in node_meters(profile))
    if held:
        meters = (Meter("container-apps/dedicated-management", "environment-hour"), *meters)
    return Waste(
        reason="no app, job, session pool or function runs in it"
        + (f"; nodes are kept up for {words.many(len(held), 'dedicated profile')}" if held else ""),
        meters=meters,
        free=not meters,
        evidence={"dedicated profiles": len(held), "static address": words.props(row).get("staticIp", "")},
    )


EMPTY = check(
    id="empty-container-apps-environment",
    title="Container Apps environment with nothing in it",
    kind=ENVIRONMENT,
    reads=USERS,
    judge=_empty,
    why="Dedicated profiles bill their minimum of nodes and a fee for being managed, with or without apps.",
    spares=("an app, a job, a session pool or a function app is in it", "younger than 3 days"),
    unchecked=("an allow-list elsewhere that names its address",),
    meter="dedicated vCPU-hours and GiB-hours of the minimum, and the management fee",
    min_age=timedelta(days=3),
    remove=lambda doomed: (
        delete(
            "Microsoft.App/managedEnvironments", doomed.id, f"delete environment {doomed.name} and its address",
            "cannot be undone", seconds=3600,
        ),
    ),
    reversal="cannot be undone",
    recovery="A new environment has another address and another domain.",
    order=30,
    steps=sends("Microsoft.App/managedEnvironments", "delete"),
)  # fmt: skip


def _used_profiles(row: Row) -> Iterable[str]:
    name = str(words.props(row).get("workloadProfileName") or "Consumption").lower()
    return tuple(f"{held} {name}" for held in environment_of(row))


def _profile(row: Row, seen: Seen) -> Waste | None:
    if not _users(seen, row):
        return None  # the environment itself is the finding
    where = str(row["id"]).lower()
    idle = [
        each
        for each in dedicated(row)
        if each.get("minimumCount")
        and not any(
            seen.index(read, _used_profiles).get(f"{where} {str(each.get('name', '')).lower()}") for read in USERS
        )
    ]
    if not idle:
        return None
    names = ", ".join(f"{each.get('name')} ({each.get('workloadProfileType')})" for each in idle)
    meters = [meter for profile in idle for meter in node_meters(profile)]
    if len(idle) == len(dedicated(row)):
        meters.append(Meter("container-apps/dedicated-management", "environment-hour"))
    return Waste(
        reason=f"no app or job runs on its dedicated profiles {names}, which keep nodes up",
        meters=tuple(meters),
        evidence={"profiles": names, "nodes": sum(int(each.get("minimumCount") or 0) for each in idle)},
    )


PROFILE = check(
    id="idle-workload-profile",
    title="Dedicated workload profile that runs nothing",
    kind=ENVIRONMENT,
    reads=USERS,
    judge=_profile,
    why="A dedicated profile bills its minimum of nodes whether an app runs on it or not.",
    spares=("an app, a job or a session pool names it", "minimumCount 0", "consumption profiles"),
    unchecked=("nodes that are kept for a burst",),
    meter="dedicated vCPU-hours and GiB-hours of the minimum; the management fee when no other profile is left",
    remove="taking one out replaces the whole list of profiles: use az containerapp env workload-profile delete",
    reversal="can be undone",
    recovery="A profile can be added again.",
    order=31,
)  # fmt: skip

CHECKS = (EMPTY, PROFILE)
