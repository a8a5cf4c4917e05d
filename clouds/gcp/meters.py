"""What Google bills a resource by: the rows of the price table that one machine, disk or node is made of.

A machine type stands for all that belongs to it, GPUs included (the price book makes the sum where Google prices them
apart); a TPU machine is its chips alone, the host included (facts of the Billing Catalog, 2026-11-29). Rates are looked
up by region.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from clouds.gcp.checks.words import last, number, region
from clouds.models.waste import Meter

_TPU_MACHINES = {"ct5p": "v5p", "ct6e": "v6e", "tpu7x": "tpu7x", "ct5lp": "v5e"}
_TPU_NODES = {"V5LITE_POD": "v5e", "V5P": "v5p", "V6E": "v6e"}
_BY_CORES = frozenset({"v2", "v3", "v4", "v5p"})
"""TPU versions whose type names count cores: two cores are one chip (v5p-8 is 4 chips, price table of 2026-07-09)."""
_GPU_TYPES = {"nvidia-l4": "l4", "nvidia-tesla-t4": "t4", "nvidia-tesla-a100": "a100-40gb",
              "nvidia-a100-80gb": "a100-80gb", "nvidia-h100-80gb": "h100", "nvidia-h100-mega-80gb": "h100-mega",
              "nvidia-h200-141gb": "h200", "nvidia-b200": "b200"}  # fmt: skip
_MULTIREGION = {"us": "us", "eu": "europe", "europe": "europe", "asia": "asia"}


def model_of(scheduling: Mapping[str, Any] | None) -> str:
    """Which rate a machine has: on-demand, spot or flex-start."""
    word = str((scheduling or {}).get("provisioningModel") or "")
    if word == "SPOT" or (scheduling or {}).get("preemptible"):
        return "spot"
    return {"FLEX_START": "flex-start", "RESERVATION_BOUND": "calendar"}.get(word, "on-demand")


def is_tpu(machine: str) -> bool:
    """Whether a machine type of Compute Engine carries TPU chips."""
    return machine.split("-", 1)[0] in _TPU_MACHINES


def has_gpu(machine: str) -> bool:
    """Whether a machine type has GPUs of its own."""
    return machine.split("-", 1)[0] in {"g2", "g4", "a2", "a3", "a4", "a4x"}


def machine(machine_type: str, place: str, model: str = "on-demand", accelerators: Any = ()) -> tuple[Meter, ...]:
    """A machine of Compute Engine by the hour: its type with all that belongs to it, and GPUs that were put on it."""
    kind, where = last(machine_type), region(place)
    if is_tpu(kind):
        chips = re.search(r"-(\d+)t$", kind)
        key = f"tpu/{_TPU_MACHINES[kind.split('-', 1)[0]]}/{model}"
        return (Meter(key, "chip-hour", float(chips[1]) if chips else 1.0, where),)
    return (
        Meter(f"gce/{kind}/{model}", "hour", 1.0, where),
        *(() if has_gpu(kind) else _gpus(accelerators, where, model)),
    )


def _gpus(accelerators: Any, where: str, model: str) -> tuple[Meter, ...]:
    found = []
    for each in accelerators or ():
        name = last(each.get("acceleratorType"))
        key = f"gce-gpu/{_GPU_TYPES.get(name, name)}/{model}"
        found.append(Meter(key, "GPU-hour", number(each.get("acceleratorCount")), where))
    return tuple(found)


def node(row: Mapping[str, Any], place: str) -> tuple[Meter, ...]:
    """A node of the TPU API by the hour of its chips."""
    version, chips = chips_of(row)
    scheduling = row.get("schedulingConfig") or {}
    spot = scheduling.get("spot") or scheduling.get("preemptible")
    return (Meter(f"tpu/{version}/{'spot' if spot else 'on-demand'}", "chip-hour", float(chips), region(place)),)


def chips_of(row: Mapping[str, Any]) -> tuple[str, int]:
    """Version and chips of a node, from its type ("v5litepod-8", "v5p-8" is 4 chips) or its topology ("2x4")."""
    found = re.fullmatch(r"(v\d+\w*?)(?:litepod)?-(\d+)", str(row.get("acceleratorType") or ""))
    if found:
        version = "v5e" if "litepod" in str(row["acceleratorType"]) else found[1]
        return version, max(1, int(found[2]) // (2 if version in _BY_CORES else 1))
    config = row.get("acceleratorConfig") or {}
    chips = 1
    for side in re.findall(r"\d+", str(config.get("topology") or "")):
        chips *= int(side)
    return _TPU_NODES.get(str(config.get("type")), str(config.get("type") or "unknown").lower()), chips


def disk(row: Mapping[str, Any], place: str) -> tuple[Meter, ...]:
    """A disk by its provisioned size; provisioned IOPS and throughput have no rate in the table."""
    kind = last(row.get("type")) or "pd-standard"
    name = f"regional-{kind}" if row.get("replicaZones") else kind
    return (Meter(f"disk/{name}", "GiB-month", number(row.get("sizeGb")), region(place)),)


def stored(key: str, gib: float, locations: Any) -> tuple[Meter, ...]:
    """Snapshots and images by what they hold, where they are kept (a region, or `us`, `eu`, `asia`)."""
    place = str((list(locations or ()) or ["us"])[0]).lower()
    wide = _MULTIREGION.get(place)
    if wide and key == "snapshot/standard":
        return (Meter("snapshot/standard-multiregion", "GiB-month", gib, wide),)
    return (Meter(key, "GiB-month", gib, wide or place),)


def run(
    limits: Mapping[str, Any], instances: float, place: str, gpu: str = "", *, redundant: bool = False
) -> tuple[Meter, ...]:
    """Cloud Run instances that are always there: CPU, memory and GPU by the second."""
    found = [
        Meter("cloud-run/cpu-instance-based", "vCPU-second", cores(limits.get("cpu")) * instances, place),
        Meter("cloud-run/memory-instance-based", "GiB-second", gib_of(limits.get("memory")) * instances, place),
    ]
    if gpu:
        name = gpu.removeprefix("nvidia-")
        key = "gpu-l4-zonal-redundancy" if redundant and name == "l4" else f"gpu-{name}"
        key = "gpu-l4-no-zonal-redundancy" if key == "gpu-l4" else key
        count = number(limits.get("nvidia.com/gpu") or 1)
        found.insert(0, Meter(f"cloud-run/{key}", "GPU-second", count * instances, place))
    return tuple(found)


def cores(text: Any) -> float:
    """ "8" or "500m" of a CPU as a number; 1 where nothing is said, as Cloud Run has it."""
    value = str(text or "1")
    return float(value[:-1]) / 1000 if value.endswith("m") else float(value)


def gib_of(text: Any) -> float:
    """ "32Gi" or "512Mi" as GiB; half a GiB where nothing is said, as Cloud Run has it."""
    found = re.fullmatch(r"([\d.]+)([A-Za-z]*)", str(text or "512Mi"))
    if found is None:
        raise ValueError(f"{str(text)[:20]!r} is no amount of memory")
    scale = {"Gi": 1.0, "Mi": 1 / 1024, "Ki": 1 / 1024**2, "Ti": 1024.0, "G": 1e9 / 2**30, "M": 1e6 / 2**30,
             "": 1 / 2**30}  # fmt: skip
    return float(found[1]) * scale[found[2]]


def sql(row: Mapping[str, Any]) -> tuple[Meter, ...]:
    """A Cloud SQL instance by its tier: `db-custom-4-16384` is 4 vCPU and 16 GiB; twice where it is regional."""
    settings = row.get("settings") or {}
    tier, place = str(settings.get("tier") or ""), str(row.get("region") or "")
    more = "-regional" if settings.get("availabilityType") == "REGIONAL" else ""
    found = re.fullmatch(r"db-custom-(\d+)-(\d+)", tier)
    if found is None or settings.get("edition") == "ENTERPRISE_PLUS":
        return (Meter(f"cloudsql/{tier}{more}", "hour", 1.0, place),)
    return (
        Meter(f"cloudsql/vcpu{more}", "vCPU-hour", float(found[1]), place),
        Meter(f"cloudsql/memory{more}", "GiB-hour", float(found[2]) / 1024, place),
    )


_SQL_DISKS = frozenset(
    {("us-central1", ""), ("us-central1", "-regional"), ("europe-west2", ""), ("europe-west2", "-regional"),
     ("us-east1", "")}
)  # fmt: skip
"""Where SSD storage of Cloud SQL has a rate of that availability; elsewhere the table knows one, which is no lower than
that of regional storage: $0.42 a GiB in us-central1, where six sources say $0.17 and $0.34 (2026-11-29)."""


def sql_disk(row: Mapping[str, Any]) -> tuple[Meter, bool]:
    """The storage of a Cloud SQL instance, and whether its rate is that of its own availability."""
    settings = row.get("settings") or {}
    place, gib = str(row.get("region") or ""), number(settings.get("dataDiskSizeGb"))
    kind = {"PD_HDD": "hdd", "HYPERDISK_BALANCED": "hyperdisk"}.get(str(settings.get("dataDiskType")), "ssd")
    more = "-regional" if settings.get("availabilityType") == "REGIONAL" else ""
    if kind == "ssd" and (place, more) in _SQL_DISKS:
        return Meter(f"cloudsql-disk/ssd{more}", "GiB-month", gib, place), True
    return Meter(f"cloudsql-storage/{kind}", "GiB-month", gib, place), False


def redis(row: Mapping[str, Any], place: str) -> tuple[Meter, ...]:
    """A Redis instance by its capacity and the band that this falls in; node by node where its replicas are read."""
    gib = number(row.get("memorySizeGb"))
    band = next(name for name, most in (("m1", 4), ("m2", 10), ("m3", 35), ("m4", 100), ("m5", 1e9)) if gib <= most)
    if row.get("tier") != "STANDARD_HA":
        return (Meter(f"redis/basic-{band}", "GiB-hour", gib, place),)
    if row.get("readReplicasMode") == "READ_REPLICAS_ENABLED":
        nodes = 1 + number(row.get("replicaCount"))
        return (Meter(f"redis/standard-node-{band}", "GiB-hour", gib * nodes, place),)
    return (Meter(f"redis/standard-{band}", "GiB-hour", gib, place),)
