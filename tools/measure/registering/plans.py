"""A plan file: written once, before the run, never over another, and cited by the hash of what it says.

The file is for a commit: a hash in a record shows that the plan was this one, the commit that it was there before.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clouds.errors import InvalidInput
from tools.home import inside, write_atomically
from tools.measure.lines import line
from tools.measure.options import Options

OPTIONS = {
    "plan.write": "file for a plan; nothing is measured",
    "plan.file": "the plan that this run follows",
    "plan.expects": "with plan.write: what is expected, in words",
    "plan.reason": "with plan.file: why it departs from it, in words",
}
"""Options of every measurement."""
LARGEST = 1_000_000


@dataclass(frozen=True)
class Planned:
    """A plan as its file has it; `reason` is the caller's, for whatever departs from it."""

    path: Path
    sha256: str
    written: str
    says: Mapping[str, str]
    reason: str = ""


@dataclass(frozen=True)
class Wanted:
    """What the options ask of plans: a file to write, or a plan to follow."""

    write: Path | None = None
    expects: str = ""
    follow: Planned | None = None
    given: Mapping[str, str] = field(default_factory=dict)
    """The options without those on plans."""


def wanted(options: Options) -> Wanted:
    """Raises InvalidInput for a plan that is not there, was changed, or would be written over."""
    own = {name: options.text(name) for name in OPTIONS}
    rest = {name: value for name, value in options.given.items() if name not in OPTIONS}
    if own["plan.write"] and own["plan.file"]:
        raise InvalidInput("options", "plan.write and plan.file are both there", fix="Write a plan first, then run it.")
    if own["plan.file"]:
        path = options.file("plan.file")
        return Wanted(follow=read(path, line(own["plan.reason"])) if path else None, given=rest)
    if own["plan.write"]:
        if not options.roots:
            raise InvalidInput("options", "plan.write names a file", fix="Plans are written in a project only.")
        path = inside(own["plan.write"], *options.roots, field="options")
        if path.exists():
            fix = "Name another file: a plan is not written over."
            raise InvalidInput("options", f"plan.write={path.name} is there already", fix=fix)
        return Wanted(write=path, expects=line(own["plan.expects"]), given=rest)
    return Wanted(given=rest)


def write(path: Path, says: Mapping[str, str], written: str, expects: str) -> str:
    """Write a plan; returns its hash."""
    body: dict[str, Any] = {"written": written, "says": dict(says)}
    if expects:
        body["expects"] = expects
    sha256 = _hash(body)
    write_atomically(path, json.dumps({"plan": body, "sha256": sha256}, indent=1, ensure_ascii=False) + "\n", 0o644)
    return sha256


def read(path: Path, reason: str = "") -> Planned:
    """Raises InvalidInput when the file is no plan, or says something else than when it was written."""
    try:
        raw = path.read_bytes()[: LARGEST + 1]
        data = json.loads(raw if len(raw) <= LARGEST else b"")
        body, sha256 = data["plan"], data["sha256"]
        says = {str(name): str(value) for name, value in body["says"].items()}
        written, found = line(str(body["written"]), 40), _hash(body)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        fix = "plan.write makes one."
        raise InvalidInput("options", f"plan.file={path.name} is not a plan", fix=fix) from None
    if found != sha256:
        raise InvalidInput(
            "options",
            f"plan.file={path.name} was changed after it was written",
            fix="Follow the plan as it was: departures are listed in the run. Or write a new plan.",
        )
    return Planned(path, str(sha256), written, says, reason)


def _hash(body: Mapping[str, Any]) -> str:
    text = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
