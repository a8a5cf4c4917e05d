"""Permission to ask, from the place where each service keeps it. The four are separate pools.

    Compute          vCPUs of a family, of the region, and for spot   Microsoft.Compute/locations/usages
    Container Apps   serverless GPUs on each environment, dedicated   Microsoft.App/managedEnvironments/usages,
                     ones in the subscription                         Microsoft.App/locations/usages
    Azure ML         vCPUs of a family for endpoints and clusters     Microsoft.MachineLearningServices/.../usages
    Foundry          provisioned throughput and tokens a minute       Microsoft.CognitiveServices/locations/usages

The subscription's list of Container Apps shows only `SubscriptionDedicatedNCA100Gpus`, often 0, also where a serverless
A100 starts (public reports, 2026-08): without an environment the serverless quota is unknown, and not zero.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clouds.azure import places, sizes
from clouds.azure.quota_sources import APPS, COMPUTE, ENVIRONMENT, ENVIRONMENTS, FOUNDRY, ML, Sources
from clouds.azure.skus import SKUS, Skus
from clouds.errors import ApiDisabled, CloudError, CredentialExpired, InvalidInput, NotSignedIn
from clouds.models import Call, Quota, Read, Scope, Unread

if TYPE_CHECKING:
    from clouds.azure.api import AzureApi

READS = (COMPUTE, APPS, ENVIRONMENTS, ENVIRONMENT, ML, FOUNDRY, SKUS)
_SIZE = re.compile(r"(Standard|Basic)_[A-Za-z0-9_-]+", re.IGNORECASE)
_MODEL = re.compile(r"(ptu|foundry)(?:[:/]([A-Za-z0-9][\w.-]{0,60}))?", re.IGNORECASE)


@dataclass(frozen=True)
class Wanted:
    """What to look for: machine sizes, profiles of Container Apps, and models of Foundry ("" for all of them)."""

    machines: tuple[str, ...] = ()
    profiles: tuple[sizes.Profile, ...] = ()
    models: tuple[str, ...] = ()


class AzureQuotas:
    """The quota reader of Azure."""

    def __init__(self, api: AzureApi) -> None:
        """Nothing is read before the first question."""
        self._api = api
        self.skus = Skus(api)

    def read(self, accelerator: str | None, types: Sequence[str], scopes: Sequence[Scope]) -> Read[Quota]:
        """Every quota that the accelerator or types count against, location by location, in the order asked.

        `types` are sizes (`Standard_NC24ads_A100_v4`), profiles of Container Apps (`Consumption-GPU-NC24-A100`), or
        `ptu` and `foundry`, alone or with a model (`foundry:gpt-5-mini`). Raises InvalidInput, and NotSignedIn or
        CredentialExpired when nothing can be asked.
        """
        wanted = what(accelerator, types)
        where = places.asked(self._api, scopes)
        source = Sources(self._api, self.skus)
        jobs: list[tuple[Call, Callable[[Scope], Iterable[Quota]]]] = []
        if wanted.machines:
            jobs += [
                (COMPUTE, lambda scope: source.compute(wanted.machines, scope)),
                (ML, lambda scope: source.ml(wanted.machines, scope)),
            ]
        if wanted.profiles:
            jobs.append((APPS, lambda scope: source.apps(wanted.profiles, scope)))
        if wanted.models:
            jobs.append((FOUNDRY, lambda scope: source.foundry(wanted.models, scope)))
        found: list[Quota] = []
        missed, nothing = list[Unread](), list[Unread]()
        with ThreadPoolExecutor(max_workers=8) as pool:
            asked = [(call, scope, pool.submit(_all, job, scope)) for scope in where for call, job in jobs]
            refused = [_kept(call, scope, found, missed, nothing, outcome.result()) for call, scope, outcome in asked]
        errors = [error for error in refused if error is not None]
        if errors and not found and all(isinstance(error, NotSignedIn | CredentialExpired) for error in errors):
            raise errors[0]
        notes = () if any(scope.location for scope in scopes) else (only_there(),)
        return Read(found=tuple(found), unread=tuple(missed), not_applicable=tuple(nothing), notes=notes)


def what(accelerator: str | None, types: Sequence[str]) -> Wanted:
    """Which quotas an accelerator or some types count against. Raises InvalidInput."""
    machines, held, models = list[str](), list[sizes.Profile](), list[str]()
    for kind in types:
        model = _MODEL.fullmatch(kind)
        profile = sizes.profile(kind)
        if profile is not None:
            held.append(profile)
        elif model:
            models.append(model[2] or ("provisioned" if model[1].lower() == "ptu" else ""))
        elif _SIZE.fullmatch(kind):
            machines.append(kind)
        else:
            raise InvalidInput(
                "types",
                f"{kind[:40]!r} is not a size of Azure",
                fix="Name one like Standard_NC24ads_A100_v4, Consumption-GPU-NC24-A100, ptu or foundry:MODEL.",
            )
    if accelerator:
        machines += [row.size for row in sizes.carrying(accelerator)]
        held += sizes.holding(accelerator)
    if not machines and not held and not models:
        raise InvalidInput("accelerator", "neither an accelerator nor a type is named", fix="Name one, like A100-80GB.")
    return Wanted(tuple(dict.fromkeys(machines)), tuple(dict.fromkeys(held)), tuple(dict.fromkeys(models)))


def only_there() -> str:
    """What is said where no location was named."""
    return f"azure: looked at {', '.join(places.DEFAULT)}; name other locations to see them."


def _all(job: Callable[[Scope], Iterable[Quota]], scope: Scope) -> tuple[Quota, ...] | CloudError:
    try:
        return tuple(job(scope))
    except CloudError as error:
        return error


def _kept(
    call: Call,
    scope: Scope,
    found: list[Quota],
    missed: list[Unread],
    nothing: list[Unread],
    outcome: tuple[Quota, ...] | CloudError,
) -> CloudError | None:
    """Put an outcome where it belongs; the error, if it was one."""
    if not isinstance(outcome, CloudError):
        found.extend(outcome)
        return None
    (nothing if isinstance(outcome, ApiDisabled) else missed).append(places.unread(call, scope, outcome))
    return outcome
