"""Defaults that a person sets once: where each comes from is part of its value.

The first of these that names a setting wins: the environment (`MODELRIG_<NAME>`), `modelrig.toml` in the project, the
plugin's own settings (`MODELRIG_PLUGIN_<NAME>`, written by the client), the built-in default.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clouds.errors import InvalidInput

MAX_USD_PER_HOUR = 1.5
TTL_HOURS = 4.0
FILE = "modelrig.toml"
TABLES = ("defaults", "waste")
"""Top-level tables of the file: settings, and what a waste scan has to leave alone."""


@dataclass(frozen=True)
class Value:
    """One resolved setting and where it came from."""

    value: Any
    origin: str


def _words(text: str) -> tuple[str, ...]:
    return tuple(part for part in (part.strip() for part in text.split(",")) if part)


def _up_to(most: float) -> Callable[[str], float]:
    """Reads a number; the tools take none that is larger either. What it raises says which it takes."""

    def read(text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            number = 0.0
        if not 0 < number <= most:
            raise ValueError(f"a number above 0 and at most {most:,g}")
        return number

    return read


KNOWN: Mapping[str, tuple[Callable[[str], Any], Any, str]] = {
    "clouds": (_words, (), "clouds to offer, in order; empty means all"),
    "model": (str, "", "model that deploy_endpoint takes when none is named"),
    "regions": (_words, (), "regions to try, in order"),
    "max_usd_per_hour": (_up_to(10_000), MAX_USD_PER_HOUR, "ceiling of a deployment, US dollars an hour"),
    "ttl_hours": (_up_to(720), TTL_HOURS, "hours after which a deployment ends by itself"),
    "aws_profile": (str, "", "AWS profile to sign in with"),
    "aws_ignore_env_token": (str, "", "1: set a session token of the environment aside, where a login would serve"),
    "gcp_project": (str, "", "Google Cloud project"),
    "azure_subscription": (str, "", "Azure subscription"),
    "owner": (str, "", "who is named as the owner in tags"),
    "api_key_envs": (_words, (), "names of environment variables that may be sent to a bare URL as its key"),
}
"""name -> (reader, default, meaning)"""


EXPORTED = ("aws_profile", "aws_ignore_env_token", "gcp_project", "azure_subscription")
"""Settings of one cloud: its adapter reads them from the environment."""


class Settings:
    """Every known setting, resolved; `origin` of each says which file or variable it came from."""

    def __init__(self, values: Mapping[str, Value], project: Path) -> None:
        self.values, self.project = values, project

    def __getitem__(self, name: str) -> Any:
        return self.values[name].value

    def export(self) -> None:
        """Put what only a cloud's own folder reads into the environment, for this process and its workers."""
        for name in EXPORTED:
            if self[name]:
                os.environ.setdefault(f"MODELRIG_{name.upper()}", str(self[name]))

    @classmethod
    def load(cls, environment: Mapping[str, str] | None = None, project: Path | None = None) -> Settings:
        """Read all sources. Raises InvalidInput naming the setting, its source and what is allowed."""
        environment = os.environ if environment is None else environment
        project = project or Path(environment.get("CLAUDE_PROJECT_DIR") or _here())
        file = _read(project / FILE)
        values = {}
        for name, (reader, default, meaning) in KNOWN.items():
            sources = (
                (environment.get(f"MODELRIG_{name.upper()}"), f"environment MODELRIG_{name.upper()}"),
                (file.get(name), f"{FILE} in the project"),
                (_given(environment.get(f"MODELRIG_PLUGIN_{name.upper()}")), "plugin settings"),
            )
            raw, origin = next(((raw, origin) for raw, origin in sources if raw not in (None, "")), (None, "default"))
            values[name] = Value(default if raw is None else _parse(name, raw, reader, origin, meaning), origin)
        return cls(values, project)


def _given(text: str | None) -> str | None:
    """A plugin setting that was left empty arrives as its unexpanded placeholder."""
    return None if text is None or text.startswith("${") else text


def _here() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError:
        fix = "Change into another folder and start again."
        raise InvalidInput("project", "the folder that this was started in is gone", fix=fix) from None


def _read(path: Path) -> Mapping[str, Any]:
    if not path.is_file():
        return {}
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise InvalidInput(FILE, f"cannot be read: {error}", fix=f"Correct {path.name} in the project.") from error
    for name in content:
        if name not in TABLES:
            where = "stands outside [defaults]; move it below that line" if name in KNOWN else "is not known"
            raise InvalidInput(f"{FILE}: {name}", where, fix=f"Tables are {', '.join(f'[{each}]' for each in TABLES)}.")
    defaults = content.get("defaults", {})
    if not isinstance(defaults, dict):
        raise InvalidInput(f"{FILE}: defaults", "is not a table", fix="Write [defaults] and the settings below it.")
    for name in defaults:
        if name not in KNOWN:
            near = difflib.get_close_matches(name, KNOWN, 1)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise InvalidInput(f"{FILE}: {name}", f"is not a setting.{hint}", fix="Known: " + ", ".join(KNOWN) + ".")
    return defaults


def _parse(name: str, raw: Any, reader: Callable[[str], Any], origin: str, meaning: str) -> Any:
    text = ",".join(map(str, raw)) if isinstance(raw, list) else str(raw)
    try:
        return reader(text)
    except ValueError as error:
        fix = f"Give the {meaning}; {KNOWN[name][1]:g} where none is given."
        raise InvalidInput(f"{name} ({origin})", f"{text[:40]!r} is not {error}", fix=fix) from error
