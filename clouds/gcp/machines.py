"""What a type's name says: which accelerator, how many, in which of Google's two worlds, and the host around it.

The same chips are asked for in two worlds that have their own types, quotas and prices: the TPU API (`v6e-4`) and
Compute Engine (`ct6e-standard-4t`). A v5e exists in the first alone: Compute Engine lists `ct5lp-*` in 26 zones, and
creating one is answered with "This user agent is not allowed to use the machine type" (gemma4-dev, read 2026-11-29).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from clouds.errors import InvalidInput, NotOffered
from clouds.models import accelerator as shared

World = Literal["tpu", "gce"]
TPUS = ("v5e", "v5p", "v6e", "TPU7x")
GPUS = ("L4", "T4", "A100-40GB", "A100-80GB", "H100", "H200", "B200", "RTX-PRO-6000")
ACCELERATORS = (*TPUS, *GPUS)


@dataclass(frozen=True)
class Machine:
    """One type. `count` is in chips or GPUs; `vcpus` and `memory_gib` are 0 where the price does not need them."""

    type: str
    accelerator: str
    count: int
    world: World
    vcpus: int = 0
    memory_gib: float = 0

    @property
    def family(self) -> str:
        """`g2` of `g2-standard-4`: what its core and memory are priced by."""
        return self.type.split("-", 1)[0]

    @property
    def attached(self) -> bool:
        """Whether it is a card that is put into a machine of any type, and no machine."""
        return self.type.startswith("nvidia-")

    @property
    def creatable(self) -> bool:
        """False for types that are listed and that Google refuses to create."""
        return not self.type.startswith("ct5lp-")


_TPU_API = re.compile(r"(v5litepod|v6e|v5p)-(\d{1,5})")
_TPU_GCE = re.compile(r"(ct5lp-hightpu|ct6e-standard|ct5p-hightpu|tpu7x-standard)-(\d{1,2})t(?:pu)?")
_CHIPS = {"v5litepod": "v5e", "v6e": "v6e", "v5p": "v5p", "ct5lp-hightpu": "v5e", "ct6e-standard": "v6e",
          "ct5p-hightpu": "v5p", "tpu7x-standard": "TPU7x"}  # fmt: skip
_G2 = {4: 1, 8: 1, 12: 1, 16: 1, 32: 1, 24: 2, 48: 4, 96: 8}
"""vCPUs of a g2-standard machine -> its L4s (Google's page of accelerator machines)."""
_GPU = re.compile(r"(a2-highgpu|a2-megagpu|a2-ultragpu|a3-highgpu|a3-megagpu|a3-ultragpu|a4-highgpu)-(\d{1,2})g")
_EACH: Mapping[str, tuple[str, int, float]] = {
    "a2-highgpu": ("A100-40GB", 12, 85), "a2-megagpu": ("A100-40GB", 6, 85), "a2-ultragpu": ("A100-80GB", 12, 170),
    "a3-highgpu": ("H100", 26, 234), "a3-megagpu": ("H100", 26, 234), "a3-ultragpu": ("H200", 28, 368),
    "a4-highgpu": ("B200", 28, 496),
}  # fmt: skip
"""Accelerator, vCPUs and GiB of memory of each GPU of a machine (Google's page of accelerator machines)."""
USUAL: Mapping[str, tuple[str, ...]] = {
    "v5e": ("v5litepod-1", "v5litepod-4", "v5litepod-8"),
    "v6e": ("ct6e-standard-1t", "ct6e-standard-4t", "ct6e-standard-8t", "v6e-1", "v6e-4", "v6e-8"),
    "v5p": ("ct5p-hightpu-1t", "ct5p-hightpu-4t", "v5p-8"),
    "TPU7x": ("tpu7x-standard-4t",),
    "L4": ("g2-standard-4", "g2-standard-8", "g2-standard-24", "g2-standard-48"),
    "T4": ("nvidia-tesla-t4",),
    "A100-40GB": ("a2-highgpu-1g", "a2-highgpu-8g"),
    "A100-80GB": ("a2-ultragpu-1g", "a2-ultragpu-8g"),
    "H100": ("a3-highgpu-1g", "a3-highgpu-8g"),
    "H200": ("a3-ultragpu-8g",),
    "B200": ("a4-highgpu-8g",),
    "RTX-PRO-6000": ("g4-standard-48",),
}
"""The types that a question about an accelerator looks at, Compute Engine's first where both worlds have it."""


def find(kind: str) -> Machine | None:
    """What a type's name says; None for a name that carries no accelerator that we know."""
    if kind == "nvidia-tesla-t4":
        return Machine(kind, "T4", 1, "gce")
    if found := _TPU_API.fullmatch(kind):
        size = int(found[2])  # v5p is counted in cores, two a chip
        return Machine(kind, _CHIPS[found[1]], size // 2 if found[1] == "v5p" else size, "tpu")
    if found := _TPU_GCE.fullmatch(kind):
        return Machine(kind, _CHIPS[found[1]], int(found[2]), "gce")
    if (found := re.fullmatch(r"g2-standard-(\d{1,2})", kind)) and int(found[1]) in _G2:
        cores = int(found[1])
        return Machine(kind, "L4", _G2[cores], "gce", cores, cores * 4)
    if found := re.fullmatch(r"g4-standard-(48|96|192|384)", kind):
        cores = int(found[1])
        return Machine(kind, "RTX-PRO-6000", cores // 48, "gce", cores, cores * 3.75)
    if found := _GPU.fullmatch(kind):
        name, cores, memory = _EACH[found[1]]
        count = int(found[2])
        return Machine(kind, name, count, "gce", cores * count, memory * count)
    return None


def asked(word: str) -> str:
    """Our word for an accelerator that Google has. Raises InvalidInput, and NotOffered for other clouds' chips."""
    common = shared(word)
    if common not in ACCELERATORS:
        raise NotOffered(
            f"{common} on Google Cloud", answered=f"Google Cloud has {', '.join(ACCELERATORS)}", sent=False,
            fix="Use one of these, or another cloud.",
        )  # fmt: skip
    return common


def wanted(accelerator: str | None, types: Sequence[str]) -> tuple[Machine, ...]:
    """The machines of a question, each once. Raises InvalidInput for a type that is none of Google's."""
    names = list(types)
    if accelerator:
        names = [*USUAL[asked(accelerator)], *names]
    machines = []
    for name in dict.fromkeys(names):
        machine = find(name)
        if machine is None:
            raise InvalidInput(
                "types",
                f"{name[:40]!r} is not a type with accelerators on Google Cloud",
                fix="Name one like ct6e-standard-1t, v5litepod-1 or g2-standard-4.",
            )
        machines.append(machine)
    if not machines and not accelerator:
        raise InvalidInput("accelerator", "neither an accelerator nor a type is named", fix="Name one, like v6e or L4.")
    return tuple(machines)
