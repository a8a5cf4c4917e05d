"""Permission to ask: SageMaker's instances per type, and EC2's vCPUs per family on demand and spot, region by region.

Service Quotas limits how often an account may ask: twelve listings at once were throttled (article of 2026-09-26). So
there is one listing at a time, region after region; what is used is read beside it, from other services.

A type without a row is not offered there, once its default is not listed either: some quotas have only a default value
(service model, 2026-11-29). That is neither zero nor unread.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any

from clouds.aws import instances, regions
from clouds.aws.usage import Used, endpoints_use, machines_use
from clouds.errors import CloudError, CredentialExpired, InvalidInput, NotSignedIn
from clouds.models import Call, Quota, Read, Scope, Unread

if TYPE_CHECKING:
    from clouds.aws.api import AwsApi

APPLIED, DEFAULTS = "ListServiceQuotas", "ListAWSDefaultServiceQuotas"
READS = (
    Call("service-quotas", APPLIED),
    Call("service-quotas", DEFAULTS),
    regions.ENABLED,
    *(Call("sagemaker", name) for name in ("ListEndpoints", "DescribeEndpoint", "DescribeEndpointConfig")),
    Call("ec2", "DescribeInstances"),
)
_TYPE = re.compile(r"(ml\.)?[a-z][a-z0-9-]*\.[a-z0-9-]+")
_ON_DEMAND = re.compile(r"Running On-Demand (.+) instances")
_SPOT = re.compile(r"All (.+) Spot Instance Requests")
_one_at_a_time = Lock()


@dataclass(frozen=True)
class Wanted:
    """What to look for: SageMaker types (with `ml.`), and families of EC2 (`g6e`)."""

    hosting: tuple[str, ...]
    families: tuple[str, ...]


@dataclass
class Found:
    """The rows of one region: hosting type or EC2 quota name -> row of Service Quotas, None when there is none.

    `nameless` are families and markets ("p6 spot") for which no quota's name could be recognised.
    """

    region: str
    hosting: dict[str, Mapping[str, Any] | None]
    machines: dict[str, Mapping[str, Any]]
    nameless: tuple[str, ...] = ()


class AwsQuotas:
    """The quota reader of AWS."""

    def __init__(self, api: AwsApi) -> None:
        """Nothing is read before the first question."""
        self._api = api
        self._defaults: dict[str, Mapping[str, Mapping[str, Any]]] = {}

    def read(self, accelerator: str | None, types: Sequence[str], scopes: Sequence[Scope]) -> Read[Quota]:
        """One row per SageMaker type and region, and per EC2 family quota and region, in the order asked.

        Raises InvalidInput for an unknown accelerator, type or region, and when there is no usable credential at all.
        """
        wanted = what(accelerator, types)
        places, unread = regions.asked(self._api, scopes)
        missed: list[Unread] = list(unread)
        refused: list[CloudError] = []
        jobs: list[tuple[Found, Future[Used] | None, Future[Used] | None]] = []
        with ThreadPoolExecutor(max_workers=8) as pool:
            for region in places:
                try:
                    found = self._listed(region, wanted)
                except CredentialExpired:
                    raise
                except CloudError as error:
                    if isinstance(error, NotSignedIn) and not error.sent:
                        raise
                    refused.append(error)
                    missed.append(regions.unread(Call("service-quotas", APPLIED), region, error))
                    continue
                hosting = any(row and row["Value"] for row in found.hosting.values())
                machines = any(row["Value"] for row in found.machines.values())
                jobs.append(
                    (
                        found,
                        pool.submit(endpoints_use, self._api, region) if hosting else None,
                        pool.submit(machines_use, self._api, region) if machines else None,
                    )
                )
            quotas = tuple(quota for job in jobs for quota in _quotas(*job, missed))
        if not jobs and refused and all(isinstance(error, NotSignedIn) for error in refused):
            raise refused[0]
        codes = {quota.name: quota.code for quota in quotas if quota.code}  # a code is the same in every region
        coded = (quota.model_copy(update={"code": codes.get(quota.name, "")}) for quota in quotas)
        return Read(found=tuple(coded), unread=tuple(missed))

    def _listed(self, region: str, wanted: Wanted) -> Found:
        found = Found(region, dict.fromkeys(wanted.hosting), {})
        with _one_at_a_time:
            if wanted.hosting:
                names = {f"{kind} for endpoint usage": kind for kind in wanted.hosting}
                for row in self._rows("sagemaker", region):
                    if row["QuotaName"] in names:
                        found.hosting[names[row["QuotaName"]]] = row
                        if all(found.hosting.values()):
                            break
                if not all(found.hosting.values()):
                    defaults = self._default(region)
                    for name, kind in names.items():
                        found.hosting[kind] = found.hosting[kind] or defaults.get(name)
            if wanted.families:
                found.machines, found.nameless = _of_families(wanted.families, tuple(self._rows("ec2", region)))
        return found

    def _rows(self, service: str, region: str, operation: str = APPLIED) -> Iterator[Mapping[str, Any]]:
        call = Call("service-quotas", operation, {"ServiceCode": service, "MaxResults": 100})
        for page in self._api.pages(call, scope=Scope(region)):
            yield from page["Quotas"]

    def _default(self, region: str) -> Mapping[str, Mapping[str, Any]]:
        """The default values of endpoint quotas, which change for nobody while this process runs."""
        if region not in self._defaults:
            rows = self._rows("sagemaker", region, DEFAULTS)
            self._defaults[region] = {row["QuotaName"]: row for row in rows if "endpoint usage" in row["QuotaName"]}
        return self._defaults[region]


def what(accelerator: str | None, types: Sequence[str]) -> Wanted:
    """Which quotas an accelerator or some types need. Raises InvalidInput."""
    for kind in types:
        if not _TYPE.fullmatch(kind):
            raise InvalidInput(
                "types", f"{kind[:40]!r} is not an instance type", fix="Name one like ml.g6.xlarge or g6.xlarge."
            )
    hosting = [kind for kind in types if kind.startswith(instances.ML)]
    machines = [kind for kind in types if not kind.startswith(instances.ML)]
    if accelerator:
        carrying = instances.carrying(accelerator)
        hosting += [row.ml for row in carrying if row.sagemaker]
        machines += [row.type for row in carrying]
    if not hosting and not machines:
        raise InvalidInput("accelerator", "neither an accelerator nor a type is named", fix="Name one, for example L4.")
    return Wanted(tuple(dict.fromkeys(hosting)), tuple(dict.fromkeys(kind.split(".", 1)[0] for kind in machines)))


def _of_families(
    families: Sequence[str], rows: Sequence[Mapping[str, Any]]
) -> tuple[dict[str, Mapping[str, Any]], tuple[str, ...]]:
    """The on-demand and the spot quota that counts each family, as their names say; one may count several families."""
    found: dict[str, Mapping[str, Any]] = {}
    nameless = []
    for family in families:
        for pattern, market in ((_ON_DEMAND, "on demand"), (_SPOT, "spot")):
            best: tuple[int, Mapping[str, Any]] | None = None
            for row in rows:
                named = pattern.fullmatch(row["QuotaName"])
                weight = covers(named[1], family) if named else 0
                if weight and (best is None or weight > best[0]):
                    best = (weight, row)
            if best:
                found[best[1]["QuotaName"]] = best[1]
            else:
                nameless.append(f"{family} {market}")
    return found, tuple(nameless)


def covers(words: str, family: str) -> int:
    """How closely `G and VT` or `P4, P3 and P2` counts a family: 2 by generation, 1 by letter, 0 not at all."""
    letters = re.match(r"[a-z]+", family)
    generation = re.match(r"[a-z]+\d+", family)
    named = {word.upper() for word in re.findall(r"[A-Za-z]+\d*", words)} - {"AND", "STANDARD", "INSTANCES"}
    if generation and generation[0].upper() in named:
        return 2
    own = letters[0].upper() if letters else ""
    # g6e, gr6, p5en are of classes G and P; inf2 and trn1 name their class whole.
    return 1 if own in named or (own not in ("INF", "TRN", "DL", "VT", "HPC", "MAC") and own[:1] in named) else 0


def _quotas(
    found: Found, endpoints: Future[Used] | None, machines: Future[Used] | None, missed: list[Unread]
) -> Iterator[Quota]:
    held, started = (_used(job, found.region, missed) for job in (endpoints, machines))
    for kind, row in found.hosting.items():
        if row is None:
            yield Quota(
                name=f"{kind} for endpoint usage", code="", scope=found.region, limit=None, used=None,
                unit="instances", offered=False,
            )  # fmt: skip
        else:
            used = 0.0 if not row["Value"] else held.get(kind, 0.0) if held is not None else None
            yield _quota(row, found.region, used, "instances")
    for name, row in found.machines.items():
        spot = bool(_SPOT.fullmatch(name))
        words = (_SPOT if spot else _ON_DEMAND).sub(r"\1", name)
        used = None
        if not row["Value"]:
            used = 0.0
        elif started is not None:
            mine = [n for key, n in started.items() if _counts(key, spot, words, found.machines)]
            used = sum(mine)
        yield _quota(row, found.region, used, "vCPU")
    for words in found.nameless:
        yield Quota(name=f"vCPUs of {words}", code="", scope=found.region, limit=None, used=None, unit="vCPU")


def _counts(key: str, spot: bool, words: str, rows: Mapping[str, Any]) -> bool:
    """Whether machines of this key (`g6/spot`) count against the quota of these words, and not against a closer one."""
    family, market = key.split("/")
    if (market == "spot") != spot or not covers(words, family):
        return False
    others = [(_SPOT if spot else _ON_DEMAND).fullmatch(name) for name in rows]
    return covers(words, family) >= max(covers(other[1], family) for other in others if other)


def _quota(row: Mapping[str, Any], region: str, used: float | None, unit: str) -> Quota:
    return Quota(
        name=row["QuotaName"],
        code=row["QuotaCode"],
        scope=region,
        limit=float(row["Value"]),
        used=used,
        unit=unit,
        adjustable=row.get("Adjustable"),
        offered=True,
    )


def _used(job: Future[Used] | None, region: str, missed: list[Unread]) -> Mapping[str, float] | None:
    if job is None:
        return {}
    try:
        return job.result()
    except CloudError as error:
        call = Call("sagemaker", "ListEndpoints") if "sagemaker" in error.tried else Call("ec2", "DescribeInstances")
        missed.append(regions.unread(call, region, error))
        return None
