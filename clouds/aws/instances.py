"""Which instance types carry which accelerator: a bundled table, since no region lists all of them."""

from __future__ import annotations

import difflib
import json
import re
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from clouds.errors import InvalidInput, NotOffered
from clouds.models import accelerator as shared

ML = "ml."
NEURON = ("Inferentia", "Inferentia2", "Trainium", "Trainium2")
"""AWS's own chips: priced, counted and shown; vLLM's CUDA container does not run on them."""


@dataclass(frozen=True)
class Instance:
    """One instance type. `type` is EC2's name; SageMaker's has `ml.` before it. Memory is as the API states it."""

    type: str
    accelerator: str
    accelerators: int
    accelerator_mib: int
    vcpus: int
    memory_mib: int
    architecture: str
    sagemaker: bool

    @property
    def ml(self) -> str:
        """SageMaker's name of it."""
        return ML + self.type

    @property
    def family(self) -> str:
        """`g6` of `g6.xlarge`."""
        return self.type.split(".", 1)[0]

    @property
    def cuda(self) -> bool:
        """Whether vLLM's CUDA container and llama.cpp run on it."""
        return self.accelerator not in NEURON and self.architecture == "x86_64"


@cache
def table() -> tuple[Instance, ...]:
    """Every accelerated type, by accelerator, then count, then size."""
    data = json.loads((Path(__file__).parent / "instances.json").read_text("utf-8"))
    return tuple(Instance(*row) for row in data["rows"])


@cache
def _by_type() -> dict[str, Instance]:
    return {row.type: row for row in table()}


def find(instance_type: str) -> Instance | None:
    """The row of a type, with or without `ml.`; None for a type that the table does not know."""
    return _by_type().get(instance_type.removeprefix(ML))


def accelerators() -> tuple[str, ...]:
    """Every accelerator's name, in the order of the table."""
    return tuple(dict.fromkeys(row.accelerator for row in table()))


def asked(accelerator: str) -> tuple[str, int]:
    """Name and count of `L4`, `l4`, `4xL4` or `L4:4`. Raises InvalidInput, and NotOffered for other clouds' chips."""
    found = re.fullmatch(r"(?:(\d{1,2}) ?x ?)?([A-Za-z][\w \-]*?)(?::(\d{1,2}))?", accelerator.strip())
    word, count = (found[2], int(found[1] or found[3] or 1)) if found else (accelerator, 1)
    names = {_plain(name): name for name in accelerators()}
    if _plain(word) in names:
        return names[_plain(word)], count
    with suppress(InvalidInput):  # our words know more spellings and other clouds' accelerators
        common = shared(word)
        if common not in names.values():
            raise NotOffered(
                f"{common} on AWS",
                answered=f"AWS has {', '.join(names.values())}",
                sent=False,
                fix="Use one of these, or another cloud.",
            )
        return common, count
    several = [
        name
        for plain, name in names.items()
        if plain.startswith(_plain(word)) and plain[len(_plain(word)) :] in ("40gb", "80gb")
    ]
    near = several or [names[key] for key in difflib.get_close_matches(_plain(word), names, n=1, cutoff=0.5)]
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    raise InvalidInput(
        "accelerator",
        f"{accelerator[:40]!r} is not known on AWS.{hint}",
        fix=f"Known: {', '.join(accelerators())}; several as 4xL4.",
        allowed=accelerators(),
    )


def carrying(accelerator: str, *, sagemaker: bool = False) -> tuple[Instance, ...]:
    """The types with exactly that many of it, smallest first; `sagemaker` keeps those that SageMaker hosts.

    Raises InvalidInput for an unknown accelerator, and for a count in which no type has it.
    """
    name, count = asked(accelerator)
    rows = tuple(row for row in table() if row.accelerator == name and (row.sagemaker or not sagemaker))
    fitting = tuple(row for row in rows if row.accelerators == count)
    if not fitting:
        counts = sorted({row.accelerators for row in rows})
        where = "SageMaker hosts" if sagemaker else "AWS has"
        few = ", ".join(f"{n}x{name}" for n in counts) or "none of it"
        raise InvalidInput("accelerator", f"no type carries {count} {name}", fix=f"{where} {few}.")
    return fitting


def _plain(word: str) -> str:
    return re.sub(r"[^a-z0-9]", "", word.lower())
