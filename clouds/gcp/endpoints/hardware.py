"""The machines that a model can be served on: chips or GPUs of one host, their memory, and by which API they are made.

v5e is made by the TPU API alone: Compute Engine lists `ct5lp-*` in 26 zones and refuses to create one (gemma4-dev,
read 2026-11-29). v6e and v5p are made by Compute Engine, which Google prefers, and by the TPU API. Sizes are those of
Google's machine pages and of the article of 2026-10-25.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from clouds.errors import InvalidInput
from clouds.models import DeploymentSpec, Hardware

TPUS = frozenset({"v5e", "v6e", "v5p", "TPU7x"})


@dataclass(frozen=True)
class Shape:
    """One machine type (gce) or accelerator type (tpu). `gib` is the memory of one accelerator that an engine sees."""

    type: str
    accelerator: str
    count: int
    gib: float
    vcpus: int = 0
    memory_gib: int = 0

    @property
    def tpu(self) -> bool:
        """Whether it is a TPU."""
        return self.accelerator in TPUS

    def record(self) -> Hardware:
        """As results show it."""
        return Hardware(
            instance_type=self.type,
            accelerators=(self.accelerator,) * self.count,
            cores=self.vcpus or None,
            memory_bytes=self.memory_gib * 1024**3 or None,
            accelerator_memory_bytes=round(self.count * self.gib * 1024**3),
        )


GCE: tuple[Shape, ...] = (
    Shape("ct6e-standard-1t", "v6e", 1, 31.24, 44, 176),
    Shape("ct6e-standard-4t", "v6e", 4, 31.24, 180, 720),
    Shape("ct6e-standard-8t", "v6e", 8, 31.24, 180, 1440),
    Shape("ct5p-hightpu-1t", "v5p", 1, 95.0, 52, 112),
    Shape("ct5p-hightpu-2t", "v5p", 2, 95.0, 104, 224),
    Shape("ct5p-hightpu-4t", "v5p", 4, 95.0, 208, 448),
    Shape("g2-standard-4", "L4", 1, 22.5, 4, 16),
    Shape("g2-standard-8", "L4", 1, 22.5, 8, 32),
    Shape("g2-standard-12", "L4", 1, 22.5, 12, 48),
    Shape("g2-standard-16", "L4", 1, 22.5, 16, 64),
    Shape("g2-standard-24", "L4", 2, 22.5, 24, 96),
    Shape("g2-standard-48", "L4", 4, 22.5, 48, 192),
    Shape("g2-standard-96", "L4", 8, 22.5, 96, 384),
    Shape("g4-standard-48", "RTX-PRO-6000", 1, 95.0, 48, 180),
    Shape("a2-highgpu-1g", "A100-40GB", 1, 39.5, 12, 85),
    Shape("a2-ultragpu-1g", "A100-80GB", 1, 79.2, 12, 170),
    Shape("a3-highgpu-1g", "H100", 1, 79.2, 26, 234),
    Shape("a3-highgpu-2g", "H100", 2, 79.2, 52, 468),
    Shape("a3-highgpu-4g", "H100", 4, 79.2, 104, 936),
    Shape("a3-highgpu-8g", "H100", 8, 79.2, 208, 1872),
)
"""Made by Compute Engine."""
TPU: tuple[Shape, ...] = (
    Shape("v5litepod-1", "v5e", 1, 15.75, 24, 48),
    Shape("v5litepod-4", "v5e", 4, 15.75, 112, 192),
    Shape("v5litepod-8", "v5e", 8, 15.75, 224, 384),
    Shape("v6e-1", "v6e", 1, 31.24, 44, 176),
    Shape("v6e-4", "v6e", 4, 31.24, 180, 720),
    Shape("v6e-8", "v6e", 8, 31.24, 180, 1440),
    Shape("v5p-8", "v5p", 4, 95.0, 208, 448),
)
"""Made by the TPU API; each is one host. A v5p is counted in cores: `v5p-8` has four chips."""
RUNTIMES = {"v5e": "v2-alpha-tpuv5-lite", "v6e": "v2-alpha-tpuv6e", "v5p": "v2-alpha-tpuv5"}
"""Runtime versions by accelerator (gemma4-dev and Google's TPU runtime page, read 2026-11-29)."""
NOT_HERE = {
    "TPU7x": "it is made through GKE alone and needs an allowlist",
    "B200": "an a4-highgpu-8g has eight of them and is sold by reservation",
}
"""Accelerators of Google Cloud that modelrig names but does not deploy, and why."""


def find(shapes: tuple[Shape, ...], name: str) -> Shape | None:
    """The shape of that name."""
    return next((one for one in shapes if one.type == name), None)


def candidates(
    spec: DeploymentSpec, shapes: tuple[Shape, ...], default: str, elsewhere: Mapping[str, str]
) -> tuple[Shape, ...]:
    """The shapes that were asked for, the smallest first. Raises InvalidInput with what this service has.

    All are of one accelerator and count, so that runs stay comparable.
    """
    if spec.instance_types:
        found = [find(shapes, name) for name in dict.fromkeys(spec.instance_types)]
        missing = [name for name, one in zip(dict.fromkeys(spec.instance_types), found, strict=True) if one is None]
        if missing:
            raise InvalidInput(
                "instance_types", f"{missing[0][:40]} is none that `{spec.service}` serves on{_why(missing[0])}",
                fix=f"Use one of {', '.join(one.type for one in shapes)}.", allowed=tuple(one.type for one in shapes),
            )  # fmt: skip
        rows = tuple(one for one in found if one is not None)
        if spec.accelerator and any(one.accelerator != spec.accelerator for one in rows):
            raise InvalidInput(
                "accelerator", f"{rows[0].type} carries {rows[0].accelerator}, not {spec.accelerator}", fix="Drop one."
            )
        if len({(one.accelerator, one.count) for one in rows}) > 1:
            raise InvalidInput("instance_types", "are not all of one accelerator and count", fix="Keep one kind.")
        return rows
    word = spec.accelerator or default
    rows = tuple(one for one in shapes if one.accelerator == word)
    if not rows:
        raise InvalidInput(
            "accelerator", f"`{spec.service}` has no {word}{elsewhere.get(word, '')}{_not_here(word)}",
            fix=f"It has {', '.join(dict.fromkeys(one.accelerator for one in shapes))}.",
            allowed=tuple(dict.fromkeys(one.accelerator for one in shapes)),
        )  # fmt: skip
    least = min(one.count for one in rows)
    return tuple(one for one in rows if one.count == least)


def _why(name: str) -> str:
    if name.startswith("ct5lp"):
        return ": Compute Engine lists it and refuses to create it; v5e is made by the TPU API (service tpu)"
    return ""


def _not_here(word: str) -> str:
    return f": {NOT_HERE[word]}" if word in NOT_HERE else ""


def fits(model_gib: float | None, shape: Shape) -> str:
    """A warning when the weights are larger than the memory that they have to share; empty otherwise or unknown."""
    whole = shape.gib * shape.count * 0.92
    if model_gib is None or model_gib < whole:
        return ""
    return f"the weights take about {model_gib:g} GiB; {shape.count} x {shape.accelerator} serve up to {whole:.1f} GiB"
