"""Which machine sizes and Container Apps profiles carry which accelerator: a bundled table.

The memory of an accelerator is in no API of Azure's. What is offered where, families, zones and restrictions are
Azure's own answers (`skus`), never this table.
"""

from __future__ import annotations

import difflib
import json
import re
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from clouds.errors import InvalidInput, NotOffered
from clouds.models import accelerator as shared

_OURS = {"A10G": "A10"}  # our common word is AWS's variant of the card; Azure has the plain one


@dataclass(frozen=True)
class Size:
    """One machine size. `share` below 1 is a slice of one accelerator, with that slice's memory: no vLLM on it."""

    size: str
    accelerator: str
    accelerators: int
    accelerator_mib: int
    vcpus: int
    share: float

    @property
    def whole(self) -> bool:
        """Whether it has whole accelerators."""
        return self.share == 1


@dataclass(frozen=True)
class Profile:
    """One workload profile type of Container Apps. Names with `Consumption-GPU` scale to zero, the others do not."""

    profile: str
    accelerator: str
    accelerators: int
    accelerator_mib: int
    vcpus: int
    memory_gib: int

    @property
    def serverless(self) -> bool:
        """Whether it scales to zero and bills by the second."""
        return self.profile.startswith("Consumption-GPU")


@cache
def _data() -> dict[str, Any]:
    data: dict[str, Any] = json.loads((Path(__file__).parent / "sizes.json").read_text("utf-8"))
    return data


@cache
def table() -> tuple[Size, ...]:
    """Every accelerated size."""
    return tuple(Size(*row) for row in _data()["rows"])


@cache
def profiles() -> tuple[Profile, ...]:
    """Every accelerated workload profile type, the serverless ones first."""
    return tuple(Profile(*row) for row in _data()["profiles"])


def find(size: str) -> Size | None:
    """The row of a size, whatever its case; None for one that the table does not know."""
    return next((row for row in table() if row.size.lower() == size.lower()), None)


def profile(name: str) -> Profile | None:
    """The row of a profile type, whatever its case."""
    return next((row for row in profiles() if row.profile.lower() == name.lower()), None)


def accelerators() -> tuple[str, ...]:
    """Every accelerator's name, in the order of the table."""
    return tuple(dict.fromkeys(row.accelerator for row in table()))


def asked(accelerator: str) -> tuple[str, int]:
    """Name and count of `T4`, `t4`, `4xT4` or `T4:4`. Raises InvalidInput, and NotOffered for other clouds' chips."""
    found = re.fullmatch(r"(?:(\d{1,2}) ?x ?)?([A-Za-z][\w \-]*?)(?::(\d{1,2}))?", accelerator.strip())
    word, count = (found[2], int(found[1] or found[3] or 1)) if found else (accelerator, 1)
    names = {_plain(name): name for name in accelerators()}
    if _plain(word) in names:
        return names[_plain(word)], count
    with suppress(InvalidInput):  # our words know more spellings and other clouds' accelerators
        common = _OURS.get(shared(word), shared(word))
        if common not in names.values():
            raise NotOffered(
                f"{common} on Azure",
                answered=f"Azure has {', '.join(names.values())}",
                sent=False,
                fix="Use one of these, or another cloud.",
            )
        return common, count
    several = [name for plain, name in names.items() if plain.startswith(_plain(word)) and plain.endswith("gb")]
    near = several or [names[key] for key in difflib.get_close_matches(_plain(word), names, n=1, cutoff=0.5)]
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    raise InvalidInput(
        "accelerator",
        f"{accelerator[:40]!r} is not known on Azure.{hint}",
        fix=f"Known: {', '.join(accelerators())}; several as 2xA100-80GB.",
        allowed=accelerators(),
    )


def carrying(accelerator: str) -> tuple[Size, ...]:
    """The sizes with exactly that many whole ones, smallest first. Raises InvalidInput where there is none."""
    name, count = asked(accelerator)
    rows = tuple(row for row in table() if row.accelerator == name and row.whole)
    fitting = tuple(row for row in rows if row.accelerators == count)
    if not fitting:
        few = ", ".join(f"{n}x{name}" for n in sorted({row.accelerators for row in rows})) or "none of it"
        raise InvalidInput("accelerator", f"no size carries {count} {name}", fix=f"Azure has {few}.")
    return fitting


def holding(accelerator: str) -> tuple[Profile, ...]:
    """The workload profiles of Container Apps with exactly that many; often none."""
    name, count = asked(accelerator)
    return tuple(row for row in profiles() if (row.accelerator, row.accelerators) == (name, count))


def _plain(word: str) -> str:
    return re.sub(r"[^a-z0-9]", "", word.lower())
