"""Many findings of one check in one place are one row where they are shown; each keeps its own in the files.

A group has an id of its own (`g-…`), made of its cloud, account, place and check: it means all of its members, in this
scan and in the next one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tools.waste.records import Finding, Sum
from tools.waste.summing import COSTS, summed

ALONE = 3
"""So many findings of one check in one place are shown one by one."""
MARK = "g-"


@dataclass(frozen=True)
class Group:
    """Findings that are shown as one row, dearest first."""

    members: tuple[Finding, ...]

    @property
    def first(self) -> Finding:
        """The dearest."""
        return self.members[0]

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.members)

    @property
    def id(self) -> str:
        """What names the row: the finding, or all of them where the row holds several."""
        return group_id(self.first) if self.count > 1 else self.first.id

    @property
    def goes(self) -> bool:
        """Whether any of them can be removed."""
        return any(each.removable for each in self.members)

    @property
    def sum(self) -> Sum:
        """All of them together."""
        return summed(self.members)

    @property
    def usd_per_month(self) -> float | None:
        """What those with a price cost; None where none has one."""
        return _usd(self.sum)

    @property
    def span(self) -> tuple[float, float] | None:
        """The least and the greatest of what they cost; None where none has a price."""
        usd = [each.usd_per_month for each in self.members if each.usd_per_month is not None and each.billing in COSTS]
        return (min(usd), max(usd)) if usd else None


def group_id(finding: Finding) -> str:
    """The group that a finding belongs to, whether it is shown as one row or not."""
    key = f"{finding.cloud}\0{finding.account}\0{finding.location}\0{finding.check}"
    return MARK + hashlib.sha256(key.encode()).hexdigest()[:8]


def members(findings: Iterable[Finding], word: str) -> tuple[Finding, ...]:
    """The findings of a group by its id, dearest first; () where none belongs to it."""
    if not word.lower().startswith(MARK):
        return ()
    return tuple(each for each in findings if group_id(each) == word.lower())


def groups(findings: Sequence[Finding]) -> list[Group]:
    """The rows, dearest first; what has no price stands before what costs nothing."""
    by: dict[tuple[str, str, str, str], list[Finding]] = {}
    for finding in findings:
        by.setdefault((finding.cloud, finding.account, finding.location, finding.check), []).append(finding)
    found: list[tuple[float | None, Group]] = []
    for group in by.values():
        rows = [Group((each,)) for each in group] if len(group) <= ALONE else [Group(tuple(group))]
        found += [(each.usd_per_month, each) for each in rows]
    found.sort(key=lambda each: (-_rank(each[0]), each[1].first.check, each[1].first.name))
    return [group for _, group in found]


def _usd(one: Sum) -> float | None:
    return None if one.findings == one.unpriced else one.usd_per_month


def _rank(usd: float | None) -> float:
    return 0.005 if usd is None else usd
