"""Which finding a word means: its id or the start of it, the full id of its resource, the bare one, or its name."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from clouds.errors import InvalidInput, NotFound
from tools.figures import few
from tools.result import quoted
from tools.waste import store
from tools.waste.grouping import MARK, Group, members
from tools.waste.records import Finding, Gap, Scan

_START = re.compile(r"[0-9a-f]{4,9}")
"""What may be the start of a finding's id."""
SHOWN = 5


def find(scan: Scan, word: str, home: Path) -> Finding:
    """The one finding that a word means, kept ones too. Raises NotFound or InvalidInput.

    Where another scan that is kept in `home` holds it, the error names that scan, in which the same word finds it.
    """
    if not word.strip():
        raise InvalidInput("finding", "names nothing", fix="summarize_findings lists what was found, with its ids.")
    found = meant(scan, word)
    if len(found) > 1:
        several = [f"{each.id} ({quoted(each.name, 60)}, {each.location})" for each in found]
        raise InvalidInput(
            "finding", f"{word[:60]!r} is the name of {len(found):,} findings", fix=f"Use one of {few(several, SHOWN)}."
        )
    if not found:
        raise _missing(scan, word.strip(), home)
    return found[0]


def group(scan: Scan, word: str) -> Group | None:
    """All findings of a row that holds several, by the row's id; None where the word is none that is known."""
    found = members(scan.findings, word.strip())
    return Group(found) if found else None


def meant(scan: Scan, word: str) -> Sequence[Finding]:
    """The findings that a word means: the first way to read it that finds any."""
    lower = word.strip().lower()
    ways: tuple[Callable[[Finding], bool], ...] = (
        lambda each: lower in (each.id, each.resource.lower()),
        lambda each: lower == each.name.lower(),
        lambda each: _called(each.name, lower) or each.resource.lower().endswith((f"/{lower}", f":{lower}")),
        lambda each: lower == next((value for key, value in each.tags.items() if key.lower() == "name"), "").lower(),
        lambda each: bool(_START.fullmatch(lower)) and each.id.startswith(lower),
    )
    every = (*scan.findings, *scan.suppressed)
    for says in ways:
        if found := [each for each in every if says(each)]:
            return found
    return ()


def _called(name: str, lower: str) -> bool:
    """Whether `vol-1 (data)` is called `vol-1` or `data`."""
    label, _, rest = name.lower().partition(" (")
    return bool(rest) and lower in (label, rest.removesuffix(")"))


def _missing(scan: Scan, word: str, home: Path) -> NotFound:
    lower = word.lower()

    def none(answered: str, fix: str) -> NotFound:
        return NotFound(f"Looking for finding {word[:80]!r} in scan {scan.id}", answered=answered, fix=fix, sent=False)

    for each in scan.findings:
        if any(held.lower() == lower or held.lower().endswith((f"/{lower}", f":{lower}")) for held in each.holds):
            name = quoted(each.name, 60)
            return none("it is part of another finding", f'{name} holds it: explain_finding("{each.id}").')
    for answered, gaps in (
        ("it is too new to be judged", scan.too_new),
        ("it could not be judged", scan.unresolved),
        ("it could not be read", scan.unread),
        ("a service manages it, so that it is never touched", scan.managed),
    ):
        if gap := _among(gaps, lower):
            return none(answered, f"The reason: {gap.reason[:200]}.")
    if elsewhere := store.holding(home, word, scan.id, lambda other: _holds(other, word)):
        return none("it is none of this scan", f'Another one has it: give scan="{elsewhere}".')
    failed = len(scan.unread) + len(scan.unresolved)
    unread = f", and {failed:,} {'reads' if failed > 1 else 'read'} failed here" if failed else ""
    return none(
        "no finding of this scan, or of the last ten, has that id or name",
        f"That does not mean that it is in use: not everything has a check{unread}. summarize_findings lists what was "
        f'found, with filters={{"contains": "…"}} by a part of its name.',
    )


def _holds(scan: Scan, word: str) -> bool:
    return bool(group(scan, word) if word.lower().startswith(MARK) else meant(scan, word))


def _among(gaps: Sequence[Gap], lower: str) -> Gap | None:
    return next((gap for gap in gaps if any(lower == name.lower() or _called(name, lower) for name in gap.named)), None)
