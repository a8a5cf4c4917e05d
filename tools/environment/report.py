"""What is installed, what is on its way, what failed and why: for check_setup and for a tool that lacks a package."""

from __future__ import annotations

import shlex
import sys
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tools.environment import build, lock, places, reasons, state
from tools.environment.places import EXTRAS, Extra

if TYPE_CHECKING:
    from clouds.errors import CloudError


def status() -> dict[str, dict[str, Any]]:
    """Per set of packages: `state` (installed, installing, failed, absent) and `detail`; `fix` where there is one."""
    place = places.here()
    if place is None:
        return {"core": _looked_up_core(), **{extra.name: _looked_up(extra) for extra in EXTRAS}}
    content = state.read(place.state)
    core = content.get("core", {})
    by = f"by {core['by']} in {core['seconds']} s" if "by" in core else ""
    building = lock.held(place.lock)
    return {
        "core": {"state": "installed", "detail": by},
        **{extra.name: _kept(extra, content.get(extra.name, {}), building=building) for extra in EXTRAS},
    }


def require(extra: str) -> None:
    """Raises NotInstalled when this set of packages is not there."""
    from clouds.errors import NotInstalled

    known = {each.name: each for each in EXTRAS}
    found = status()[extra] if extra in known else {"state": "installed"}
    if found["state"] == "installed":
        return
    raise NotInstalled(
        f"loading the packages of [{extra}]",
        answered=f"{found['state']}: {found['detail']}" if found["detail"] else str(found["state"]),
        fix=str(found["fix"]),
        sent=False,
    )


def lacking(module: str) -> CloudError | None:
    """NotInstalled for the set of packages that brings this module, with how far it is; None for a module of no set."""
    from clouds.errors import NotInstalled

    top = module.partition(".")[0]
    bring = [extra for extra in EXTRAS if any(each.partition(".")[0] == top for each in extra.modules)]
    for extra in bring:
        try:
            require(extra.name)
        except NotInstalled as error:
            return error
    if not bring:
        return None
    return NotInstalled(f"loading {module}", answered="it cannot be imported", fix=command(bring[0]), sent=False)


def pending() -> str:
    """One sentence on what is still on its way or failed; empty when nothing is."""
    parts = [
        f"[{name}] is being installed ({entry['detail']})"
        if entry["state"] == "installing"
        else f"[{name}] could not be installed: {entry['detail']}"
        for name, entry in status().items()
        if entry["state"] in {"installing", "failed"}
    ]
    return "; ".join(parts)


def _looked_up_core() -> dict[str, Any]:
    return {"state": "installed", "detail": f"in {sys.prefix}"}


def importable(name: str) -> bool:
    """Whether a module can be found, also one inside a namespace package ("google.auth"). Nothing is imported."""
    if "." not in name:
        return PathFinder.find_spec(name) is not None
    inside = Path(*name.split("."))
    bases = [Path(each) / inside for each in sys.path]
    return any(base.is_dir() or base.with_suffix(".py").is_file() for base in bases)


def _looked_up(extra: Extra) -> dict[str, Any]:
    """In an environment that somebody else made, what can be imported counts."""
    gone = [name for name in extra.modules if not importable(name)]
    if not gone:
        return {"state": "installed", "detail": ""}
    return {"state": "absent", "detail": f"{', '.join(gone)} not found", "fix": command(extra)}


def _kept(extra: Extra, entry: dict[str, Any], *, building: bool) -> dict[str, Any]:
    """In an environment of ours, the builder's word counts: what is being unpacked can already be found."""
    current = entry.get("of") == build.fingerprint(extra)
    if entry.get("state") == "installed" and current:
        return {"state": "installed", "detail": f"by {entry.get('by')} in {entry.get('seconds')} s"}
    since = str(entry.get("since", ""))
    if building and entry.get("state") in {"installing", "waiting"}:
        percent = f", {entry['percent']} %" if "percent" in entry else ""
        step = str(entry.get("step", "waiting for the one before"))
        return {
            "state": "installing",
            "detail": f"{step}{percent}, since {since}",
            "since": since,
            "percent": entry.get("percent"),
            "fix": "Repeat the call when check_setup says that it is installed.",
        }
    if entry.get("state") == "failed":
        return {"state": "failed", "detail": str(entry["reason"]), "since": since, "fix": str(entry["fix"])}
    if entry.get("state") in {"installing", "waiting"}:
        problem = reasons.interrupted(str(entry.get("step", "")))
        return {"state": "failed", "detail": problem.reason, "since": since, "fix": problem.fix}
    return {
        "state": "absent",
        "detail": "another version is there" if entry else "",
        "fix": f"It is installed shortly after the next start: {reasons.AGAIN}.",
    }


def command(extra: Extra) -> str:
    """The command that installs a set of packages into the environment that runs this process."""
    words = (sys.executable, "-m", "tools.environment.make", sys.prefix, extra.file.name)
    return f"In {places.ROOT} run `{' '.join(map(shlex.quote, words))}`"
