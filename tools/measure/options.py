"""Options of single measurements, given as "measurement.option=value" and read where they are used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from clouds.errors import InvalidInput
from tools.home import inside

N = TypeVar("N", int, float)


@dataclass(frozen=True)
class Options:
    """What was given, by full name; `roots` are the folders in which an option may name a file."""

    given: Mapping[str, str] = field(default_factory=dict)
    roots: tuple[Path, ...] = ()

    def text(self, name: str, default: str = "", allowed: Sequence[str] = ()) -> str:
        """A word, one of `allowed` where there are some."""
        value = self.given.get(name, default)
        if allowed and value not in allowed:
            raise InvalidInput(
                "options", f"{name}={value[:40]} is not one of its words", fix="Use one.", allowed=tuple(allowed)
            )
        return value

    def flag(self, name: str, *, default: bool = False) -> bool:
        """On or off."""
        return self.text(name, "on" if default else "off", ("on", "off")) == "on"

    def whole(self, name: str, default: int, low: int, high: int) -> int:
        """A whole number between two."""
        return self.wholes(name, (default,), low, high, most=1)[0]

    def wholes(self, name: str, default: Sequence[int], low: int, high: int, most: int = 12) -> tuple[int, ...]:
        """Whole numbers, separated by commas, in the order given, each once."""
        if name not in self.given:
            return tuple(default)
        count = "one whole number" if most == 1 else f"up to {most} whole numbers, with commas,"
        fix = f"Give {count} of {low:,} to {high:,}."
        return self._within(name, int, low, high, most, fix)

    def numbers(
        self, name: str, default: Sequence[float], low: float, high: float, most: int = 12
    ) -> tuple[float, ...]:
        """Numbers, separated by commas, in the order given, each once."""
        if name not in self.given:
            return tuple(default)
        count = "one number" if most == 1 else f"up to {most} numbers, with commas,"
        fix = f"Give {count} of {low:g} to {high:,g}."
        return self._within(name, float, low, high, most, fix)

    def _within(self, name: str, kind: type[N], low: float, high: float, most: int, fix: str) -> tuple[N, ...]:
        given = self.given[name]
        try:
            found = tuple(dict.fromkeys(kind(part) for part in given.split(",")))
        except ValueError:
            what = "a whole number" if kind is int else "a number"
            raise InvalidInput("options", f"{name}={given[:40]} is not {what}", fix=fix) from None
        if not all(low <= each <= high for each in found):
            raise InvalidInput("options", f"{name}={given[:40]} is out of range", fix=fix)
        if len(found) > most:
            raise InvalidInput("options", f"{name}={given[:40]} are {len(found)} numbers", fix=fix)
        return found

    def file(self, name: str) -> Path | None:
        """A file inside the project or the data directory; None when it was not given."""
        given = self.given.get(name, "")
        if not given:
            return None
        if not self.roots:
            raise InvalidInput("options", f"{name} names a file", fix="Files are read in a project only.")
        return inside(given, *self.roots, field="options")


def parse(texts: Sequence[str], known: Mapping[str, str], roots: Sequence[Path] = ()) -> Options:
    """`known` holds, by full name, what each option takes. Raises InvalidInput that names them."""
    given: dict[str, str] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        name = name.strip()
        if not sign or name not in known:
            fix = "Use: " + "; ".join(f"{each} ({takes})" for each, takes in known.items()) if known else "Use none."
            raise InvalidInput("options", f"{text[:60]!r} is not an option here", fix=fix, allowed=tuple(known))
        if name in given:
            raise InvalidInput("options", f"{name} is there twice", fix="Give every option once.")
        given[name] = value.strip()
    return Options(given, tuple(roots))
