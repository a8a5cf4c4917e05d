"""Which instance types carry an accelerator, also types that are newer than the bundled table."""

from __future__ import annotations

import re

from clouds.aws import instances

_FAMILY = re.compile(r"(ml\.)?(p\d|g\d|gr\d|inf\d|trn\d|dl\d|vt\d)")
_NEURON = re.compile(r"(ml\.)?(inf|trn)\d")


def accelerated(name: str) -> bool:
    """Whether a type has GPUs, Neuron or other accelerators, by its family where the table does not know it."""
    return bool(_FAMILY.match(name))


def neuron(name: str) -> bool:
    """Whether a type has Inferentia or Trainium."""
    return bool(_NEURON.match(name))


def count(name: str) -> int | None:
    """Accelerators of a type; None where the bundled table does not know it."""
    plain = name.removeprefix("ml.")
    return next((row.accelerators for row in instances.table() if row.type == plain), None)
