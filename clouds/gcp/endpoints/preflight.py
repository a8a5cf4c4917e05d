"""What every plan asks first: who we are, whether name, ceiling and end make sense, and what a bucket's place means."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from clouds.base import IdentityReader
from clouds.errors import CloudError, InvalidInput
from clouds.gcp.api import GcpApi
from clouds.gcp.endpoints import model as models
from clouds.models import Call, DeploymentSpec, Scope

_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?")
_ZONE = re.compile(r"[a-z]+-[a-z]+\d{1,2}-[a-z]")
_REGION = re.compile(r"[a-z]+-[a-z]+\d{1,2}")
MULTI = {"US": ("us-",), "EU": ("europe-",), "ASIA": ("asia-",)}


@dataclass(frozen=True)
class Caller:
    """The project, and a word for whoever asks, for the owner's label."""

    project: str
    owner: str


def caller(api: GcpApi, identity: IdentityReader) -> Caller:
    """Raises NotSignedIn and CredentialExpired, with the one thing to do."""
    found = identity.read()
    return Caller(api.project, found.principal.split("@", 1)[0])


def check_name(name: str, longest: int) -> None:
    """Raises InvalidInput for a name that some part of a deployment could not carry."""
    if not _NAME.fullmatch(name) or len(name) > longest:
        raise InvalidInput(
            "name",
            f"{name[:80]!r} cannot be an endpoint's name here",
            fix=f"Use 1 to {longest} of a-z, 0-9 and -, beginning and ending with a letter or digit.",
        )


def check_numbers(spec: DeploymentSpec, most_hours: float) -> None:
    """Raises InvalidInput for a ceiling or an end that makes no sense."""
    if not spec.max_usd_per_hour > 0:
        raise InvalidInput(
            "max_usd_per_hour", f"{spec.max_usd_per_hour} is not above 0", fix="Give a ceiling in $ an hour."
        )
    if not 1 / 12 <= spec.ttl_hours <= most_hours:
        raise InvalidInput(
            "ttl_hours", f"{spec.ttl_hours:g} is not from 0.0834 to {most_hours:g}", fix="Give hours; 4 is usual."
        )


def asked(spec: DeploymentSpec, zones: str, default: tuple[str, ...]) -> tuple[str, ...]:
    """Zones and regions in the order in which they were named. Raises InvalidInput for what is neither."""
    named = tuple(zones.split(",")) if zones else (spec.location,) if spec.location else spec.regions or default
    found = tuple(dict.fromkeys(one for one in named if one))
    for one in found:
        if not _ZONE.fullmatch(one) and not _REGION.fullmatch(one):
            raise InvalidInput("location", f"{one[:40]!r} is no zone or region", fix="Give one like us-west4-a.")
    return found


def is_zone(place: str) -> bool:
    """Whether it is a zone, and not a region."""
    return _ZONE.fullmatch(place) is not None


def region_of(place: str) -> str:
    """`europe-west4-a` -> `europe-west4`; a region stays."""
    return place.rsplit("-", 1)[0] if is_zone(place) else place


def crossing(api: GcpApi, places: Iterable[str], regions: Iterable[str]) -> tuple[str, ...]:
    """Warnings about buckets that are not where the machine will be: slow reads, paid traffic, or not to be read.

    Raises nothing: what a bucket's place is may be unknown, and is then said.
    """
    where, found = tuple(dict.fromkeys(regions)), list[str]()
    for bucket in dict.fromkeys(models.bucket_of(place) for place in places):
        if not bucket:
            continue
        try:
            answer = api.send(Call("storage", "buckets.get", {"bucket": bucket}), scope=Scope())
        except CloudError as error:
            found.append(f"gs://{bucket}: where it is could not be read ({error.code or error.kind})")
            continue
        there = str(answer.get("location", "")).upper()
        prefixes = MULTI.get(there)
        for region in where:
            if prefixes is not None and region.startswith(prefixes):
                continue
            if there != region.upper():
                found.append(
                    f"gs://{bucket} is in {there or 'an unknown place'} and the machine in {region}: reads cross "
                    "regions, are slower and are charged as traffic; keep weights and compile cache in one region"
                )
    return tuple(found)
