"""Which SKUs of the catalogue make the prices of what serves a model: chips, GPUs, cores and memory, by market."""

from __future__ import annotations

from clouds.gcp.catalogue import Meter

COMPUTE = "Compute Engine"
_CHIPS = (("5e", "v5e"), ("5p", "v5p"), ("6e", "v6e"))
_CHIP = r"(?P<chip>5e|5p|6e)"
_CARDS = (
    ("l4", "l4"), ("tesla t4", "t4"), ("tesla a100", "a100-40gb"), ("tesla a100 80gb", "a100-80gb"),
    ("h100 80gb", "h100"), ("h200 141gb", "h200"), ("rtx pro 6000 96gb", "rtx-pro-6000"),
    ("rtx 6000 96gb", "rtx-pro-6000"),
)  # fmt: skip
_CARD = r"(?P<gpu>L4|Tesla T4|Tesla A100 80GB|Tesla A100|H100 80GB|H200 141GB|RTX PRO 6000 96GB|RTX 6000 96GB)"
_FAMILIES = (("g2", "g2"), ("a2", "a2"), ("a3", "a3"), ("g4", "g4"))
_FAMILY = r"(?P<family>G2|A2|A3|G4)"
SPOT = "Preemptible"


def _chip(market: str, description: str, usage: str = "OnDemand") -> Meter:
    return Meter(f"tpu/{{chip}}/{market}", COMPUTE, description, usage, "h", "chip-hour", _CHIPS)


def _card(market: str, description: str, usage: str = "OnDemand") -> Meter:
    return Meter(f"gce-gpu/{{gpu}}/{market}", COMPUTE, description, usage, "h", "GPU-hour", _CARDS)


def _host(market: str, before: str, usage: str = "OnDemand") -> tuple[Meter, Meter]:
    parts = (("core", "Core", "h", "vCPU-hour"), ("ram", "Ram", "GiBy.h", "GiB-hour"))
    made = [
        Meter(
            f"gce-{part}/{{family}}/{market}", COMPUTE, rf"{before}{_FAMILY} (Instance )?{word} running in", usage,
            listed, unit, _FAMILIES,
        )
        for part, word, listed, unit in parts
    ]  # fmt: skip
    return made[0], made[1]


SERVING: tuple[Meter, ...] = (
    _chip("on-demand", rf"TpuV{_CHIP} running in "),
    _chip("flex-start", rf"DWS Defined Duration V{_CHIP} running in "),
    _chip("spot", rf"TpuV{_CHIP} attached to Spot Preemptible VMs running in ", SPOT),
    _chip("calendar", rf"Reserved V{_CHIP} TPU in .* in Calendar Mode"),
    _chip("cud-1yr", rf"Commitment v1: TpuV{_CHIP} running in .* for 1 Year", "Commit1Yr"),
    _chip("cud-3yr", rf"Commitment v1: TpuV{_CHIP} running in .* for 3 Years?", "Commit3Yr"),
    _card("on-demand", rf"Nvidia {_CARD} GPU running in "),
    _card("spot", rf"Nvidia {_CARD} GPU attached to Spot Preemptible VMs running in ", SPOT),
    _card("flex-start", rf"Nvidia {_CARD} GPU attached to DWS Defined Duration VMs running in "),
    *_host("on-demand", ""),
    *_host("spot", "Spot Preemptible ", SPOT),
    *_host("flex-start", "DWS Defined Duration "),
)
"""What `live` and a refresh read from Compute Engine. v5p is by analogy: its SKUs were not seen (2026-11-29)."""


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
)
"""What a refresh reads beside them. The SKUs of other keys were not seen: their rows stay (2026-11-29)."""
