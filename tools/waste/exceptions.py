"""What a person has decided to keep: `[[waste.keep]]` in the project's modelrig.toml, and the tag `modelrig-keep`.

    [[waste.keep]]
    resource = "arn:aws:ec2:eu-west-1:*:volume/vol-0a1*"     # the full id or the name; * stands for anything
    check = "ebs-unattached"                                 # left out: every check
    reason = "restore drill of the audit"
    expires = 2027-03-31

The tag holds both: `modelrig-keep = "2027-03-31 restore drill of the audit"` (`_` where no blank is allowed).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from fnmatch import fnmatchcase
from pathlib import Path

from clouds.errors import InvalidInput
from tools.figures import did_you_mean, few
from tools.waste.records import Scan, Suppression

FILE = "modelrig.toml"
TAG = "modelrig-keep"
SHORTEST = 3
"""Letters that a resource has to be named with, beside any *."""
_KEYS = {"resource", "check", "reason", "expires"}
_TAG = re.compile(r"(\d{4}-\d\d-\d\d)[\s_:,;]+(\S.*)")


@dataclass(frozen=True)
class Keep:
    """One exception of the project's file."""

    resource: str
    check: str
    reason: str
    expires: date

    def covers(self, check: str, resource: str, name: str) -> bool:
        """Whether it is about that finding."""
        return self.check in ("", check) and (fnmatchcase(resource, self.resource) or fnmatchcase(name, self.resource))


def load(project: Path, checks: frozenset[str]) -> tuple[Keep, ...]:
    """The exceptions of a project; () without a file. Raises InvalidInput that names the entry and what is missing."""
    path = project / FILE
    if not path.is_file():
        return ()
    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise InvalidInput(FILE, f"cannot be read: {error}", fix="Correct it in the project.") from error
    section = content.get("waste", {})
    entries = section.get("keep", []) if isinstance(section, dict) else []
    if not isinstance(entries, list):
        raise InvalidInput(f"{FILE}: waste.keep", "is not a list", fix="Write each as [[waste.keep]].")
    return tuple(_keep(number, entry, checks) for number, entry in enumerate(entries, 1))


def _keep(number: int, entry: object, checks: frozenset[str]) -> Keep:
    where = f"{FILE}: waste.keep {number}"
    if not isinstance(entry, dict) or (unknown := sorted(set(entry) - _KEYS)):
        named = f"has {unknown[0]!r}" if isinstance(entry, dict) else "is not a table"
        raise InvalidInput(where, named, fix=f"Known: {', '.join(sorted(_KEYS))}.")
    resource, reason, expires = entry.get("resource"), entry.get("reason"), entry.get("expires")
    if not isinstance(resource, str) or not resource.strip("*? "):
        raise InvalidInput(where, "names no resource", fix="Give its full id or name; * stands for a part of it.")
    if len(resource.strip("*?")) < SHORTEST:
        fix = f"Give at least {SHORTEST} letters of its full id or name; * stands for the rest."
        raise InvalidInput(where, f"has a resource that is too short to name one: {resource[:40]!r}", fix=fix)
    if not isinstance(reason, str) or not reason.strip():
        raise InvalidInput(where, "gives no reason", fix="Say in a few words why it is kept.")
    if isinstance(expires, datetime) or not isinstance(expires, date):
        what = "has no end" if expires is None else f"has an end that is no date: expires = {str(expires)[:40]!r}"
        raise InvalidInput(where, what, fix="Write expires = 2027-03-31 (a date, without quotes).")
    check = entry.get("check", "")
    if not isinstance(check, str) or (check and checks and check not in checks):
        hint = did_you_mean(str(check), checks)
        raise InvalidInput(where, f"names the check {str(check)[:40]!r}.{hint}", fix="list_checks names them all.")
    return Keep(resource, check, reason.strip()[:300], expires)


def unused(keeps: Sequence[Keep], scan: Scan, today: date, known: frozenset[str]) -> tuple[str, ...]:
    """What a person should know of exceptions that keep nothing: those that have expired, those whose check is none of
    the `known` ones though it is near one, and those without a finding. Nothing is said where the check did not run.

    A sentence for each misspelt check, one for the rest; none where every exception keeps something.
    """
    findings = (*scan.findings, *scan.suppressed)
    late = [keep for keep in keeps if keep.expires < today]
    alive = [
        keep
        for keep in keeps
        if keep.expires >= today and not any(keep.covers(each.check, each.resource, each.name) for each in findings)
    ]
    near = {keep: did_you_mean(keep.check, known) for keep in alive if keep.check and keep.check not in known}
    idle = [keep for keep in alive if not near.get(keep) and keep.check not in known - set(scan.checks)]
    narrow = "" if scan.complete and not scan.filters else "; this scan did not look everywhere"
    said = [
        f"{len(late)} {'has' if len(late) == 1 else 'have'} expired ({_named(late)})" if late else "",
        f"{len(idle)} match{'es' if len(idle) == 1 else ''} nothing that was found ({_named(idle)}){narrow}"
        if idle
        else "",
    ]
    words = ", ".join(word for word in said if word)
    return (
        *(f"{keep.resource[:80]} keeps nothing: {keep.check[:60]!r} is no check that is known here.{hint}"
          for keep, hint in near.items() if hint),
        *((f"of {len(keeps)} in {FILE} {words}",) if words else ()),
    )  # fmt: skip


def _named(keeps: Sequence[Keep]) -> str:
    return few([keep.resource[:80] for keep in keeps], 3)


def suppression(
    check: str, resource: str, name: str, tags: Mapping[str, str], keeps: tuple[Keep, ...], today: date
) -> tuple[Suppression | None, str]:
    """Whether a finding is kept, and a word on an exception that does not do what it was meant to.

    A tag without date or reason keeps too, since deleting what somebody marked cannot be taken back; it is named.
    """
    late = ""
    for keep in keeps:
        if keep.covers(check, resource, name):
            if keep.expires >= today:
                return Suppression(FILE, keep.reason, keep.expires.isoformat()), ""
            late = f"{name}: the exception in {FILE} ended on {keep.expires.isoformat()}"
    if TAG not in tags:
        return None, late
    text = tags[TAG].strip()[:300]
    parts = _TAG.fullmatch(text)
    try:
        expires = date.fromisoformat(parts[1]) if parts else None
    except ValueError:
        expires = None
    if parts is None or expires is None:
        word = f"{name}: the tag {TAG} holds no date and reason ({text[:60]!r}); kept all the same"
        return Suppression(f"tag {TAG}", text or "no reason given", ""), word
    if expires < today:
        return None, f"{name}: the tag {TAG} ended on {expires.isoformat()}"
    return Suppression(f"tag {TAG}", parts[2].replace("_", " "), expires.isoformat()), ""
