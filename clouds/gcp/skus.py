"""Which SKUs of the catalogue make our prices: what serves a model, by market, what stores it, and what lies idle."""

from __future__ import annotations

from collections.abc import Iterator

from clouds.gcp.catalogue import Meter

COMPUTE = "Compute Engine"
REDIS = "Cloud Memorystore for Redis"
SPOT = "Preemptible"
_CHIPS = (("5e", "v5e", True), ("6e", "v6e", True), ("5p", "v5p", False))
_CARDS = (
    ("L4", "l4", True),
    ("Tesla T4", "t4", True),
    ("Tesla A100", "a100-40gb", True),
    ("Tesla A100 80GB", "a100-80gb", False),
    ("H100 80GB", "h100", False),
    ("H200 141GB", "h200", False),
    ("RTX PRO 6000 96GB", "rtx-pro-6000", False),
)
"""Google's word, ours, and whether the name of the SKU was seen; the others are by analogy (2026-11-29)."""
_FAMILIES = (("G2", "g2", True), ("A2", "a2", True), ("A3", "a3", False), ("G4", "g4", False))
_PLAIN = (
    ("E2", "e2"), ("N1 Predefined", "n1"), ("N2", "n2"), ("N2D AMD", "n2d"), ("N4", "n4"), ("T2D AMD", "t2d"),
    ("T2A Arm", "t2a"), ("Compute optimized", "c2"), ("C2D AMD", "c2d"), ("C3", "c3"), ("C3D", "c3d"), ("C4", "c4"),
    ("C4A Arm", "c4a"), ("Memory-optimized", "m1"), ("M3 Memory-optimized", "m3"),
)  # fmt: skip
"""Families without accelerators. The words of E2, N1, N2, N2D, C2 and M1 are those that apache-libcloud matches SKUs by
(its table of 2025-03-02); the others are by analogy. None was asked here: one that finds nothing loses nothing."""


def _chips() -> Iterator[Meter]:
    for word, chip, seen in _CHIPS:
        for market, description, usage in (
            ("on-demand", rf"TpuV{word} running in ", "OnDemand"),
            ("flex-start", rf"DWS Defined Duration V{word} running in ", "OnDemand"),
            ("spot", rf"TpuV{word} attached to Spot Preemptible VMs running in ", SPOT),
            ("calendar", rf"Reserved V{word} TPU in .* in Calendar Mode", "OnDemand"),
            ("cud-1yr", rf"Commitment v1: TpuV{word} running in .* for 1 Year", "Commit1Yr"),
            ("cud-3yr", rf"Commitment v1: TpuV{word} running in .* for 3 Years?", "Commit3Yr"),
        ):
            yield Meter(f"tpu/{chip}/{market}", COMPUTE, description, usage, "h", "chip-hour", seen=seen)


def _cards() -> Iterator[Meter]:
    for word, card, seen in _CARDS:
        for market, where, usage in (
            ("on-demand", "running in ", "OnDemand"),
            ("spot", "attached to Spot Preemptible VMs running in ", SPOT),
            ("flex-start", "attached to DWS Defined Duration VMs running in ", "OnDemand"),
        ):
            description = rf"Nvidia {word} GPU {where}"
            yield Meter(f"gce-gpu/{card}/{market}", COMPUTE, description, usage, "h", "GPU-hour", seen=seen)


def _hosts() -> Iterator[Meter]:
    parts = (("core", "Core", "h", "vCPU-hour"), ("ram", "Ram", "GiBy.h", "GiB-hour"))
    markets = (("on-demand", "", "OnDemand"), ("spot", "Spot Preemptible ", SPOT),
               ("flex-start", "DWS Defined Duration ", "OnDemand"))  # fmt: skip
    for word, family, seen in _FAMILIES:
        for part, name, listed, unit in parts:
            for market, before, usage in markets:
                description = rf"{before}{word} (Instance )?{name} running in"
                key = f"gce-{part}/{family}/{market}"
                yield Meter(key, COMPUTE, description, usage, listed, unit, seen=seen)


def _plain() -> Iterator[Meter]:
    for word, family in _PLAIN:
        for part, name, listed, unit in (("core", "Core", "h", "vCPU-hour"), ("ram", "Ram", "GiBy.h", "GiB-hour")):
            for market, before, usage in (("on-demand", "", "OnDemand"), ("spot", "Spot Preemptible ", SPOT)):
                description = rf"{before}{word} (Instance )?{name} running in "
                key = f"gce-{part}/{family}/{market}"
                yield Meter(key, COMPUTE, description, usage, listed, unit, seen=False)


SERVING: tuple[Meter, ...] = (*_chips(), *_cards(), *_hosts())
"""What `live` and a refresh read from Compute Engine."""


def _disk(kind: str, words: str) -> Meter:
    return Meter(f"disk/{kind}", COMPUTE, rf"{words} PD Capacity( in .+)?$", "OnDemand", "GiBy.mo", "GiB-month")


STORED: tuple[Meter, ...] = (
    _disk("pd-standard", "Storage"),
    _disk("pd-balanced", "Balanced"),
    _disk("pd-ssd", "SSD backed"),
    _disk("regional-pd-standard", "Regional Storage"),
    _disk("regional-pd-balanced", "Regional Balanced"),
    _disk("regional-pd-ssd", "Regional SSD backed"),
    Meter("static-ip/unused", COMPUTE, r"Static Ip Charge( in .+)?$", "OnDemand", "h", "hour"),
    *_plain(),
)
"""What a refresh reads beside them. The SKUs of other keys were not seen: their rows stay (2026-11-29)."""


def _sql() -> Iterator[Meter]:
    parts = (
        ("vcpu", "vCPU", "h", "vCPU-hour"),
        ("memory", "RAM", "GiBy.h", "GiB-hour"),
        ("db-f1-micro", "Micro instance", "h", "hour"),
        ("db-g1-small", "Small instance", "h", "hour"),
    )
    for where, more in (("Zonal", ""), ("Regional", "-regional")):
        before = rf"Cloud SQL for (MySQL|PostgreSQL): {where} - "
        for part, name, listed, unit in parts:
            seen = (part, more) != ("db-g1-small", "-regional")
            key = f"cloudsql/{part}{more}"
            yield Meter(key, "Cloud SQL", rf"{before}{name} in ", "OnDemand", listed, unit, seen=seen)
        disk = f"cloudsql-disk/ssd{more}"
        yield Meter(disk, "Cloud SQL", rf"{before}Standard storage in ", "OnDemand", "GiBy.mo", "GiB-month")


def _redis() -> Iterator[Meter]:
    kinds = (("basic", "Capacity Basic", "m1 m2"), ("standard", "Capacity Standard", "m1 m2"),
             ("standard-node", "Standard Node Capacity", "m2"))  # fmt: skip
    for kind, name, seen in kinds:
        for band in ("m1", "m2", "m3", "m4", "m5"):
            description = rf"Redis {name} {band.upper()} "
            known = band in seen.split()
            yield Meter(f"redis/{kind}-{band}", REDIS, description, "OnDemand", "GiBy.h", "GiB-hour", seen=known)


WASTED: tuple[Meter, ...] = (
    *_sql(),
    Meter("cloudsql-backup/storage", "Cloud SQL", "Cloud SQL: Backups in ", "OnDemand", "GiBy.mo", "GiB-month"),
    *_redis(),
    Meter("nat/gateway", "Networking", "Networking Cloud Nat Gateway Uptime", "OnDemand", "h", "hour"),
)
"""What only the waste checks ask for. Enterprise Plus, SQL Server and cheaper storage of Cloud SQL have SKUs of their
own, as have the nodes of a Redis cluster and private NAT. The SKU of a VPN tunnel was not seen: its row stays
(2026-11-30)."""
