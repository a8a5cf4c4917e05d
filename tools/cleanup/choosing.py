"""Which findings of a scan a plan takes: those that are named by id, by row or by check, the dearest of too many."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from clouds.errors import InvalidInput
from tools.waste.grouping import members
from tools.waste.naming import find
from tools.waste.records import Finding, Scan
from tools.waste.report.words import amount_words
from tools.waste.scan import named
from tools.waste.summing import summed

MOST = 200
"""Findings of one plan."""


@dataclass(frozen=True)
class Chosen:
    """What a plan takes, and what is left for the next one."""

    findings: tuple[Finding, ...]
    left: tuple[Finding, ...] = ()

    @property
    def part(self) -> str:
        """`200 of 1,302`; "" where nothing is left."""
        return f"{len(self.findings):,} of {len(self.findings) + len(self.left):,}" if self.left else ""

    @property
    def words(self) -> str:
        """What is left, and how it is planned; "" where nothing is."""
        if not self.left:
            return ""
        sums = summed(self.left)
        usd = amount_words(sums.usd_per_month, sums.at_most, sums.at_least)
        checks = ", ".join(f'"{word}"' for word in dict.fromkeys(each.check for each in self.left))
        return (
            f"{self.part} are planned, the dearest that can go first; {len(self.left):,} are left ({usd}). "
            f"When these are gone, scan_waste(checks=[{checks}]) and this call on the new scan plan the next."
        )


def choose(scan: Scan, findings: tuple[str, ...], checks: tuple[str, ...], home: Path) -> Chosen:
    """The findings that were named, each once: single ones before those of a row or a check, dearest first.

    What stays is taken too, to be refused with its reason, where there is room. Raises InvalidInput and NotFound.
    """
    single: list[Finding] = []
    several: list[Finding] = []
    for word in findings:
        found = members(scan.findings, word.strip())
        if found:
            several += found
        else:
            single.append(find(scan, word, home))
    for word in checks:
        found = tuple(each for each in scan.findings if named(each.check, (word,)))
        if not found:
            kept = sum(named(each.check, (word,)) for each in scan.suppressed)
            but = f" that is not kept on purpose ({kept:,} {'is' if kept == 1 else 'are'})" if kept else ""
            fix = f"See summarize_findings{' with kept=true' if kept else ''}."
            raise InvalidInput("checks", f"scan {scan.id} has no finding of {word!r}{but}", fix=fix)
        several += found
    several.sort(key=lambda each: (not each.removable, -(each.usd_per_month or 0.0)))
    # Whatever is named twice is removed, and counted, once.
    every = tuple({each.id: each for each in (*single, *several)}.values())
    if not every:
        raise InvalidInput("findings", "names nothing", fix="Give findings or checks; summarize_findings shows them.")
    return Chosen(every[:MOST], every[MOST:])
