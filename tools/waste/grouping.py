"""Many findings of one check in one place are one row where they are shown; each keeps its own in the files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tools.waste.records import Finding

ALONE = 3
"""So many findings of one check in one place are shown one by one."""


@dataclass(frozen=True)
class Group:
    """Findings that are shown as one row; `first` is the dearest."""

    first: Finding
    count: int
    usd_per_month: float | None


def groups(findings: Sequence[Finding]) -> list[Group]:
    """The rows, dearest first; what has no price stands before what costs nothing."""
    by: dict[tuple[str, str, str, str], list[Finding]] = {}
    for finding in findings:
        by.setdefault((finding.cloud, finding.account, finding.location, finding.check), []).append(finding)
    found: list[Group] = []
    for group in by.values():
        if len(group) <= ALONE:
            found += [Group(each, 1, each.usd_per_month) for each in group]
            continue
        known = [each.usd_per_month for each in group if each.usd_per_month is not None]
        found.append(Group(group[0], len(group), round(sum(known), 2) if known else None))
    return sorted(found, key=lambda each: (-_rank(each.usd_per_month), each.first.check, each.first.name))


def _rank(usd: float | None) -> float:
    return 0.005 if usd is None else usd
