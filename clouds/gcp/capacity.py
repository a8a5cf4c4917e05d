"""Whether there is one, as far as Google says: three questions that are never one.

Is the hardware in the zone (both worlds list it, and Compute Engine lists a v5e that it refuses to create)? Is the
provisioning model offered there (no API says so: what a create was answered is remembered with its date)? Is one free
now (advice for spot GPUs and for calendar mode; for a TPU nothing but a create)? The words are "offered", "score n",
"not offered" and "unknown", and never "available".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clouds.base import PriceBook
from clouds.errors import ApiDisabled, CloudError, CredentialExpired, NotSignedIn
from clouds.gcp import advice, hardware, machines, pages, tpus
from clouds.gcp.machines import Machine
from clouds.gcp.places import Asked, region_of
from clouds.gcp.refusals import Memory, said
from clouds.gcp.words import hourly
from clouds.models import Call, Capacity, Read, Scope, Unread

if TYPE_CHECKING:
    from clouds.gcp.api import GcpApi

RESERVED = Call("compute", "reservations.aggregatedList")
FUTURE = Call("compute", "futureReservations.aggregatedList")
READS = (*hardware.READS, RESERVED, FUTURE, advice.CAPACITY, advice.CALENDAR, advice.HISTORY)
_NAMED_REGIONS = 4
"""Calendar mode and history are asked region by region, and only where a person named them."""
FEWER = (
    "Ask for fewer chips where it does not get them: in europe-west4-a a v6e-8 request expired after 26 minutes and a "
    "v6e-4 was granted at once (article of 2026-10-25)."
)
V5E = (
    "v5e is made by the TPU API alone: Compute Engine lists ct5lp-* and refuses to create it (gemma4-dev, read "
    "2026-11-29)."
)


@dataclass
class Look:
    """What was read: zones by type, and words by zone."""

    listed: list[hardware.Listed]
    scores: dict[str, str] = field(default_factory=dict)
    calendar: dict[str, list[str]] = field(default_factory=dict)
    past: dict[str, list[str]] = field(default_factory=dict)
    """By region, unlike the others."""
    reserved: dict[str, list[str]] = field(default_factory=dict)

    def zones(self, machine: Machine) -> set[str]:
        """The zones that list a type."""
        return {zone for each in self.listed for zone in each.zones.get(machine.type, ())}

    def known(self, machine: Machine) -> bool:
        """Whether the list was read that this type would be in."""
        return any(machine.type in each.known for each in self.listed)


class GcpCapacity:
    """The capacity reader of Google Cloud. `home` holds what creates were answered."""

    def __init__(
        self,
        api: GcpApi,
        home: Path,
        prices: PriceBook,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Nothing is read before the first question."""
        self._api, self._prices, self._now = api, prices, now
        self.memory = Memory(home, now=now)

    def read(self, accelerator: str | None, types: Sequence[str], scopes: Sequence[Scope]) -> Read[Capacity]:
        """One row per accelerator (or per type, where types are named) and zone that lists it.

        A place that was named and lists nothing has a row of its own. Raises InvalidInput, NotOffered, NotSignedIn.
        """
        wanted = machines.wanted(accelerator, types)
        asked = Asked(scopes)
        subjects: dict[str, tuple[Machine, ...]] = {}
        if accelerator:
            subjects[machines.asked(accelerator)] = machines.wanted(accelerator, ())
        subjects |= {kind: machines.wanted(None, (kind,)) for kind in dict.fromkeys(types)}
        missed: list[Unread] = []
        unused: list[Unread] = []
        look = self._look(wanted, asked, missed, unused)
        found = tuple(row for name, group in subjects.items() for row in self._rows(name, group, look, asked))
        return Read(found, tuple(missed), tuple(unused), tuple(self._notes(wanted, found)))

    def _look(self, wanted: Sequence[Machine], asked: Asked, missed: list[Unread], unused: list[Unread]) -> Look:
        api, account = self._api, asked.accounts[0] if asked.accounts else self._api.project
        by = {world: [each for each in wanted if each.world == world] for world in ("gce", "tpu")}
        with ThreadPoolExecutor(max_workers=16) as pool:
            lists = []
            if by["gce"]:
                lists.append(pool.submit(hardware.compute, api, by["gce"], account))
            if by["tpu"]:
                lists.append(pool.submit(hardware.tpu, api, by["tpu"], asked, account))
            calls = [RESERVED, FUTURE] if by["gce"] else []
            look = Look([job.result() for job in lists])
            calls += [*self._spot(wanted, look, asked), *self._calendar(wanted, look, asked)]
            jobs = [(call, pool.submit(api.send, call, scope=Scope(account=account))) for call in calls]
            for call, job in jobs:
                try:
                    answer = job.result()
                    _take(look, call, answer, {each.type for each in wanted})
                    missed += tpus.missed(call, answer)
                except (NotSignedIn, CredentialExpired):
                    raise
                except CloudError as error:
                    where = str(call.parameters.get("region", "everywhere"))
                    (unused if isinstance(error, ApiDisabled) else missed).append(tpus.unread(call, where, error))
        missed += [row for each in look.listed for row in each.unread]
        unused += [row for each in look.listed for row in each.not_applicable]
        return look

    def _spot(self, wanted: Sequence[Machine], look: Look, asked: Asked) -> Iterator[Call]:
        """One question a region, about the GPU machines that are listed there."""
        regions: dict[str, tuple[set[str], set[str]]] = {}
        for machine in wanted:
            if machine.world == "gce" and machine.accelerator in machines.GPUS and not machine.attached:
                for zone in filter(asked.has, look.zones(machine)):
                    kinds, zones = regions.setdefault(region_of(zone), (set(), set()))
                    kinds.add(machine.type)
                    zones.add(zone)
        for region, (kinds, zones) in sorted(regions.items()):
            yield advice.spot(sorted(kinds), sorted(zones), region)
        for region in asked.regions[:_NAMED_REGIONS]:
            if region in regions:
                smallest = next(each for each in wanted if each.type in regions[region][0])
                yield advice.history(smallest.type, region)

    def _calendar(self, wanted: Sequence[Machine], look: Look, asked: Asked) -> Iterator[Call]:
        """One question a named region and kind of chip."""
        chips = {each.accelerator: each for each in reversed(wanted) if each.accelerator in machines.TPUS}
        for region in asked.regions[:_NAMED_REGIONS]:
            for machine in chips.values():
                same = [each for each in wanted if each.accelerator == machine.accelerator]
                zones = {zone for each in same for zone in look.zones(each) if region_of(zone) == region}
                if zones:
                    yield advice.calendar(machine, region, sorted(zones), self._now())

    def _rows(self, name: str, group: Sequence[Machine], look: Look, asked: Asked) -> Iterator[Capacity]:
        zones = sorted({zone for machine in group for zone in look.zones(machine) if zone and asked.has(zone)})
        for zone in zones:
            yield self._row(name, group, look, zone)
        for place in asked.named:
            if any(zone == place or region_of(zone) == place for zone in zones):
                continue
            known = all(look.known(machine) for machine in group)
            kinds = ", ".join(machine.type for machine in group) or name
            evidence = f"no zone here lists {kinds}" if known else f"the lists of {kinds} could not be read whole"
            yield self._capacity(name, place, "not offered" if known else "unknown", [evidence])

    def _row(self, name: str, group: Sequence[Machine], look: Look, zone: str) -> Capacity:
        here = [machine for machine in group if zone in look.zones(machine)]
        makes = [machine for machine in here if machine.creatable]
        parts = [f"{_world(w)} lists {', '.join(m.type for m in here if m.world == w)}"
                 for w in ("gce", "tpu") if any(m.world == w for m in here)]  # fmt: skip
        if not makes:
            return self._capacity(name, zone, "not offered", [*parts, V5E])
        gpu = makes[0].accelerator in machines.GPUS
        score = look.scores.get(zone, "") if gpu else ""
        parts += [f"one spot machine: {score}"] if score else []
        for machine in makes:
            parts += [said(each) for each in self.memory.about(machine.type, zone)]
            parts += [
                f"Google named this zone as having {machine.type} at {stockout.at}, in a stockout of {stockout.zone}"
                for place, stockout in self.memory.hints(machine.type)
                if place == zone
            ]
        parts += look.past.get(region_of(zone), ()) if gpu else look.calendar.get(zone, ())
        parts += [words for words in look.reserved.get(zone, ()) if any(f" {m.type}:" in words for m in makes)]
        parts += self._priced(makes, zone)
        return self._capacity(name, zone, score.split(" of ")[0] or "offered", parts)

    def _priced(self, makes: Sequence[Machine], zone: str) -> Iterator[str]:
        """The spot and flex-start price of the smallest, with their dates: neither is always the cheaper one."""
        smallest = min(makes, key=lambda machine: machine.count)
        for market in ("spot", "flex-start"):
            price = self._prices.price(f"{smallest.world}/{smallest.type}/{market}", zone)
            if price is not None:
                yield f"{market} {smallest.type} {hourly(price.amount)} ({price.as_of})"

    def _capacity(self, name: str, scope: str, answer: str, parts: Sequence[str]) -> Capacity:
        return Capacity(
            accelerator=name, scope=scope, answer=answer, evidence="; ".join(dict.fromkeys(parts)),
            as_of=f"{self._now():%Y-%m-%dT%H:%M:%SZ}",
        )  # fmt: skip

    def _notes(self, wanted: Sequence[Machine], found: Sequence[Capacity]) -> Iterator[str]:
        chips = [machine for machine in wanted if machine.accelerator in machines.TPUS]
        if any(machine.accelerator == "v5e" for machine in chips):
            yield V5E
        if any(machine.count > 1 for machine in chips):
            yield FEWER
        makes = [machine for machine in chips if machine.creatable]
        if makes:
            yield self._probe(min(makes, key=lambda machine: machine.count), found)

    def _probe(self, machine: Machine, found: Sequence[Capacity]) -> str:
        """What the only real answer about a TPU costs."""
        for row in found:
            price = self._prices.price(f"{machine.world}/{machine.type}/spot", row.scope)
            if price is not None and machine.type in row.evidence and row.answer == "offered":
                cost = f"${price.amount / 60:.4f} for a minute in {row.scope} (spot, {price.as_of})"
                break
        else:
            cost = "an unknown sum: its spot price is not known here"
        return (
            f"Google tells nobody whether a TPU is free; only a create does. A spot create of {machine.type} fails "
            f"within seconds and free of charge where there is none; where there is one it costs {cost}. It is sent "
            "only when asked for: deploy_endpoint with engine_settings probe=true."
        )


def _world(world: str) -> str:
    return "Compute Engine" if world == "gce" else "the TPU API"


def _take(look: Look, call: Call, answer: Mapping[str, Any], kinds: set[str]) -> None:
    if call.operation == advice.CAPACITY.operation:
        look.scores |= advice.scores(answer)
    elif call.operation == advice.CALENDAR.operation:
        for zone, words in advice.days(answer):
            look.calendar.setdefault(zone, []).append(words)
    elif call.operation == advice.HISTORY.operation:
        kind = str(call.parameters["body"]["instanceProperties"]["machineType"])
        if words := advice.past(kind, answer):
            look.past.setdefault(str(call.parameters["region"]), []).append(words)
    elif call == RESERVED:
        for zone, row in pages.scoped(answer, "reservations"):
            held = row.get("specificReservation") or {}
            free = int(held.get("count") or 0) - int(held.get("inUseCount") or 0)
            _reserved(look, kinds, zone, row, held, f"{free} of {held.get('count')} unused")
    else:
        for zone, row in pages.scoped(answer, "futureReservations"):
            state = str((row.get("status") or {}).get("procurementStatus", "unknown")).lower()
            _reserved(look, kinds, zone, row, row.get("specificSkuProperties") or {}, state, "future ")


def _reserved(
    look: Look, kinds: set[str], zone: str, row: Mapping[str, Any], held: Mapping[str, Any], words: str, when: str = ""
) -> None:
    kind = str((held.get("instanceProperties") or {}).get("machineType", "")).rsplit("/", 1)[-1]
    if kind in kinds:
        look.reserved.setdefault(zone, []).append(f"your {when}reservation {row.get('name')} of {kind}: {words}")
