"""Extra flags of an engine: an explicit list, so that none can change host, port or key, or reach outside."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from clouds.errors import InvalidInput


@dataclass(frozen=True)
class Flag:
    """One flag: what value it takes. `low` and `high` bound a number, both included."""

    takes: Literal["nothing", "int", "float", "choice"]
    choices: tuple[str, ...] = ()
    low: float = 0
    high: float = 1_000_000

    def problem(self, value: str) -> str:
        """What is wrong with this value; empty when nothing is."""
        if self.takes == "choice":
            return "" if value in self.choices else f"{value[:40]!r} is none of {', '.join(self.choices)}"
        try:
            number = int(value) if self.takes == "int" else float(value)
        except ValueError:
            return f"{value[:40]!r} is no {'whole number' if self.takes == 'int' else 'number'}"
        return "" if self.low <= number <= self.high else f"{value[:40]} is not in {self.low:g} to {self.high:g}"


def parse(text: str, known: Mapping[str, Flag], engine: str) -> tuple[str, ...]:
    """The words of a `flags` setting ("--flash-attn on --cache-type-k q8_0"), checked one by one.

    Raises InvalidInput that names the flag and what is allowed.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise _wrong(f"cannot be split into words: {error}", known) from None
    checked: list[str] = []
    while words:
        word = words.pop(0)
        name, equals, value = word.partition("=")
        if name not in known:
            close = difflib.get_close_matches(name, known, 1)
            hint = f" Did you mean {close[0]}?" if close else ""
            raise _wrong(f"{name[:60]!r} is not taken for {engine}.{hint}", known)
        if name in checked:
            raise _wrong(f"{name} is given twice", known)
        flag = known[name]
        if flag.takes == "nothing":
            if equals:
                raise _wrong(f"{name} takes no value", known)
            checked.append(name)
            continue
        if not equals:
            if not words:
                raise _wrong(f"{name} needs a value", known)
            value = words.pop(0)
        if problem := flag.problem(value):
            raise _wrong(f"{name}: {problem}", known)
        checked += [name, value]
    return tuple(checked)


def values(words: tuple[str, ...]) -> dict[str, str]:
    """Checked words as name and value; a flag without a value has an empty one."""
    found: dict[str, str] = {}
    name = ""
    for word in words:
        if word.startswith("--"):
            name = word
            found[name] = ""
        else:
            found[name] = word
    return found


def _wrong(problem: str, known: Mapping[str, Flag]) -> InvalidInput:
    return InvalidInput(
        "settings.flags",
        problem,
        fix=f"Allowed: {' '.join(known)}. Host, port and key are ours; context, slots and threads are settings.",
        allowed=tuple(known),
    )
