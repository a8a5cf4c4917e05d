"""Checks of settings that both services share. Whatever is wrong is said before anything is sent."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence

from clouds.errors import InvalidInput
from clouds.models import DeploymentSpec, Setting

_FLAG = re.compile(r"--?[a-zA-Z][a-zA-Z0-9-]{0,60}")
_OURS = frozenset({"--host", "--port", "--model", "--served-model-name", "-hf", "--hf-repo", "--hf-file", "-m"})
_SECRET = re.compile(r"(?i)token|api[-_]?key|password|secret")


def whole(name: str, value: Setting, low: int, high: int) -> int:
    """A whole number in a range. Raises InvalidInput."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or int(value) != value or not low <= int(value) <= high:
        raise InvalidInput(name, f"{value!r} is not a whole number from {low} to {high}", fix="Give one in that range.")
    return int(value)


def share(name: str, value: Setting) -> float:
    """A share of the accelerator's memory. Raises InvalidInput."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.1 <= value <= 0.98:
        raise InvalidInput(name, f"{value!r} is not a share from 0.1 to 0.98", fix="0.9 is usual.")
    return float(value)


def switch(name: str, value: Setting) -> bool:
    """True or false. Raises InvalidInput."""
    if not isinstance(value, bool):
        raise InvalidInput(name, f"{value!r} is neither true nor false", fix="Give true or false.")
    return value


def one_of(name: str, value: Setting, allowed: Sequence[str]) -> str:
    """One of a few words. Raises InvalidInput."""
    if value not in allowed:
        raise InvalidInput(name, f"{str(value)[:40]!r} is not one of them", fix=f"Use {' or '.join(allowed)}.")
    return str(value)


def matching(name: str, value: Setting, pattern: str, what: str) -> str:
    """Text of one form; what was given is not repeated, it may be a secret. Raises InvalidInput."""
    if not isinstance(value, str) or not re.fullmatch(pattern, value):
        raise InvalidInput(name, f"what was given is not {what}", fix=f"Give {what}.")
    return value


def flag(name: str, value: Setting) -> Setting:
    """A flag of the engine's own. Raises InvalidInput for one that is set for you, and for secrets."""
    if not _FLAG.fullmatch(name) or name in _OURS or _SECRET.search(name):
        raise InvalidInput(
            "settings", f"{name[:60]!r} cannot be set", fix="Give a flag of the engine that is not set for you."
        )
    if isinstance(value, str) and not value.isprintable():
        raise InvalidInput("settings", f"{name} has unprintable characters", fix="Give plain text.")
    return value


def unknown(name: str, table: Mapping[str, str], service: str) -> InvalidInput:
    """The error for a setting that there is not."""
    if _SECRET.search(name):
        return InvalidInput(
            name[:60],
            "a secret would be readable by everybody who may read the resource",
            fix="Name where it is: " + ", ".join(one for one in table if one.startswith("hf_token")) + ".",
        )
    near = difflib.get_close_matches(name, table, n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    return InvalidInput(
        "settings",
        f"{service} takes no {name[:60]!r}.{hint}",
        fix=f"It takes {', '.join(table)}.",
        allowed=tuple(table),
    )


def check_name(name: str, shortest: int, longest: int) -> None:
    """Raises InvalidInput for a name that a part of the deployment could not carry."""
    fits = re.fullmatch(r"[a-z](?:-?[a-z0-9])*", name) and shortest <= len(name) <= longest
    if not fits:
        raise InvalidInput(
            "name",
            f"{name[:80]!r} cannot be an endpoint's name here",
            fix=f"Use {shortest} to {longest} of a-z, 0-9 and single hyphens, beginning with a letter.",
        )


def check_numbers(spec: DeploymentSpec) -> None:
    """Raises InvalidInput for a ceiling or an end that makes no sense."""
    if not spec.max_usd_per_hour > 0:
        raise InvalidInput(
            "max_usd_per_hour", f"{spec.max_usd_per_hour} is not above 0", fix="Give a ceiling in $ an hour."
        )
    if not 1 / 12 <= spec.ttl_hours <= 24 * 30:
        raise InvalidInput("ttl_hours", f"{spec.ttl_hours:g} is not from 0.0834 to 720", fix="Give hours; 4 is usual.")


def place(text: str) -> str:
    """A location that Azure itself named, as refs spell it."""
    return re.sub(r"[ _-]", "", text).lower()


def region(text: str) -> str:
    """A location as ARM's paths and ids spell it: `East US 2` is eastus2. Raises InvalidInput."""
    plain = place(text)
    if not re.fullmatch(r"[a-z]{4,20}[0-9]{0,2}[a-z]{0,6}", plain):
        raise InvalidInput("location", f"{text[:40]!r} is no Azure region", fix="Give one like swedencentral.")
    return plain
