"""Which quotas an accelerator is asked against. The same chip is metered apart in the TPU API and in Compute Engine.

Two lists of Compute Engine have opposite defaults: a region that is absent from the preemptible TPU list has 1,536
chips, one that is absent from the list by family has none (gemma4-dev, 2026-08). A wrong id matches no row instead of
failing, so that an id that Google does not list is reported and never read as zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Kept = Literal["infos", "regions", "project"]
"""Where a quota is read: Cloud Quotas, or the quotas of Compute Engine's regions or project (with what is used)."""
UNLISTED_PREEMPTIBLE, UNLISTED_FAMILY = 1536.0, 0.0
FAMILY = "TPUS-PER-TPU-FAMILY-per-project-region"
GPU_FAMILY = "GPUS-PER-GPU-FAMILY-per-project-region"


@dataclass(frozen=True)
class Pool:
    """One quota. `unlisted` is what a region has that its list does not name; None is unknown.

    `counted` says what is counted as used: `world/accelerator/market`, or the metric of a service's own usage.
    """

    words: str
    service: str
    id: str
    kept: Kept = "infos"
    per: Literal["zone", "region", "global"] = "region"
    unit: str = "chips"
    dimensions: Mapping[str, str] = field(default_factory=dict)
    unlisted: float | None = None
    counted: str = ""
    divisor: float = 1.0


def _tpu_api(word: str, middle: str, before: str) -> tuple[Pool, ...]:
    """The four quotas of a chip in the TPU API; the name of v6e drops the Litepod."""
    scopes: tuple[Literal["zone", "region"], ...] = ("zone", "region")
    return tuple(
        Pool(
            f"{word} in the TPU API, {market}, by {per}",
            "tpu.googleapis.com",
            f"TPU{before}{preemptible}{middle}PerProjectPer{per.capitalize()}ForTPUAPI",
            "infos",
            per,
            counted=f"tpu/{word}/{'spot' if preemptible else 'on-demand'}",
        )
        for market, preemptible in (("on demand", ""), ("spot and flex-start", "Preemptible"))
        for per in scopes
    )


def _tpu_gce(word: str, family: str, spot: str) -> tuple[Pool, ...]:
    return (
        Pool(
            f"{word} on Compute Engine, on demand", "compute.googleapis.com", FAMILY,
            dimensions={"tpu_family": family}, unlisted=UNLISTED_FAMILY, counted=f"gce/{word}/on-demand",
        ),
        Pool(
            f"{word} on Compute Engine, spot and flex-start", "compute.googleapis.com", spot,
            unlisted=UNLISTED_PREEMPTIBLE, counted=f"gce/{word}/spot",
        ),
    )  # fmt: skip


def _gpu(word: str, metric: str, *, spot: bool = True, on_demand: bool = True) -> tuple[Pool, ...]:
    both = (
        Pool(f"{word} on Compute Engine, on demand", "compute.googleapis.com", metric, "regions", unit="GPUs"),
        Pool(
            f"{word} on Compute Engine, spot and flex-start", "compute.googleapis.com", f"PREEMPTIBLE_{metric}",
            "regions", unit="GPUs",
        ),
    )  # fmt: skip
    return tuple(pool for pool, wanted in zip(both, (on_demand, spot), strict=True) if wanted)


def _family(word: str, family: str) -> Pool:
    return Pool(
        f"{word} on Compute Engine, on demand", "compute.googleapis.com", GPU_FAMILY, unit="GPUs",
        dimensions={"gpu_family": family}, counted=f"gce/{word}/on-demand",
    )  # fmt: skip


_ALL_GPUS = Pool(
    "GPUs of all regions, Compute Engine", "compute.googleapis.com", "GPUS_ALL_REGIONS", "project", "global", "GPUs"
)
_CPUS = Pool("vCPUs on Compute Engine, on demand", "compute.googleapis.com", "CPUS", "regions", unit="vCPU")
_A2_CPUS = Pool("A2 vCPUs on Compute Engine, on demand", "compute.googleapis.com", "A2_CPUS", "regions", unit="vCPU")
_RUN = "run.googleapis.com"
RUN_L4: tuple[Pool, ...] = (
    Pool(
        "L4 on Cloud Run, without zonal redundancy", _RUN, "NvidiaL4GpuAllocNoZonalRedundancyPerProjectRegion",
        unit="GPUs", counted=f"{_RUN}/nvidia_l4_gpu_allocation_no_zonal_redundancy",
    ),
    Pool(
        "L4 on Cloud Run, with zonal redundancy", _RUN, "NvidiaL4GpuAllocPerProjectRegion",
        unit="GPUs", counted=f"{_RUN}/nvidia_l4_gpu_allocation",
    ),
    Pool(
        "memory on Cloud Run, which an L4 needs too", _RUN, "MemAllocPerProjectRegion",
        unit="GiB", counted=f"{_RUN}/mem_allocation", divisor=1024.0**3,
    ),
    Pool(
        "vCPUs on Cloud Run, which an L4 needs too", _RUN, "CpuAllocPerProjectRegion",
        unit="vCPU", counted=f"{_RUN}/cpu_allocation", divisor=1000.0,
    ),
)  # fmt: skip
"""A service with an L4 is refused as well when it asks for more memory (counted in bytes) or CPU (in thousandths)."""
RUN_LEAST: Mapping[str, float] = {"MemAllocPerProjectRegion": 16.0, "CpuAllocPerProjectRegion": 4.0}
"""What a service with an L4 takes at least, in GiB and vCPU (public repositories, read 2026-11-29)."""
POOLS: Mapping[str, tuple[Pool, ...]] = {
    "v5e": _tpu_api("v5e", "Litepod", "V5s"),
    "v6e": (*_tpu_api("v6e", "", "V6E"), *_tpu_gce("v6e", "CT6E", "PREEMPTIBLE-TPU-V6E-per-project-region")),
    "v5p": (*_tpu_api("v5p", "", "V5P"), *_tpu_gce("v5p", "CT5P", "PREEMPTIBLE-TPU-V5P-per-project-region")),
    "TPU7x": _tpu_gce("TPU7x", "TPU7X", "PREEMPTIBLE-TPU-TPU7X-per-project-region"),
    "L4": (*_gpu("L4", "NVIDIA_L4_GPUS"), _ALL_GPUS, _CPUS, *RUN_L4),
    "T4": (*_gpu("T4", "NVIDIA_T4_GPUS"), _ALL_GPUS, _CPUS),
    "A100-40GB": (*_gpu("A100-40GB", "NVIDIA_A100_GPUS"), _ALL_GPUS, _A2_CPUS),
    "A100-80GB": (*_gpu("A100-80GB", "NVIDIA_A100_80GB_GPUS"), _ALL_GPUS, _A2_CPUS),
    "H100": (_family("H100", "NVIDIA_H100"), *_gpu("H100", "NVIDIA_H100_GPUS", on_demand=False), _ALL_GPUS),
    "H200": (_family("H200", "NVIDIA_H200"), _ALL_GPUS),
    "B200": (_family("B200", "NVIDIA_B200"), _ALL_GPUS),
    "RTX-PRO-6000": (_family("RTX-PRO-6000", "NVIDIA_RTX_PRO_6000"), _ALL_GPUS),
}
"""Ids of v5e, v6e and L4 were seen; those of v5p, TPU7x and the GPU families are by analogy: if one is wrong, Google
does not list it, and that is what the result says (2026-11-29)."""


SERVING: Mapping[str, str] = {"tpu-v5s-litepod-serving": "on demand", "tpu-v5s-litepod-serving-preemptible": "spot"}
"""Metrics of a pool of its own that v5e has for serving, beside the others and much smaller (marin#6198). Its ids were
not seen: they are taken from Google's list by the metric."""


def serving(listed: Iterable[Mapping[str, Any]]) -> tuple[Pool, ...]:
    """The quotas of the serving pool in Google's list of the TPU API's quotas."""
    found = []
    for info in listed:
        market = SERVING.get(str(info.get("metric", "")).rsplit("/", 1)[-1])
        if market:
            per: Literal["zone", "region"] = "zone" if "PerZone" in str(info["quotaId"]) else "region"
            words = f"v5e for serving in the TPU API, {market}, by {per}"
            found.append(Pool(words, "tpu.googleapis.com", str(info["quotaId"]), per=per))
    return tuple(found)


def of(accelerator: str, worlds: frozenset[str]) -> tuple[Pool, ...]:
    """The quotas of an accelerator; `worlds` keeps those of the TPU API, Compute Engine or both."""
    keep = {"tpu": "tpu.googleapis.com", "gce": "compute.googleapis.com"}
    if not worlds:
        return POOLS[accelerator]
    services = {keep[world] for world in worlds}
    return tuple(pool for pool in POOLS[accelerator] if pool.service in services)
