"""Which accelerator holds a checkpoint, and how many tokens of KV cache then remain."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from clouds.errors import InvalidInput
from clouds.models import Record
from tools.measure.checkpoint.kv_cache import KvCache

GIB, MIB = 1024**3, 1024**2
UTILISATION = 0.92
"""The share of memory that an engine takes: 14.49 of 15.75 and 28.74 of 31.24 GiB in the TPU logs of Sep-Oct 2026."""


@dataclass(frozen=True)
class Memory:
    """One accelerator's memory as an engine finds it, and where that figure is from."""

    name: str
    bytes: int
    source: str


_SEEN = "engine log or nvidia-smi, Sep-Oct 2026"
_NOMINAL = "vendor's nominal size; what an engine finds is a little less"
ACCELERATORS = (
    Memory("GTX 1650 Ti", 4096 * MIB, _SEEN),
    Memory("RTX 3050", 8192 * MIB, _SEEN),
    Memory("T4", 15_360 * MIB, _SEEN),
    Memory("v5e", int(15.75 * GIB), _SEEN),
    Memory("L4", 22_565 * MIB, _SEEN),
    Memory("A10G", 24 * 10**9, _NOMINAL),
    Memory("v6e", int(31.24 * GIB), _SEEN),
    Memory("A100-40GB", 40 * GIB, _NOMINAL),
    Memory("L40S", 48 * 10**9, _NOMINAL),
    Memory("A100-80GB", 80 * GIB, _NOMINAL),
    Memory("H100", 80 * GIB, _NOMINAL),
    Memory("v5p", 95 * GIB, "vendor's documentation, read 2026-10-12"),
    Memory("RTX PRO 6000", 96 * 10**9, _NOMINAL),
    Memory("H200", 141 * 10**9, _NOMINAL),
    Memory("B200", 180 * 10**9, _NOMINAL),
    Memory("MI300X", 192 * GIB, _NOMINAL),
    Memory("TPU7x", 192 * GIB, "vendor's documentation, read 2026-10-12"),
)


class Fit(Record):
    """One accelerator (or several of one kind together): what the weights leave for the KV cache."""

    accelerator: str
    memory_bytes: int
    fits: bool
    free_bytes: int
    """Usable memory minus weights; negative when they do not fit."""
    kv_tokens: int | None = None
    full_contexts: float | None = None
    """How many requests of the asked context length that is."""


FORMULA = (
    "KV tokens = (memory x {utilisation:g} - weights {weights:,} bytes) / {per_token:,.0f} bytes a token. "
    "An engine on a GPU also takes memory for activations and graphs, so there it is the most that can be"
)


def fits(
    weights: int,
    cache: KvCache | None,
    *,
    context: int,
    accelerators: Sequence[str] = (),
    utilisation: float = UTILISATION,
) -> tuple[Fit, ...]:
    """Smallest memory first. `accelerators` may name several of a kind ("4 x v6e"); empty is all that are known.

    Several together are counted as one memory. A model with fewer KV heads than chips keeps copies of its cache, so
    for it the tokens of several chips are too many.
    """
    rows = []
    for name, memory in _chosen(accelerators):
        free = int(memory * utilisation) - weights
        tokens = int(free / cache.bytes_per_token) if cache and cache.bytes_per_token and free > 0 else None
        rows.append(
            Fit(
                accelerator=name,
                memory_bytes=memory,
                fits=free > 0,
                free_bytes=free,
                kv_tokens=tokens,
                full_contexts=None if tokens is None else tokens / context,
            )
        )
    return tuple(sorted(rows, key=lambda row: row.memory_bytes))


def formula(weights: int, cache: KvCache, utilisation: float = UTILISATION) -> str:
    """The formula of `fits` with this model's numbers in it."""
    return FORMULA.format(utilisation=utilisation, weights=weights, per_token=cache.bytes_per_token)


def _chosen(names: Iterable[str]) -> list[tuple[str, int]]:
    known = {each.name.lower(): each for each in ACCELERATORS}
    chosen = []
    for name in names:
        times, _, kind = name.rpartition(" x ")
        found = known.get(kind.strip().lower())
        if found is None or (times and not times.strip().isdigit()) or (times and not 0 < int(times) <= 4096):
            raise InvalidInput(
                "accelerators",
                f"{name[:40]!r} is not known",
                fix='Name one of the known ones, or several of it as "4 x v6e".',
                allowed=tuple(each.name for each in ACCELERATORS),
            )
        chosen.append((name, found.bytes * int(times or 1)))
    return chosen or [(each.name, each.bytes) for each in ACCELERATORS]
