"""Whether there is one, as far as AWS says. No API answers "is an on-demand L4 free now".

What AWS says: which zones offer a type, how well a spot request would do (1 to 10), what spot costs, and what one has
reserved or could reserve. So an answer is "offered", "score n", "not offered" or "unknown"; the real test is the call
that creates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from clouds.aws import instances, regions
from clouds.aws.quotas import what
from clouds.errors import CloudError, CredentialExpired, NotSignedIn
from clouds.models import Call, Capacity, Read, Scope, Unread

if TYPE_CHECKING:
    from clouds.aws.api import AwsApi

READS = (
    regions.ENABLED,
    *(
        Call("ec2", name)
        for name in (
            "DescribeInstanceTypeOfferings",
            "GetSpotPlacementScores",
            "DescribeSpotPriceHistory",
            "DescribeCapacityReservations",
            "DescribeCapacityBlockOfferings",
        )
    ),
)
_HISTORY = timedelta(days=7)
_SCORED_AT_ONCE = 10  # regions in one question for placement scores (service model)
_AT_ONCE = 64
"""All questions about 17 regions at once: they depend on nothing, and each region's limit is its own."""
_BLOCK_HOURS = 24
_BLOCKS = ("p4d", "p4de", "p5", "p5e", "p5en", "p6-b200", "p6-b300", "trn1", "trn2")
"""Families that are sold in capacity blocks (SupportedUsageClasses of DescribeInstanceTypes, 2026-11-29)."""
_SAGEMAKER = "AWS says nothing about free SageMaker machines; the same machine of EC2: "


@dataclass
class Known:
    """What was read of some types in one region; None was not read."""

    region: str
    zones: dict[str, list[str]] | None = None
    spot: dict[str, list[tuple[datetime, str, float]]] | None = None
    reserved: list[str] = field(default_factory=list)
    blocks: list[str] = field(default_factory=list)


class AwsCapacity:
    """The capacity reader of AWS."""

    def __init__(self, api: AwsApi, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        """Nothing is read before the first question."""
        self._api, self._now = api, now

    def read(self, accelerator: str | None, types: Sequence[str], scopes: Sequence[Scope]) -> Read[Capacity]:
        """One row per accelerator (or per type, where types are named) and region, in the order asked.

        Raises InvalidInput, and NotSignedIn or CredentialExpired when nothing can be asked.
        """
        what(accelerator, types)
        subjects: dict[str, tuple[str, ...]] = {kind: (kind.removeprefix(instances.ML),) for kind in types}
        if accelerator:
            name, count = instances.asked(accelerator)
            carrying = tuple(row.type for row in instances.carrying(accelerator))
            subjects = {name if count == 1 else f"{count}x{name}": carrying, **subjects}
        places, unread = regions.asked(self._api, scopes)
        machines = tuple(dict.fromkeys(kind for group in subjects.values() for kind in group))
        missed = list(unread)
        with ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
            look = _Look(self._api, self._now(), pool, missed)
            known = look.regions(places, machines)
            scores = look.scores(places, subjects)
        found = tuple(
            _capacity(subject, kinds, known[region], scores.get((subject, region)), self._now())
            for subject, kinds in subjects.items()
            for region in places
        )
        return Read(found=found, unread=tuple(missed))


class _Look:
    """Asks everything at once; what cannot be read is written down and the rest goes on."""

    def __init__(self, api: AwsApi, now: datetime, pool: ThreadPoolExecutor, missed: list[Unread]) -> None:
        self._api, self._now, self._pool, self._missed = api, now, pool, missed

    def regions(self, places: Iterable[str], machines: tuple[str, ...]) -> dict[str, Known]:
        asked = {region: self._asked(region, machines) for region in places}
        return {region: self._known(region, jobs) for region, jobs in asked.items()}

    def _asked(self, region: str, machines: tuple[str, ...]) -> dict[str, tuple[Call, Future[Any]]]:
        kinds = {"Name": "instance-type", "Values": list(machines)}
        calls = {
            "zones": Call(
                "ec2",
                "DescribeInstanceTypeOfferings",
                {"LocationType": "availability-zone", "Filters": [kinds]},
            ),
            "spot": Call(
                "ec2",
                "DescribeSpotPriceHistory",
                {
                    "InstanceTypes": list(machines),
                    "ProductDescriptions": ["Linux/UNIX"],
                    "StartTime": self._now - _HISTORY,
                    "EndTime": self._now,
                },
            ),
            "reserved": Call(
                "ec2",
                "DescribeCapacityReservations",
                {"Filters": [kinds, {"Name": "state", "Values": ["active", "pending", "scheduled"]}]},
            ),
        }
        for kind in machines:
            if kind.split(".", 1)[0] in _BLOCKS:
                block = {"InstanceType": kind, "InstanceCount": 1, "CapacityDurationHours": _BLOCK_HOURS}
                calls[f"block {kind}"] = Call("ec2", "DescribeCapacityBlockOfferings", block)
        return {name: (call, self._send(call, region)) for name, call in calls.items()}

    def _send(self, call: Call, region: str) -> Future[Any]:
        return self._pool.submit(self._api.send, call, scope=Scope(region))

    def _answer(self, call: Call, region: str, job: Future[Any]) -> Mapping[str, Any] | None:
        try:
            answer: Mapping[str, Any] = job.result()
        except (NotSignedIn, CredentialExpired) as error:
            if not error.sent or isinstance(error, CredentialExpired):
                raise
            self._missed.append(regions.unread(call, region, error))
            return None
        except CloudError as error:
            self._missed.append(regions.unread(call, region, error))
            return None
        return answer

    def _known(self, region: str, jobs: Mapping[str, tuple[Call, Future[Any]]]) -> Known:
        known = Known(region)
        for name, (call, job) in jobs.items():
            answer = self._answer(call, region, job)
            if answer is None:
                continue
            if name == "zones":
                known.zones = {}
                for row in answer["InstanceTypeOfferings"]:
                    known.zones.setdefault(row["InstanceType"], []).append(row["Location"])
            elif name == "spot":
                known.spot = {}
                for row in answer["SpotPriceHistory"]:
                    price = (row["Timestamp"], row["AvailabilityZone"], float(row["SpotPrice"]))
                    known.spot.setdefault(row["InstanceType"], []).append(price)
            elif name == "reserved":
                known.reserved = [_reservation(row) for row in answer["CapacityReservations"]]
            else:
                offers = sorted(answer["CapacityBlockOfferings"], key=lambda row: float(row.get("UpfrontFee") or "inf"))
                known.blocks += [_block(row, len(offers)) for row in offers[:1]]
        return known

    def scores(self, places: Sequence[str], subjects: Mapping[str, tuple[str, ...]]) -> dict[tuple[str, str], int]:
        """Subject and region -> placement score. One question covers ten regions; a type alone scores low."""
        jobs = []
        for subject, kinds in subjects.items():
            for start in range(0, len(places), _SCORED_AT_ONCE):
                part = list(places[start : start + _SCORED_AT_ONCE])
                parameters = {"InstanceTypes": list(kinds), "TargetCapacity": 1, "RegionNames": part}
                call = Call("ec2", "GetSpotPlacementScores", parameters)
                jobs.append((subject, call, part[0], self._send(call, part[0])))
        found = {}
        for subject, call, region, job in jobs:
            answer = self._answer(call, region, job)
            for row in answer["SpotPlacementScores"] if answer else ():
                found[subject, row["Region"]] = int(row["Score"])
        return found


def _capacity(subject: str, kinds: tuple[str, ...], known: Known, score: int | None, now: datetime) -> Capacity:
    """One row: the strongest word that the evidence carries, then the evidence itself."""
    hosting = subject.startswith(instances.ML)
    zones = None if known.zones is None else {kind: sorted(known.zones.get(kind, ())) for kind in kinds}
    parts = []
    if zones is not None:
        offered = {kind: where for kind, where in zones.items() if where}
        parts += [f"{kind} in {', '.join(where)}" for kind, where in offered.items()]
        if len(offered) < len(kinds) and offered:
            parts.append(f"not in this region: {', '.join(kind for kind in kinds if kind not in offered)}")
    if score is not None:
        parts.append(f"spot placement score {score} of 10 for one machine")
    parts += [_spot(kind, known.spot[kind]) for kind in kinds if known.spot and known.spot.get(kind)]
    parts += [text for text in known.reserved + known.blocks if any(f" {kind} " in text for kind in kinds)]
    if zones is not None and not any(zones.values()):
        answer, evidence = "not offered", "no zone of this region offers " + ", ".join(kinds)
    elif hosting:
        answer, evidence = "unknown", _SAGEMAKER + ("; ".join(parts) or "nothing could be read")
    elif score is not None:
        answer, evidence = f"score {score}", "; ".join(parts)
    else:
        answer = "unknown" if zones is None else "offered"
        evidence = "; ".join(parts) or "nothing could be read"
    return Capacity(
        accelerator=subject, scope=known.region, answer=answer, evidence=evidence, as_of=f"{now:%Y-%m-%dT%H:%M:%SZ}"
    )


def _spot(kind: str, history: list[tuple[datetime, str, float]]) -> str:
    """`spot g6.xlarge $0.2321 in us-east-2a (7 days: 0.2133 to 0.2400)`: the cheapest zone now, and the range."""
    newest: dict[str, tuple[datetime, float]] = {}
    for at, zone, price in history:
        if zone not in newest or at >= newest[zone][0]:
            newest[zone] = (at, price)
    zone, (_, price) = min(newest.items(), key=lambda item: (item[1][1], item[0]))
    low, high = min(row[2] for row in history), max(row[2] for row in history)
    return f"spot {kind} ${price:g} an hour in {zone} ({_HISTORY.days} days: {low:g} to {high:g})"


def _reservation(row: Mapping[str, Any]) -> str:
    free, total = row.get("AvailableInstanceCount", 0), row.get("TotalInstanceCount", 0)
    block = "capacity block" if row.get("ReservationType") == "capacity-block" else "reservation"
    return (
        f"your {block} {row['CapacityReservationId']} of {row['InstanceType']} in {row.get('AvailabilityZone', '?')}: "
        f"{free} of {total} unused, {row['State']}"
    )


def _block(row: Mapping[str, Any], offers: int) -> str:
    start, fee = row["StartDate"], row.get("UpfrontFee", "")
    fee = f"{float(fee):,.2f}" if fee else "an unknown sum"
    hours = row.get("CapacityBlockDurationHours", _BLOCK_HOURS)
    return (
        f"capacity block of {row['InstanceType']} in {row.get('AvailabilityZone', '?')}: {hours} h from "
        f"{start:%Y-%m-%d %H:%M} UTC for {row.get('CurrencyCode', 'USD')} {fee} paid at once, "
        f"the cheapest of {offers}"
    )
