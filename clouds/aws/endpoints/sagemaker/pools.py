"""Which instance types may be asked for in a region: one accelerator, a known price under the ceiling, quota left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clouds.aws import instances
from clouds.aws.endpoints import shapes
from clouds.aws.endpoints.sagemaker.calls import MOST_POOLS
from clouds.aws.instances import Instance
from clouds.aws.prices import AwsPrices
from clouds.base import QuotaReader
from clouds.errors import CloudError, InvalidInput, QuotaTooSmall
from clouds.models import DeploymentSpec, Price, Quota, Scope

DEFAULT_ACCELERATOR = "L4"


@dataclass(frozen=True)
class Pool:
    """The types of one region in their order, with their prices; empty when the region is left out."""

    region: str
    types: tuple[Instance, ...]
    prices: tuple[Price, ...]
    left_out: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    refused: CloudError | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """As SageMaker spells them."""
        return tuple(row.ml for row in self.types)


def key(kind: str) -> str:
    """The price table's key of a hosting type."""
    return f"sagemaker-hosting/{kind}/on-demand"


def candidates(spec: DeploymentSpec) -> tuple[Instance, ...]:
    """The types that were asked for, in their order. Raises InvalidInput for unknown, mixed or unhostable ones."""
    if not spec.instance_types:
        return instances.carrying(spec.accelerator or DEFAULT_ACCELERATOR, sagemaker=True)
    rows = []
    for name in dict.fromkeys(spec.instance_types):
        row = instances.find(name)
        if row is None or row.ml not in shapes.allowed("sagemaker", "ProductionVariantInstanceType"):
            raise InvalidInput(
                "instance_types",
                f"{name[:40]!r} is no accelerated type that SageMaker hosts",
                fix="Use types like ml.g6.xlarge, or name an accelerator instead.",
            )
        rows.append(row)
    kinds = {(row.accelerator, row.accelerators) for row in rows}
    if len(kinds) > 1:
        words = ", ".join(f"{row.ml} has {row.accelerators}x{row.accelerator}" for row in rows)
        raise InvalidInput(
            "instance_types", f"are not all of one accelerator and count: {words}",
            fix="Keep one kind, so that runs stay comparable whichever is placed.",
        )  # fmt: skip
    if spec.accelerator and instances.asked(spec.accelerator) not in kinds:
        raise InvalidInput(
            "accelerator", f"{spec.accelerator} is not what {rows[0].ml} carries", fix="Give one of the two only."
        )
    if not rows[0].cuda:
        raise InvalidInput(
            "instance_types", f"{rows[0].ml} has no GPU that vLLM's image runs on", fix="Use a GPU type."
        )
    return tuple(rows)


def choose(
    spec: DeploymentSpec, rows: Sequence[Instance], region: str, prices: AwsPrices, quotas: QuotaReader, *, ours: bool
) -> Pool:
    """What is left of the candidates in one region. `ours`: our own endpoint of this name already holds its quota."""
    known = prices.many([key(row.ml) for row in rows], region)
    left: list[str] = []
    priced: list[tuple[Instance, Price]] = []
    for row in rows:
        price = known[key(row.ml)]
        if price is None:
            left.append(f"{row.ml} in {region}: no price known, so the ceiling could not be kept")
        elif price.amount > spec.max_usd_per_hour:
            left.append(
                f"{row.ml} in {region}: ${price.amount:g} an hour is over the ceiling of ${spec.max_usd_per_hour:g}"
            )
        else:
            priced.append((row, price))
    if not priced:
        lowest = min((price.amount for price in known.values() if price), default=None)
        types = ", ".join(row.ml for row in rows[:MOST_POOLS])
        none = f"no price is known of {types}, so that the ceiling of ${spec.max_usd_per_hour:g} could not be kept"
        words = f"the cheapest is ${lowest:g} an hour" if lowest is not None else none
        fix = f"Allow max_usd_per_hour={lowest:g}." if lowest is not None else "Use another region or type."
        return Pool(
            region, (), (), tuple(left), refused=InvalidInput("max_usd_per_hour", f"{region}: {words}", fix=fix)
        )
    if not spec.instance_types:
        priced.sort(key=lambda pair: pair[1].amount)
    warnings: list[str] = []
    if not ours:
        priced, refused = _with_quota(priced, region, quotas, left, warnings)
        if not priced:
            return Pool(region, (), (), tuple(left), tuple(warnings), refused)
    left += [f"{row.ml} in {region}: a pool takes {MOST_POOLS} types" for row, _ in priced[MOST_POOLS:]]
    kept = priced[:MOST_POOLS]
    return Pool(region, tuple(row for row, _ in kept), tuple(price for _, price in kept), tuple(left), tuple(warnings))


def _with_quota(
    priced: Sequence[tuple[Instance, Price]], region: str, quotas: QuotaReader, left: list[str], warnings: list[str]
) -> tuple[list[tuple[Instance, Price]], CloudError | None]:
    """Those with at least one instance of quota left: a pool takes one of every type in it, placed or not."""
    read = quotas.read(None, [row.ml for row, _ in priced], [Scope(region)])
    found = {quota.name.split(" ")[0]: quota for quota in read.found}
    kept: list[tuple[Instance, Price]] = []
    refused: CloudError | None = None
    unread: list[str] = []
    for row, price in priced:
        quota = found.get(row.ml)
        if quota is None:
            unread.append(row.ml)
            kept.append((row, price))
            continue
        word = shortage(quota)
        if word:
            left.append(f"{row.ml} in {region}: {word}")
            refused = refused or QuotaTooSmall(
                f"planning {row.ml} in {region}",
                answered=word,
                code=quota.code,
                fix=f"Ask for `{quota.name}` in Service Quotas for {region}, or use another region.",
            )
        else:
            kept.append((row, price))
    if unread:
        why = read.unread[0].reason if read.unread else "no answer"
        words = ", ".join(unread)
        warnings.append(f"the quota of {words} in {region} could not be read ({why[:300]}): AWS may refuse it")
    return kept, refused


def shortage(quota: Quota, asked: int = 1) -> str:
    """Why a quota does not let `asked` more instances be made; empty when it does or when nobody knows."""
    if quota.offered is False:
        return "not offered"
    if quota.limit is None:
        return ""
    if quota.limit < asked:
        return f"the quota is {quota.limit:g}"
    if quota.used is not None and quota.limit - quota.used < asked:
        return f"the quota is {quota.limit:g} and {quota.used:g} in use"
    return ""
