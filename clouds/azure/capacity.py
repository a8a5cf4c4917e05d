"""Whether there is one, as far as Azure says. No API answers "is an on-demand A100 free now".

What Azure says: whether a size exists in a location and is closed to this subscription, how well a spot request would
do (High, Medium, Low), which profiles Container Apps has there, which sizes ML endpoints take, and how much of a model
Foundry would deploy. So an answer is "offered", "restricted", "score High", "not offered" or "unknown"; the real test
is the call that creates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar

from clouds.azure import places, sizes
from clouds.azure.capacity_answers import Known, of_machines, of_model, of_profile
from clouds.azure.capacity_reads import MODELS, OFFERED, PROFILES, SPOT, Score, models, profile_types, scores
from clouds.azure.quotas import only_there, what
from clouds.azure.skus import SKUS, Skus
from clouds.azure.vmsizes import VM_SIZES, endpoint_sizes
from clouds.errors import ApiDisabled, CloudError, CredentialExpired, NotSignedIn
from clouds.models import Call, Capacity, Read, Scope, Unread

if TYPE_CHECKING:
    from clouds.azure.api import AzureApi

READS = (SKUS, SPOT, PROFILES, VM_SIZES, MODELS, OFFERED)
T = TypeVar("T")


class AzureCapacity:
    """The capacity reader of Azure."""

    def __init__(
        self, api: AzureApi, skus: Skus | None = None, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        """Nothing is read before the first question. `skus` may be shared: a list of sizes is several megabytes."""
        self._api, self._now = api, now
        self._skus = skus or Skus(api)

    def read(self, accelerator: str | None, types: Sequence[str], scopes: Sequence[Scope]) -> Read[Capacity]:
        """One row per accelerator (and per type, where types are named) and location, in the order asked.

        Raises InvalidInput, and NotSignedIn or CredentialExpired when nothing can be asked.
        """
        wanted = what(accelerator, types)
        where = places.asked(self._api, scopes)
        machines: dict[str, tuple[str, ...]] = {kind: (kind,) for kind in wanted.machines if kind in types}
        if accelerator:
            name, count = sizes.asked(accelerator)
            carrying = tuple(row.size for row in sizes.carrying(accelerator))
            machines = {name if count == 1 else f"{count}x{name}": carrying, **machines}
        look = _Look(self._api, self._skus)
        known = look.at(where, wanted.machines, bool(wanted.profiles), wanted.models)
        as_of = f"{self._now():%Y-%m-%dT%H:%M:%SZ}"
        found = [
            *(
                of_machines(subject, kinds, known[scope], as_of)
                for subject, kinds in machines.items()
                for scope in where
            ),
            *(of_profile(profile, known[scope], as_of) for profile in wanted.profiles for scope in where),
            *(of_model(model, known[scope], as_of) for model in wanted.models for scope in where),
        ]
        if (
            look.errors
            and look.answered == 0
            and all(isinstance(e, NotSignedIn | CredentialExpired) for e in look.errors)
        ):
            raise look.errors[0]
        notes = () if any(scope.location for scope in scopes) else (only_there(),)
        return Read(found=tuple(found), unread=tuple(look.missed), not_applicable=tuple(look.nothing), notes=notes)


class _Look:
    """Asks everything at once; what cannot be read is written down and the rest goes on."""

    def __init__(self, api: AzureApi, skus: Skus) -> None:
        self._api, self._skus = api, skus
        self.missed: list[Unread] = []
        self.nothing: list[Unread] = []
        self.errors: list[CloudError] = []
        self.answered = 0

    def at(
        self, where: Sequence[Scope], machines: Sequence[str], apps: bool, wanted: Sequence[str]
    ) -> Mapping[Scope, Known]:
        """What is known of each location."""
        api = self._api
        with ThreadPoolExecutor(max_workers=8) as pool:
            offered = {s: pool.submit(self._skus.at, s) for s in where} if machines else {}
            hosted = {s: pool.submit(endpoint_sizes, api, s) for s in where} if machines else {}
            types = {s: pool.submit(profile_types, api, s) for s in where} if apps else {}
            listed = {s: pool.submit(models, api, s, wanted) for s in where} if wanted else {}
            spot = [pool.submit(scores, api, group, machines) for group in _groups(where)] if machines else []
            rated: dict[tuple[str, str], tuple[Score, ...]] = {}
            for group, job in zip(_groups(where), spot, strict=False):
                found = self._got(SPOT, Scope(_names(group)), job)
                rated.update(found if found is not None else {})
            return {
                scope: Known(
                    location=str(scope.location),
                    skus=self._got(SKUS, scope, offered.get(scope)),
                    hosted=self._got(VM_SIZES, scope, hosted.get(scope)),
                    profiles=self._got(PROFILES, scope, types.get(scope)),
                    models=self._got(MODELS, scope, listed.get(scope)),
                    scores={key: value for key, value in rated.items() if key[0] == scope.location},
                )
                for scope in where
            }

    def _got(self, call: Call, scope: Scope, job: Future[T] | None) -> T | None:
        if job is None:
            return None
        try:
            found = job.result()
        except CloudError as error:
            self.errors.append(error)
            where = self.nothing if isinstance(error, ApiDisabled) else self.missed
            where.append(places.unread(call, scope, error))
            return None
        self.answered += 1
        return found


def _groups(where: Sequence[Scope]) -> list[tuple[Scope, ...]]:
    """Locations of one subscription that one question for scores may name: eight."""
    found: list[tuple[Scope, ...]] = []
    for account in dict.fromkeys(scope.account for scope in where):
        mine = [scope for scope in where if scope.account == account]
        found += [tuple(mine[start : start + 8]) for start in range(0, len(mine), 8)]
    return found


def _names(group: Sequence[Scope]) -> str:
    return ", ".join(str(scope.location) for scope in group)
