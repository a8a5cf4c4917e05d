"""Permission to ask: both pools of TPU chips, GPUs of Compute Engine, and Cloud Run's L4 with what blocks it.

Quota says nothing about a free chip: of five zones with 1,536 chips of quota three answered with a stockout (article of
2026-10-25). What is used in the TPU API is counted from nodes and from queued resources that are dead: these cost
nothing and hold their quota until somebody deletes them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from clouds.errors import ApiDisabled, CloudError, CredentialExpired, InvalidInput, NotOffered, NotSignedIn
from clouds.gcp import machines, quota_infos, quota_pools, tpus, usage
from clouds.gcp.places import Asked
from clouds.gcp.quota_infos import Limit
from clouds.gcp.quota_pools import Pool
from clouds.models import Call, Quota, Read, Scope, Unread

if TYPE_CHECKING:
    from clouds.gcp.api import GcpApi

READS = (*quota_infos.READS, *usage.READS, *tpus.READS)
_ID = re.compile(r"[A-Za-z0-9-]*(?:PerProject|-per-project)[A-Za-z0-9-]*|[A-Z0-9]+(?:_[A-Z0-9]+)+")
RUN = "run.googleapis.com"
_SHOWN = 5


@dataclass
class Look:
    """What was read for one project; None could not be."""

    infos: dict[str, Mapping[str, Any] | None] = field(default_factory=dict)
    serving: tuple[Pool, ...] = ()
    regions: Mapping[str, Any] | None = None
    project: Mapping[str, Any] | None = None
    chips: tuple[tpus.Chips, ...] | None = None
    machines: Mapping[str, Any] | None = None
    series: Mapping[str, Any] | None = None
    failed: set[str] = field(default_factory=set)
    """Services whose quotas could not be read at all."""


class GcpQuotas:
    """The quota reader of Google Cloud."""

    def __init__(self, api: GcpApi, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        """Nothing is read before the first question."""
        self._api, self._now = api, now

    def read(self, accelerator: str | None, types: Sequence[str], scopes: Sequence[Scope]) -> Read[Quota]:
        """One row per quota and place. A type may be a machine's, or the id of a quota.

        Raises InvalidInput for an unknown accelerator, type, quota id or region, and when nobody is signed in.
        """
        pools, own = what(accelerator, types)
        asked = Asked(scopes)
        found: list[Quota] = []
        missed: list[Unread] = []
        unused: list[Unread] = []
        notes: list[str] = []
        for account in asked.accounts or (self._api.project,):
            look = self._look(account, pools, missed, unused)
            for pool in (*pools, *look.serving):
                limit = self._limit(look, pool, missed, own)
                if limit is not None:
                    found += _rows(pool, limit, look, asked)
            notes += _dead(look.chips or (), asked, {pool.counted for pool in pools})
        notes += _blocked(found)
        if any(pool.unlisted is not None for pool in pools):
            notes.append(
                "Compute Engine's two TPU lists have opposite defaults: a region that the preemptible list does not "
                "name has 1,536 chips, one that the list by family does not name has 0 (read 2026-08)."
            )
        return Read(tuple(found), tuple(missed), tuple(unused), tuple(notes))

    def _look(self, account: str, pools: Sequence[Pool], missed: list[Unread], unused: list[Unread]) -> Look:
        """Ask everything at once; what cannot be read is written down and the rest goes on."""
        look = Look()
        infos = [pool for pool in pools if pool.kept == "infos"]
        with ThreadPoolExecutor(max_workers=16) as workers:
            jobs = {name: (call, workers.submit(ask)) for name, call, ask in self._questions(account, pools, infos)}
            if any(pool.counted.startswith("tpu/") for pool in pools):
                nodes = workers.submit(tpus.everywhere, self._api, tpus.NODES, account)
                queued = workers.submit(tpus.everywhere, self._api, tpus.QUEUED, account)
                look.chips = _chips(nodes.result(), queued.result(), missed, unused)
            for name, (call, job) in jobs.items():
                _take(look, name, _answer(call, job, missed, unused), infos)
        return look

    def _questions(
        self, account: str, pools: Sequence[Pool], infos: Sequence[Pool]
    ) -> Iterator[tuple[str, Call, Callable[[], Any]]]:
        """What has to be read: a name for the answer, the call, and how it is asked."""
        api, named = self._api, Scope(account=account)
        for service in dict.fromkeys(each.service for each in infos):
            if service in quota_infos.LISTED:
                yield f"list {service}", quota_infos.LIST, partial(quota_infos.listed, api, service, account)
        for service, quota in dict.fromkeys((e.service, e.id) for e in infos if e.service not in quota_infos.LISTED):
            yield f"one {quota}", quota_infos.ONE, partial(quota_infos.one, api, service, quota, account)
        if any(each.kept == "regions" or each.unlisted is not None for each in pools):
            yield "regions", quota_infos.REGIONS, partial(api.send, quota_infos.REGIONS, scope=named)
        if any(each.kept == "project" for each in pools):
            yield "project", quota_infos.PROJECT, partial(api.send, quota_infos.PROJECT, scope=named)
        counted = {pool.counted.split("/")[0] for pool in pools}
        if "gce" in counted:
            yield "machines", usage.MACHINES, partial(api.send, usage.MACHINES, scope=named)
        if RUN in counted:
            yield "series", usage.SERIES, partial(usage.allocations, api, RUN, account, self._now())

    def _limit(self, look: Look, pool: Pool, missed: list[Unread], own: frozenset[str]) -> Limit | None:
        if pool.kept == "regions":
            found = None if look.regions is None else quota_infos.of_regions(look.regions, pool)
            known = look.regions is not None
        elif pool.kept == "project":
            found = None if look.project is None else quota_infos.of_project(look.project, pool)
            known = look.project is not None
        else:
            info = look.infos.get(pool.id)
            found = None if info is None else quota_infos.limit(info, pool)
            known = pool.service not in look.failed and pool.id not in look.failed
        if found is not None or not known:
            return found
        problem = f"Google lists no quota {pool.id} of {pool.service} for this project"
        if pool.id in own:
            raise InvalidInput("types", problem, fix="Copy the id from console.cloud.google.com/iam-admin/quotas.")
        missed.append(
            Unread(call=str(quota_infos.ONE), scope="everywhere", reason=f"{problem}: {pool.words} is unknown")
        )
        return None


def what(accelerator: str | None, types: Sequence[str]) -> tuple[tuple[Pool, ...], frozenset[str]]:
    """The quotas of a question, and which ids the person named. Raises InvalidInput."""
    own = tuple(kind for kind in dict.fromkeys(types) if _ID.fullmatch(kind) and machines.find(kind) is None)
    kinds = tuple(kind for kind in types if kind not in own)
    pools: dict[tuple[str, str], Pool] = {}
    if accelerator:
        word = machines.asked(accelerator)
        pools |= {(pool.words, pool.id): pool for pool in quota_pools.of(word, frozenset())}
    for machine in machines.wanted(None, kinds) if kinds else ():
        counted = quota_pools.of(machine.accelerator, frozenset({machine.world}))
        if not counted:
            raise NotOffered(
                f"{machine.type} on Google Cloud", answered="it is listed and never made there",
                fix=f"Ask for {machines.USUAL[machine.accelerator][0]}: v5e is made by the TPU API alone.", sent=False,
            )  # fmt: skip
        pools |= {(pool.words, pool.id): pool for pool in counted}
    pools |= {(name, name): _named(name) for name in own}
    if not pools:
        raise InvalidInput("accelerator", "neither an accelerator nor a type is named", fix="Name one, like v6e or L4.")
    return tuple(pools.values()), frozenset(own)


def _named(quota: str) -> Pool:
    """A quota by its id alone: the table's own where it has it, else what the id says of itself."""
    for pools in quota_pools.POOLS.values():
        for pool in pools:
            if pool.id == quota and not pool.dimensions:
                return pool
    if quota.endswith("ForTPUAPI"):
        return Pool(quota, "tpu.googleapis.com", quota, per="zone" if "PerZone" in quota else "region")
    if "PerProject" in quota:
        return Pool(quota, "run.googleapis.com", quota, unit="")
    if "_" in quota:
        return Pool(quota, "compute.googleapis.com", quota, "regions", unit="")
    return Pool(quota, "compute.googleapis.com", quota, unit="")


def _answer(call: Call, job: Future[Any], missed: list[Unread], unused: list[Unread]) -> Any:
    try:
        return job.result()
    except (NotSignedIn, CredentialExpired):
        raise
    except CloudError as error:
        (unused if isinstance(error, ApiDisabled) else missed).append(tpus.unread(call, "everywhere", error))
        return error


def _take(look: Look, name: str, answer: Any, infos: Sequence[Pool]) -> None:
    kind, _, about = name.partition(" ")
    if isinstance(answer, CloudError):
        look.failed.add(about)
    elif kind == "list":
        look.infos |= {pool.id: answer.get(pool.id) for pool in infos if pool.service == about}
        if any(pool.counted.startswith("tpu/v5e/") for pool in infos):
            look.serving = quota_pools.serving(answer.values())
            look.infos |= {pool.id: answer[pool.id] for pool in look.serving}
    elif kind == "one":
        look.infos[about] = answer
    else:
        setattr(look, kind, answer)


def _chips(
    nodes: Read[Mapping[str, Any]], queued: Read[Mapping[str, Any]], missed: list[Unread], unused: list[Unread]
) -> tuple[tpus.Chips, ...] | None:
    missed += [*nodes.unread, *queued.unread]
    unused += nodes.not_applicable or queued.not_applicable
    if not (nodes.complete and queued.complete) or nodes.not_applicable or queued.not_applicable:
        return None
    return tpus.held(nodes.found, queued.found)


def _rows(pool: Pool, limit: Limit, look: Look, asked: Asked) -> Iterator[Quota]:
    places = dict(limit.places)
    if pool.unlisted is not None:
        names = [str(row["name"]) for row in (look.regions or {}).get("items") or ()]
        places = {**dict.fromkeys(asked.regions or names, pool.unlisted), **places}
    used = _used(pool, look)
    for place, value in places.items():
        if asked.has(place):
            yield Quota(
                name=pool.words if value >= 0 else f"{pool.words} (no limit)", code=pool.id, scope=place,
                limit=value if value >= 0 else None,
                used=limit.used[place] if place in limit.used else used(place), unit=pool.unit,
                adjustable=limit.adjustable,
            )  # fmt: skip


def _used(pool: Pool, look: Look) -> usage.Used:
    world, _, rest = pool.counted.partition("/")
    accelerator, _, market = rest.partition("/")
    if world == "tpu" and look.chips is not None:
        return usage.of_chips(look.chips, accelerator, market == "spot")
    if world == "gce" and look.machines is not None:
        return usage.of_machines(look.machines, accelerator, market == "spot")
    if world.endswith(".googleapis.com") and look.series is not None:
        return usage.of_service(look.series, pool.counted, pool.divisor)
    return lambda _: None


def _blocked(found: Sequence[Quota]) -> Iterator[str]:
    """Where memory or CPU of Cloud Run would refuse a service with an L4 before the GPU's own quota does."""
    for quota in found:
        least = quota_pools.RUN_LEAST.get(quota.code)
        left = None if quota.limit is None else quota.limit - (quota.used or 0.0)
        if least is not None and left is not None and left < least:
            yield (
                f"{quota.scope}: {left:g} {quota.unit} of {quota.code} are left and an L4 needs {least:g} beside it: "
                "it would be refused for that, whatever quota of GPUs there is."
            )


def _dead(chips: Sequence[tpus.Chips], asked: Asked, counted: set[str]) -> Iterator[str]:
    """What dead queued resources hold of the pools in question, zone by zone: the cheapest way to more quota."""
    zones: dict[tuple[str, str, bool], list[tpus.Chips]] = {}
    for each in chips:
        market = "spot" if each.spot else "on-demand"
        if each.dead and asked.has(each.zone) and f"tpu/{each.accelerator}/{market}" in counted:
            zones.setdefault((each.zone, each.accelerator, each.spot), []).append(each)
    for (zone, accelerator, spot), group in sorted(zones.items()):
        names = ", ".join(f"{each.name} ({each.state})" for each in group[:_SHOWN])
        names += f" and {len(group) - _SHOWN} more" if len(group) > _SHOWN else ""
        yield (
            f"{zone}: {_many(len(group), 'dead queued resource')} {'holds' if len(group) == 1 else 'hold'} "
            f"{_many(sum(each.count for each in group), f'{accelerator} chip')} "
            f"of {'preemptible' if spot else 'on-demand'} quota at no cost until deleted: {names}."
        )


def _many(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"
