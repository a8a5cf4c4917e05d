"""From what was read to one answer: "offered", "restricted", "score High", "not offered" or "unknown"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from clouds.azure.capacity_reads import Score
from clouds.azure.sizes import Profile
from clouds.azure.skus import Sku
from clouds.azure.vmsizes import VmSize
from clouds.azure.words import bounded
from clouds.models import Capacity

_SCORES = ("High", "Medium", "Low")
_TEST = "only the call that creates tells whether one is free"


@dataclass(frozen=True)
class Known:
    """What was read of one location; None was not read."""

    location: str
    skus: Mapping[str, Sku] | None = None
    hosted: Mapping[str, VmSize] | None = None
    profiles: frozenset[str] | None = None
    models: Mapping[str, tuple[str, ...]] | None = None
    scores: Mapping[tuple[str, str], tuple[Score, ...]] = field(default_factory=dict)


def of_machines(subject: str, sizes: Sequence[str], known: Known, as_of: str) -> Capacity:
    """One answer for some sizes that carry the same thing: the best of them."""
    if known.skus is None:
        return Capacity(
            accelerator=subject,
            scope=known.location,
            answer="unknown",
            evidence="; ".join(part for part in ("the list of sizes was not read", _spot(sizes, known)) if part),
            as_of=as_of,
        )
    here = [sku for size in sizes if (sku := known.skus.get(size.lower())) is not None]
    usable = [sku for sku in here if not sku.restricted]
    best = _best([each for sku in usable for each in known.scores.get((known.location, sku.size.lower()), ())])
    answer = f"score {best}" if best else "offered" if usable else "restricted" if here else "not offered"
    said = [*(_sku(sku) for sku in here), _spot([sku.size for sku in usable], known), _hosted(here, known)]
    said += [_TEST] if usable else []
    said = [part for part in said if part] or ["no such size in the list of this location"]
    return _capacity(subject, known, answer, said, as_of)


def of_profile(profile: Profile, known: Known, as_of: str) -> Capacity:
    """Whether Container Apps names a profile type in a location."""
    subject = f"{profile.accelerator} ({profile.profile})"
    if known.profiles is None:
        return _capacity(subject, known, "unknown", ["the workload profile types were not read"], as_of)
    there = profile.profile.lower() in known.profiles
    said = f"Container Apps {'names' if there else 'does not name'} {profile.profile} here"
    return _capacity(subject, known, "offered" if there else "not offered", [said, _TEST if there else ""], as_of)


def of_model(model: str, known: Known, as_of: str) -> Capacity:
    """How much of a model Foundry would deploy, in the unit of each deployment type."""
    subject = model or "every model"
    if known.models is None:
        return _capacity(subject, known, "unknown", ["the models were not read"], as_of)
    lines = known.models.get(model, ())
    said = [f"Foundry shows, by version and deployment type, in that type's unit: {'; '.join(lines[:6])}"]
    return _capacity(subject, known, "offered" if lines else "not offered", said if lines else ["no such model"], as_of)


def _capacity(subject: str, known: Known, answer: str, said: Sequence[str], as_of: str) -> Capacity:
    evidence = bounded("; ".join(part for part in said if part), 600)
    return Capacity(accelerator=subject, scope=known.location, answer=answer, evidence=evidence, as_of=as_of)


def _sku(sku: Sku) -> str:
    if sku.restricted:
        return f"{sku.size}: closed to this subscription ({bounded(sku.restricted, 60)})"
    zones = f"zones {', '.join(sku.zones)}" if sku.zones else "no zones"
    refused = "".join(f", not zone {zone} ({bounded(why, 40)})" for zone, why in sorted(sku.refused.items()))
    marks = [
        "" if sku.spot is None else "spot" if sku.spot else "no spot",
        "" if sku.reservable is None else "reservable" if sku.reservable else "not reservable",
    ]
    return ", ".join(part for part in (f"{sku.size}: {zones}{refused}", *marks) if part)


def _spot(sizes: Sequence[str], known: Known) -> str:
    """The spot scores of some sizes, by zone; words that are no score are said as they are."""
    said = []
    for size in sizes:
        scores = [_score(each) for each in known.scores.get((known.location, size.lower()), ())]
        said += [f"{size} {', '.join(scores)}"] if scores else []
    return f"spot score: {'; '.join(said)}" if said else ""


def _score(each: Score) -> str:
    doubts = [] if each.score in _SCORES else [bounded(each.score, 40)]
    doubts += ["no quota for it"] if each.quota is False else []
    word = each.score if each.score in _SCORES else "unknown"
    zone = f" in zone {each.zone}" if each.zone else ""
    return f"{word}{zone}" + (f" ({', '.join(doubts)})" if doubts else "")


def _best(scores: Sequence[Score]) -> str:
    return next((word for word in _SCORES if any(each.score == word for each in scores)), "")


def _hosted(here: Sequence[Sku], known: Known) -> str:
    if known.hosted is None or not here:
        return ""
    yes = [sku.size for sku in here if (size := known.hosted.get(sku.size.lower())) and size.endpoints]
    return f"Azure ML endpoints take {', '.join(yes)}" if yes else "Azure ML endpoints take none of them here"
